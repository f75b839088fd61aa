//! Which folders of a repository are skills, and which one a reference names.

use sinew_guard::Untrusted;
use sinew_settings::ErrorCode;
use sinew_skill::{ReadOptions, YamlValue};

use crate::error::HubError;

/// The only name of a skill file outside registries.
const SKILL_FILE: &str = "SKILL.md";
/// Where repositories keep skills, in the order in which they are searched.
const PLACES: &[&str] = &[
    "",
    "skills",
    "skills/.curated",
    "skills/.experimental",
    "skills/.system",
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
    ".github/skills",
    ".goose/skills",
    ".opencode/skills",
];
/// How deep a repository is searched if none of the usual places holds a skill.
const MAX_DEPTH: usize = 6;
/// Skills listed in the error when the choice is ambiguous.
const MAX_LISTED: usize = 20;

/// A skill in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositorySkill {
    /// Its folder; empty for the repository itself.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Not matching for others: installed only when named.
    pub internal: bool,
}

/// The folders below `under` that hold a skill file, in the order of `PLACES`.
pub fn folders(paths: &[String], under: &str) -> Vec<String> {
    let prefix = if under.is_empty() { String::new() } else { format!("{under}/") };
    let holds = |path: &str| {
        let inside = path.strip_prefix(&prefix)?;
        let folder = inside.strip_suffix(SKILL_FILE)?;
        (folder.is_empty() || folder.ends_with('/'))
            .then(|| folder.trim_end_matches('/').to_owned())
    };
    let mut all: Vec<String> = paths.iter().filter_map(|path| holds(path)).collect();
    all.sort();
    let rank = |folder: &String| -> Option<usize> {
        // The place itself, a folder in it, or one level further down.
        PLACES.iter().position(|place| {
            let inside = match (*place, folder.as_str()) {
                ("", folder) => Some(folder),
                (place, folder) if place == folder => Some(""),
                (place, folder) => folder.strip_prefix(place).and_then(|f| f.strip_prefix('/')),
            };
            let limit = if place.is_empty() { 0 } else { 2 };
            inside.is_some_and(|inside| {
                let hidden = inside.starts_with('.');
                inside.is_empty() || (!hidden && inside.split('/').count() <= limit)
            })
        })
    };
    let mut placed: Vec<(usize, String)> =
        all.iter().filter_map(|folder| Some((rank(folder)?, folder.clone()))).collect();
    placed.sort();
    let shallow = |folder: &&String| {
        folder.split('/').count() <= MAX_DEPTH
            && folder.split('/').all(|part| part != "node_modules" && !part.starts_with('.'))
    };
    let found: Vec<String> = match placed.is_empty() {
        false => placed.into_iter().map(|(_, folder)| folder).collect(),
        true => all.iter().filter(shallow).cloned().collect(),
    };
    found
        .into_iter()
        .map(|folder| match (under, folder.as_str()) {
            ("", _) => folder,
            (_, "") => under.to_owned(),
            _ => format!("{under}/{folder}"),
        })
        .collect()
}

/// The skill that a file describes, if it has a name and a description.
pub fn describe(folder: &str, bytes: &[u8]) -> Option<RepositorySkill> {
    let default_name = folder.rsplit('/').next().unwrap_or_default();
    let skill = sinew_skill::read(bytes, &ReadOptions::openclaw(default_name)).skill?;
    let metadata = skill.frontmatter.get("metadata").and_then(YamlValue::as_map);
    let internal = metadata.and_then(|metadata| metadata.get("internal"));
    let internal = matches!(internal, Some(YamlValue::Bool(true)));
    let described = !skill.name.trim().is_empty() && !skill.description.trim().is_empty();
    described.then(|| RepositorySkill {
        folder: folder.to_owned(),
        name: skill.name.clone(),
        description: skill.description.clone(),
        internal,
    })
}

/// Picks the skill that is matching. Several skills and no name is an error that lists them, never
/// a guess.
pub fn choose(found: &[RepositorySkill], named: Option<&str>) -> Result<RepositorySkill, HubError> {
    let printable = |text: &str| Untrusted::new(text).for_terminal();
    let is_named = |skill: &RepositorySkill, name: &str| {
        skill.name.eq_ignore_ascii_case(name)
            || skill.folder.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name))
    };
    let mut matching: Vec<RepositorySkill> = match named {
        Some(name) => found.iter().filter(|skill| is_named(skill, name)).cloned().collect(),
        None => found.iter().filter(|skill| !skill.internal).cloned().collect(),
    };
    let names = |skills: &[RepositorySkill]| -> Vec<String> {
        skills.iter().take(MAX_LISTED).map(|skill| printable(&skill.name)).collect()
    };
    match (matching.len(), named) {
        (1, _) => Ok(matching.remove(0)),
        (0, Some(name)) => {
            let error = HubError::new(
                ErrorCode::NotFound,
                format!("there is no skill `{}`", printable(name)),
            );
            Err(match names(found).as_slice() {
                [] => error,
                names => error.hint(format!("available: {}", names.join(", "))),
            })
        }
        (0, None) => Err(HubError::new(
            ErrorCode::NotFound,
            "there is no skill: no SKILL.md with a name and a description",
        )),
        (_, Some(_)) if matching.windows(2).all(|pair| pair[0].name == pair[1].name) => {
            // The same skill in several agents' folders: the first place wins.
            Ok(matching.remove(0))
        }
        (count, _) => {
            let names = names(&matching);
            let mut error =
                HubError::new(ErrorCode::Ambiguous, format!("there are {count} skills"))
                    .hint(format!("name one of them after `@`: {}", names.join(", ")));
            error.matches = names;
            Err(error)
        }
    }
}
