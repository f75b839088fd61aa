//! Skills of other agents: found, compared with what is here, and imported.
//!
//! The catalog itself reads every folder, so an imported skill is parsed, gated and scanned like any
//! other. What must never happen here: a skill that is executed, one that is copied although the guard
//! holds it back, a file of the other agent that is changed.

mod copy;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use sinew_catalog::{Catalog, CatalogEntry, EntryState};
use sinew_guard::scan::Verdict;
use sinew_settings::{Actor, CodedError, ErrorCode, path_text};

use crate::agent_table::AGENTS;
use crate::agents::{ConnectScope, ConnectableAgent};
use crate::config_file::{AgentConfigFile, unreadable_error};
use crate::connect::find_agent;
use crate::edit::ConfigFormat;

use crate::Connector;

/// How skills are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillImportMode {
    /// Their folders are read where they are.
    Register,
    /// Each is linked into the folder of installed skills.
    Link,
    /// Each is copied there, scanned.
    Copy,
}

/// What is to be imported.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The agents whose skills are imported; all agents where empty.
    pub agents: Vec<String>,
    /// How.
    pub mode: SkillImportMode,
    /// Whether single-file commands become skills; that needs a copy.
    pub commands: bool,
    /// Whether anything is written.
    pub write: bool,
    /// Who imports. What comes in needs a person.
    pub by: Actor,
}

/// What an import found and did.
#[derive(Debug, Default, Serialize)]
pub struct ImportReport {
    /// Folders, those with precedence first.
    pub roots: Vec<ImportRoot>,
    /// Skills, each once.
    pub skills: Vec<ImportedSkill>,
    /// Whether anything was written.
    pub written: bool,
}

/// A folder of skills.
#[derive(Debug, Clone, Serialize)]
pub struct ImportRoot {
    /// The folder.
    pub path: PathBuf,
    /// The agents that read it.
    pub agents: Vec<&'static str>,
    /// Whether sinew reads it already.
    pub known: bool,
}

/// A skill that was found.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedSkill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The agents that read it.
    pub agents: Vec<&'static str>,
    /// What became of it.
    #[serde(flatten)]
    pub status: ImportStatus,
}

/// What became of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ImportStatus {
    /// It can be used.
    Added,
    /// The same content is here already.
    AlreadyKnown {
        /// Where.
        at: PathBuf,
    },
    /// Another skill of the same name has precedence.
    ShadowedBy {
        /// Which.
        at: PathBuf,
    },
    /// It cannot be read.
    Invalid {
        /// Why.
        why: String,
    },
    /// The guard holds it back until a person has looked.
    ScanCritical {
        /// Findings at warn and above.
        findings: usize,
    },
    /// It needs to be copied first.
    NeedsCopy,
}

impl Connector<'_> {
    /// Finds the skills of other agents and imports them.
    pub fn import(&self, request: &ImportRequest) -> Result<ImportReport, CodedError> {
        let agents = chosen(&request.agents)?;
        if request.write {
            check_person(&request.by)?;
        }
        let snapshot = self.host.snapshot();
        let mut report = ImportReport { written: request.write, ..ImportReport::default() };
        let mut taken = OwnSkillIndex::of(self, &snapshot.catalog, &agents);
        report.roots = self.import_roots(&agents, &snapshot.catalog);
        let mut added = Vec::new();
        for root in report.roots.clone() {
            let found = self.host.look_at(&root.path)?;
            for entry in found.catalog.entries.iter().filter(|entry| !is_system(entry, &root.path))
            {
                let status = taken.judge(entry);
                if status == ImportStatus::Added {
                    added.push((entry.name.clone(), entry.base_dir.clone()));
                }
                report.skills.push(ImportedSkill {
                    name: entry.name.clone(),
                    path: entry.file_path.clone(),
                    agents: root.agents.clone(),
                    status,
                });
            }
        }
        if request.commands {
            self.import_commands(&agents, request, &mut taken, &mut report)?;
        }
        if request.write {
            match request.mode {
                SkillImportMode::Register => {
                    let new = report.roots.iter().filter(|root| !root.known);
                    self.register(&new.map(|root| root.path.clone()).collect::<Vec<_>>())?;
                }
                SkillImportMode::Link => self.link_in(&added)?,
                SkillImportMode::Copy => self.copy_in(&added)?,
            }
        }
        Ok(report)
    }

    /// The folders of these agents that exist, each once.
    fn import_roots(
        &self,
        agents: &[&'static ConnectableAgent],
        catalog: &Catalog,
    ) -> Vec<ImportRoot> {
        let mut roots: Vec<ImportRoot> = Vec::new();
        let mut note = |path: PathBuf, agent: &'static str| {
            let Ok(real) = fs::canonicalize(&path) else { return };
            let same =
                |root: &&mut ImportRoot| fs::canonicalize(&root.path).ok() == Some(real.clone());
            match roots.iter_mut().find(same) {
                Some(root) if !root.agents.contains(&agent) => root.agents.push(agent),
                Some(_) => {}
                None => {
                    let known = is_read(catalog, &real);
                    roots.push(ImportRoot { path, agents: vec![agent], known });
                }
            }
        };
        for agent in agents {
            for place in agent.imports {
                note(place.path(self.env, self.workspace), agent.id);
            }
            if agent.id == "openclaw" {
                for folder in self.openclaw_extra() {
                    note(folder, agent.id);
                }
            }
        }
        roots
    }

    /// Further folders that OpenClaw's own configuration names.
    fn openclaw_extra(&self) -> Vec<PathBuf> {
        let text = fs::read_to_string(self.env.openclaw_config()).unwrap_or_default();
        let config: Value = json5::from_str(&text).unwrap_or_default();
        let folders = config.pointer("/skills/load/extraDirs").and_then(Value::as_array);
        let folders = folders.map(Vec::as_slice).unwrap_or_default().iter();
        folders.filter_map(Value::as_str).map(|folder| self.env.expand_home(folder)).collect()
    }

    /// Adds a user's own folder to the extra folders, so that it is read where it is; `false` where it
    /// is read already. An agent cannot.
    pub fn link_folder(&self, folder: &Path, by: &Actor) -> Result<bool, CodedError> {
        let real =
            fs::canonicalize(folder).map_err(|error| CodedError::file("read", folder, error))?;
        if !real.is_dir() {
            let message = format!("{} is not a folder", folder.display());
            return Err(CodedError::new(ErrorCode::NotAFolder, message)
                .hint("an archive is copied: leave --link out"));
        }
        if is_read(&self.host.snapshot().catalog, &real) {
            return Ok(false);
        }
        check_person(by)?;
        self.register(&[real]).map(|()| true)
    }

    /// Takes folders that an import named out of the configuration again; `false` where none of them is
    /// named there.
    pub fn unregister(&self, folders: &[PathBuf]) -> Result<bool, CodedError> {
        let path = self.config_path;
        let found = AgentConfigFile::read(self.env, self.workspace, path)?;
        let mut document = found.document(ConfigFormat::Json5)?;
        let before = document.text();
        let at = ["skills", "load", "extraDirs"];
        for folder in folders {
            document.remove_item(&at, &Value::String(path_text(folder)));
        }
        // Parts that were made for the list go with its last folder.
        for depth in (1..=at.len()).rev() {
            if document.has(&at[..depth]) && document.is_empty(&at[..depth]) {
                document.remove(&at[..depth]);
            }
        }
        let after = document.text();
        if after == before {
            return Ok(false);
        }
        found.back_up("import")?;
        found.replace(&after, ConnectScope::User).map(|()| true)
    }

    /// Names folders in the configuration. Comments stay.
    fn register(&self, new: &[PathBuf]) -> Result<(), CodedError> {
        if new.is_empty() {
            return Ok(());
        }
        let path = self.config_path;
        let found = AgentConfigFile::read(self.env, self.workspace, path)?;
        let mut document = found.document(ConfigFormat::Json5)?;
        let at = ["skills", "load", "extraDirs"];
        for root in new {
            let folder = path_text(root);
            document
                .push(&at, &Value::String(folder))
                .map_err(|trouble| unreadable_error(path, &trouble))?;
        }
        found.back_up("import")?;
        found.replace(&document.text(), ConnectScope::User)
    }
}

/// A folder that is read brings in whatever lies in it, now and later.
fn check_person(by: &Actor) -> Result<(), CodedError> {
    match by {
        Actor::Person { .. } => Ok(()),
        Actor::Agent { .. } | Actor::System => {
            let said = "only a person can have more folders read";
            Err(CodedError::new(ErrorCode::NeedsPerson, said)
                .hint("run it in a terminal, or let approvals.unattended list `install`"))
        }
    }
}

/// Whether a folder is one of those that skills are looked for in.
fn is_read(catalog: &Catalog, real: &Path) -> bool {
    let mut known = catalog.roots.iter().filter_map(|root| fs::canonicalize(&root.path).ok());
    known.any(|known| known == real)
}

/// The skills that are here already, by the content of their skill file and by name.
struct OwnSkillIndex {
    contents: BTreeMap<String, PathBuf>,
    names: BTreeMap<String, PathBuf>,
}

impl OwnSkillIndex {
    /// sinew's own skills: those that no agent's folder brings.
    fn of(connector: &Connector<'_>, catalog: &Catalog, agents: &[&ConnectableAgent]) -> Self {
        let theirs: Vec<PathBuf> = agents
            .iter()
            .flat_map(|agent| agent.imports)
            .filter_map(|place| {
                fs::canonicalize(place.path(connector.env, connector.workspace)).ok()
            })
            .collect();
        let own = catalog.unshadowed().filter(|entry| {
            let real = fs::canonicalize(&entry.base_dir).unwrap_or_else(|_| entry.base_dir.clone());
            entry.skill.is_some() && !theirs.iter().any(|root| real.starts_with(root))
        });
        let mut taken = Self { contents: BTreeMap::new(), names: BTreeMap::new() };
        own.for_each(|entry| taken.note(entry));
        taken
    }

    fn note(&mut self, entry: &CatalogEntry) {
        let content = entry.content_hash.clone();
        self.contents.entry(content).or_insert_with(|| entry.file_path.clone());
        self.names.entry(entry.name.clone()).or_insert_with(|| entry.file_path.clone());
    }

    fn judge(&mut self, entry: &CatalogEntry) -> ImportStatus {
        if entry.state == EntryState::Broken {
            let why = entry.primary_reason().map(ToString::to_string).unwrap_or_default();
            return ImportStatus::Invalid { why };
        }
        let scan = entry.scan.as_ref().filter(|scan| scan.verdict == Verdict::Block);
        if let Some(scan) = scan {
            return ImportStatus::ScanCritical { findings: scan.findings };
        }
        if let Some(at) = self.contents.get(&entry.content_hash) {
            return ImportStatus::AlreadyKnown { at: at.clone() };
        }
        if let Some(at) = self.names.get(&entry.name) {
            return ImportStatus::ShadowedBy { at: at.clone() };
        }
        self.note(entry);
        ImportStatus::Added
    }
}

/// Codex keeps skills of its own below the user's.
fn is_system(entry: &CatalogEntry, root: &Path) -> bool {
    let inside = entry.base_dir.strip_prefix(root).unwrap_or(&entry.base_dir);
    inside.components().any(|part| part.as_os_str() == ".system")
}

fn chosen(names: &[String]) -> Result<Vec<&'static ConnectableAgent>, CodedError> {
    if names.is_empty() {
        return Ok(AGENTS.iter().collect());
    }
    names.iter().map(|name| find_agent(name)).collect()
}
