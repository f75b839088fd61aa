//! Reading a skill's body and the files beside it, and nothing outside its folder.

use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;
use sinew_catalog::locations::HomeFolders;
use sinew_catalog::shell_word;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SKILL_FILE};
use sinew_guard::containment::{self, FileOpenError, FileReadError};
use sinew_guard::scan::SkillBundle;
use sinew_settings::{ErrorCode, path_text};
use sinew_skill::content_hash;

use crate::{EngineError, SkillsHandle};

/// A larger file is not given to a model.
pub const MAX_READ_BYTES: u64 = 1024 * 1024;

/// A file of a skill, read.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillFile {
    /// The skill.
    pub skill: String,
    /// The file below the skill's folder.
    pub file: String,
    /// Its path.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub path: PathBuf,
    /// Its text; bytes that are not UTF-8 are shown as replacement characters.
    pub text: String,
    /// Lower-case hexadecimal SHA-256 of the file itself.
    pub sha256: String,
    /// How many bytes the file has.
    pub size: usize,
    /// The other files of the skill, for further reading.
    pub files: Vec<String>,
}

/// One file of a skill, in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedFile {
    /// Its path below the skill's folder.
    pub path: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A file of a skill as bytes, before it is decoded as text.
pub(crate) struct SkillFileBytes<'c> {
    pub(crate) entry: &'c CatalogEntry,
    pub(crate) file: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) files: Vec<String>,
}

/// A longer configuration is data, and stands in no prompt whole.
const MAX_CONFIGURATION: usize = 4_000;

/// Files listed beside the one that was read: enough to choose from, never a whole checkout.
const MAX_LISTED: usize = 200;

impl SkillsHandle<'_> {
    /// Reads a skill's own file, or `file` below its folder. `wanted` is a name, or a location as
    /// the prompt block gives it.
    pub fn read_file(
        &self,
        catalog: &Catalog,
        wanted: &str,
        file: Option<&str>,
    ) -> Result<SkillFile, EngineError> {
        let read = self.load_file(catalog, wanted, file)?;
        let mut text = String::from_utf8_lossy(&read.bytes).into_owned();
        if read.path == read.entry.file_path {
            self.add_learned(read.entry, &mut text);
        }
        Ok(SkillFile {
            skill: read.entry.name.clone(),
            path: read.path,
            text,
            sha256: content_hash(&read.bytes),
            size: read.bytes.len(),
            files: read.files,
            file: read.file,
        })
    }

    /// Refuses a file of a skill that the scanner blocks: its text is what was found dangerous, and a
    /// reader in a pipe may be a model.
    pub fn check_not_blocked(
        &self,
        catalog: &Catalog,
        file: &SkillFile,
    ) -> Result<(), EngineError> {
        let of_skill = |entry: &&CatalogEntry| {
            entry.name == file.skill && file.path.starts_with(&entry.base_dir)
        };
        match catalog.entries.iter().find(of_skill) {
            Some(entry) if entry.state == EntryState::Blocked => {
                let message = format!("the skill {} is blocked", entry.name);
                Err(EngineError::new(ErrorCode::Quarantined, message)
                    .hint(format!("`sinew why {}` says what was found", shell_word(&entry.name)))
                    .hint("`--blocked`, in a terminal, shows it all the same"))
            }
            _ => Ok(()),
        }
    }

    /// The bytes of a skill's file.
    pub(crate) fn load_file<'c>(
        &self,
        catalog: &'c Catalog,
        wanted: &str,
        file: Option<&str>,
    ) -> Result<SkillFileBytes<'c>, EngineError> {
        let (entry, file) = match self.located(catalog, wanted)? {
            Some((entry, inside)) => (entry, inside),
            None => {
                let entry = self.engine.find(catalog, wanted)?;
                let own = path_text(
                    entry.file_path.strip_prefix(&entry.base_dir).unwrap_or(Path::new(SKILL_FILE)),
                );
                (entry, file.map_or(own, str::to_owned))
            }
        };
        let relative = Path::new(&file);
        let plain = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !plain || file.is_empty() {
            return Err(outside(entry, &file));
        }
        let unreadable = |detail: String| {
            EngineError::new(
                ErrorCode::Unreadable,
                format!("cannot read {}: {detail}", entry.base_dir.join(relative).display()),
            )
        };
        let dir = Dir::open_ambient_dir(&entry.base_dir, ambient_authority())
            .map_err(|error| unreadable(error.to_string()))?;
        let opened = match containment::open_regular(&dir, relative) {
            Ok(opened) => opened,
            Err(FileOpenError::NotFound) => {
                let error = EngineError::new(
                    ErrorCode::NoSuchFile,
                    format!("the skill {} has no file {file}", entry.name),
                );
                let files = list_files(&dir, MAX_LISTED);
                let nearest = sinew_settings::nearest(&file, files.iter().map(String::as_str));
                return Err(match nearest.first() {
                    Some(near) => error.hint(format!("did you mean {near}?")),
                    None if files.is_empty() => error,
                    None => error.hint(format!("its files: {}", files.join(", "))),
                });
            }
            Err(FileOpenError::Link) => self.open_link(entry, &dir, relative)?,
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let bytes = opened.read(MAX_READ_BYTES).map_err(|error| match error {
            FileReadError::TooLarge { .. } => unreadable(error.to_string())
                .hint("a skill's files are meant to be read whole; split the file"),
            FileReadError::Io(error) => unreadable(error.to_string()),
        })?;
        check_scanned(entry, &file, &bytes)?;
        let files = list_files(&dir, MAX_LISTED).into_iter().filter(|other| *other != file);
        let (path, files) = (entry.base_dir.join(relative), files.collect());
        Ok(SkillFileBytes { entry, path, bytes, files, file })
    }

    /// Adds what the user configured for the skill, for a model that follows it. Secrets stay out of
    /// its sight: scripts get the whole value as a variable.
    fn add_configuration(&self, entry: &CatalogEntry, text: &mut String) {
        let Some(value) = entry.configuration(&self.engine.config) else { return };
        let shown = serde_json::to_string_pretty(value).unwrap_or_default();
        let shown: String = shown.chars().take(MAX_CONFIGURATION).collect();
        text.truncate(text.trim_end().len());
        text.push_str("\n\n# Configured by the user for this skill\n\n```json\n");
        text.push_str(&sinew_guard::secrets::mask_strict(&shown).replace("```", "` ` `"));
        text.push_str("\n```\n");
    }

    /// Adds what belongs to the skill on this machine: what the user configured for it, and what was
    /// learned here, each under a heading that says so.
    pub(crate) fn add_learned(&self, entry: &CatalogEntry, text: &mut String) {
        self.add_configuration(entry, text);
        let notes = sinew_workshop::overlay_path(&entry.id);
        let Ok(dir) = Dir::open_ambient_dir(self.engine.workspace(), ambient_authority()) else {
            return;
        };
        let opened = containment::open_regular(&dir, Path::new(&notes)).ok();
        let read = opened.and_then(|file| file.read(MAX_READ_BYTES).ok());
        if let Some(learned) = read.filter(|bytes| !bytes.is_empty()) {
            text.truncate(text.trim_end().len());
            text.push_str("\n\n# Learned in this workspace\n\n");
            text.push_str(&String::from_utf8_lossy(&learned));
        }
    }

    /// The files of a skill with their sizes, and whether the list was cut.
    pub fn listed_files(&self, entry: &CatalogEntry) -> (Vec<ListedFile>, bool) {
        let Ok(dir) = Dir::open_ambient_dir(&entry.base_dir, ambient_authority()) else {
            return (Vec::new(), false);
        };
        let own = entry.file_path.strip_prefix(&entry.base_dir).map(path_text).unwrap_or_default();
        // A single file in a folder of skills has no files of its own beside it.
        let paths = match own == SKILL_FILE || own.eq_ignore_ascii_case(SKILL_FILE) {
            true => list_files(&dir, MAX_LISTED + 1),
            false => vec![own],
        };
        let cut = paths.len() > MAX_LISTED;
        let size = |path: &String| dir.symlink_metadata(path).map(|facts| facts.len()).unwrap_or(0);
        let listed =
            paths.into_iter().take(MAX_LISTED).map(|path| ListedFile { bytes: size(&path), path });
        (listed.collect(), cut)
    }

    /// The skill and file that a location means; `None` when `wanted` is not a location.
    fn located<'a>(
        &self,
        catalog: &'a Catalog,
        wanted: &str,
    ) -> Result<Option<(&'a CatalogEntry, String)>, EngineError> {
        if let Some(found) = self.below_base(catalog, wanted) {
            return Ok(Some(found));
        }
        let looks_like_path =
            wanted.starts_with(['~', '/', '.']) || Path::new(wanted).is_absolute();
        if !looks_like_path {
            return Ok(None);
        }
        let homes = self.homes();
        let expanded = match homes.expand(wanted) {
            Some(path) => PathBuf::from(path.into_owned()),
            // OpenPocket names files from the home without `~`.
            None if self.engine.profile.is_openpocket() => self.engine.env.home.join(wanted),
            None => self.engine.env.cwd.join(wanted),
        };
        let entry = catalog
            .unshadowed()
            .filter(|entry| expanded.starts_with(&entry.base_dir))
            .max_by_key(|entry| entry.base_dir.as_os_str().len());
        let Some(entry) = entry else {
            return Err(EngineError::new(
                ErrorCode::OutsideSkills,
                format!("{wanted} lies in no skill's folder"),
            )
            .hint(
                "`sinew list` shows the skills, and `sinew open` with a skill's name where it lies",
            ));
        };
        let inside = path_text(expanded.strip_prefix(&entry.base_dir).unwrap_or(&expanded));
        let file = if inside.is_empty() { SKILL_FILE.to_owned() } else { inside };
        Ok(Some((entry, file)))
    }

    /// The skill that `@2/notes/SKILL.md` means, the short form of the prompt block, where only one
    /// skill of this name and folder can be meant.
    fn below_base<'a>(
        &self,
        catalog: &'a Catalog,
        wanted: &str,
    ) -> Option<(&'a CatalogEntry, String)> {
        let (base, rest) = wanted.strip_prefix('@')?.split_once('/')?;
        if base.is_empty() || !base.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (folder, file) = rest.split_once('/')?;
        let mut found = catalog.unshadowed().filter(|entry| entry.id == folder);
        let entry = found.next().filter(|_| found.next().is_none())?;
        Some((entry, file.to_owned()))
    }

    /// A link is followed only where it stays inside the skill's own folder.
    fn open_link(
        &self,
        entry: &CatalogEntry,
        dir: &Dir,
        relative: &Path,
    ) -> Result<containment::OpenFile, EngineError> {
        let target = containment::resolve_inside(&entry.base_dir, &entry.base_dir.join(relative));
        let real = std::fs::canonicalize(&entry.base_dir);
        let (Ok(Some(target)), Ok(real)) = (target, real) else {
            return Err(outside(entry, &path_text(relative)));
        };
        let inside = target.strip_prefix(&real).unwrap_or(&target);
        containment::open_regular(dir, inside).map_err(|_| outside(entry, &path_text(relative)))
    }

    pub(crate) fn homes(&self) -> HomeFolders {
        HomeFolders::single(path_text(&self.engine.env.home))
    }
}

/// Refuses bytes that are not those the verdict is about: a file may have changed since it was
/// scanned.
pub(crate) fn check_scanned(
    entry: &CatalogEntry,
    file: &str,
    bytes: &[u8],
) -> Result<(), EngineError> {
    let Some(scan) = entry.scan.as_ref().filter(|scan| !scan.digest.is_empty()) else {
        return Ok(());
    };
    let same = if entry.base_dir.join(file) == entry.file_path {
        content_hash(bytes) == entry.content_hash
    } else {
        // A link within the folder leads to a file that was scanned under another name.
        SkillBundle::from_dir(&entry.base_dir).is_ok_and(|bundle| {
            bundle.digest() == scan.digest && bundle.files().iter().any(|own| own.bytes == bytes)
        })
    };
    if same {
        return Ok(());
    }
    let said = format!("the skill {} changed since it was scanned", entry.name);
    Err(EngineError::new(ErrorCode::ChangedMeanwhile, said)
        .hint("ask again; it is scanned before it is given"))
}

fn outside(entry: &CatalogEntry, file: &str) -> EngineError {
    EngineError::new(
        ErrorCode::PathEscape,
        format!("{file} does not lie in the folder of the skill {}", entry.name),
    )
    .hint("name a file by its path below the skill's folder, without `..`")
}

/// Whether a file or folder of that name is part of a skill: hidden ones, packages and editors' copies
/// are not.
pub(crate) fn is_part(name: &str) -> bool {
    let copy = name.ends_with('~')
        || name.starts_with('#') && name.ends_with('#')
        || [".swp", ".swo", ".bak", ".orig"].iter().any(|end| name.ends_with(end));
    !name.starts_with('.') && name != "node_modules" && !copy
}

/// The files of a skill, in order, at most `most`; links and files that are not part of it are left out.
pub(crate) fn list_files(dir: &Dir, most: usize) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let Ok(entries) = dir.read_dir(here) else { continue };
        for entry in entries.flatten() {
            // A name that is not valid Unicode cannot be requested.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if !is_part(&name) || files.len() >= most {
                continue;
            }
            if kind.is_dir() {
                folders.push(folder.join(name));
            } else if kind.is_file() {
                files.push(path_text(&folder.join(name)).replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}
