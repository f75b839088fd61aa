//! Skills as a host fetches them: file by file, each with its size and digest.
//!
//! This is the server side of the MCP skills extension. A skill is served whole or not at all, with a
//! fixed set of reasons. Nothing outside its folder is ever part of it: hidden files, links, package
//! folders and editors' copies are left out.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SKILL_FILE};
use sinew_guard::containment::{self, FileStamp};
use sinew_settings::ErrorCode;
use sinew_settings::config::SkillPrefix;
use sinew_skill::{YamlMapping, content_hash};

use super::files::{check_scanned, is_part, list_files};
use crate::{EngineError, SkillsHandle};

/// Files that every host of the extension must accept in one skill.
pub const MAX_SERVED_FILES: usize = 512;
/// Bytes that every host of the extension must accept in one skill.
pub const MAX_SERVED_BYTES: u64 = 16 * 1024 * 1024;
/// The scheme of served skills.
const SCHEME: &str = "skill://";
/// The longest name of the Agent Skills rule.
const MAX_NAME: usize = 64;
/// A file this young may change again without its time changing, so its digest is not kept.
const SETTLED: Duration = Duration::from_secs(2);
/// Digests kept; a catalog of thousands of skills has fewer files.
const MAX_KEPT: usize = 100_000;
/// What RFC 3986 does not allow in a path, and `%` itself.
const NOT_IN_ADDRESSES: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Why a skill is not served file by file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnservedReason {
    /// An agent cannot use it now.
    NotReady,
    /// Its name breaks the rule, or differs from its folder's.
    NameRule,
    /// It is a single file, not a folder.
    SingleFile,
    /// Its front matter reads only after repair, so that hosts would read something else.
    NeedsRepair,
    /// It has more files than hosts accept.
    TooManyFiles,
    /// It has more bytes than hosts accept.
    TooLarge,
    /// Its files cannot be read.
    Unreadable,
}

impl UnservedReason {
    /// The word for records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotReady => "not_ready",
            Self::NameRule => "name_rule",
            Self::SingleFile => "single_file",
            Self::NeedsRepair => "needs_repair",
            Self::TooManyFiles => "too_many_files",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
        }
    }

    /// The same in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotReady => "it cannot be used now",
            Self::NameRule => {
                "its name is not its folder's name in lower-case letters, digits and single hyphens"
            }
            Self::SingleFile => "it is a single file; only folders are served",
            Self::NeedsRepair => "its front matter is no strict YAML",
            Self::TooManyFiles => "it has more than 512 files",
            Self::TooLarge => "it has more than 16 MiB",
            Self::Unreadable => "its files cannot be read",
        }
    }
}

/// A skill as a host fetches it.
#[derive(Debug, Clone)]
pub struct ServedSkill {
    /// Its name.
    pub name: String,
    /// The address of its folder, without a slash at the end.
    pub root: String,
    /// Its front matter, every field as written.
    pub frontmatter: YamlMapping,
    /// Its files by path.
    pub files: BTreeMap<String, ServedFile>,
}

/// One file of a served skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedFile {
    /// Its address.
    pub uri: String,
    /// Lower-case hexadecimal SHA-256 of its bytes.
    pub sha256: String,
    /// How many bytes it has.
    pub size: u64,
}

/// One file of a skill, whether it is served or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillFileDigest {
    /// The file below the skill's folder.
    pub file: String,
    /// Lower-case hexadecimal SHA-256 of its bytes; absent where they were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How many bytes it has.
    pub size: u64,
}

impl ServedSkill {
    /// The address of its skill file.
    pub fn uri(&self) -> String {
        format!("{}/{SKILL_FILE}", self.root)
    }
}

/// Digests of files that did not change since they were read.
#[derive(Debug, Default)]
pub struct DigestCache(Mutex<HashMap<PathBuf, (FileStamp, String)>>);

impl SkillsHandle<'_> {
    /// The address of a skill's own file, where its name allows it to be served.
    pub fn skill_uri(&self, entry: &CatalogEntry) -> Option<String> {
        self.may_serve(entry).ok().map(|()| format!("{}/{SKILL_FILE}", self.served_root(entry)))
    }

    /// Whether a skill can be served, as far as its entry tells.
    fn may_serve(&self, entry: &CatalogEntry) -> Result<(), UnservedReason> {
        let skill = match &entry.skill {
            Some(skill) if entry.state == EntryState::Ready => skill,
            _ => return Err(UnservedReason::NotReady),
        };
        if entry.file_path.file_name().is_none_or(|name| name != SKILL_FILE) {
            return Err(UnservedReason::SingleFile);
        }
        if !skill.repairs.is_empty() {
            return Err(UnservedReason::NeedsRepair);
        }
        let text = |key: &str| skill.frontmatter.get(key).and_then(sinew_skill::YamlValue::as_str);
        let named = text("name") == Some(&entry.name) && text("description").is_some();
        let folder = entry.base_dir.file_name().is_some_and(|folder| folder == entry.name.as_str());
        if named && folder && follows_name_rule(&entry.name) {
            Ok(())
        } else {
            Err(UnservedReason::NameRule)
        }
    }

    fn served_root(&self, entry: &CatalogEntry) -> String {
        match self.engine.config.mcp.skill_prefix {
            SkillPrefix::Tier => format!("{SCHEME}{}/{}", entry.tier.as_str(), entry.name),
            SkillPrefix::None => format!("{SCHEME}{}", entry.name),
        }
    }

    /// A skill with its files and their digests, or why it is not served.
    pub fn serve(
        &self,
        entry: &CatalogEntry,
        digests: &DigestCache,
    ) -> Result<ServedSkill, UnservedReason> {
        self.may_serve(entry)?;
        let frontmatter = entry.skill.as_ref().map(|skill| skill.frontmatter.clone());
        let dir = Dir::open_ambient_dir(&entry.base_dir, ambient_authority())
            .map_err(|_| UnservedReason::Unreadable)?;
        let names = list_files(&dir, MAX_SERVED_FILES + 1);
        if names.len() > MAX_SERVED_FILES {
            return Err(UnservedReason::TooManyFiles);
        }
        let root = self.served_root(entry);
        let (mut files, mut bytes) = (BTreeMap::new(), 0);
        for name in names {
            let stamp = containment::stamp_of(&dir, Path::new(&name));
            bytes += stamp.map_err(|_| UnservedReason::Unreadable)?.size;
            if bytes > MAX_SERVED_BYTES {
                return Err(UnservedReason::TooLarge);
            }
            let (sha256, size) = digests
                .of(&dir, &entry.base_dir, &name, self.engine.env.clock.now_ms())
                .ok_or(UnservedReason::Unreadable)?;
            let uri = format!("{root}/{}", encode(&name));
            files.insert(name, ServedFile { uri, sha256, size });
        }
        let frontmatter = frontmatter.unwrap_or_default();
        Ok(ServedSkill { name: entry.name.clone(), root, frontmatter, files })
    }

    /// The files of a skill with their digests, in order, at most `most`; served or not.
    pub fn file_digests(
        &self,
        entry: &CatalogEntry,
        digests: &DigestCache,
        most: usize,
    ) -> Vec<SkillFileDigest> {
        let Ok(dir) = Dir::open_ambient_dir(&entry.base_dir, ambient_authority()) else {
            return Vec::new();
        };
        let mut left = MAX_SERVED_BYTES;
        let each = list_files(&dir, most).into_iter().map(|file| {
            let size = containment::stamp_of(&dir, Path::new(&file)).map_or(0, |stamp| stamp.size);
            // A checkout of videos is listed and not read.
            let read = size <= left;
            left = left.saturating_sub(size);
            let known = read
                .then(|| digests.of(&dir, &entry.base_dir, &file, self.engine.env.clock.now_ms()));
            SkillFileDigest { sha256: known.flatten().map(|(sha256, _)| sha256), size, file }
        });
        each.collect()
    }

    /// The skill that an address belongs to, and the path below its folder.
    pub fn served_at<'c>(
        &self,
        catalog: &'c Catalog,
        uri: &str,
    ) -> Option<(&'c CatalogEntry, String)> {
        let mut parts = uri.strip_prefix(SCHEME)?.split('/').map(decode);
        let tier = match self.engine.config.mcp.skill_prefix {
            SkillPrefix::Tier => Some(parts.next()??),
            SkillPrefix::None => None,
        };
        let name = parts.next()??;
        let below: Vec<String> = parts.collect::<Option<_>>()?;
        if !below.iter().all(|part| is_part(part)) {
            return None;
        }
        let found = catalog.unshadowed().find(|entry| entry.name == name)?;
        let fits = tier.is_none_or(|tier| found.tier.as_str() == tier);
        (fits && self.may_serve(found).is_ok()).then(|| (found, below.join("/")))
    }

    /// The bytes of a served file, as they are now.
    pub fn read_served(&self, entry: &CatalogEntry, file: &str) -> Result<Vec<u8>, EngineError> {
        let missing = || {
            let said = format!("the skill {} has no file {file}", entry.name);
            EngineError::new(ErrorCode::NoSuchFile, said)
        };
        let dir = Dir::open_ambient_dir(&entry.base_dir, ambient_authority());
        let dir = dir.map_err(|error| EngineError::file("read", &entry.base_dir, error))?;
        let open = containment::open_regular(&dir, Path::new(file)).map_err(|_| missing())?;
        let bytes = open.read(MAX_SERVED_BYTES).map_err(|_| missing())?;
        check_scanned(entry, file, &bytes)?;
        Ok(bytes)
    }
}

impl DigestCache {
    /// The digest and size of a file: known from before, or read now.
    fn of(&self, dir: &Dir, folder: &Path, name: &str, now_ms: u64) -> Option<(String, u64)> {
        let (path, relative) = (folder.join(name), Path::new(name));
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((stamp, sha256)) = known.get(&path)
            && containment::stamp_of(dir, relative).ok().as_ref() == Some(stamp)
        {
            return Some((sha256.clone(), stamp.size));
        }
        let file = containment::open_regular(dir, relative).ok()?;
        let stamp = file.stamp;
        let bytes = file.read(MAX_SERVED_BYTES).ok()?;
        let sha256 = content_hash(&bytes);
        let modified = stamp.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        if modified.is_some_and(|time| time + SETTLED < Duration::from_millis(now_ms)) {
            if known.len() >= MAX_KEPT {
                known.clear();
            }
            known.insert(path, (stamp, sha256.clone()));
        }
        Some((sha256, bytes.len() as u64))
    }
}

/// The Agent Skills rule: 1 to 64 of `a-z0-9-`, no hyphen at an end, none doubled.
fn follows_name_rule(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=MAX_NAME).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// A path as part of an address: what RFC 3986 does not allow there is escaped.
fn encode(path: &str) -> String {
    utf8_percent_encode(path, NOT_IN_ADDRESSES).to_string()
}

/// One segment of an address; `None` for an escape that is none, or that hides a separator.
fn decode(segment: &str) -> Option<String> {
    let is_escape = |behind: &str| {
        behind.as_bytes().get(..2).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit))
    };
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    let sound = segment.split('%').skip(1).all(is_escape)
        && !text.is_empty()
        && !text.contains(['/', '\\', '\0'])
        && text != "."
        && text != "..";
    sound.then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, follows_name_rule};

    #[test]
    fn names_follow_the_rule_or_not() {
        for name in ["a", "pdf-tools", "x9", &"a".repeat(64)] {
            assert!(follows_name_rule(name), "{name}");
        }
        for name in ["", "-a", "a-", "a--b", "My Skill", "ä", "a_b", &"a".repeat(65)] {
            assert!(!follows_name_rule(name), "{name}");
        }
    }

    #[test]
    fn addresses_hide_no_separator() {
        assert_eq!(encode("templates/a b%ü.md"), "templates/a%20b%25%C3%BC.md");
        assert_eq!(decode("a%20b%25%C3%BC.md").as_deref(), Some("a b%ü.md"));
        for hostile in ["", "..", ".", "%2e%2e", "a%2Fb", "a%5cb", "%00", "%zz", "%4", "%ff"] {
            assert_eq!(decode(hostile), None, "{hostile}");
        }
    }
}
