//! Test cases for routing that a person kept: a message and the skill that should answer it.
//!
//! They are stored in the workspace, beside the skills that they are about, in the format that `sinew
//! eval route` reads: run them again after changing a description.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use sinew_catalog::Catalog;
use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_guard::{containment, secrets};
use sinew_route::eval::read_questions;
use sinew_settings::{Actor, ErrorCode};

use crate::{EngineError, QualityHandle};

/// Their path in a workspace.
pub const CASES_FILE: &str = "evals/route.jsonl";

/// The longest message, in characters.
const MAX_MESSAGE: usize = 20_000;
/// A larger file is not a hand-made list of cases.
const MAX_FILE: usize = 4 * 1024 * 1024;

/// What became of a test case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavedCase {
    /// The file.
    pub path: PathBuf,
    /// Cases in it now.
    pub cases: usize,
    /// Whether the file had another answer for the message; it has this one now.
    pub replaced: bool,
}

impl QualityHandle<'_> {
    /// The path of this workspace's test cases, whether or not the file exists.
    pub fn cases_path(&self) -> PathBuf {
        self.engine.workspace().join(CASES_FILE)
    }

    /// Keeps a message with the skill that should answer it, or with none. The same message again
    /// gets the new answer. Only a person can: an agent would mark its own work.
    pub fn save_case(
        &self,
        catalog: &Catalog,
        message: &str,
        expected: Option<&str>,
        actor: &Actor,
    ) -> Result<SavedCase, EngineError> {
        if !actor.is_person() {
            let said = "only a person can keep a test case";
            return Err(EngineError::new(ErrorCode::NeedsPerson, said)
                .hint("save it on the Route page of the dashboard"));
        }
        let message = message.trim();
        if message.is_empty() || message.chars().nth(MAX_MESSAGE).is_some() {
            let said = format!("a message has 1 to {MAX_MESSAGE} characters");
            return Err(EngineError::new(ErrorCode::BadMessage, said));
        }
        if !secrets::find_strict(message).is_empty() {
            let said = "the message holds a secret, and test cases are shared with the workspace";
            return Err(EngineError::new(ErrorCode::LiteralSecret, said)
                .hint("write the message without it"));
        }
        let expected = expected.map(|skill| self.engine.find(catalog, skill)).transpose()?;
        let (names, kind) = match expected {
            Some(entry) => (vec![entry.name.as_str()], "normal"),
            None => (Vec::new(), "none"),
        };
        let row = json!({"query": message, "expected": names, "kind": kind}).to_string();
        self.append_case(message, &row)
    }

    fn append_case(&self, message: &str, row: &str) -> Result<SavedCase, EngineError> {
        let path = self.cases_path();
        let folder = path.parent().unwrap_or(self.engine.workspace());
        let failed = |error| EngineError::file("write", &path, error);
        fs::create_dir_all(folder).map_err(failed)?;
        for place in [folder, &path] {
            self.stays_inside(place)?;
        }
        let lock = self.engine.env.sinew_home().join("cases.lock");
        let _lock = FileLock::acquire(&lock).map_err(failed)?;
        let before = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(EngineError::file("read", &path, error)),
        };
        let asks_the_same = |line: &&str| {
            read_questions(line).rows.first().is_some_and(|known| known.query.trim() == message)
        };
        let kept: Vec<&str> = before.lines().filter(|line| !asks_the_same(line)).collect();
        let replaced = kept.len() < before.lines().count();
        let text: String = kept.into_iter().chain([row]).flat_map(|line| [line, "\n"]).collect();
        if text.len() > MAX_FILE {
            let said = format!("{} would be larger than {MAX_FILE} bytes", path.display());
            return Err(EngineError::new(ErrorCode::TooLarge, said)
                .hint("move older cases to another file; `--queries` takes any"));
        }
        atomic::write(&path, text.as_bytes(), FileAccess::Shared).map_err(failed)?;
        Ok(SavedCase { cases: read_questions(&text).rows.len(), replaced, path })
    }

    /// A workspace may be untrusted, so links that lead out of it are refused.
    fn stays_inside(&self, place: &Path) -> Result<(), EngineError> {
        let found = match fs::symlink_metadata(place) {
            Ok(_) => containment::resolve_inside(self.engine.workspace(), place),
            Err(_) => return Ok(()),
        };
        match found {
            Ok(Some(_)) => Ok(()),
            _ => {
                let said = format!("{} leads out of the workspace", place.display());
                Err(EngineError::new(ErrorCode::PathEscape, said)
                    .hint("replace the link by a folder or a file"))
            }
        }
    }
}
