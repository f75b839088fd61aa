//! Copies and links in the folder of installed skills.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sinew_catalog::SKILL_FILE;
use sinew_guard::scan::{Scanner, SkillBundle, Verdict};
use sinew_settings::{CodedError, ErrorCode, path_text};
use sinew_skill::names;

use super::{
    ImportReport, ImportRequest, ImportStatus, ImportedSkill, OwnSkillIndex, SkillImportMode,
};
use crate::agents::ConnectableAgent;

use crate::Connector;

/// How deep commands may be below their folder.
const MAX_DEPTH: usize = 4;
/// A larger file is not taken for a command.
const MAX_COMMAND: u64 = 256_000;

impl Connector<'_> {
    /// Links skills into the folder of installed ones.
    pub(super) fn link_in(&self, added: &[(String, PathBuf)]) -> Result<(), CodedError> {
        let folder = &self.managed_folder;
        for (name, source) in added {
            let target = folder.join(plain(name));
            let linked = fs::create_dir_all(folder).and_then(|()| link(source, &target));
            match linked {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other.map_err(|error| CodedError::file("link", &target, error))?,
            }
        }
        Ok(())
    }

    /// Installs skills from their folders: scanned, staged and locked like any other.
    pub(super) fn copy_in(&self, added: &[(String, PathBuf)]) -> Result<(), CodedError> {
        added.iter().try_for_each(|(name, source)| self.install_copy(name, source))
    }

    fn install_copy(&self, name: &str, source: &Path) -> Result<(), CodedError> {
        self.host.install_copy(&plain(name), source)
    }

    /// A command becomes a folder before it is installed.
    fn install_command(&self, name: &str, bundle: &SkillBundle) -> Result<(), CodedError> {
        let failed = |error: io::Error| {
            CodedError::new(ErrorCode::NotCopied, format!("cannot copy {name}: {error}"))
                .caused_by(error)
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        for file in bundle.files() {
            fs::write(folder.path().join(&file.path), &file.bytes).map_err(failed)?;
        }
        self.install_copy(name, folder.path())
    }

    /// Single-file commands, as skills.
    pub(super) fn import_commands(
        &self,
        agents: &[&'static ConnectableAgent],
        request: &ImportRequest,
        taken: &mut OwnSkillIndex,
        report: &mut ImportReport,
    ) -> Result<(), CodedError> {
        let scanner = Scanner::new();
        for agent in agents {
            for place in agent.commands {
                let root = place.path(self.env, self.workspace);
                for file in commands(&root) {
                    let Some((name, text)) = as_skill(&root, &file) else { continue };
                    let bundle =
                        SkillBundle::from_files([(SKILL_FILE.to_owned(), text.into_bytes())]);
                    let bundle = bundle.with_name(name.clone());
                    let scan = scanner.scan_bundle(&bundle);
                    let status = if scan.verdict == Verdict::Block {
                        ImportStatus::ScanCritical { findings: scan.findings.len() }
                    } else if let Some(at) = taken.names.get(&name) {
                        ImportStatus::ShadowedBy { at: at.clone() }
                    } else if request.mode != SkillImportMode::Copy {
                        ImportStatus::NeedsCopy
                    } else {
                        taken.names.insert(name.clone(), file.clone());
                        if request.write {
                            self.install_command(&name, &bundle)?;
                        }
                        ImportStatus::Added
                    };
                    let agents = vec![agent.id];
                    report.skills.push(ImportedSkill { name, path: file, agents, status });
                }
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(source, target)
}

#[cfg(windows)]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(source, target)
}

/// A name that is valid for a folder.
fn plain(name: &str) -> String {
    let folded: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let parts: Vec<&str> = folded.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// The files of a folder of commands, in order.
fn commands(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A command's file as a skill: its text stays, and its name is that of the file.
fn as_skill(root: &Path, file: &Path) -> Option<(String, String)> {
    if fs::metadata(file).ok()?.len() > MAX_COMMAND {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let inside = path_text(file.strip_prefix(root).ok()?.with_extension("").as_path());
    let name = plain(&inside);
    if !names::is_slug(&name) {
        return None;
    }
    let fenced = sinew_skill::split_front_matter(&text).ok()?;
    let fields = fenced.front.and_then(|front| sinew_skill::parse_front_matter(front, 1).ok());
    let described =
        fields.as_ref().and_then(|front| front.fields.get("description")?.source_text());
    let described = described.filter(|text| !text.trim().is_empty());
    let first = sinew_skill::first_text_line(fenced.body).map(ToString::to_string);
    let description = described.or(first).unwrap_or_else(|| format!("The command {name}"));
    // A JSON string is a valid YAML string, and quotes any line.
    let quoted = serde_json::Value::String(description);
    Some((
        name.clone(),
        format!("---\nname: {name}\ndescription: {quoted}\n---\n\n{}", fenced.body),
    ))
}
