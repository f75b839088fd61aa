//! `skills.toml`: the skills that a project or a person wants, where each comes from, and which
//! agents get it.
//!
//! ```toml
//! [sync]
//! agents = ["claude-code", "codex"]   # who gets the skills; sinew alone if absent
//! mode = "link"                       # or "copy"
//! groups = ["work"]                   # groups that belong to every sync
//!
//! [skills]
//! tides = "^1.2"                      # a version, range or tag at the default registry
//! notes = "github:ada/skills@notes#main"
//! deploy = { source = "acme/skills@deploy", groups = ["work"], agents = ["codex"], mode = "copy" }
//! ```
//!
//! **Must never happen here:** a file with a fault that is read in part. What is missing from the
//! list is removed by a sync, so a misspelt line must stop it.

mod foreign;

use std::fmt;
use std::ops::Range;
use std::path::Path;

use sinew_settings::{ErrorCode, nearest};
use toml_edit::{Document, Item, TableLike};

pub use foreign::{ForeignImport, ForeignSkill, read_foreign_manifests};

use crate::error::HubError;
use crate::lock::is_key;
use crate::reference::{
    RegistryRef, RequestedVersion, ShorthandMeaning, SkillReference, parse_requested_version,
    parse_slug,
};

/// The file's name.
pub const MANIFEST_FILE: &str = "skills.toml";
/// A longer manifest is a mistake: a thousand skills have 60 KB.
const MAX_MANIFEST: u64 = 1_000_000;
/// More skills in one manifest are a mistake.
const MAX_SKILLS: usize = 5_000;
/// Keys of a skill's table.
const SKILL_KEYS: &[&str] = &["source", "version", "ref", "skill", "groups", "agents", "mode"];
/// Keys of `[sync]`.
const SYNC_KEYS: &[&str] = &["agents", "mode", "groups"];

/// How a skill gets into an agent's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlacementMode {
    /// As a link, so that there is one copy.
    #[default]
    Link,
    /// As a copy, for folders that are shared or that do not follow links.
    Copy,
}

impl PlacementMode {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Copy => "copy",
        }
    }
}

/// A manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SkillsManifest {
    /// Its skills, in the order of the file.
    pub skills: Vec<ManifestSkill>,
    /// The agents that get skills which name none.
    pub agents: Vec<String>,
    /// How skills that do not say get into the agents' folders.
    pub mode: PlacementMode,
    /// Groups that belong to every sync.
    pub groups: Vec<String>,
}

/// One skill of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestSkill {
    /// Its folder.
    pub name: String,
    /// Where it comes from.
    pub reference: SkillReference,
    /// The groups it belongs to; without one it belongs to every sync.
    pub groups: Vec<String>,
    /// The agents that get it, if not those of the manifest.
    pub agents: Option<Vec<String>>,
    /// How it gets there, if not as the manifest says.
    pub mode: Option<PlacementMode>,
}

impl ManifestSkill {
    /// A skill without groups or agents of its own.
    pub fn new(name: impl Into<String>, reference: SkillReference) -> Self {
        Self { name: name.into(), reference, groups: Vec::new(), agents: None, mode: None }
    }
}

/// Which groups a sync is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupChoice {
    /// Those of the manifest, and these.
    Named(Vec<String>),
    /// Every group.
    All,
}

impl SkillsManifest {
    /// Reads a manifest; `None` where there is no file.
    pub fn read(path: &Path) -> Result<Option<Self>, HubError> {
        let facts = match std::fs::metadata(path) {
            Ok(facts) => facts,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(HubError::file("read", path, error)),
        };
        if !facts.is_file() || facts.len() > MAX_MANIFEST {
            let message = format!("{} is not a file of at most 1 MB", path.display());
            return Err(HubError::new(ErrorCode::BadManifest, message));
        }
        let bytes = std::fs::read(path).map_err(|error| HubError::file("read", path, error))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            HubError::new(ErrorCode::BadManifest, format!("{} is not UTF-8", path.display()))
        })?;
        Self::parse(&text).map(Some).map_err(|fault| fault.in_file(path))
    }

    /// Reads the text of a manifest.
    pub fn parse(text: &str) -> Result<Self, ManifestFault> {
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().map(|span| line_of(text, &span));
            ManifestFault { line: at, what: error.message().to_owned() }
        })?;
        let reader = ManifestReader { text };
        reader.known(document.as_table(), &["skills", "sync"], "skills.toml")?;
        let mut manifest = Self::default();
        if let Some(sync) = document.get("sync") {
            let sync = reader.table(sync, "sync")?;
            reader.known(sync, SYNC_KEYS, "[sync]")?;
            manifest.agents = reader.agents(sync)?.unwrap_or_default();
            manifest.mode = reader.mode(sync)?.unwrap_or_default();
            manifest.groups = reader.words(sync, "groups")?.unwrap_or_default();
        }
        if let Some(skills) = document.get("skills") {
            let skills = reader.table(skills, "skills")?;
            if skills.len() > MAX_SKILLS {
                return Err(reader.fault(None, format!("there are more than {MAX_SKILLS} skills")));
            }
            for (name, item) in skills.iter() {
                manifest.skills.push(reader.skill(name, item)?);
            }
        }
        Ok(manifest)
    }

    /// The skills that belong to a sync.
    pub fn wanted(&self, choice: &GroupChoice) -> Result<Vec<&ManifestSkill>, HubError> {
        if let GroupChoice::Named(named) = choice {
            let mut known = self.skills.iter().flat_map(|skill| &skill.groups).collect::<Vec<_>>();
            known.sort();
            known.dedup();
            if let Some(unknown) = named.iter().find(|group| !known.contains(group)) {
                let message = format!("no skill of {MANIFEST_FILE} is in the group `{unknown}`");
                let near = nearest(unknown, known.iter().map(|group| group.as_str()));
                let error = HubError::new(ErrorCode::BadManifest, message);
                return Err(match near.as_slice() {
                    [] => error,
                    near => error.hint(format!("did you mean {}?", near.join(", "))),
                });
            }
        }
        let active = |group: &String| match choice {
            GroupChoice::All => true,
            GroupChoice::Named(named) => named.contains(group) || self.groups.contains(group),
        };
        let wanted =
            |skill: &&ManifestSkill| skill.groups.is_empty() || skill.groups.iter().any(active);
        Ok(self.skills.iter().filter(wanted).collect())
    }

    /// The agents that get a skill, and how.
    pub fn placement<'a>(&'a self, skill: &'a ManifestSkill) -> (&'a [String], PlacementMode) {
        (skill.agents.as_deref().unwrap_or(&self.agents), skill.mode.unwrap_or(self.mode))
    }
}

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFault {
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl ManifestFault {
    fn in_file(self, path: &Path) -> HubError {
        let message = format!("{}{self}", path.display());
        HubError::new(ErrorCode::BadManifest, message)
            .hint("nothing was changed; `sinew sync --help` shows the form")
    }
}

impl fmt::Display for ManifestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, ", line {line}: {}", self.what),
            None => write!(f, ": {}", self.what),
        }
    }
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1
}

struct ManifestReader<'a> {
    text: &'a str,
}

impl ManifestReader<'_> {
    fn fault(&self, at: Option<&Item>, what: impl Into<String>) -> ManifestFault {
        let span = at.and_then(Item::span);
        ManifestFault { line: span.map(|span| line_of(self.text, &span)), what: what.into() }
    }

    fn table<'t>(&self, item: &'t Item, name: &str) -> Result<&'t dyn TableLike, ManifestFault> {
        item.as_table_like()
            .ok_or_else(|| self.fault(Some(item), format!("`{name}` is not a table")))
    }

    fn known(
        &self,
        table: &dyn TableLike,
        keys: &[&str],
        whose: &str,
    ) -> Result<(), ManifestFault> {
        for (key, item) in table.iter() {
            if keys.contains(&key) {
                continue;
            }
            let near = nearest(key, keys.iter().copied());
            let hint = match near.first() {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!("; it knows {}", keys.join(", ")),
            };
            return Err(self.fault(Some(item), format!("{whose} has no key `{key}`{hint}")));
        }
        Ok(())
    }

    fn text_at<'t>(
        &self,
        table: &'t dyn TableLike,
        key: &str,
    ) -> Result<Option<&'t str>, ManifestFault> {
        let Some(item) = table.get(key) else { return Ok(None) };
        match item.as_str() {
            Some(text) => Ok(Some(text.trim())),
            None => Err(self.fault(Some(item), format!("`{key}` is not text"))),
        }
    }

    fn words(
        &self,
        table: &dyn TableLike,
        key: &str,
    ) -> Result<Option<Vec<String>>, ManifestFault> {
        let Some(item) = table.get(key) else { return Ok(None) };
        let wrong = || self.fault(Some(item), format!("`{key}` is not a list of words"));
        let array = item.as_array().ok_or_else(wrong)?;
        let words = array.iter().map(|value| {
            let word = value.as_str().map(str::trim).filter(|word| !word.is_empty());
            word.map(str::to_owned).ok_or_else(wrong)
        });
        words.collect::<Result<_, _>>().map(Some)
    }

    fn agents(&self, table: &dyn TableLike) -> Result<Option<Vec<String>>, ManifestFault> {
        let Some(words) = self.words(table, "agents")? else { return Ok(None) };
        let names = words.iter().map(|word| match sinew_catalog::agent_name(word) {
            Some(name) => Ok(name.to_owned()),
            None => {
                let known = sinew_catalog::agents_with_folders();
                let near = nearest(word, known.iter().copied());
                let hint = near.first().map(|near| format!("; did you mean `{near}`?"));
                let what = format!("no agent is named `{word}`{}", hint.unwrap_or_default());
                Err(self.fault(table.get("agents"), what))
            }
        });
        names.collect::<Result<_, _>>().map(Some)
    }

    fn mode(&self, table: &dyn TableLike) -> Result<Option<PlacementMode>, ManifestFault> {
        match self.text_at(table, "mode")? {
            None => Ok(None),
            Some("link") => Ok(Some(PlacementMode::Link)),
            Some("copy") => Ok(Some(PlacementMode::Copy)),
            Some(other) => {
                Err(self.fault(table.get("mode"), format!("`mode` is link or copy, not `{other}`")))
            }
        }
    }

    fn skill(&self, name: &str, item: &Item) -> Result<ManifestSkill, ManifestFault> {
        let fault = |what: String| self.fault(Some(item), what);
        if !is_key(name) || name.contains('/') {
            return Err(fault(format!("`{name}` cannot be the name of a folder")));
        }
        if let Some(text) = item.as_str() {
            let reference = short_reference(name, text.trim()).map_err(fault)?;
            return Ok(ManifestSkill::new(name, reference));
        }
        let table = self.table(item, name)?;
        self.known(table, SKILL_KEYS, &format!("the skill `{name}`"))?;
        let detail = ReferenceDetail {
            source: self.text_at(table, "source")?,
            version: self.text_at(table, "version")?,
            at: self.text_at(table, "ref")?,
            skill: self.text_at(table, "skill")?,
        };
        Ok(ManifestSkill {
            name: name.to_owned(),
            reference: detail.reference(name).map_err(fault)?,
            groups: self.words(table, "groups")?.unwrap_or_default(),
            agents: self.agents(table)?,
            mode: self.mode(table)?,
        })
    }
}

/// A text beside a name: a version at the default registry, or a reference of its own.
fn short_reference(name: &str, text: &str) -> Result<SkillReference, String> {
    let versioned = text.starts_with(|c: char| c.is_ascii_digit() || "^~=<>*".contains(c));
    match versioned || text == "latest" {
        true => {
            let version = Some(text);
            ReferenceDetail { version, ..ReferenceDetail::default() }.reference(name)
        }
        false => {
            SkillReference::parse(text, ShorthandMeaning::GitHub).map_err(|error| error.to_string())
        }
    }
}

/// What a table says about where a skill comes from.
#[derive(Default)]
struct ReferenceDetail<'a> {
    source: Option<&'a str>,
    version: Option<&'a str>,
    at: Option<&'a str>,
    skill: Option<&'a str>,
}

impl ReferenceDetail<'_> {
    fn reference(&self, name: &str) -> Result<SkillReference, String> {
        let wanted = match self.version {
            Some(version) => {
                parse_requested_version(version).map_err(|what| format!("`{version}`: {what}"))?
            }
            None => RequestedVersion::Latest,
        };
        let Some(source) = self.source else {
            if self.at.is_some() || self.skill.is_some() {
                return Err(format!("`{name}` has a `ref` or `skill`, and no `source`"));
            }
            let slug = parse_slug(name).map_err(|what| format!("`{name}`: {what}"))?;
            let at = RegistryRef { registry: None, owner: None, slug, wanted };
            return Ok(SkillReference::Registry(at));
        };
        let parsed = SkillReference::parse(source, ShorthandMeaning::GitHub)
            .map_err(|error| error.to_string())?;
        // What is added is checked as if it had been typed.
        let text = match parsed {
            SkillReference::Registry(mut registry) if self.at.is_none() && self.skill.is_none() => {
                if self.version.is_some() {
                    registry.wanted = wanted;
                }
                return Ok(SkillReference::Registry(registry));
            }
            SkillReference::GitHub(mut github) if self.version.is_none() => {
                github.at = self.at.map(str::to_owned).or(github.at);
                github.skill = self.skill.map(str::to_owned).or(github.skill);
                SkillReference::GitHub(github).to_string()
            }
            SkillReference::Git(mut git) if self.version.is_none() => {
                git.at = self.at.map(str::to_owned).or(git.at);
                git.skill = self.skill.map(str::to_owned).or(git.skill);
                SkillReference::Git(git).to_string()
            }
            SkillReference::WellKnown(mut index) if self.version.is_none() && self.at.is_none() => {
                index.skill = self.skill.map(str::to_owned).or(index.skill);
                SkillReference::WellKnown(index).to_string()
            }
            other if self.version.is_none() && self.at.is_none() && self.skill.is_none() => {
                return Ok(other);
            }
            other => {
                let kind = other.source();
                return Err(format!(
                    "a source of the kind {kind} has no such version, ref or skill"
                ));
            }
        };
        SkillReference::parse(&text, ShorthandMeaning::GitHub).map_err(|error| error.to_string())
    }
}
