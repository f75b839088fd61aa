//! `cortex.json` on disk: export, import, and the mirror that other programs may write too.

use std::fs;
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_cortex::original::{self, CortexJson, CortexJsonRepair, MAX_FILE};
use sinew_cortex::record::{CortexImportMode, RecordBody};
use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_settings::{Actor, ErrorCode};
use sinew_store::{ExpectedVersion, JsonText};

use super::Cortex;
use super::manage::check_importer;
use crate::EngineError;

/// Where it is noted what the mirror held when it was written last.
const MIRRORS: &str = "cortex-mirrors";

/// What was exported.
#[derive(Debug, Clone, Serialize)]
pub struct CortexExport {
    /// The file that was written, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The file's text.
    #[serde(skip)]
    pub text: String,
    /// Regions in it.
    pub regions: usize,
    /// Candidates in it.
    pub candidates: usize,
    /// Lessons in it.
    pub lessons: usize,
}

/// What was imported.
#[derive(Debug, Clone, Serialize)]
pub struct CortexImport {
    /// The file that was read.
    pub path: PathBuf,
    /// Whether it was added to the memory or replaced it.
    pub mode: CortexImportMode,
    /// Regions in it.
    pub regions: usize,
    /// Candidates in it.
    pub candidates: usize,
    /// Lessons in it.
    pub lessons: usize,
    /// What was repaired or dropped.
    pub repaired: Vec<CortexJsonRepair>,
}

impl Cortex<'_> {
    /// The memory in the original's schema.
    pub fn original_schema(&self) -> Result<CortexJson, EngineError> {
        let now = self.now();
        self.with_memory(|memory| original::export(memory, now, self.policy()))
    }

    /// Exports the memory, to a file where one is named.
    pub fn export(&self, path: Option<&Path>) -> Result<CortexExport, EngineError> {
        let file = self.original_schema()?;
        let text = file.to_text();
        let path = path.map(|path| self.engine.env.cwd.join(path));
        if let Some(path) = &path {
            atomic::write(path, text.as_bytes(), FileAccess::OwnerOnly)
                .map_err(|error| EngineError::file("write", path, error))?;
        }
        let (regions, candidates, lessons) = counts(&file);
        Ok(CortexExport { path, text, regions, candidates, lessons })
    }

    /// Imports a file. An agent cannot: weights decide what goes ahead unasked.
    pub fn import(
        &self,
        path: &Path,
        mode: CortexImportMode,
        by: &Actor,
    ) -> Result<CortexImport, EngineError> {
        check_importer(by)?;
        let path = self.engine.env.cwd.join(path);
        let text = read(&path)?;
        let (file, repaired) =
            original::read_cortex_json(&text, self.now().day()).map_err(|unreadable| {
                EngineError::new(
                    ErrorCode::NoCortexFile,
                    format!("{} is no cortex.json: {unreadable}", path.display()),
                )
                .caused_by(unreadable)
                .hint("nothing was changed; a file of the original has `version` and `cortex`")
            })?;
        let (regions, candidates, lessons) = counts(&file);
        self.append(self.now(), vec![RecordBody::Import { mode, file: Box::new(file) }])?;
        self.mirror();
        Ok(CortexImport { path, mode, regions, candidates, lessons, repaired })
    }

    /// Brings the mirror up to date. It is a copy for other programs: failing to write it is only a
    /// notice.
    pub(super) fn mirror(&self) {
        let Some(path) = &self.state.mirror else { return };
        if let Err(error) = self.write_mirror(path) {
            self.notice(format!("the mirror was not written: {error}"));
        }
    }

    fn write_mirror(&self, path: &Path) -> Result<(), EngineError> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let _lock = FileLock::acquire(Path::new(&lock))
            .map_err(|error| EngineError::file("lock", path, error))?;
        let store = self.store()?;
        let key = path.to_string_lossy();
        let before =
            store.get(MIRRORS, &key)?.and_then(|noted| noted.body.read::<CortexJson>().ok());
        let before = before.unwrap_or_default();
        let ours = self.original_schema()?;
        let merged = match read(path) {
            Ok(text) => match original::read_cortex_json(&text, self.now().day()) {
                Ok((theirs, _)) => original::merge(&before, &ours, &theirs),
                Err(_) => {
                    self.keep_aside(path)?;
                    ours.clone()
                }
            },
            Err(_) if !path.exists() => ours.clone(),
            Err(error) => return Err(error),
        };
        atomic::write(path, merged.to_text().as_bytes(), FileAccess::OwnerOnly)
            .map_err(|error| EngineError::file("write", path, error))?;
        store.put(MIRRORS, &key, ExpectedVersion::Any, JsonText::of(&ours)?)?;
        Ok(())
    }

    /// Keeps a file that cannot be read beside the one that replaces it.
    fn keep_aside(&self, path: &Path) -> Result<(), EngineError> {
        let stamp = self.now().to_string().replace([':', '.'], "-");
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".corrupt-{stamp}"));
        let aside = PathBuf::from(aside);
        fs::rename(path, &aside).map_err(|error| EngineError::file("rename", path, error))?;
        self.notice(format!(
            "{} could not be read; it is kept as {}",
            path.display(),
            aside.display()
        ));
        Ok(())
    }

    /// After a damaged database was set aside, the memory is restored from the mirror.
    pub(super) fn restore_from_mirror(&self) {
        let Some(path) = self.state.mirror.clone().filter(|path| path.is_file()) else { return };
        match self.import(&path, CortexImportMode::Merge, &Actor::System) {
            Ok(imported) => self.notice(format!(
                "{} regions were brought back from {}",
                imported.regions,
                path.display()
            )),
            Err(error) => self.notice(format!("the mirror brought nothing back: {error}")),
        }
    }
}

fn counts(file: &CortexJson) -> (usize, usize, usize) {
    let motor = &file.cortex.motor;
    let candidates = motor.iter().map(|(_, region)| region.candidates.len()).sum();
    (motor.len(), candidates, file.cortex.prefrontal.lessons.len())
}

/// A regular file of bounded size: never a pipe, a device or a folder.
fn read(path: &Path) -> Result<String, EngineError> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        Io::NotFound => {
            EngineError::new(ErrorCode::NoSuchFile, format!("there is no {}", path.display()))
        }
        _ => EngineError::file("read", path, error),
    })?;
    let refused =
        |why: &str| EngineError::new(ErrorCode::NoCortexFile, format!("{} {why}", path.display()));
    if !metadata.is_file() {
        return Err(refused("is no regular file"));
    }
    if metadata.len() > MAX_FILE as u64 {
        return Err(refused("is too large for a cortex.json"));
    }
    let bytes = fs::read(path).map_err(|error| EngineError::file("read", path, error))?;
    String::from_utf8(bytes).map_err(|_| refused("is not UTF-8 text"))
}
