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

    /// Closes the runs whose skills were used in a turn, or in the one before it.
    pub(super) fn close_runs(
        &self,
        turn: &JournalTurn,
        phase: SessionPhase,
    ) -> Result<Vec<LoggedOutcome>, EngineError> {
        let mut closed = Vec::new();
        if !self.config.cortex.enabled || !store::local_exists(&self.env) {
            return Ok(closed);
        }
        let snapshot = self.snapshot();
        let before = turn.before.as_ref().map(|before| JournalTurn {
            prompts: before.prompts.clone(),
            steps: before.steps.clone(),
            offers: before.offers.clone(),
            earlier_offers: 0,
            before: None,
            ..turn.clone()
        });
        let now = turn_usage::uses(turn, &snapshot.catalog);
        let then = before.as_ref().map(|before| turn_usage::uses(before, &snapshot.catalog));
        let mut runs: Vec<(String, &CatalogEntry)> = Vec::new();
        for used in now.iter().chain(then.iter().flatten()) {
            if let Some(run) = self.run_of(used.entry)
                && !runs.iter().any(|(known, _)| *known == run)
            {
                runs.push((run, used.entry));
            }
        }
        let last = |uses: &[SkillUse<'_>], entry: &CatalogEntry| {
            let of = uses.iter().rev().find(|used| used.entry.name == entry.name)?;
            Some(result(of.rest))
        };
        for (run, entry) in runs {
            let used_now = last(&now, entry);
            let used_then = then.as_deref().and_then(|uses| last(uses, entry));
            let word = said(turn).filter(|_| used_then.is_some());
            let Some(went) = verdict(used_now, used_then, word, phase) else { continue };
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
    fn close_run(
        &self,
        run: &str,
        went: Option<Result<(), FailureKind>>,
    ) -> Result<bool, EngineError> {
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

/// How a use ended; the outer `None` where that is still open.
fn verdict(
    now: Option<Option<Result<(), FailureKind>>>,
    then: Option<Option<Result<(), FailureKind>>>,
    word: Option<UserReaction>,
    phase: SessionPhase,
) -> Option<Option<Result<(), FailureKind>>> {
    match (now, then, word) {
        // The work goes on in this turn.
        (Some(Some(Err(kind))), ..) => Some(Some(Err(kind))),
        (Some(went), ..) => (phase == SessionPhase::Over).then_some(went),
        (None, Some(_), Some(UserReaction::Complaint)) => {
            Some(Some(Err(FailureKind::RuntimeError)))
        }
        (None, Some(_), Some(UserReaction::Confirmation)) => Some(Some(Ok(()))),
        (None, Some(Some(went)), _) => Some(Some(went)),
        (None, Some(None), _) => (phase == SessionPhase::Over).then_some(None),
        (None, None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: Option<Result<(), FailureKind>> = Some(Ok(()));
    const BADLY: Option<Result<(), FailureKind>> = Some(Err(FailureKind::ApiError));

    #[test]
    fn a_failure_counts_at_once_and_a_success_waits_for_a_word_or_the_end() {
        use SessionPhase::{GoesOn, Over};
        assert_eq!(verdict(Some(BADLY), None, None, GoesOn), Some(BADLY));
        assert_eq!(verdict(Some(WELL), None, None, GoesOn), None);
        assert_eq!(verdict(Some(WELL), None, None, Over), Some(WELL));
        assert_eq!(verdict(None, Some(WELL), Some(UserReaction::None), GoesOn), Some(WELL));
        let complaint = verdict(None, Some(WELL), Some(UserReaction::Complaint), GoesOn);
        assert_eq!(complaint, Some(Some(Err(FailureKind::RuntimeError))));
        let thanks = verdict(None, Some(None), Some(UserReaction::Confirmation), GoesOn);
        assert_eq!(thanks, Some(WELL));
        // Read, and nothing else: the end of the session makes it unknown.
        assert_eq!(verdict(Some(None), None, None, GoesOn), None);
        assert_eq!(verdict(Some(None), None, None, Over), Some(None));
    }
}
