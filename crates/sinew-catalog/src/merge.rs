//! Two skills of the same name: the higher tier wins, and the other stays visible as shadowed.

use std::collections::HashMap;

use sinew_settings::{Reason, ReasonCode, ReasonSeverity, path_text};
use sinew_skill::names;

use crate::entry::{CatalogEntry, EntryState};

/// Names in messages are cut to this many characters: a name is untrusted and may be a page long.
const MAX_NAME_IN_MESSAGE: usize = 128;

/// Look-alikes named in one record: a thousand of them must not become a million names.
const MAX_NAMED: usize = 3;

/// Decides between entries of the same name. `entries` come lowest rank first; `key` is what they
/// are merged by, and an `installed` skill is not replaced by a folder that takes its name.
pub(crate) fn merge(
    entries: &mut [CatalogEntry],
    key: impl Fn(&CatalogEntry) -> &str,
    installed: impl Fn(&CatalogEntry) -> bool,
) {
    let mut winners: HashMap<&str, usize> = HashMap::with_capacity(entries.len());
    let loaded = || entries.iter().enumerate().filter(|(_, entry)| entry.skill.is_some());
    for (at, entry) in loaded() {
        // A later entry has a higher rank.
        let winner = winners.entry(key(entry)).or_insert(at);
        if *winner != at && (installed(entry) || !installed(&entries[*winner])) {
            *winner = at;
        }
    }
    let losers: Vec<(usize, usize)> = loaded()
        .map(|(at, entry)| (at, winners[key(entry)]))
        .filter(|(at, winner)| at != winner)
        .collect();
    for (at, winner) in losers {
        let reason = if at > winner && !same_content(&entries[at], &entries[winner]) {
            name_taken(&entries[at], &entries[winner])
        } else {
            shadowed(&entries[at], &entries[winner])
        };
        entries[at].state = EntryState::Shadowed;
        entries[at].reasons.push(reason);
    }
}

/// A folder that would win by its rank, were the other not installed.
fn name_taken(loser: &CatalogEntry, winner: &CatalogEntry) -> Reason {
    let detail = format!(
        "it takes the name of {} from {}, which was installed and stays in use: {}",
        clipped(&loser.name),
        winner.source,
        path_text(&winner.file_path)
    );
    Reason::new(ReasonCode::InstalledNameTaken, detail)
        .remedy("rename it, or uninstall the other one")
}

fn shadowed(loser: &CatalogEntry, winner: &CatalogEntry) -> Reason {
    let same = same_content(loser, winner);
    let detail = format!(
        "{} from {} is used instead: {}",
        clipped(&winner.name),
        winner.source,
        path_text(&winner.file_path)
    );
    let reason = Reason::new(ReasonCode::Shadowed, detail);
    if same {
        return reason;
    }
    reason
        .severity(ReasonSeverity::Warn)
        .remedy("rename one of the two, or remove the copy you do not want")
}

fn same_content(a: &CatalogEntry, b: &CatalogEntry) -> bool {
    let hidden = |entry: &CatalogEntry| {
        entry.skill.as_ref().map(|skill| skill.invocation.disable_model_invocation)
    };
    let equal = a.content_hash == b.content_hash
        && a.name == b.name
        && a.description == b.description
        && hidden(a) == hidden(b);
    equal || std::fs::canonicalize(&a.file_path).ok() == std::fs::canonicalize(&b.file_path).ok()
}

/// Warns about names that differ only in case or separators.
pub(crate) fn warn_confusable_names(entries: &mut [CatalogEntry]) {
    let mut by_index: HashMap<String, Vec<usize>> = HashMap::with_capacity(entries.len());
    for (position, entry) in entries.iter().enumerate() {
        let index = names::index_name(&entry.name);
        if entry.skill.is_some() && entry.state != EntryState::Shadowed && !index.is_empty() {
            by_index.entry(index).or_default().push(position);
        }
    }
    for group in by_index.into_values().filter(|group| group.len() > 1) {
        for &at in &group {
            let others = group.iter().map(|&other| &entries[other].name);
            let mut others = others.filter(|name| **name != entries[at].name).peekable();
            if others.peek().is_none() {
                continue;
            }
            let named: Vec<String> =
                others.by_ref().take(MAX_NAMED).map(|name| clipped(name)).collect();
            let mut named = named.join(", ");
            if others.next().is_some() {
                named.push_str(" and more");
            }
            let reason =
                Reason::new(ReasonCode::ConfusableName, format!("its name looks like {named}"))
                    .remedy("give the two clearly different names");
            entries[at].reasons.push(reason);
        }
    }
}

fn clipped(name: &str) -> String {
    name.chars().take(MAX_NAME_IN_MESSAGE).collect()
}
