//! What other programs' manifests name, as lines of a `skills.toml`: the lock of the `skills` program,
//! that of `clawhub`, `apm.yml` of the Agent Package Manager and `agents.toml` of dotagents.
//!
//! They are read, never changed. What cannot be taken is told with its reason.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use sinew_guard::Untrusted;
use sinew_skill::{YamlValue, parse_front_matter};
use toml_edit::DocumentMut;

use crate::error::HubError;
use crate::lock::{ClawhubLock, SkillsLock};
use crate::manifest::{ManifestSkill, SkillsManifest};
use crate::reference::{ShorthandMeaning, SkillReference, parse_slug};

/// A longer file of another program is not read.
const MAX_FILE: u64 = 1_000_000;

/// What was found in other programs' files.
#[derive(Debug, Default)]
pub struct ForeignImport {
    /// The files that were read.
    pub files: Vec<String>,
    /// What they name.
    pub skills: Vec<ForeignSkill>,
    /// The agents they name.
    pub agents: Vec<String>,
    /// What they name and cannot be taken, each with its reason.
    pub left_out: Vec<String>,
}

/// A skill in another program's file.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSkill {
    /// The skill.
    pub skill: ManifestSkill,
    /// The file that names it.
    pub file: &'static str,
}

/// Reads the manifests and locks of other programs in a folder.
pub fn read_foreign_manifests(folder: &Path) -> ForeignImport {
    let mut import = ForeignImport::default();
    import.skills_lock(folder);
    import.clawhub_lock(folder);
    import.apm(folder);
    import.dotagents(folder);
    let mut seen = std::collections::BTreeSet::new();
    import.skills.retain(|found| seen.insert(found.skill.name.clone()));
    import
}

impl ForeignImport {
    fn add(&mut self, file: &'static str, name: &str, reference: &str) {
        let known = Untrusted::new(name).for_terminal();
        let slug = parse_slug(&name.trim().to_ascii_lowercase().replace(['_', ' ', '.'], "-"));
        let reading = SkillReference::parse(reference, ShorthandMeaning::GitHub);
        match (slug, reading) {
            (Ok(name), Ok(reference)) => {
                let skill = ManifestSkill::new(name, reference);
                self.skills.push(ForeignSkill { skill, file });
            }
            (Err(what), _) => self.left_out.push(format!("{file}: `{known}`: {what}")),
            (_, Err(error)) => self.left_out.push(format!("{file}: `{known}`: {error}")),
        }
    }

    /// Whether a file is there and holds JSON; one that does not is told.
    fn holds_json(&mut self, folder: &Path, file: &'static str) -> bool {
        let Some(text) = text_of(folder, file) else { return false };
        self.files.push(file.to_owned());
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(_)) => true,
            Ok(_) => {
                self.left_out.push(format!("{file}: it holds no object"));
                false
            }
            Err(error) => {
                self.left_out.push(format!("{file}: {error}"));
                false
            }
        }
    }

    fn skills_lock(&mut self, folder: &Path) {
        let file = "skills-lock.json";
        if !self.holds_json(folder, file) {
            return;
        }
        for (name, entry) in SkillsLock::read(folder).skills {
            let at = entry.at.as_deref().map(|at| format!("#{at}")).unwrap_or_default();
            match entry.source_type.as_deref() {
                Some("local") => {
                    let path = entry.source.strip_prefix("./").unwrap_or(&entry.source);
                    self.add(file, &name, &format!("./{path}"));
                }
                Some("well-known") => self.add(file, &name, &format!("{}#{name}", entry.source)),
                Some("git") => self.add(file, &name, &format!("{}@{name}{at}", entry.source)),
                _ => self.add(file, &name, &format!("{}@{name}{at}", entry.source)),
            }
        }
    }

    fn clawhub_lock(&mut self, folder: &Path) {
        let file = ".clawhub/lock.json";
        if !self.holds_json(folder, file) {
            return;
        }
        let Some(lock) = ClawhubLock::read(folder) else {
            return self.left_out.push(format!("{file}: it is not a lock of clawhub"));
        };
        for (key, entry) in lock.entries() {
            let text = |name: &str| entry.get(name).and_then(Value::as_str);
            let reference = match (text("sourceRef"), text("ownerHandle"), text("version")) {
                (Some(source), ..) => source.to_owned(),
                (None, Some(owner), Some(version)) => {
                    format!("@{}/{}@{version}", owner.trim_start_matches('@'), last_part(key))
                }
                (None, None, Some(version)) => format!("{}@{version}", last_part(key)),
                (None, ..) => last_part(key).to_owned(),
            };
            self.add(file, last_part(key), &reference);
        }
    }

    /// `dependencies.apm` and `devDependencies.apm`: texts, or maps with `git`, `path` and `ref`.
    fn apm(&mut self, folder: &Path) {
        let file = "apm.yml";
        let Some(text) = text_of(folder, file) else { return };
        self.files.push(file.to_owned());
        let fields = match parse_front_matter(&text, 1) {
            Ok(front) => front.fields,
            Err(reason) => return self.left_out.push(format!("{file}: {}", reason.detail)),
        };
        for group in ["dependencies", "devDependencies"] {
            if fields.get(group).is_some_and(|value| value.as_map().is_none()) {
                self.left_out.push(format!("{file}: `{group}` is not a map"));
            }
            let listed =
                fields.get(group).and_then(YamlValue::as_map).and_then(|map| map.get("apm"));
            let Some(YamlValue::List(items)) = listed else { continue };
            for item in items {
                match item {
                    YamlValue::String(text) => self.apm_text(file, text),
                    YamlValue::Map(map) => {
                        let field = |name: &str| map.get(name).and_then(YamlValue::as_str);
                        let Some(url) = field("git") else {
                            self.left_out.push(format!("{file}: an entry without `git`"));
                            continue;
                        };
                        let at = field("ref").map(|at| format!("#{at}")).unwrap_or_default();
                        let skill = field("path").map(last_part);
                        let name = skill.unwrap_or_else(|| last_part(url.trim_end_matches(".git")));
                        let chosen = skill.map(|skill| format!("@{skill}")).unwrap_or_default();
                        self.add(file, name, &format!("{url}{chosen}{at}"));
                    }
                    _ => self.left_out.push(format!("{file}: an entry that is not a reference")),
                }
            }
        }
    }

    fn apm_text(&mut self, file: &'static str, text: &str) {
        let text = text.trim();
        let base = text.split('#').next().unwrap_or_default();
        let shown = Untrusted::new(base).for_terminal();
        // A single file of instructions or a prompt is not a skill.
        if base.ends_with(".md") {
            self.left_out.push(format!("{file}: `{shown}` is not a folder of a skill"));
        } else if base.starts_with("./") || base.starts_with("../") {
            self.add(file, last_part(base), text);
        } else if base.split('/').next().is_some_and(|host| host.contains('.')) {
            self.left_out.push(format!("{file}: `{shown}`: write its git address with `git:`"));
        } else {
            self.add(file, last_part(base), text);
        }
    }

    /// `[[skills]]` with `name`, `source`, `ref` and `path`, and `agents`.
    fn dotagents(&mut self, folder: &Path) {
        let file = "agents.toml";
        let Some(text) = text_of(folder, file) else { return };
        self.files.push(file.to_owned());
        let document: DocumentMut = match text.parse() {
            Ok(document) => document,
            Err(error) => {
                let error: toml_edit::TomlError = error;
                return self.left_out.push(format!("{file}: {}", error.message()));
            }
        };
        let agents = document.get("agents").and_then(|item| item.as_array());
        for agent in agents.into_iter().flatten().filter_map(|value| value.as_str()) {
            match sinew_catalog::agent_name(agent) {
                Some(name) => self.agents.push(name.to_owned()),
                None => {
                    let shown = Untrusted::new(agent).for_terminal();
                    self.left_out.push(format!("{file}: no agent is named `{shown}`"));
                }
            }
        }
        let skills = document.get("skills").and_then(|item| item.as_array_of_tables());
        for table in skills.into_iter().flat_map(|tables| tables.iter()) {
            let field = |name: &str| table.get(name).and_then(|item| item.as_str());
            let (Some(name), Some(source)) = (field("name"), field("source")) else {
                self.left_out.push(format!("{file}: an entry without `name` or `source`"));
                continue;
            };
            if name == "*" {
                let shown = Untrusted::new(source).for_terminal();
                self.left_out
                    .push(format!("{file}: `{shown}`: name the skills that you want of it"));
                continue;
            }
            let at = field("ref").map(str::to_owned);
            if let Some(path) = source.strip_prefix("path:") {
                let path = path.strip_prefix("./").unwrap_or(path);
                self.add(file, name, &format!("./{path}"));
            } else if let Some(url) = source.strip_prefix("git:") {
                let at = at.map(|at| format!("#{at}")).unwrap_or_default();
                self.add(file, name, &format!("{}@{name}{at}", with_git_suffix(url)));
            } else {
                let (repo, pinned) = match source.split_once('@') {
                    Some((repo, pinned)) => (repo, Some(pinned.to_owned())),
                    None => (source, None),
                };
                let at = at.or(pinned).map(|at| format!("#{at}")).unwrap_or_default();
                let path = field("path").map(|path| format!("/{}", path.trim_matches('/')));
                let chosen = match path {
                    Some(path) => path,
                    None => format!("@{name}"),
                };
                self.add(file, name, &format!("{repo}{chosen}{at}"));
            }
        }
    }
}

fn with_git_suffix(url: &str) -> String {
    if url.ends_with(".git") { url.to_owned() } else { format!("{url}.git") }
}

fn last_part(text: &str) -> &str {
    let text = text.trim_end_matches('/');
    text.rsplit('/').next().unwrap_or(text)
}

/// A small file of text; `None` where it is missing or too large.
fn text_of(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    let facts = std::fs::metadata(&path).ok()?;
    (facts.is_file() && facts.len() <= MAX_FILE).then(|| std::fs::read_to_string(&path).ok())?
}

impl SkillsManifest {
    /// The text of a manifest with further skills and agents; what the text has already stays as it
    /// is. Returns the names that are new.
    pub fn extended(text: &str, import: &ForeignImport) -> Result<(String, Vec<String>), HubError> {
        let known = Self::parse(text).map_err(|fault| fault.in_file(Path::new("skills.toml")))?;
        let mut document: DocumentMut = text.parse().unwrap_or_default();
        let mut added = Vec::new();
        if known.agents.is_empty() && !import.agents.is_empty() {
            let mut agents = toml_edit::Array::new();
            let mut names: BTreeMap<&str, ()> = BTreeMap::new();
            names.extend(import.agents.iter().map(|name| (name.as_str(), ())));
            agents.extend(names.into_keys());
            document["sync"]["agents"] = toml_edit::value(agents);
            if let Some(sync) = document["sync"].as_inline_table().cloned() {
                document["sync"] = toml_edit::Item::Table(sync.into_table());
            }
        }
        if document.get("skills").is_none() {
            document["skills"] = toml_edit::table();
        }
        for found in &import.skills {
            let skill = &found.skill;
            if known.skills.iter().any(|known| known.name == skill.name) {
                continue;
            }
            added.push(skill.name.clone());
            document["skills"][&skill.name] = toml_edit::value(skill.reference.to_string());
        }
        let text = document.to_string();
        // What is written must read back as what was meant.
        Self::parse(&text).map_err(|fault| fault.in_file(Path::new("skills.toml")))?;
        Ok((text, added))
    }
}
