//! Skills that need other skills: one is ready only where everything that it needs is.
//!
//! The check follows the gate, because a skill that the gate holds back cannot help another one. Two
//! skills that need each other are ready together.

use std::collections::BTreeMap;

use sinew_settings::{Reason, ReasonCode};
use sinew_skill::required_skill_name;

use crate::entry::{CatalogEntry, EntryState};

/// Holds back every ready skill that needs one which is not ready, and what needs that in turn.
pub(crate) fn hold_back_incomplete(entries: &mut [CatalogEntry]) {
    let needs = |entry: &CatalogEntry| {
        entry.state == EntryState::Ready && !entry.always && !entry.requirements.skills.is_empty()
    };
    if !entries.iter().any(needs) {
        return;
    }
    // Each round holds back at least one more, so there are at most as many rounds as skills.
    loop {
        let states = states_by_name(entries);
        let mut held = Vec::new();
        for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| needs(entry)) {
            let missing: Vec<(String, Reason)> = entry
                .requirements
                .skills
                .iter()
                .filter_map(|need| objection(need, &states))
                .collect();
            if !missing.is_empty() {
                held.push((at, missing));
            }
        }
        if held.is_empty() {
            return;
        }
        for (at, missing) in held {
            let entry = &mut entries[at];
            entry.eligible = false;
            entry.state = EntryState::NeedsSetup;
            (entry.via, entry.via_machine) = (None, None);
            for (skill, reason) in missing {
                entry.missing.skills.push(skill);
                entry.note(reason);
            }
        }
    }
}

/// The state of each skill under its name and its folder's name; a ready one hides others.
fn states_by_name(entries: &[CatalogEntry]) -> BTreeMap<String, EntryState> {
    let mut states = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.state != EntryState::Shadowed) {
        for name in [&entry.name, &entry.id] {
            let state = states.entry(name.to_ascii_lowercase()).or_insert(entry.state);
            if entry.state == EntryState::Ready {
                *state = EntryState::Ready;
            }
        }
    }
    states
}

/// Why a need is not met, with what the skill asked for.
fn objection(need: &str, states: &BTreeMap<String, EntryState>) -> Option<(String, Reason)> {
    let name = required_skill_name(need);
    let reason = match states.get(&name.to_ascii_lowercase()) {
        Some(EntryState::Ready) => return None,
        Some(state) => {
            let detail = format!("it needs the skill {name}, which is {}", state.as_str());
            Reason::new(ReasonCode::MissingSkill, detail).remedy(format!("sinew why {name}"))
        }
        None => {
            let detail = format!("it needs the skill {name}, which is not here");
            Reason::new(ReasonCode::MissingSkill, detail).remedy(format!("sinew install {need}"))
        }
    };
    Some((need.to_owned(), reason))
}
