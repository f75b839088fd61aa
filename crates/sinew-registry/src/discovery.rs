//! Discovery indexes, for clients that know only an address.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use serde_json::{Value, json};
use sinew_listener::ServerOrigin;

use super::caller::RegistryCaller;
use super::download::{archive, plain_file};
use super::index::IndexEntry;
use super::lookup::VersionOrTag;
use super::model::{SkillDoc, StatsDoc};
use super::refusal::{RefusalFormat, RegistryRefusal, RegistryReply, json_answer};
use super::{TeamRegistry, names};

/// The form of the current index.
const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// The longest name and description of an entry.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1_024;
/// The one name that clients look for.
const SKILL_MD: &str = "SKILL.md";

/// Where the registry is.
pub(crate) async fn clawhub(
    State(registry): State<Arc<TeamRegistry>>,
    Extension(called): Extension<ServerOrigin>,
) -> RegistryReply {
    let base = format!("{}{}", called.0, registry.prefix);
    json_answer(&json!({ "apiBase": base, "authBase": base }))
}

/// An entry of an index: its name there, and the skill.
struct DiscoveryEntry<'a> {
    name: String,
    entry: &'a IndexEntry,
    /// Whether another owner's skill has the plain name.
    is_second: bool,
}

/// Every skill under a unique name. Where two owners have the same slug, the second entry is named
/// after owner and slug; such entries come last, because their folder differs from the skill's name.
fn named<'a>(entries: impl Iterator<Item = &'a IndexEntry>) -> Vec<DiscoveryEntry<'a>> {
    let (mut taken, mut second) = (HashSet::new(), Vec::new());
    let mut all = Vec::new();
    for entry in entries {
        let slug = &entry.skill.slug;
        if slug.len() <= MAX_NAME && !slug.contains("--") && taken.insert(slug.clone()) {
            all.push(DiscoveryEntry { name: slug.clone(), entry, is_second: false });
        } else {
            second.push(entry);
        }
    }
    for entry in second {
        // One hyphen: clients refuse names with two.
        let both = format!("{}-{}", entry.skill.owner, entry.skill.slug);
        let name = both.replace(['.', '_'], "-").replace("--", "-");
        if name.len() <= MAX_NAME && taken.insert(name.clone()) {
            all.push(DiscoveryEntry { name, entry, is_second: true });
        }
    }
    all
}

fn described(skill: &SkillDoc) -> String {
    let text = skill.summary.as_deref().unwrap_or(&skill.display_name);
    text.chars().take(MAX_DESCRIPTION).collect()
}

fn entry_of(named: &DiscoveryEntry<'_>, base: &str) -> Option<Value> {
    let skill = &named.entry.skill;
    let line = skill.latest()?;
    let at = format!("{base}/.well-known/agent-skills/{}", named.name);
    let (kind, url, sha256) = match &line.only_file {
        Some(sha256) => ("skill-md", format!("{at}/{SKILL_MD}"), sha256),
        None => ("archive", format!("{at}/{}.zip", line.version), &line.plain.sha256),
    };
    let mut entry = json!({
        "name": named.name,
        "type": kind,
        "description": described(skill),
        "url": url,
        "digest": format!("sha256:{sha256}"),
        "owner": skill.owner,
        "version": line.version,
    });
    if let (true, Some(fields)) = (named.is_second, entry.as_object_mut()) {
        fields.insert("renamed".to_owned(), json!(true));
    }
    Some(entry)
}

pub(crate) async fn index(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
) -> RegistryReply {
    registry.freshen().await?;
    let index = registry.index();
    let skills: Vec<Value> =
        named(index.iter()).iter().filter_map(|named| entry_of(named, &caller.base)).collect();
    json_answer(&json!({ "$schema": SCHEMA, "skills": skills }))
}

pub(crate) async fn index_of_one(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path((owner, slug)): Path<(String, String)>,
) -> RegistryReply {
    registry.freshen().await?;
    let index = registry.index();
    let owner = names::handle(&owner).ok_or_else(RegistryRefusal::skill_not_found)?;
    let slug = names::read_slug(&slug).ok_or_else(RegistryRefusal::skill_not_found)?;
    let all = named(index.iter());
    let wanted = |named: &&DiscoveryEntry<'_>| {
        named.entry.skill.slug == slug && named.entry.skill.owner == owner
    };
    let found = all.iter().find(wanted).and_then(|named| entry_of(named, &caller.base));
    let skill = found.ok_or_else(RegistryRefusal::skill_not_found)?;
    json_answer(&json!({ "$schema": SCHEMA, "skills": [skill] }))
}

/// What an entry points to.
pub(crate) async fn artifact(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    Path((name, file)): Path<(String, String)>,
) -> RegistryReply {
    let (slug, owner) = registry.skill_named(&name).await?;
    registry
        .work(move |registry| {
            let skill = registry.find(&caller, &slug, Some(&owner), RefusalFormat::Text)?.value;
            if file == SKILL_MD {
                return registry.discovered_file(&headers, &skill, SKILL_MD);
            }
            let version = file.strip_suffix(".zip").and_then(|version| skill.version(version));
            let line = version.filter(|line| !line.withdrawn);
            let line = line.ok_or_else(|| RegistryRefusal::not_found("Version not found"))?;
            let bytes = registry.blobs.get(&line.plain.sha256)?;
            registry.count(&skill.key(), StatsDoc { downloads: 1, installs: 0 });
            Ok(archive(&headers, &line.plain.sha256, bytes))
        })
        .await
}

/// The older form: names and files, each at its own address.
pub(crate) async fn legacy_index(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
) -> RegistryReply {
    registry.freshen().await?;
    let wanted: Vec<(String, String, String)> = {
        let index = registry.index();
        let own = |named: &DiscoveryEntry<'_>| {
            let skill = &named.entry.skill;
            (named.name.clone(), skill.slug.clone(), skill.owner.clone())
        };
        named(index.iter()).iter().map(own).collect()
    };
    registry
        .work(move |registry| {
            let mut skills = Vec::new();
            for (name, slug, owner) in &wanted {
                let Ok(found) = registry.find(&caller, slug, Some(owner), RefusalFormat::Text)
                else {
                    continue;
                };
                let version = registry.version_of(&found.value, &VersionOrTag::default())?;
                let files: Vec<&str> = version
                    .files
                    .iter()
                    .map(|file| if is_skill_file(&file.path) { SKILL_MD } else { &*file.path })
                    .collect();
                let description = described(&found.value);
                skills.push(json!({ "name": name, "description": description, "files": files }));
            }
            json_answer(&json!({ "skills": skills }))
        })
        .await
}

pub(crate) async fn legacy_file(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    headers: HeaderMap,
    Path((name, file)): Path<(String, String)>,
) -> RegistryReply {
    let (slug, owner) = registry.skill_named(&name).await?;
    registry
        .work(move |registry| {
            let skill = registry.find(&caller, &slug, Some(&owner), RefusalFormat::Text)?.value;
            registry.discovered_file(&headers, &skill, &file)
        })
        .await
}

impl TeamRegistry {
    /// Slug and owner behind a name of the index.
    async fn skill_named(
        self: &Arc<Self>,
        name: &str,
    ) -> Result<(String, String), RegistryRefusal> {
        self.freshen().await?;
        let index = self.index();
        let all = named(index.iter());
        let found = all.iter().find(|named| named.name == name);
        let skill = &found.ok_or_else(RegistryRefusal::skill_not_found)?.entry.skill;
        Ok((skill.slug.clone(), skill.owner.clone()))
    }

    /// A file of the latest version, the skill's own under its exact name.
    fn discovered_file(&self, headers: &HeaderMap, skill: &SkillDoc, path: &str) -> RegistryReply {
        let version = self.version_of(skill, &VersionOrTag::default())?;
        let is_it = |known: &str| known == path || (path == SKILL_MD && is_skill_file(known));
        let file = version.files.iter().find(|file| is_it(&file.path));
        let file = file.ok_or_else(|| RegistryRefusal::not_found("File not found"))?;
        Ok(plain_file(headers, &file.sha256, self.blobs.get(&file.sha256)?))
    }
}

fn is_skill_file(path: &str) -> bool {
    path.eq_ignore_ascii_case(SKILL_MD) || path == "skills.md"
}
