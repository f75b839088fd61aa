//! What a session says about the skills that acquisition runs brought: each use is the outcome of its run,
//! and of nothing else.
//!
//! A failure closes a run at once. What went well waits for the user's next word or the end of the
//! session, so that the skill is there while the same work goes on. A run of which nothing is heard ends by
//! itself after `cortex.runTimeout`.
//!
//! What must never happen here: an outcome that counts twice, a skill of the user's own that is taken away.

use sinew_catalog::CatalogEntry;
use sinew_cortex::acquire::{AcquireState, UseReport};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::OutcomeReporter;
use sinew_traces::{UserReaction, user_reaction};

use super::journal::JournalTurn;
use super::log::LoggedOutcome;
use super::settlement::{SHARE, result};
use super::turn_usage::{self, SkillUse};
use crate::acquire::UnattendedHost;
use crate::hub::HubOverrides;
use crate::{Engine, EngineError, store};

/// Turns of a session that are looked at for a skill that was read and not judged since.
const MAX_TURNS: usize = 100;

/// Whether a session goes on after the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionPhase {
    GoesOn,
    Over,
}

impl Engine {
    /// The run that brought a skill, where one did.
    pub(super) fn run_of(&self, entry: &CatalogEntry) -> Option<String> {
        let trust = self.trust();
        let (_, locked) = trust.locked_skill(&entry.base_dir)?;
        locked.run.clone()
    }

    /// Closes the runs whose skills were used in a session, as far as that says how it went. The last
    /// turn is the one that is over now.
    pub(super) fn close_runs(
        &self,
        session: &[JournalTurn],
        phase: SessionPhase,
    ) -> Result<Vec<LoggedOutcome>, EngineError> {
        let mut closed = Vec::new();
        if !self.config.cortex.enabled || !store::local_exists(&self.env) {
            return Ok(closed);
        }
        let Some(turn) = session.last() else { return Ok(closed) };
        let snapshot = self.snapshot();
        let brought = snapshot.catalog.unshadowed();
        let brought: Vec<(String, &CatalogEntry)> =
            brought.filter_map(|entry| Some((self.run_of(entry)?, entry))).collect();
        if brought.is_empty() {
            return Ok(closed);
        }
        // The last turn first.
        let turns: Vec<Vec<SkillUse<'_>>> = session
            .iter()
            .rev()
            .take(MAX_TURNS)
            .map(|turn| turn_usage::uses(turn, &snapshot.catalog))
            .collect();
        for (run, entry) in brought {
            let used = LatestUses::of(entry, &turns);
            let word = said(turn).filter(|_| used.then.is_some());
            let Some(went) = verdict(&used, word, phase) else { continue };
            if self.close_run(&run, went)? {
                let result = match went {
                    Some(Ok(())) => "success".to_owned(),
                    Some(Err(kind)) => kind.to_string(),
                    None => "unknown".to_owned(),
                };
                closed.push(LoggedOutcome { skill: entry.name.clone(), result });
            }
        }
        Ok(closed)
    }

    /// Gives a run its outcome, if it still waits for one.
    fn close_run(&self, run: &str, went: UseVerdict) -> Result<bool, EngineError> {
        let known = self.cortex()?.find_run(run)?;
        let waits = known.is_some_and(|known| {
            matches!(known.state, AcquireState::Execute { .. } | AcquireState::Outcome { .. })
        });
        if !waits {
            return Ok(false);
        }
        let finish = match went {
            Some(Ok(())) => UseReport::success(),
            Some(Err(kind)) => UseReport::failure(kind),
            None => UseReport::unknown(),
        };
        let finish = UseReport { blame: SHARE, origin: OutcomeReporter::Agent, ..finish };
        let market = self.hub().market(&HubOverrides::default())?;
        self.hub().acquisition(&market).settle(run, finish, &mut UnattendedHost)?;
        Ok(true)
    }

    /// Ends runs that nothing was heard of for too long.
    pub(super) fn end_overdue_runs(&self) {
        if !self.config.cortex.enabled || !store::local_exists(&self.env) {
            return;
        }
        let ended = self
            .hub()
            .market(&HubOverrides::default())
            .and_then(|market| self.hub().acquisition(&market).close_overdue());
        if let Err(error) = ended {
            tracing::warn!(%error, "overdue runs could not be ended");
        }
    }
}

/// What the user said with a turn about the work before it.
fn said(turn: &JournalTurn) -> Option<UserReaction> {
    turn.prompts.first().map(|prompt| user_reaction(&prompt.text))
}

/// How a use went; `None` where that is not known.
type UseVerdict = Option<Result<(), FailureKind>>;

/// How the last uses of a skill went, by when they were; the outer `None` where there was none.
#[derive(Debug, Clone, Copy, Default)]
struct LatestUses {
    /// In the turn that is over now.
    now: Option<UseVerdict>,
    /// In the one before it.
    then: Option<UseVerdict>,
    /// Before both.
    earlier: Option<UseVerdict>,
}

impl LatestUses {
    /// Of the turns of a session, the last one first.
    fn of(entry: &CatalogEntry, turns: &[Vec<SkillUse<'_>>]) -> Self {
        let last = |uses: &Vec<SkillUse<'_>>| {
            let used = uses.iter().rev().find(|used| used.entry.name == entry.name)?;
            Some(result(used.rest))
        };
        let mut turns = turns.iter().map(last);
        let (now, then) = (turns.next().flatten(), turns.next().flatten());
        Self { now, then, earlier: turns.flatten().next() }
    }
}

/// How a use ended; `None` where that is still open.
fn verdict(
    used: &LatestUses,
    word: Option<UserReaction>,
    phase: SessionPhase,
) -> Option<UseVerdict> {
    let at_the_end = |went: UseVerdict| (phase == SessionPhase::Over).then_some(went);
    match (used.now, used.then, word) {
        // The work goes on in this turn.
        (Some(Some(Err(kind))), ..) => Some(Some(Err(kind))),
        (Some(went), ..) => at_the_end(went),
        (None, Some(_), Some(UserReaction::Complaint)) => {
            Some(Some(Err(FailureKind::RuntimeError)))
        }
        (None, Some(_), Some(UserReaction::Confirmation)) => Some(Some(Ok(()))),
        (None, Some(Some(went)), _) => Some(Some(went)),
        (None, Some(None), _) => at_the_end(None),
        // What was only read, and then left for other work.
        (None, None, _) => used.earlier.and_then(at_the_end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: UseVerdict = Some(Ok(()));
    const BADLY: UseVerdict = Some(Err(FailureKind::ApiError));

    #[test]
    fn a_failure_counts_at_once_and_a_success_waits_for_a_word_or_the_end() {
        use SessionPhase::{GoesOn, Over};
        let now = |went| LatestUses { now: Some(went), ..LatestUses::default() };
        let then = |went| LatestUses { then: Some(went), ..LatestUses::default() };
        assert_eq!(verdict(&now(BADLY), None, GoesOn), Some(BADLY));
        assert_eq!(verdict(&now(WELL), None, GoesOn), None);
        assert_eq!(verdict(&now(WELL), None, Over), Some(WELL));
        assert_eq!(verdict(&then(WELL), Some(UserReaction::None), GoesOn), Some(WELL));
        let complaint = verdict(&then(WELL), Some(UserReaction::Complaint), GoesOn);
        assert_eq!(complaint, Some(Some(Err(FailureKind::RuntimeError))));
        let thanks = verdict(&then(None), Some(UserReaction::Confirmation), GoesOn);
        assert_eq!(thanks, Some(WELL));
        // Read, and nothing else: the end of the session makes it unknown, however long ago it was.
        assert_eq!(verdict(&now(None), None, GoesOn), None);
        assert_eq!(verdict(&now(None), None, Over), Some(None));
        let earlier = LatestUses { earlier: Some(None), ..LatestUses::default() };
        assert_eq!(verdict(&earlier, Some(UserReaction::Complaint), GoesOn), None);
        assert_eq!(verdict(&earlier, None, Over), Some(None));
    }
}
