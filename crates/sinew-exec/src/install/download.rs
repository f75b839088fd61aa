//! Downloads: fetched, checked, unpacked beside their target, and moved there in one step.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use sinew_catalog::install::{DownloadSpec, InstallerKind, file_name};
use sinew_catalog::tools;
use sinew_guard::archive::{ArchiveError, ArchiveFormat, ArchiveLimits, components};
use sinew_guard::containment::resolve_inside;
use sinew_guard::private_files;
use sinew_guard::staging::{StagedFileMode, StagedTree, StagingError};
use sinew_settings::{Environment, Reason, ReasonCode};

use super::fetch::FileFetcher;
use super::{InstallResult, lock, work_folder};

/// A download for a skill.
#[derive(Debug, Clone, Copy)]
pub struct ToolDownload<'a> {
    /// The installer's name within the skill.
    pub id: &'a str,
    /// The skill's key, which names its folder of tools.
    pub key: &'a str,
    /// What is fetched.
    pub download: &'a DownloadSpec,
    /// Programs that it provides; nothing else becomes executable.
    pub bins: &'a [String],
    /// The vector that users see.
    pub argv: &'a [String],
}

/// Fetches a tool into its skill's folder; after a failure nothing has changed.
pub fn download(
    tool: &ToolDownload<'_>,
    fetcher: &FileFetcher,
    env: &Environment,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> InstallResult {
    let started = Instant::now();
    let mut result = match fetch_and_place(tool, fetcher, env, progress) {
        Ok(placed) => {
            let done = InstallResult::without_output(tool.id, tool.argv, Ok(placed.message));
            InstallResult { warnings: placed.warnings, ..done }
        }
        Err(reason) => InstallResult::without_output(tool.id, tool.argv, Err(&reason)),
    };
    result.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    result
}

struct DownloadSummary {
    message: String,
    warnings: Vec<String>,
}

fn fetch_and_place(
    tool: &ToolDownload<'_>,
    fetcher: &FileFetcher,
    env: &Environment,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<DownloadSummary, Reason> {
    let wanted = tool.download;
    let format = format(wanted)?;
    let _lock = lock(env, InstallerKind::Download).map_err(io_failed)?;
    let target = DownloadTarget::of(env, tool.key, wanted.target.as_deref())?;
    let mut file = temporary(env)?;
    let fetched = fetcher.fetch(&wanted.url, wanted.sha256.is_some(), &mut file, progress)?;
    let mut warnings = Vec::new();
    match &wanted.sha256 {
        Some(expected) if *expected != fetched.sha256 => {
            let detail = format!("expected sha256 {expected}, found {}", fetched.sha256);
            return Err(Reason::new(ReasonCode::DownloadDigestMismatch, detail)
                .remedy("do not use it; report it to the skill's author"));
        }
        Some(_) => {}
        None => warnings
            .push(format!("the content cannot be verified; its sha256 is {}", fetched.sha256)),
    }
    file.seek(SeekFrom::Start(0)).map_err(io_failed)?;
    let stage = StagedTree::begin(&target.parent).map_err(io_failed)?;
    let mode = |path: &str, _| match tool.bins.iter().any(|bin| is_program(path, bin)) {
        true => StagedFileMode::Script,
        false => StagedFileMode::Plain,
    };
    let placed = match format {
        Some(format) => {
            let limits = ArchiveLimits::TOOL.with_strip(wanted.strip);
            let unpacked = stage
                .unpack_from(&mut file, fetched.length, format, &limits, &mode)
                .map_err(unsafe_archive)?;
            if unpacked.vanished > 0 {
                warnings.push(format!(
                    "{} files were skipped: stripping left no name",
                    unpacked.vanished
                ));
            }
            format!("{} files", unpacked.files)
        }
        None => {
            let name = file_name(&wanted.url);
            stage.write_from(&name, &mut file, mode(&name, false)).map_err(unsafe_archive)?;
            name
        }
    };
    let place = target.parent.join(&target.name);
    stage.carry_over_from(&place).map_err(unsafe_archive)?;
    stage.commit(&target.name).map_err(unsafe_archive)?;
    Ok(DownloadSummary { message: format!("{placed} in {}", place.display()), warnings })
}

/// A temporary file without a name: it is gone when it is closed, even if this process is killed.
fn temporary(env: &Environment) -> Result<File, Reason> {
    let folder = work_folder(env).map_err(io_failed)?;
    tempfile::tempfile_in(folder).map_err(io_failed)
}

/// The archive format, by what the skill says or by the file name; `None` for a plain file.
fn format(download: &DownloadSpec) -> Result<Option<ArchiveFormat>, Reason> {
    let by_ending = |name: &str| {
        let name = name.to_ascii_lowercase();
        let table: [(&str, ArchiveFormat); 5] = [
            ("tar.gz", ArchiveFormat::TarGz),
            ("tgz", ArchiveFormat::TarGz),
            ("tar.bz2", ArchiveFormat::TarBz2),
            ("tbz2", ArchiveFormat::TarBz2),
            ("zip", ArchiveFormat::Zip),
        ];
        let ends = |ending: &str| name == ending || name.ends_with(&format!(".{ending}"));
        table.into_iter().find(|(ending, _)| ends(ending)).map(|(_, format)| format)
    };
    if download.extract == Some(false) {
        return Ok(None);
    }
    let name = file_name(&download.url);
    let found = by_ending(download.archive.as_deref().unwrap_or(&name));
    let must_unpack = download.extract == Some(true) || download.archive.is_some();
    if found.is_none() && must_unpack {
        let detail = "it should be unpacked, but it is neither tar.gz nor tar.bz2 nor zip";
        return Err(Reason::new(ReasonCode::ArchiveUnknown, detail)
            .remedy("correct `archive` in the skill's `install` entry"));
    }
    Ok(found)
}

fn is_program(path: &str, bin: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == bin || name.strip_suffix(".exe") == Some(bin)
}

/// The target of a download: a folder below the skill's own.
struct DownloadTarget {
    parent: PathBuf,
    name: String,
}

impl DownloadTarget {
    /// Checked as text, and again on the disk: no folder on the path may be a link.
    fn of(env: &Environment, key: &str, wanted: Option<&str>) -> Result<Self, Reason> {
        let root = tools::tools_root(env);
        let own = tools::skill_tools_folder(env, key);
        let inside = inside(&own, wanted.unwrap_or_default())?;
        private_files::create_folder(&root).map_err(io_failed)?;
        let mut parts: Vec<String> = vec![tools::folder_name(key)];
        parts.extend(inside);
        let name = parts.pop().unwrap_or_default();
        let mut parent = root.clone();
        for part in parts {
            parent.push(part);
            match fs::symlink_metadata(&parent) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(escape(&parent)),
                Err(_) => private_files::create_folder(&parent).map_err(io_failed)?,
            }
        }
        let place = parent.join(&name);
        if fs::symlink_metadata(&place).is_ok_and(|metadata| !metadata.is_dir()) {
            return Err(escape(&place));
        }
        match resolve_inside(&root, &parent) {
            Ok(Some(_)) => Ok(Self { parent, name }),
            Ok(None) => Err(escape(&parent)),
            Err(error) => Err(io_failed(error)),
        }
    }
}

/// The parts of `wanted` below the skill's own folder.
fn inside(own: &Path, wanted: &str) -> Result<Vec<String>, Reason> {
    let path = Path::new(wanted);
    let below = match path.is_absolute() {
        true => path.strip_prefix(own).map_err(|_| escape(path))?,
        false => path,
    };
    let mut parts = Vec::new();
    for part in below.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => {
                let name = name.to_str().ok_or_else(|| escape(path))?;
                let plain = components(name).is_ok_and(|parts| parts.len() == 1);
                if !plain {
                    return Err(escape(path));
                }
                parts.push(name.to_owned());
            }
            _ => return Err(escape(path)),
        }
    }
    Ok(parts)
}

fn escape(path: &Path) -> Reason {
    let printable: String = path.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
    Reason::new(
        ReasonCode::TargetEscape,
        format!("{printable} is outside the skill's folder of tools"),
    )
    .remedy("correct `targetDir` in the skill's `install` entry")
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn io_failed(error: std::io::Error) -> Reason {
    Reason::new(ReasonCode::InstallFailed, format!("cannot write the download: {error}"))
        .remedy("check that SINEW_HOME is writable and the disk is not full")
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn unsafe_archive(error: StagingError) -> Reason {
    let code = match &error {
        StagingError::Io(_) => ReasonCode::InstallFailed,
        StagingError::Name { .. } => ReasonCode::ArchiveUnsafeEntry,
        StagingError::Archive(error) => match error {
            ArchiveError::Name { .. } | ArchiveError::Kind { .. } | ArchiveError::Twins { .. } => {
                ReasonCode::ArchiveUnsafeEntry
            }
            ArchiveError::Cap { .. } | ArchiveError::Ratio(_) => ReasonCode::ArchiveTooLarge,
            ArchiveError::UnknownFormat | ArchiveError::Malformed(_) | ArchiveError::Io(_) => {
                ReasonCode::ArchiveUnknown
            }
        },
    };
    Reason::new(code, format!("the archive is refused: {error}"))
        .remedy("nothing was unpacked; report it to the skill's author")
}
