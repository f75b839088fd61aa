//! One file of an agent, and what becomes of it: worked out on its syntax tree before anything is
//! written.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;
use sinew_settings::{CodedError, ErrorCode, path_text};

use super::config_file::{AgentConfigFile, unreadable_error};
use super::edit::{ConfigDocument, ConfigEditError, ConfigFormat, has_item, same_meaning};
use super::ledger::WrittenValue;

/// A file and what becomes of it.
#[derive(Debug, Serialize)]
pub struct FileChange {
    /// The file.
    pub file: PathBuf,
    /// Whether anything changes.
    pub status: FileChangeStatus,
    /// What changes, as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip)]
    pub(super) found: AgentConfigFile,
    #[serde(skip)]
    pub(super) text: String,
    #[serde(skip)]
    pub(super) written: Vec<WrittenValue>,
    #[serde(skip)]
    pub(super) removed: Vec<WrittenValue>,
    #[serde(skip)]
    pub(super) made: Vec<Vec<String>>,
    #[serde(skip)]
    pub(super) library: bool,
}

/// Whether a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeStatus {
    /// Everything is there already.
    Unchanged,
    /// It is created.
    Created,
    /// It is changed.
    Changed,
}

/// A value that is to be written into a file.
#[derive(Debug)]
pub(super) enum PlannedValue {
    /// An entry of a map.
    Entry { at: Vec<String>, value: Value, taken: TakenPlace },
    /// An item of a list; `mark` recognises an item that an earlier connection left there.
    Item { at: Vec<String>, value: Value, mark: String },
    /// A value of ours that is to be there no longer.
    Gone(WrittenValue),
}

/// What becomes of a value of the user in the place of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenPlace {
    /// It is a conflict.
    Conflict,
    /// It stays, and ours is not written: the user has decided about this one.
    Keep,
    /// It is replaced, and comes back when ours is removed.
    Replace,
}

impl PlannedValue {
    pub(super) fn entry(at: &[&str], value: Value) -> Self {
        Self::Entry { at: owned(at), value, taken: TakenPlace::Conflict }
    }

    pub(super) fn item(at: &[&str], value: Value, mark: impl Into<String>) -> Self {
        Self::Item { at: owned(at), value, mark: mark.into() }
    }
}

/// What is to become of one file.
#[derive(Debug)]
pub(super) enum PlannedFile {
    /// These values stand in it.
    Values {
        format: ConfigFormat,
        values: Vec<PlannedValue>,
        /// Whether they are about which skills the agent lists.
        library: bool,
    },
    /// It is ours, and holds this.
    Whole(String),
}

/// What was written into a file by earlier connections, and whether more than that may be replaced.
#[derive(Debug)]
pub(super) struct ReplacePolicy {
    /// Values that the ledger says are ours: a newer sinew may write them differently.
    pub(super) ours: Vec<WrittenValue>,
    /// The digest of the file as it was left by us.
    pub(super) left: Option<String>,
    /// Whether the user told us to replace what is not ours.
    pub(super) force: bool,
}

impl ReplacePolicy {
    /// What the ledger says about a value that is there.
    fn known(&self, at: &[String], there: &Value) -> Option<&WrittenValue> {
        self.ours.iter().find(|written| match written {
            WrittenValue::Entry { at: place, value, .. }
            | WrittenValue::Item { at: place, value } => place == at && same_meaning(there, value),
            WrittenValue::File => false,
        })
    }
}

/// A file under change.
struct AgentFileEdit {
    document: ConfigDocument,
    written: Vec<WrittenValue>,
    removed: Vec<WrittenValue>,
    made: Vec<Vec<String>>,
}

impl FileChange {
    /// Works out what becomes of a file.
    pub(super) fn plan(
        file: PathBuf,
        found: AgentConfigFile,
        wanted: PlannedFile,
        policy: &ReplacePolicy,
    ) -> Result<Self, CodedError> {
        match wanted {
            PlannedFile::Values { format, values, library } => {
                Self::with_values(file, found, format, &values, policy)
                    .map(|change| Self { library, ..change })
            }
            PlannedFile::Whole(text) => Self::whole(file, found, text, policy),
        }
    }

    fn with_values(
        file: PathBuf,
        found: AgentConfigFile,
        format: ConfigFormat,
        values: &[PlannedValue],
        policy: &ReplacePolicy,
    ) -> Result<Self, CodedError> {
        let mut edit = AgentFileEdit {
            document: found.document(format)?,
            written: Vec::new(),
            removed: Vec::new(),
            made: Vec::new(),
        };
        for value in values {
            match value {
                PlannedValue::Entry { at, value, taken } => {
                    edit.put(&file, at, value, *taken, policy)?;
                }
                PlannedValue::Item { at, value, mark } => {
                    edit.add_item(&file, at, value, mark, policy)?;
                }
                PlannedValue::Gone(written) => edit.take_out(written),
            }
        }
        let before = found.text.clone().unwrap_or_default();
        let is_same = edit.written.is_empty() && edit.removed.is_empty();
        let status = match (&found.text, is_same) {
            (_, true) => FileChangeStatus::Unchanged,
            (None, false) => FileChangeStatus::Created,
            (Some(_), false) => FileChangeStatus::Changed,
        };
        let text = match status {
            FileChangeStatus::Unchanged => before.clone(),
            FileChangeStatus::Changed => edit.document.text(),
            FileChangeStatus::Created => with_last_newline(edit.document.text()),
        };
        let AgentFileEdit { written, removed, made, .. } = edit;
        let diff = diff(&file, &before, &text);
        Ok(Self { diff, file, status, found, text, written, removed, made, library: false })
    }

    fn whole(
        file: PathBuf,
        found: AgentConfigFile,
        text: String,
        policy: &ReplacePolicy,
    ) -> Result<Self, CodedError> {
        let status = match &found.text {
            Some(there) if *there == text => FileChangeStatus::Unchanged,
            Some(_) if policy.force || found.digest() == policy.left => FileChangeStatus::Changed,
            Some(_) => return Err(conflict(&file, &["the file"])),
            None => FileChangeStatus::Created,
        };
        let (written, made) = match status {
            FileChangeStatus::Unchanged => (Vec::new(), Vec::new()),
            _ => (vec![WrittenValue::File], missing_folders(&file)),
        };
        let diff = diff(&file, found.text.as_deref().unwrap_or_default(), &text);
        let removed = Vec::new();
        Ok(Self { diff, file, status, found, text, written, removed, made, library: false })
    }
}

/// The folders above a file that are not there yet, outermost first.
fn missing_folders(file: &Path) -> Vec<Vec<String>> {
    let above = file.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<_> = above.map(|folder| vec![path_text(folder)]).collect();
    missing.reverse();
    missing
}

impl AgentFileEdit {
    fn put(
        &mut self,
        file: &Path,
        at: &[String],
        value: &Value,
        taken: TakenPlace,
        policy: &ReplacePolicy,
    ) -> Result<(), CodedError> {
        let keys = borrowed(at);
        let mut replaced = None;
        if let Some(there) = self.document.get(&keys) {
            if same_meaning(&there, value) {
                return Ok(());
            }
            match policy.known(at, &there) {
                Some(known) => {
                    self.removed.push(known.clone());
                    if let WrittenValue::Entry { replaced: earlier, .. } = known {
                        replaced.clone_from(earlier);
                    }
                }
                None if policy.force || taken == TakenPlace::Replace => replaced = Some(there),
                None if taken == TakenPlace::Keep => return Ok(()),
                None => return Err(conflict(file, &keys)),
            }
            // A plain value is changed in its place, so that its name keeps the user's spelling.
            if value.is_object() {
                self.document.remove(&keys);
            }
        }
        self.note_made(&keys);
        self.document.put(&keys, value).map_err(|trouble| unreadable_error(file, &trouble))?;
        self.written.push(WrittenValue::Entry { at: at.to_vec(), value: value.clone(), replaced });
        Ok(())
    }

    fn add_item(
        &mut self,
        file: &Path,
        at: &[String],
        value: &Value,
        mark: &str,
        policy: &ReplacePolicy,
    ) -> Result<(), CodedError> {
        let keys = borrowed(at);
        let failed = |trouble: ConfigEditError| unreadable_error(file, &trouble);
        let list = self.document.get(&keys);
        let items = match &list {
            Some(Value::Array(items)) => items.as_slice(),
            Some(_) => return Err(failed(ConfigEditError::Shape { at: keys.join(".") })),
            None => &[],
        };
        if has_item(list.as_ref(), value) {
            return Ok(());
        }
        // What an earlier connection left there, or an entry of ours that was changed since.
        let is_old = |item: &&Value| !mark.is_empty() && item.to_string().contains(mark);
        for item in items.iter().filter(is_old) {
            match policy.known(at, item) {
                Some(known) => self.removed.push(known.clone()),
                None if policy.force => {}
                None => return Err(conflict(file, &keys)),
            }
            self.document.remove_item(&keys, item);
        }
        self.note_made(&keys);
        if !self.document.has(&keys) && !self.made.iter().any(|made| made == at) {
            self.made.push(at.to_vec());
        }
        self.document.push(&keys, value).map_err(failed)?;
        self.written.push(WrittenValue::Item { at: at.to_vec(), value: value.clone() });
        Ok(())
    }

    /// Takes a value of ours out, where it still says what was written.
    fn take_out(&mut self, written: &WrittenValue) {
        if remove_value(&mut self.document, written) == RemovedValue::Ours {
            self.removed.push(written.clone());
        }
    }

    /// Notes the maps around a place that are about to be created, outermost first.
    fn note_made(&mut self, at: &[&str]) {
        for depth in 1..at.len() {
            let around = owned(&at[..depth]);
            if !self.made.contains(&around) && !self.document.has(&at[..depth]) {
                self.made.push(around);
            }
        }
    }
}

/// What became of a value that was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemovedValue {
    /// It was there, and is not any more.
    Ours,
    /// Something else is there, which stays.
    Changed,
    /// It was not there.
    Missing,
}

/// Removes what was written from a file, where it is still there; what it replaced comes back.
pub(super) fn remove_value(document: &mut ConfigDocument, written: &WrittenValue) -> RemovedValue {
    let at = written.at();
    let there = document.get(&at);
    match written {
        WrittenValue::Entry { value, replaced, .. } => match there {
            None => RemovedValue::Missing,
            Some(there) if same_meaning(&there, value) => {
                let in_place = replaced.is_some() && !value.is_object();
                if !in_place {
                    document.remove(&at);
                }
                // A value that was there can be put there.
                let _ = replaced.as_ref().map(|earlier| document.put(&at, earlier));
                RemovedValue::Ours
            }
            Some(_) => RemovedValue::Changed,
        },
        WrittenValue::Item { value, .. } if has_item(there.as_ref(), value) => {
            document.remove_item(&at, value);
            RemovedValue::Ours
        }
        // Our item is gone, but one that calls sinew is there: the user may have changed ours.
        WrittenValue::Item { .. } if calls_sinew(there.as_ref()) => RemovedValue::Changed,
        WrittenValue::Item { .. } | WrittenValue::File => RemovedValue::Missing,
    }
}

fn calls_sinew(list: Option<&Value>) -> bool {
    list.is_some_and(|list| list.to_string().contains("hook auto --agent"))
}

fn with_last_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn owned(at: &[&str]) -> Vec<String> {
    at.iter().map(|key| (*key).to_owned()).collect()
}

fn borrowed(at: &[String]) -> Vec<&str> {
    at.iter().map(String::as_str).collect()
}

pub(super) fn diff(file: &Path, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let name = file.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(3).header(&name, &name).to_string()
}

fn conflict(file: &Path, at: &[&str]) -> CodedError {
    CodedError::new(
        ErrorCode::Conflict,
        format!("{} has an entry `{}` that says something else", file.display(), at.join(".")),
    )
    .hint("look at it, then remove it, or replace it with --force")
}
