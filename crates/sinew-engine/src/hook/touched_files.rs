//! Files that count: a skill whose `paths` cover a file that tools have touched is a candidate for the
//! next message, if the message is about that file or the router finds the skill near.
//!
//! A candidate joins a short list and is never a match: a touched file says what was worked on, not what
//! is wanted now.

use std::path::Path;

use sinew_catalog::{Catalog, CatalogEntry};
use sinew_skill::YamlValue;

use crate::routing::RouteAnswer;

/// Files of a session that are remembered, the last ones first.
pub(super) const MAX_TOUCHED: usize = 20;
/// Candidates for one message.
const MAX_CANDIDATES: usize = 2;
/// Patterns of one skill that are looked at, and characters of one.
const MAX_PATTERNS: usize = 16;
const MAX_PATTERN: usize = 200;
/// Alternatives that the braces of a pattern stand for.
const MAX_ALTERNATIVES: usize = 16;
/// How probable the router must find a skill, where the message names no file: half of what would put it
/// on a short list by itself.
const NEAR: f64 = 0.12;

/// A skill that a touched file brings up.
#[derive(Debug)]
pub(super) struct FileCandidate<'c> {
    pub(super) entry: &'c CatalogEntry,
    pub(super) because: String,
}

/// The skills whose `paths` cover what was touched, where the message is about it.
pub(super) fn candidates<'c>(
    catalog: &'c Catalog,
    touched: &[String],
    message: &str,
    answer: &RouteAnswer,
) -> Vec<FileCandidate<'c>> {
    if touched.is_empty() {
        return Vec::new();
    }
    let message = message.to_lowercase();
    let near = |entry: &CatalogEntry| {
        let ranked = answer.matches.iter().find(|found| found.name == entry.name);
        ranked.is_some_and(|found| found.probability >= NEAR)
    };
    let mut found = Vec::new();
    for entry in catalog.unshadowed().filter(|entry| entry.model_visible) {
        let patterns = path_patterns(entry);
        let covered = touched.iter().take(MAX_TOUCHED).find_map(|file| {
            let pattern = patterns.iter().find(|pattern| covers(pattern, file))?;
            Some((file, pattern)).filter(|_| is_named(file, &message) || near(entry))
        });
        if let Some((file, pattern)) = covered {
            let because = format!("its paths (`{pattern}`) cover {file}, which was worked on");
            found.push(FileCandidate { entry, because });
        }
        if found.len() == MAX_CANDIDATES {
            break;
        }
    }
    found
}

/// Whether a message names a file: by its name, or by its name without the ending.
fn is_named(file: &str, message: &str) -> bool {
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().to_lowercase());
    let Some(name) = name.filter(|name| !name.is_empty()) else { return false };
    let stem = name.split('.').next().unwrap_or_default();
    let is_word = |word: &str| {
        message
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .any(|one| one == word)
    };
    message.contains(&name) || (stem.chars().count() >= 4 && is_word(stem))
}

/// The patterns in a skill's front matter: a list, or one text with commas.
fn path_patterns(entry: &CatalogEntry) -> Vec<String> {
    let field = entry.skill.as_ref().and_then(|skill| skill.frontmatter.get("paths"));
    let texts: Vec<&str> = match field {
        Some(YamlValue::List(list)) => list.iter().filter_map(YamlValue::as_str).collect(),
        Some(YamlValue::String(text)) => split_outside_braces(text),
        _ => return Vec::new(),
    };
    let patterns = texts.into_iter().map(str::trim).filter(|text| !text.is_empty());
    patterns
        .filter(|text| text.len() <= MAX_PATTERN)
        .take(MAX_PATTERNS)
        .map(str::to_owned)
        .collect()
}

fn split_outside_braces(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let split = text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.collect()
}

/// Whether a pattern covers a file: `*` within a folder, `**` across folders, `?`, and `{a,b}`. A pattern
/// without a slash is about the file's name alone.
fn covers(pattern: &str, file: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    let name = match pattern.contains('/') {
        true => file,
        false => file.rsplit('/').next().unwrap_or(file),
    };
    let pattern = pattern.trim_start_matches('/');
    alternatives(pattern).iter().any(|pattern| {
        // Most patterns end like the files they are for, and most files end otherwise.
        let tail = pattern.rsplit(['*', '?']).next().unwrap_or_default();
        name.ends_with(tail) && matches(pattern.as_bytes(), name.trim_start_matches('/').as_bytes())
    })
}

/// What a pattern with braces stands for; braces inside braces stay as they are written.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut all = vec![pattern.to_owned()];
    while let Some(at) = all.iter().position(|one| braces(one).is_some()) {
        let one = all.swap_remove(at);
        let Some((open, close)) = braces(&one) else { break };
        for choice in one[open + 1..close].split(',') {
            all.push(format!("{}{choice}{}", &one[..open], &one[close + 1..]));
        }
        if all.len() > MAX_ALTERNATIVES {
            all.truncate(MAX_ALTERNATIVES);
            break;
        }
    }
    all
}

fn braces(text: &str) -> Option<(usize, usize)> {
    let close = text.find('}')?;
    Some((text[..close].rfind('{')?, close))
}

/// One row of positions per part of the pattern: no pattern takes longer than its length times the
/// file's.
fn matches(pattern: &[u8], file: &[u8]) -> bool {
    let mut reached = vec![false; file.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let mut next = vec![false; file.len() + 1];
        let rest = &pattern[at..];
        if rest.starts_with(b"**") {
            // `**/` also stands for no folder at all.
            let folders = rest.starts_with(b"**/");
            let mut open = false;
            for place in 0..=file.len() {
                open |= reached[place];
                let whole = !folders || place == 0 || file[place - 1] == b'/';
                next[place] = reached[place] || (open && whole);
            }
            at += if folders { 3 } else { 2 };
        } else if rest[0] == b'*' {
            let mut open = false;
            for place in 0..=file.len() {
                if place > 0 && file[place - 1] == b'/' {
                    open = false;
                }
                open |= reached[place];
                next[place] = open;
            }
            at += 1;
        } else {
            for place in 0..file.len() {
                let fits = rest[0] == file[place] || (rest[0] == b'?' && file[place] != b'/');
                next[place + 1] = reached[place] && fits;
            }
            at += 1;
        }
        reached = next;
    }
    reached[file.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_files_as_in_gitignore() {
        let check = |pattern: &str, file: &str, expected: bool| {
            assert_eq!(covers(pattern, file), expected, "{pattern} {file}");
        };
        check("*.tf", "infra/main.tf", true);
        check("*.tf", "infra/main.tfvars", false);
        check("infra/*.tf", "infra/main.tf", true);
        check("infra/*.tf", "infra/net/main.tf", false);
        check("infra/**/*.tf", "infra/net/a/main.tf", true);
        check("infra/**/*.tf", "infra/main.tf", true);
        check("**/migrations/**", "db/migrations/001.sql", true);
        check("**/migrations/**", "migrations/001.sql", true);
        check("**/migrations/**", "db/migration/001.sql", false);
        check("src/*.{ts,tsx}", "src/app.tsx", true);
        check("src/*.{ts,tsx}", "src/app.css", false);
        check("Dockerfile", "deploy/Dockerfile", true);
        check("./docs/**", "docs/a/b.md", true);
        check("?.md", "ab.md", false);
        check("a{b,{c,d}}", "ac", true);
        check(&"*a".repeat(60), &"a".repeat(59), false);
    }

    #[test]
    fn lists_in_one_text_are_split_outside_braces() {
        assert_eq!(split_outside_braces("*.{a,b}, c/*"), ["*.{a,b}", " c/*"]);
    }

    #[test]
    fn a_message_names_a_file_by_its_name_or_stem() {
        assert!(is_named("infra/main.tf", "what does main.tf do"));
        assert!(is_named("src/payments.rs", "make payments faster"));
        assert!(!is_named("src/payments.rs", "make the repayments faster"));
        assert!(!is_named("src/a.rs", "a better name"));
    }
}
