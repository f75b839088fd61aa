//! The care of the database file: damage that is remembered until someone decides, repair, copies.
//!
//! A damaged database may have said no. So nothing is changed while there is one, and no empty one
//! takes its place unless a person says so.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_cortex::UtcInstant;
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::private_files;
use sinew_settings::{ErrorCode, path_text};
use sinew_store::{RepairReport, StoreError, StoreOptions};

use crate::{Engine, EngineError, store};

/// Copies that are kept.
const KEPT: usize = 7;
/// How old the newest copy becomes before another one is made.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The beginning of a SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The database of an engine, as a file.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseCare<'a> {
    engine: &'a Engine,
}

/// What became of a damaged database.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseRepair {
    /// Where the damaged file is now; absent where nothing was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<String>,
    /// Records that are there again.
    pub records: usize,
    /// Documents that are there again.
    pub documents: usize,
    /// What is lost, as far as it is known.
    pub lost: Vec<String>,
}

impl From<RepairReport> for DatabaseRepair {
    fn from(report: RepairReport) -> Self {
        let RepairReport { kept_as, records, documents, lost } = report;
        Self { kept_as: Some(path_text(&kept_as)), records, documents, lost }
    }
}

/// A copy of the database.
#[derive(Debug, Serialize)]
pub struct DatabaseCopy {
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
}

impl Engine {
    /// The database as a file: whether it is damaged, repair, copies.
    pub fn database(&self) -> DatabaseCare<'_> {
        DatabaseCare { engine: self }
    }
}

impl DatabaseCare<'_> {
    /// The file; `None` where the database is a server's, or there is none yet.
    pub fn file(&self) -> Option<PathBuf> {
        let path = sinew_store::file_of(&store::address(&self.engine.env)).ok()??;
        path.is_file().then(|| self.engine.env.cwd.join(path))
    }

    /// Refuses while the database is known to be damaged, or is not sinew's.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        let Some(path) = self.file() else { return Ok(()) };
        if let Ok(detail) = fs::read_to_string(mark_of(&path)) {
            return Err(self.refusal(&path, detail.trim()));
        }
        match self.engine.store() {
            Err(error) if is_final(error.code) => Err(error),
            _ => Ok(()),
        }
    }

    /// What is wrong with the file at first sight, without the database being opened. For a process
    /// that has not opened it yet.
    pub fn visible_damage(&self) -> Option<String> {
        let path = self.file()?;
        if mark_of(&path).exists() {
            return Some(format!("the database {} is damaged", path.display()));
        }
        let bytes = fs::metadata(&path).ok()?.len();
        let whole = bytes == 0 || bytes >= 512 && bytes.is_multiple_of(512);
        let begins = || {
            use std::io::Read as _;
            let mut head = Vec::new();
            let file = fs::File::open(&path).ok()?;
            file.take(16).read_to_end(&mut head).ok()?;
            Some(head.is_empty() || head == MAGIC)
        };
        if whole && begins().unwrap_or(true) {
            return None;
        }
        Some(match self.may_replace(&path) {
            true => format!("the database {} is damaged", path.display()),
            false => format!("{} is no database of sinew's", path.display()),
        })
    }

    /// Reads every page and looks for damage.
    pub fn check_whole(&self) -> Result<(), EngineError> {
        self.check()?;
        let checked = self.engine.store()?.check();
        checked.map_err(|error| self.remember(error))
    }

    /// The error about a database, and a mark beside its file where that is damaged.
    pub(crate) fn remember(&self, error: StoreError) -> EngineError {
        let (StoreError::Corrupt { detail, .. }, Some(path)) = (&error, self.file()) else {
            return error.into();
        };
        if !self.may_replace(&path) {
            let place = path.display().to_string();
            return StoreError::Foreign { place }.into();
        }
        // Where even this cannot be written, the next look finds the damage again.
        let _ = atomic::write(&mark_of(&path), detail.as_bytes(), FileAccess::OwnerOnly);
        tracing::error!(file = %path.display(), %detail, "the database is damaged");
        self.refusal(&path, detail).caused_by(error)
    }

    fn refusal(&self, path: &Path, detail: &str) -> EngineError {
        let said = format!(
            "the database {} is damaged: {detail}; nothing is changed until it is mended",
            path.display()
        );
        EngineError::new(ErrorCode::DatabaseDamaged, said)
            .hint("`sinew doctor --repair` keeps what can be read")
            .hint("`sinew backup --restore` brings a copy back")
            .hint("`sinew doctor --fresh` begins an empty one")
    }

    /// Whether the file may be moved: sinew's own place is sinew's whatever it holds, elsewhere its
    /// beginning must say so.
    fn may_replace(&self, path: &Path) -> bool {
        path.starts_with(self.engine.env.sinew_home())
            || sinew_store::is_ours(path).unwrap_or(false)
    }

    fn check_replaceable(&self, path: &Path) -> Result<(), EngineError> {
        match self.may_replace(path) {
            true => Ok(()),
            false => Err(StoreError::Foreign { place: path.display().to_string() }.into()),
        }
    }

    fn needed_file(&self) -> Result<PathBuf, EngineError> {
        self.file().ok_or_else(|| {
            let said = "there is no database file";
            EngineError::new(ErrorCode::NoSuchFile, said)
                .hint("a database on a server is looked after there")
        })
    }

    fn stamp(&self) -> String {
        let now = UtcInstant::from_clock(self.engine.env.clock.now_ms()).to_string();
        now.replace([':', '.'], "-")
    }

    /// Puts what can be read of a damaged database into a new one, and says what is lost.
    pub fn repair(&self) -> Result<DatabaseRepair, EngineError> {
        let path = self.needed_file()?;
        self.check_replaceable(&path)?;
        let repaired = sinew_store::repair(&path, &self.stamp(), &StoreOptions::default())?;
        let _ = fs::remove_file(mark_of(&path));
        let none = DatabaseRepair { kept_as: None, records: 0, documents: 0, lost: Vec::new() };
        Ok(repaired.map_or(none, DatabaseRepair::from))
    }

    /// Sets a damaged database aside and begins an empty one; what the cortex mirrors comes back.
    /// Gives the path of the old file, or nothing where it is sound.
    pub fn begin_fresh(&self) -> Result<Option<String>, EngineError> {
        let path = self.needed_file()?;
        self.check_replaceable(&path)?;
        let fresh = store::open_after_set_aside(&self.engine.env)?;
        let aside = fresh.location().set_aside.clone();
        let _ = fs::remove_file(mark_of(&path));
        let _ = self.engine.store.set(fresh);
        if aside.is_some() && self.engine.config.cortex.enabled {
            self.engine.cortex()?;
        }
        Ok(aside.map(|aside| path_text(&aside)))
    }

    /// The folder of copies.
    fn folder(&self) -> PathBuf {
        self.engine.env.sinew_home().join("backups")
    }

    /// The copies there are, newest first.
    pub fn copies(&self) -> Vec<DatabaseCopy> {
        let files = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut copies: Vec<DatabaseCopy> = files
            .filter_map(|file| {
                let name = file.file_name().into_string().ok()?;
                let ours = name.starts_with("sinew-") && name.ends_with(".db");
                let bytes = file.metadata().ok().filter(|_| ours)?.len();
                Some(DatabaseCopy { file: path_text(&file.path()), bytes })
            })
            .collect();
        copies.sort_by(|a, b| b.file.cmp(&a.file));
        copies
    }

    /// Copies the database, to a new file where one is named, else among the copies that are kept.
    pub fn back_up(&self, target: Option<&Path>) -> Result<DatabaseCopy, EngineError> {
        let path = self.needed_file()?;
        let target = match target {
            Some(target) if target.exists() => {
                let said = format!("{} is there already", target.display());
                return Err(EngineError::new(ErrorCode::FileError, said).hint("name a new file"));
            }
            Some(target) => target.to_owned(),
            None => {
                let folder = self.folder();
                private_files::create_folder(&folder)
                    .map_err(|error| EngineError::file("create", &folder, error))?;
                folder.join(format!("sinew-{}.db", self.stamp()))
            }
        };
        sinew_store::backup(&path, &target, &StoreOptions::default())
            .map_err(|error| self.remember(error))?;
        for old in self.copies().into_iter().skip(KEPT) {
            let _ = fs::remove_file(old.file);
        }
        let bytes = fs::metadata(&target).map(|metadata| metadata.len()).unwrap_or_default();
        Ok(DatabaseCopy { file: path_text(&target), bytes })
    }

    /// Makes a copy where the newest one is a day old.
    pub fn back_up_daily(&self) -> Result<Option<DatabaseCopy>, EngineError> {
        let now = self.engine.env.clock.now_ms();
        let age = |copy: &DatabaseCopy| {
            let changed = fs::metadata(&copy.file).and_then(|metadata| metadata.modified()).ok()?;
            let at = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
            // A copy from the future is no reason to wait for it.
            let at = u64::try_from(at.as_millis()).ok().filter(|at| *at <= now + DAY_MS)?;
            Some(now.saturating_sub(at))
        };
        let young = self.copies().first().and_then(age).is_some_and(|age| age < DAY_MS);
        if young || self.file().is_none() {
            return Ok(None);
        }
        self.back_up(None).map(Some)
    }

    /// Puts a copy in the place of the database; the newest where none is named. Gives the copy, and
    /// where the old database is.
    pub fn bring_back(&self, copy: Option<&Path>) -> Result<(String, Option<String>), EngineError> {
        let none = || {
            EngineError::new(ErrorCode::NoSuchFile, "there is no copy of the database")
                .hint("`sinew backup` makes one")
        };
        let copy = match copy {
            Some(copy) => copy.to_owned(),
            None => {
                self.copies().into_iter().next().map(|copy| copy.file.into()).ok_or_else(none)?
            }
        };
        let path = sinew_store::file_of(&store::address(&self.engine.env))?;
        let path = path.ok_or_else(|| {
            EngineError::new(ErrorCode::BadDatabaseUrl, "the database is on a server")
                .hint("bring it back there")
        })?;
        if path.is_file() {
            self.check_replaceable(&path)?;
        }
        let aside = sinew_store::restore(&path, &copy, &self.stamp(), &StoreOptions::default())?;
        let _ = fs::remove_file(mark_of(&path));
        Ok((path_text(&copy), aside.map(|aside| path_text(&aside))))
    }
}

/// Errors about the database that waiting does not mend.
fn is_final(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::DatabaseDamaged | ErrorCode::DatabaseForeign)
}

/// The file that says that a database is damaged.
fn mark_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".damaged");
    name.into()
}
