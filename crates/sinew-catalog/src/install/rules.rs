//! The rules for what an installer may install, as data, with one interpreter.
//!
//! The patterns match the whole text, without multi-line mode, so that a trailing line end never
//! passes.

use std::sync::OnceLock;

use regex::Regex;
use url::Url;

use super::InstallerKind;

/// The longest package name.
const MAX_NAME: usize = 256;
/// The longest address.
const MAX_URL: usize = 2_048;

/// What one kind of installer accepts.
struct InstallerRule {
    kind: InstallerKind,
    /// The fields that may name what to install; the first one present counts.
    fields: &'static [&'static str],
    max: usize,
    /// The first stage, at load.
    first: &'static str,
    /// Texts that the first stage refuses anywhere.
    refused: &'static [&'static str],
    /// Endings that a manager would not read as part of a name.
    endings: &'static [&'static str],
    /// The second stage, before a vector is built.
    second: &'static str,
}

const RULES: &[InstallerRule] = &[
    InstallerRule {
        kind: InstallerKind::Brew,
        fields: &["formula", "cask"],
        max: MAX_NAME,
        first: r"^[A-Za-z0-9][A-Za-z0-9@+._/-]*$",
        refused: &["\\", ".."],
        endings: &[],
        second: r"^[a-z0-9][a-z0-9+._@-]*(/[a-z0-9][a-z0-9+._@-]*){0,2}$",
    },
    InstallerRule {
        kind: InstallerKind::Node,
        fields: &["package"],
        max: MAX_NAME,
        // An optionally scoped name, then optionally an exact version or a tag. Ranges, addresses
        // and folders are not registry names.
        first: r"^(?:@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*(?:@(?:[A-Za-z0-9][A-Za-z0-9._-]*|\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?))?$",
        refused: &["://", "#", ":"],
        // npm reads these as files in the current folder.
        endings: &[".tgz", ".tar", ".tar.gz"],
        second: r"^(@[a-z0-9._-]+/)?[a-z0-9._-]+(@[a-z0-9^~>=<.*|-]+)?$",
    },
    InstallerRule {
        kind: InstallerKind::Go,
        fields: &["module"],
        max: MAX_NAME,
        first: r"^[A-Za-z0-9][A-Za-z0-9._~+\-/]*(?:@[A-Za-z0-9][A-Za-z0-9._~+\-/]*)?$",
        refused: &["\\", "://"],
        endings: &[],
        second: r"^[a-zA-Z0-9][a-zA-Z0-9._/-]*@[a-z0-9v._-]+$",
    },
    InstallerRule {
        kind: InstallerKind::Uv,
        fields: &["package"],
        max: MAX_NAME,
        first: r"^[A-Za-z0-9][A-Za-z0-9._\-\[\]=<>!~+,]*$",
        refused: &["\\", "://"],
        endings: &[],
        second: r"^(?i)[a-z0-9][a-z0-9._-]*(\[[a-z0-9,._-]+\])?(([><=!~]=?|===?)[a-z0-9.*_-]+)?$",
    },
    InstallerRule {
        kind: InstallerKind::Apt,
        fields: &["package"],
        max: MAX_NAME,
        first: r"^[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+:~-]+)?$",
        refused: &[],
        // apt reads a trailing `-` as an instruction to remove.
        endings: &["-"],
        second: r"^[a-z0-9][a-z0-9+.-]*[a-z0-9+.](=[A-Za-z0-9.+:~-]+)?$",
    },
    InstallerRule {
        kind: InstallerKind::Download,
        fields: &["url"],
        max: MAX_URL,
        first: r"^(?i)https?://[^\s]+$",
        refused: &[],
        endings: &[],
        second: r"^(?i)https?://",
    },
];

/// The patterns of each kind, compiled when a skill first needs them.
static PATTERNS: [OnceLock<Option<[Regex; 2]>>; RULES.len()] =
    [const { OnceLock::new() }; RULES.len()];

fn patterns(rule: usize) -> Option<&'static [Regex; 2]> {
    let InstallerRule { first, second, .. } = &RULES[rule];
    let compile = || Some([Regex::new(first).ok()?, Regex::new(second).ok()?]);
    PATTERNS[rule].get_or_init(compile).as_ref()
}

fn at(kind: InstallerKind) -> usize {
    RULES.iter().position(|rule| rule.kind == kind).unwrap_or_default()
}

/// The fields that name what a kind installs.
pub(super) fn fields(kind: InstallerKind) -> &'static [&'static str] {
    RULES[at(kind)].fields
}

/// The first stage.
pub(super) fn check_first_stage(kind: InstallerKind, text: &str) -> Result<(), String> {
    let rule = &RULES[at(kind)];
    common(text, rule.max)?;
    if let Some(refused) = rule.refused.iter().find(|refused| text.contains(**refused)) {
        return Err(format!("holds `{refused}`"));
    }
    if let Some(ending) = rule.endings.iter().find(|ending| text.ends_with(**ending)) {
        return Err(format!("ends in `{ending}`"));
    }
    matches(kind, 0, text)
}

/// The second stage.
pub(super) fn check_second_stage(kind: InstallerKind, text: &str) -> Result<(), String> {
    common(text, RULES[at(kind)].max)?;
    matches(kind, 1, text)
}

/// A tap is a user and a name.
pub(super) fn check_tap(text: &str) -> Result<(), String> {
    check_second_stage(InstallerKind::Brew, text)?;
    if text.matches('/').count() == 1 { Ok(()) } else { Err("is not `user/name`".to_owned()) }
}

/// The address of a download, which only sinew fetches.
pub(super) fn parse_download_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`url` cannot be read: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err("`url` is neither http nor https".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`url` contains a user name or a password".to_owned());
    }
    Ok(url)
}

/// A digest, in lower case.
pub(super) fn parse_sha256(text: &str) -> Result<String, String> {
    let lower = text.trim().to_ascii_lowercase();
    let ok = lower.len() == 64 && lower.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if ok { Ok(lower) } else { Err("`sha256` is not 64 hexadecimal digits".to_owned()) }
}

fn common(text: &str, max: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.starts_with('-') {
        return Err("starts with `-`, like an option".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("contains a control character".to_owned());
    }
    if text.chars().count() > max {
        return Err(format!("is longer than {max} characters"));
    }
    Ok(())
}

fn matches(kind: InstallerKind, stage: usize, text: &str) -> Result<(), String> {
    let pattern = patterns(at(kind)).map(|patterns| &patterns[stage]);
    // Without a compiled pattern a rule refuses everything.
    if pattern.is_some_and(|pattern| pattern.is_match(text)) {
        return Ok(());
    }
    Err(format!("is not a valid name for {}", kind.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_kind_has_a_rule() {
        assert!((0..RULES.len()).all(|rule| patterns(rule).is_some()));
        for kind in InstallerKind::ALL {
            assert_eq!(RULES[at(kind)].kind, kind);
        }
    }
}
