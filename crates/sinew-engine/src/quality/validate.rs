//! Validating files on disk, and fixing what can be fixed without guessing.

use std::fs;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;
use sinew_catalog::{Catalog, SKILL_FILE};
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::containment::{self, FileOpenError};
use sinew_settings::{ErrorCode, ReasonSeverity, path_text};
use sinew_skill::validate::{
    RuleSet, ValidationFile, ValidationIssue, apply_fixes, missing_file_report, validate,
};

use crate::{EngineError, QualityHandle};

/// What to validate.
#[derive(Debug, Clone)]
pub enum ValidationTarget {
    /// These files and folders.
    Paths(Vec<PathBuf>),
    /// Every skill file that the active sources hold.
    Sources,
}

/// What validation found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ValidationReport {
    /// The rule set that applied.
    pub rules: String,
    /// Files without an error.
    pub valid: usize,
    /// Files with one.
    pub invalid: usize,
    /// All of them.
    pub total: usize,
    /// Each file, in order.
    pub files: Vec<ValidatedFile>,
}

/// One file's result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ValidatedFile {
    /// The file.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub path: PathBuf,
    /// Whether it has no error.
    pub passed: bool,
    /// What is wrong with it.
    pub issues: Vec<ValidationIssue>,
    /// The fix, where one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<FixedFile>,
}

/// A file that was fixed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FixedFile {
    /// The file as it was before.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub backup: PathBuf,
}

/// Whether issues that carry an edit are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FixMode {
    Yes,
    No,
}

/// A larger file is not a skill file under any rule set.
const MAX_VALIDATED_BYTES: u64 = 4 * 1024 * 1024;

impl ValidationReport {
    fn of(rules: RuleSet, files: Vec<ValidatedFile>) -> Self {
        let valid = files.iter().filter(|file| file.passed).count();
        let total = files.len();
        Self { rules: rules.to_string(), valid, invalid: total - valid, total, files }
    }
}

impl QualityHandle<'_> {
    /// Validates, and with `fixing` applies the edits of issues, keeping a backup.
    pub fn validate(
        &self,
        catalog: &Catalog,
        target: &ValidationTarget,
        rules: RuleSet,
        fixing: bool,
    ) -> Result<ValidationReport, EngineError> {
        let files = match target {
            ValidationTarget::Paths(paths) => self.named_files(paths)?,
            ValidationTarget::Sources => source_files(catalog),
        };
        let fixing = if fixing { FixMode::Yes } else { FixMode::No };
        let files: Vec<ValidatedFile> =
            files.into_iter().map(|path| judge(path, rules, fixing)).collect::<Result<_, _>>()?;
        Ok(ValidationReport::of(rules, files))
    }

    /// Validates a text as the `SKILL.md` of a folder of that name.
    pub fn validate_text(&self, directory: &str, text: &str, rules: RuleSet) -> ValidationReport {
        let target = ValidationFile { directory, file_name: SKILL_FILE, bytes: text.as_bytes() };
        let found = validate(&target, rules);
        let path = Path::new(directory).join(SKILL_FILE);
        let passed = found.passed();
        let file = ValidatedFile { path, passed, issues: found.issues, fixed: None };
        ValidationReport::of(rules, vec![file])
    }

    fn named_files(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, EngineError> {
        let mut files = Vec::new();
        for path in paths {
            let path = self.engine.env.cwd.join(path);
            let metadata = fs::metadata(&path).map_err(|error| {
                EngineError::new(
                    ErrorCode::NoSuchPath,
                    format!("cannot validate {}: {error}", path.display()),
                )
                .caused_by(error)
                .hint("name a SKILL.md, a skill's folder, or a folder of skills")
            })?;
            if metadata.is_dir() {
                files.extend(files_in(&path));
            } else {
                files.push(path);
            }
        }
        files.sort();
        files.dedup();
        Ok(files)
    }
}

fn source_files(catalog: &Catalog) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        catalog.entries.iter().map(|entry| entry.file_path.clone()).collect();
    files.sort();
    files.dedup();
    files
}

/// The skill file of a folder, or of each folder below it; a folder without any stands for itself.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    if let Some(file) = skill_file(folder) {
        return vec![file];
    }
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if hidden || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            match skill_file(&entry.path()) {
                Some(file) => found.push(file),
                None if depth < 6 => folders.push((entry.path(), depth + 1)),
                None => {}
            }
        }
    }
    if found.is_empty() {
        found.push(folder.join(SKILL_FILE));
    }
    found
}

fn skill_file(folder: &Path) -> Option<PathBuf> {
    [SKILL_FILE, "skill.md"]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.symlink_metadata().is_ok())
}

fn judge(path: PathBuf, rules: RuleSet, fixing: FixMode) -> Result<ValidatedFile, EngineError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let directory = folder.file_name().map(|name| path_text(Path::new(name))).unwrap_or_default();
    let file_name = path.file_name().map(|name| path_text(Path::new(name))).unwrap_or_default();
    let bytes = match read(folder, &file_name) {
        Ok(bytes) => bytes,
        Err(FileOpenError::NotFound) => {
            let found = missing_file_report(&directory);
            return Ok(ValidatedFile { path, passed: false, issues: found.issues, fixed: None });
        }
        // One bad file never spoils the rest: it fails, and the others are judged.
        Err(error) => {
            let issue = ValidationIssue {
                severity: ReasonSeverity::Error,
                code: "UNREADABLE",
                message: format!("the file cannot be read: {error}"),
                line: None,
                fix: None,
            };
            return Ok(ValidatedFile { path, passed: false, issues: vec![issue], fixed: None });
        }
    };
    let look = |bytes: &[u8]| {
        validate(&ValidationFile { directory: &directory, file_name: &file_name, bytes }, rules)
    };
    let mut found = look(&bytes);
    let mut fixed = None;
    if fixing == FixMode::Yes
        && let Some(better) = apply_fixes(&bytes, &found.issues)
    {
        let failed = |error: std::io::Error| EngineError::file("write", &path, error);
        let backup = atomic::backup(&path).map_err(failed)?;
        atomic::write(&path, &better, FileAccess::Same).map_err(failed)?;
        found = look(&better);
        fixed = Some(FixedFile { backup });
    }
    Ok(ValidatedFile { passed: found.passed(), issues: found.issues, path, fixed })
}

/// Reads a regular file. A link is refused like a pipe: what it leads to is not this skill's, and a
/// fix would bring it in.
pub(crate) fn read(folder: &Path, file_name: &str) -> Result<Vec<u8>, FileOpenError> {
    let dir =
        Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => FileOpenError::NotFound,
            _ => FileOpenError::Io(error),
        })?;
    let file = containment::open_regular(&dir, Path::new(file_name))?;
    file.read(MAX_VALIDATED_BYTES).map_err(|error| FileOpenError::Io(std::io::Error::other(error)))
}
