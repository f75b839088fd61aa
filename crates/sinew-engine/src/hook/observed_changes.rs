//! What the tools of agents were seen to change while they followed a skill. It counts for more than what
//! the skill, its user or the agent says of it, whoever reports the outcome.

use std::collections::BTreeSet;
use std::path::Path;

use super::journal::SessionJournal;
use super::sessions;
use super::turn_usage::{self, SkillUse};
use crate::Engine;

impl SkillUse<'_> {
    /// What the steps after it certainly changed, as the memory names it. Opening further skills is no
    /// such step.
    pub(super) fn changes(&self) -> impl Iterator<Item = &String> {
        let steps = self.rest.iter().filter(|step| step.used.is_none());
        steps.flat_map(|step| &step.changed)
    }
}

impl Engine {
    /// What was changed in sessions of this workspace after the skill in `folder` was opened, in turns
    /// that were not over before `since` (milliseconds since 1970). The turn that goes on is one of them.
    pub(crate) fn changes_seen_by_hooks(&self, folder: &Path, since: u64) -> Vec<String> {
        let snapshot = self.snapshot();
        let mut seen = BTreeSet::new();
        for journal in SessionJournal::all(&sessions(&self.env)) {
            // A journal that cannot be read tells nothing.
            let Ok(pending) = journal.pending() else { continue };
            let elsewhere = |at: &Path| !at.as_os_str().is_empty() && at != self.workspace();
            for turn in pending.session.iter().filter(|turn| turn.at >= since) {
                if elsewhere(&turn.workspace) {
                    continue;
                }
                let uses = turn_usage::uses(turn, &snapshot.catalog);
                for used in uses.iter().filter(|used| used.entry.base_dir == folder) {
                    seen.extend(used.changes().cloned());
                }
            }
        }
        seen.into_iter().collect()
    }
}
