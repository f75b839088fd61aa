//! The rows of a comparison, and the reason of each that differs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry, EntryState};
use sinew_settings::{Reason, ReasonCode};

use super::host_rows::{HostAnswer, HostSkillRow};
use super::listing_program::{HostListingRecipe, ListedCopies};

/// Whether a row differs, and whether that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompareVerdict {
    /// They differ, and nothing says why.
    Unexplained,
    /// They differ, for the reason given.
    Explained,
    /// Both say the same.
    Same,
}

/// One skill, as the agent and as sinew see it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompareRow {
    /// The skill's name.
    pub name: String,
    /// What the agent says: `ready`, `not-ready`, `absent`.
    pub host: &'static str,
    /// What sinew says: its state, or `absent`.
    pub sinew: &'static str,
    /// The source that sinew has it from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether they agree.
    pub verdict: CompareVerdict,
    /// Why they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The skill's file, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

const ABSENT: &str = "absent";

/// Why two copies of a name differ where an agent has no order of its own.
const LAST_READ: &str =
    "the agent reads its folders at the same time and uses the copy that it read last";

/// Compares a catalog with an agent's list.
pub(super) fn compare(
    catalog: &Catalog,
    answer: &HostAnswer,
    recipe: &HostListingRecipe,
) -> Vec<CompareRow> {
    let mut left: Vec<&CatalogEntry> = catalog.entries.iter().collect();
    // A skill that is used is paired before a copy of it.
    left.sort_by_key(|entry| (entry.state == EntryState::Shadowed, !entry.eligible));
    let mut rows = Vec::with_capacity(answer.rows.len());
    for host in &answer.rows {
        let at = partner(&left, host);
        let entry = at.map(|at| left.remove(at));
        rows.push(row_of(host, entry, catalog, recipe));
    }
    let listed: BTreeSet<&str> = answer.rows.iter().map(|row| row.name.as_str()).collect();
    for entry in left {
        if let Some(row) = unlisted(entry, &listed, answer, recipe) {
            rows.push(row);
        }
    }
    rows.sort_by(|a, b| (a.verdict, &a.name, &a.file).cmp(&(b.verdict, &b.name, &b.file)));
    rows
}

/// The entry of a row: the same file where the agent names one, else the same name.
fn partner(entries: &[&CatalogEntry], host: &HostSkillRow) -> Option<usize> {
    let Some(file) = &host.file else {
        return entries.iter().position(|entry| entry.name == host.name);
    };
    let real = real_path(file);
    let same =
        |entry: &&CatalogEntry| entry.file_path == *file || real_path(&entry.file_path) == real;
    let named = |entry: &&CatalogEntry| same(entry) && entry.name == host.name;
    entries.iter().position(named).or_else(|| entries.iter().position(same))
}

fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn row_of(
    host: &HostSkillRow,
    entry: Option<&CatalogEntry>,
    catalog: &Catalog,
    recipe: &HostListingRecipe,
) -> CompareRow {
    let file = host.file.as_ref().map(|file| sinew_settings::path_text(file));
    let row = CompareRow {
        name: host.name.clone(),
        host: if host.ready { "ready" } else { "not-ready" },
        sinew: entry.map_or(ABSENT, |entry| entry.state.as_str()),
        source: entry.map(|entry| entry.source.clone()),
        verdict: CompareVerdict::Same,
        reason: None,
        file: file.or_else(|| entry.map(|entry| sinew_settings::path_text(&entry.file_path))),
    };
    let Some(entry) = entry else {
        return match absent_reason(host, catalog) {
            Some(reason) => explained(row, reason),
            None => CompareRow { verdict: CompareVerdict::Unexplained, ..row },
        };
    };
    if entry.name != host.name {
        let detail = format!("sinew calls it {}", entry.name);
        return CompareRow { verdict: CompareVerdict::Unexplained, reason: Some(detail), ..row };
    }
    // A list for one agent leaves out what is ready for others.
    let ready = entry.eligible;
    if ready == host.ready && entry.state != EntryState::Shadowed {
        return row;
    }
    match differing_reason(entry, host, recipe) {
        Some(reason) => explained(row, reason),
        None => CompareRow {
            verdict: CompareVerdict::Unexplained,
            reason: entry.primary_reason().map(told),
            ..row
        },
    }
}

fn explained(row: CompareRow, reason: String) -> CompareRow {
    CompareRow { verdict: CompareVerdict::Explained, reason: Some(reason), ..row }
}

fn told(reason: &Reason) -> String {
    format!("{}: {}", reason.code, reason.detail)
}

/// Why sinew has no entry for what an agent lists.
fn absent_reason(host: &HostSkillRow, catalog: &Catalog) -> Option<String> {
    if host.built_in {
        return Some("it is built into the agent's program and has no file".to_owned());
    }
    let file = host.file.as_ref()?;
    let real = real_path(file);
    let hidden = catalog.roots.iter().any(|root| {
        let below = file.strip_prefix(&root.path).ok();
        below.is_some_and(|path| {
            path.components().any(|part| {
                let name = part.as_os_str().to_string_lossy();
                name.starts_with('.') || name == "node_modules"
            })
        })
    });
    if hidden {
        return Some("it lies in a hidden folder, which sinew does not search".to_owned());
    }
    let about = |issue: &&Reason| {
        let Some(path) = issue.path.as_deref().map(Path::new) else { return false };
        let below = |folder: &Path| file.starts_with(folder) || real.starts_with(folder);
        issue.code != ReasonCode::RootMissing && (below(path) || below(&real_path(path)))
    };
    catalog.issues.iter().find(about).map(told)
}

/// Why sinew finds a skill in another state than the agent does.
fn differing_reason(
    entry: &CatalogEntry,
    host: &HostSkillRow,
    recipe: &HostListingRecipe,
) -> Option<String> {
    if entry.state == EntryState::Shadowed {
        let by = entry.primary_reason().map(told).unwrap_or_default();
        return match recipe.copies {
            ListedCopies::Preferred => None,
            ListedCopies::Each => {
                Some(format!("the agent lists each copy of a name, sinew uses one; {by}"))
            }
            ListedCopies::LastRead => Some(format!("{LAST_READ}; {by}")),
        };
    }
    if !host.ready {
        return None;
    }
    let gate = entry.reasons.iter().find(|reason| {
        matches!(
            reason.code,
            ReasonCode::Quarantined | ReasonCode::MetadataInvalid | ReasonCode::DraftUnreviewed
        )
    });
    if let Some(held) = gate {
        return Some(format!("sinew holds it back; {}", told(held)));
    }
    match entry.state {
        EntryState::NeedsSetup if !recipe.checks_requirements => {
            let missing = entry.primary_reason().map(told).unwrap_or_default();
            Some(format!("the agent does not check what a skill requires; {missing}"))
        }
        EntryState::Broken => {
            let wrong = entry.primary_reason().map(told).unwrap_or_default();
            Some(format!("the agent lists it all the same; {wrong}"))
        }
        _ => None,
    }
}

/// A row for an entry that an agent does not list; `None` where there is nothing to say.
fn unlisted(
    entry: &CatalogEntry,
    listed: &BTreeSet<&str>,
    answer: &HostAnswer,
    recipe: &HostListingRecipe,
) -> Option<CompareRow> {
    // What neither of the two uses is no difference.
    if entry.state == EntryState::Shadowed || entry.state == EntryState::Broken {
        return None;
    }
    let unusable = !entry.eligible;
    let off = matches!(entry.state, EntryState::Disabled);
    if unusable && (recipe.lists_usable_only || off) {
        return None;
    }
    let row = CompareRow {
        name: entry.name.clone(),
        host: ABSENT,
        sinew: entry.state.as_str(),
        source: Some(entry.source.clone()),
        verdict: CompareVerdict::Unexplained,
        reason: None,
        file: Some(sinew_settings::path_text(&entry.file_path)),
    };
    let real = real_path(&entry.file_path);
    let refused = answer.refused.iter().find(|(path, _)| real_path(path) == real);
    if let Some((_, why)) = refused {
        return Some(explained(row, format!("the agent refuses it: {why}")));
    }
    let later = entry.reasons.iter().find(|reason| reason.code == ReasonCode::HostHidden);
    if let Some(later) = later.filter(|_| entry.source.ends_with("-nested")) {
        return Some(explained(row, told(later)));
    }
    let is_copy = listed.contains(entry.name.as_str());
    if is_copy && recipe.copies == ListedCopies::LastRead {
        return Some(explained(row, LAST_READ.to_owned()));
    }
    let reason = is_copy.then(|| "the agent uses another copy of this name".to_owned());
    Some(CompareRow { reason, ..row })
}
