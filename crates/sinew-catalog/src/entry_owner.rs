//! Whose a configured entry is. An entry may hold a key, so it goes to the skill it was made for,
//! and what a skill calls itself (`skillKey`, a note in its own folder) gives it nothing.

use std::collections::{BTreeMap, HashMap};

use sinew_settings::config::EntryOwner;
use sinew_settings::{Environment, Reason, ReasonCode, path_text};

use crate::catalog::CatalogRequest;
use crate::entry::{CatalogEntry, EntryState};
use crate::profile::Tier;

/// Profiles of agents whose workspace is a folder of their own.
const KEEPS_OWN_WORKSPACE: &[&str] = &["openclaw", "openpocket"];

/// Gives each key to one skill. Every other claimant goes by its own name, without the entry, and
/// is told why.
pub(crate) fn assign(request: &CatalogRequest<'_>, entries: &mut [CatalogEntry]) {
    let mut claims: HashMap<String, Vec<usize>> = HashMap::new();
    let mut named: HashMap<&str, usize> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.skill.is_some()) {
        *named.entry(&entry.name).or_default() += 1;
    }
    for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.skill.is_some()) {
        // A skill under its own name has no rival unless another has that name, too, the entry says
        // whose it is, or the skill came with a project.
        let contended = entry.skill_key != entry.name
            || named.get(entry.name.as_str()).is_some_and(|count| *count > 1)
            || request.config.entries.get(&entry.name).is_some_and(|own| own.owner.is_some())
            || came_with_project(request, entry);
        if contended {
            claims.entry(entry.skill_key.clone()).or_default().push(at);
        }
    }
    for (key, claimants) in claims.into_iter().collect::<BTreeMap<_, _>>() {
        let owner = owner(request, entries, &key);
        for at in claimants.into_iter().filter(|at| Some(*at) != owner) {
            withhold(request, entries, &key, owner, at);
        }
    }
}

/// The skill that a key belongs to.
fn owner(request: &CatalogRequest<'_>, entries: &[CatalogEntry], key: &str) -> Option<usize> {
    let configured = request.config.entries.get(key);
    let loaded = || entries.iter().enumerate().filter(|(_, entry)| entry.skill.is_some());
    if let Some(made_for) = configured.and_then(|entry| entry.owner.as_ref()) {
        let theirs = |entry: &CatalogEntry| is_for(made_for, entry, request.env);
        let fitting = loaded().filter(|(_, entry)| theirs(entry));
        return fitting
            .max_by_key(|(_, entry)| entry.state != EntryState::Shadowed)
            .map(|(at, _)| at);
    }
    // The user's own folders come before a project's, which may be anyone's.
    let named = loaded()
        .filter(|(_, entry)| entry.name == key)
        .filter(|(_, entry)| !holds_keys(request, key) || !came_with_project(request, entry));
    if let Some((at, _)) = named.max_by_key(|(_, entry)| (!is_project(entry.tier), entry.tier)) {
        return Some(at);
    }
    let declared =
        || loaded().filter(|(_, e)| e.skill_key == key && e.state != EntryState::Shadowed);
    let known = |entry: &CatalogEntry| entry.bundled || entry.key_is_locked;
    declared()
        .filter(|(_, entry)| known(entry))
        .max_by_key(|(_, entry)| entry.bundled)
        .or_else(|| declared().next().filter(|_| configured.is_none()))
        .map(|(at, _)| at)
}

/// Whether a skill lies in a project and this user never agreed to it: whoever wrote the project may
/// have written it. The workspace of OpenClaw and OpenPocket is the agent's own folder, not a project.
fn came_with_project(request: &CatalogRequest<'_>, entry: &CatalogEntry) -> bool {
    let in_project = is_project(entry.tier) && !KEEPS_OWN_WORKSPACE.contains(&request.profile.name);
    in_project && request.vouch.is_some_and(|vouch| !vouch.is_installed(&entry.base_dir))
}

/// Whether an entry has something to hand over.
fn holds_keys(request: &CatalogRequest<'_>, key: &str) -> bool {
    let configured = request.config.entries.get(key);
    configured.is_some_and(|entry| entry.api_key.is_some() || !entry.env.is_empty())
}

fn is_project(tier: Tier) -> bool {
    matches!(tier, Tier::Project | Tier::Workspace)
}

/// Whether an entry was made for this skill: by name, and by source or folder where it says one.
fn is_for(owner: &EntryOwner, entry: &CatalogEntry, env: &Environment) -> bool {
    let from_there =
        |source: &String| *source == entry.source || env.expand_home(source) == entry.base_dir;
    owner.name == entry.name && owner.source.as_ref().is_none_or(from_there)
}

/// The value of `for` that makes an entry this skill's. Every project's skills have one source, so
/// those are told apart by their folder.
pub(crate) fn of(entry: &CatalogEntry) -> EntryOwner {
    let in_project = is_project(entry.tier);
    let source = if in_project { path_text(&entry.base_dir) } else { entry.source.clone() };
    EntryOwner { name: entry.name.clone(), source: Some(source) }
}

fn withhold(
    request: &CatalogRequest<'_>,
    entries: &mut [CatalogEntry],
    key: &str,
    owner: Option<usize>,
    at: usize,
) {
    let configured = request.config.entries.contains_key(key);
    let same_bytes = |other: usize| {
        let (a, b) = (&entries[at], &entries[other]);
        let digest = |entry: &CatalogEntry| entry.scan.as_ref().map(|scan| scan.digest.clone());
        a.name == b.name && a.content_hash == b.content_hash && digest(a) == digest(b)
    };
    if owner.is_some_and(same_bytes) {
        return;
    }
    let whose = match owner.map(|owner| &entries[owner]) {
        Some(owner) => format!("it is that of {} from {}", owner.name, owner.source),
        None => match request.config.entries.get(key).and_then(|entry| entry.owner.as_ref()) {
            Some(owner) => format!("it was made for {owner}"),
            None => "it does not say that it was made for this skill".to_owned(),
        },
    };
    let entry = &mut entries[at];
    if entry.skill_key == entry.name {
        entry.settings_withheld = true;
        if !configured {
            return;
        }
    } else {
        entry.skill_key.clone_from(&entry.name);
    }
    if entry.state == EntryState::Shadowed {
        return;
    }
    let EntryOwner { name, source } = of(entry);
    let source = source.unwrap_or_default();
    entry.note(
        Reason::new(
            ReasonCode::EntryOfAnother,
            format!("it asks for skills.entries.{key} and gets nothing of it: {whose}"),
        )
        .remedy(format!(
            "if it is meant to have it, write `for: {{name: '{name}', source: '{source}'}}` in \
             skills.entries.{key}"
        )),
    );
}
