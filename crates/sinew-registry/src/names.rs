//! Names: which slugs may be published, and which would be mistaken for another.

use sinew_guard::archive;

/// The shortest and the longest slug that may be published.
const SLUG_LENGTH: std::ops::RangeInclusive<usize> = 3..=96;
/// How many edits apart two slugs of different owners must be.
const SLIPS: usize = 2;

/// Words that are routes here, or that would look like the registry itself.
const RESERVED: &[&str] = &[
    "admin",
    "api",
    "auth",
    "badge",
    "card",
    "clawhub",
    "clawdhub",
    "delete",
    "docs",
    "download",
    "export",
    "healthz",
    "index",
    "install",
    "login",
    "logout",
    "mcp",
    "metrics",
    "moderation",
    "new",
    "null",
    "openclaw",
    "readyz",
    "registry",
    "resolve",
    "restore",
    "root",
    "scan",
    "search",
    "settings",
    "sinew",
    "skill",
    "skills",
    "stars",
    "static",
    "telemetry",
    "trending",
    "undefined",
    "undelete",
    "upload",
    "upload-url",
    "verify",
    "versions",
    "well-known",
    "whoami",
];

/// A slug as it is looked up: any case, as older registries have them.
pub(crate) fn read_slug(text: &str) -> Option<String> {
    let slug = text.trim().to_ascii_lowercase();
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fine = !slug.is_empty()
        && slug.len() <= *SLUG_LENGTH.end()
        && slug.bytes().all(inner)
        && !slug.starts_with('-')
        && !slug.ends_with('-');
    fine.then_some(slug)
}

/// A slug that may be published, or why not.
pub(crate) fn publish_slug(text: &str) -> Result<String, String> {
    let Some(slug) = read_slug(text) else {
        return Err("Slug must be lower-case letters, digits and single hyphens".to_owned());
    };
    if !SLUG_LENGTH.contains(&slug.len()) {
        return Err(format!(
            "Slug must have {} to {} characters",
            SLUG_LENGTH.start(),
            SLUG_LENGTH.end()
        ));
    }
    if slug.contains("--") {
        return Err("Slug must not contain \"--\"".to_owned());
    }
    // `con`, `nul`, `com1`: no client on Windows could unpack it.
    if RESERVED.contains(&slug.as_str()) || archive::components(&slug).is_err() {
        return Err(format!("Slug \"{slug}\" is reserved"));
    }
    Ok(slug)
}

/// An owner's handle in its one form: lower case, without `@`.
pub(crate) fn handle(text: &str) -> Option<String> {
    let text = text.trim();
    let handle = text.strip_prefix('@').unwrap_or(text).to_ascii_lowercase();
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let inner = |c: char| edge(c) || matches!(c, '.' | '_' | '-');
    let fine = (1..=40).contains(&handle.len())
        && handle.starts_with(edge)
        && handle.ends_with(edge)
        && handle.chars().all(inner);
    fine.then_some(handle)
}

/// A handle made from the label of a token.
pub fn handle_from(label: &str) -> Option<String> {
    let kept = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '.' | '_' | '-') => c,
        _ => '-',
    };
    let text: String = label.trim().chars().take(40).map(kept).collect();
    handle(text.trim_matches(['-', '.', '_']))
}

/// The slug among `taken` that `slug` could be mistaken for. Equal ones are not: they are told apart by
/// their owners.
pub(crate) fn mistaken_for<'a>(
    slug: &str,
    taken: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let skeleton = skeleton(slug);
    taken.into_iter().filter(|other| *other != slug).find(|other| {
        let near = slug.len().abs_diff(other.len()) <= SLIPS
            && strsim::damerau_levenshtein(slug, other) <= SLIPS;
        near || self::skeleton(other) == skeleton
    })
}

/// What a slug looks like at a glance: letters for digits that look like them, no separators.
fn skeleton(slug: &str) -> String {
    let glance = |c: char| match c {
        '0' => Some('o'),
        '1' | 'i' => Some('l'),
        '3' => Some('e'),
        '4' => Some('a'),
        '5' => Some('s'),
        '7' => Some('t'),
        '-' => None,
        c => Some(c),
    };
    let text: String = slug.chars().filter_map(glance).collect();
    text.replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are refused; a slug that was published under older rules is still found.
    #[test]
    fn slugs_that_may_be_published() {
        for fine in ["demo-skill", "pdf", "a1b", " Demo-Skill "] {
            assert!(publish_slug(fine).is_ok(), "{fine:?}");
        }
        let long = "a".repeat(97);
        for bad in [
            "a--b",
            "-a",
            "ab",
            "admin",
            "con",
            "nul",
            "com1",
            "a-",
            "",
            "a b c",
            "a/b/c",
            "..",
            "ünïcode",
            &*long,
        ] {
            assert!(publish_slug(bad).is_err(), "{bad:?}");
        }
        assert_eq!(read_slug("Legacy--Skill").as_deref(), Some("legacy--skill"));
        assert_eq!(read_slug("a/../b"), None);
    }

    #[test]
    fn names_that_would_be_mistaken() {
        let taken = ["todoist-cli", "weather"];
        for near in ["todoist-cl1", "todoistcli", "todiost-cli", "weahter", "vveather", "wheather"]
        {
            assert!(mistaken_for(near, taken).is_some(), "{near}");
        }
        for far in ["todoist-cli", "weather-station", "calendar"] {
            assert_eq!(mistaken_for(far, taken), None, "{far}");
        }
    }

    #[test]
    fn handles_of_tokens() {
        for (label, expected) in [
            ("alice", Some("alice")),
            ("CI bot!", Some("ci-bot")),
            ("  @Team.X ", Some("team.x")),
            ("***", None),
        ] {
            assert_eq!(handle_from(label).as_deref(), expected, "{label:?}");
        }
    }
}
