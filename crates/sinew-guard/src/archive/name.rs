//! Names of archive entries, checked before they are used in a path.
//!
//! `Path::join` with an absolute name replaces the base, and Windows interprets names that Unix
//! takes literally; so a name is first split into plain components, by the strictest rules of all
//! systems.

use unicode_normalization::UnicodeNormalization as _;

/// Longest component that common file systems accept.
const MAX_COMPONENT: usize = 255;
/// Longest whole name; deeper trees break tools on Windows.
const MAX_NAME: usize = 500;
/// Deepest folder; real skills have four.
const MAX_DEPTH: usize = 16;

/// Why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EntryNameError {
    /// The name or one of its components is empty.
    #[error("it has an empty part")]
    Empty,
    /// `.` or `..`.
    #[error("it has a `.` or `..` part")]
    Dots,
    /// Starts at a root: `/`, a drive or a share.
    #[error("it is absolute")]
    Absolute,
    /// A backslash, which is a separator on Windows.
    #[error("it has a backslash")]
    Backslash,
    /// A control character, including NUL.
    #[error("it has a control character")]
    Control,
    /// A colon, which names a drive or an alternate stream.
    #[error("it has a colon")]
    Colon,
    /// A trailing dot or space, which Windows drops.
    #[error("a part ends in a dot or a space")]
    TrailingDotOrSpace,
    /// A Windows device name.
    #[error("a part is a device name on Windows")]
    Reserved,
    /// Too long or too deep.
    #[error("it is too long or too deep")]
    TooLong,
    /// Not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// Nothing is left after leading parts were stripped.
    #[error("nothing is left of it after stripping leading parts")]
    Stripped,
}

/// The components of an entry name, or why it is refused. A single trailing `/` marks a folder.
pub fn components(name: &str) -> Result<Vec<&str>, EntryNameError> {
    if name.is_empty() {
        return Err(EntryNameError::Empty);
    }
    if name.starts_with(['/', '\\', '~']) {
        return Err(EntryNameError::Absolute);
    }
    if name.chars().count() > MAX_NAME {
        return Err(EntryNameError::TooLong);
    }
    let name = name.strip_suffix('/').unwrap_or(name);
    let parts: Vec<&str> = name.split('/').collect();
    if parts.len() > MAX_DEPTH {
        return Err(EntryNameError::TooLong);
    }
    for part in &parts {
        component(part)?;
    }
    Ok(parts)
}

/// The components after `strip` leading ones were removed; checked before and after.
pub fn stripped_components(name: &str, strip: usize) -> Result<Vec<&str>, EntryNameError> {
    let parts = components(name)?;
    let rest: Vec<&str> = parts.into_iter().skip(strip).collect();
    if rest.is_empty() {
        return Err(EntryNameError::Stripped);
    }
    for part in &rest {
        component(part)?;
    }
    Ok(rest)
}

fn component(part: &str) -> Result<(), EntryNameError> {
    if part.is_empty() {
        return Err(EntryNameError::Empty);
    }
    if part.chars().all(|c| c == '.') && part.len() <= 2 {
        return Err(EntryNameError::Dots);
    }
    if part.len() > MAX_COMPONENT {
        return Err(EntryNameError::TooLong);
    }
    if part.contains('\\') {
        return Err(EntryNameError::Backslash);
    }
    if part.chars().any(char::is_control) {
        return Err(EntryNameError::Control);
    }
    if part.contains(':') {
        return Err(EntryNameError::Colon);
    }
    if part.ends_with(['.', ' ']) {
        return Err(EntryNameError::TrailingDotOrSpace);
    }
    if is_reserved(part) {
        return Err(EntryNameError::Reserved);
    }
    Ok(())
}

fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            matches!(rest, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || numbered("COM")
        || numbered("LPT")
}

/// A form that is equal for all names that some file system treats as the same.
pub fn collision_key(path: &str) -> String {
    path.nfkc().flat_map(char::to_lowercase).nfc().collect()
}

/// Whether `name` is allowed for a skill that sinew writes: `^[a-z0-9][a-z0-9_-]{1,79}$`.
pub fn is_skill_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    (2..=80).contains(&bytes.len())
        && (bytes[0].is_ascii_lowercase() || bytes[0].is_ascii_digit())
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
        && !is_reserved(name)
}

/// Top-level folders for support files of a proposal.
pub const SUPPORT_FOLDERS: &[&str] = &["references", "templates", "scripts", "assets"];

/// The components of a support file's path: checked like an entry name, and below one of
/// [`SUPPORT_FOLDERS`].
pub fn support_file_components(path: &str) -> Option<Vec<&str>> {
    let parts = components(path).ok()?;
    let allowed = parts.len() >= 2 && SUPPORT_FOLDERS.contains(&parts[0]) && !path.ends_with('/');
    allowed.then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_pass_and_others_say_why() {
        assert_eq!(components("a/b.md"), Ok(vec!["a", "b.md"]));
        assert_eq!(components("dir/"), Ok(vec!["dir"]));
        assert_eq!(components("../x"), Err(EntryNameError::Dots));
        assert_eq!(components("/etc/x"), Err(EntryNameError::Absolute));
        assert_eq!(components("C:\\x"), Err(EntryNameError::Backslash));
        assert_eq!(components("a:b"), Err(EntryNameError::Colon));
        assert_eq!(components("nul.txt"), Err(EntryNameError::Reserved));
        assert_eq!(components("COM¹"), Err(EntryNameError::Reserved));
        assert_eq!(components("a//b"), Err(EntryNameError::Empty));
        assert_eq!(components("a./b"), Err(EntryNameError::TrailingDotOrSpace));
        assert_eq!(components("command/console.txt"), Ok(vec!["command", "console.txt"]));
        assert_eq!(stripped_components("top/a", 1), Ok(vec!["a"]));
        assert_eq!(stripped_components("top", 1), Err(EntryNameError::Stripped));
    }

    #[test]
    fn names_for_writing_are_narrow() {
        assert!(is_skill_name("todo-list") && is_skill_name("a1"));
        for bad in ["a", "A1", "-a", "a/b", "..", "con", &"a".repeat(81)] {
            assert!(!is_skill_name(bad), "{bad}");
        }
        assert!(support_file_components("scripts/run.sh").is_some());
        assert!(
            support_file_components("SKILL.md").is_none()
                && support_file_components("scripts/../SKILL.md").is_none()
        );
    }
}
