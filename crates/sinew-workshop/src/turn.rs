//! The end of a turn: patterns search for a correction, and counters decide whether the reviewer runs.

use serde_json::Value;
use sinew_settings::Actor;
use sinew_settings::config::{CaptureProfile, ReviewMode};

use crate::capture::{self, CapturedCorrection, count_tool_calls};
use crate::error::Result;
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::proposal::{Proposal, ProposalSource, TriggerQueries};
use crate::status::ProposalState;
use crate::suggest::{ApplyMode, ProposalOrigin, ProposalRequest, ProposalUpdate, quoted};
use crate::workshop::Workshop;

/// Sessions of the reviewer itself; they are never captured.
const REVIEW_SESSION: &str = "skill-workshop-review-";

/// Messages of a turn that are taken for what the skill is for: the request that was corrected, and
/// the correction.
const RECENT: usize = 3;

/// A finished turn.
#[derive(Debug, Clone, Copy)]
pub struct FinishedTurn<'t> {
    /// Its messages.
    pub messages: &'t [Value],
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The agent, where known.
    pub agent_id: Option<&'t str>,
    /// The session, where known.
    pub session_id: Option<&'t str>,
}

/// What came of a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnOutcome {
    /// The proposal that the patterns made.
    pub suggested: Option<ProposalUpdate>,
    /// Whether the reviewer is to run now; its counters are reset already.
    pub review: bool,
    /// What happened, for the log.
    pub events: Vec<WorkshopEvent>,
}

impl Workshop<'_> {
    /// Whether a turn is processed at all.
    pub fn is_eligible(&self, turn: &FinishedTurn<'_>) -> bool {
        let settings = self.settings();
        settings.is_on()
            && settings.auto_capture
            && settings.review_mode != ReviewMode::Off
            && turn.succeeded
            && !turn.session_id.is_some_and(|id| id.starts_with(REVIEW_SESSION))
    }

    /// Processes a finished turn. A failure with one correction is an event, never an error of the turn.
    pub fn end_of_turn(&self, turn: &FinishedTurn<'_>) -> Result<TurnOutcome> {
        let mut outcome = TurnOutcome::default();
        if !self.is_eligible(turn) {
            return Ok(outcome);
        }
        let settings = self.settings();
        let (found, skipped) = capture::judge_turn(turn.messages, settings.capture_profile);
        for why in skipped {
            outcome.events.extend(self.note(WorkshopEventKind::CaptureSkipped, why.as_str())?);
        }
        let matched = found.is_some();
        if let Some(found) = found.filter(|_| settings.review_mode.has_heuristic()) {
            match self.propose_capture(&found, settings.capture_profile, turn) {
                Ok(suggested) => {
                    outcome.events.extend(suggested.events.clone());
                    outcome.suggested = Some(suggested);
                }
                Err(error) => {
                    outcome
                        .events
                        .extend(self.note(WorkshopEventKind::CaptureSkipped, error.to_string())?);
                }
            }
        }
        if settings.review_mode.has_reviewer() {
            outcome.review = self.count_turn(turn, matched)?;
        }
        Ok(outcome)
    }

    /// Proposes what was captured.
    pub fn propose_capture(
        &self,
        found: &CapturedCorrection,
        profile: CaptureProfile,
        turn: &FinishedTurn<'_>,
    ) -> Result<ProposalUpdate> {
        let draft = match profile {
            CaptureProfile::Extended => {
                self.refuse_injection(&found.instruction)?;
                self.rule_request(found)?
            }
            CaptureProfile::Reference => {
                let mut said: Vec<String> = capture::user_texts(turn.messages).collect();
                said.drain(..said.len().saturating_sub(RECENT));
                ProposalRequest {
                    skill_name: found.topic.skill.to_owned(),
                    title: found.topic.title.to_owned(),
                    reason: found.reason(),
                    change: found.change(),
                    evidence: vec![found.instruction.clone()],
                    queries: TriggerQueries { positive: said, near_miss: Vec::new() },
                }
            }
        };
        let origin = ProposalOrigin {
            by: Actor::System,
            source: ProposalSource::AgentEnd,
            agent_id: turn.agent_id.map(str::to_owned),
            session_id: turn.session_id.map(str::to_owned),
            apply: ApplyMode::ByPolicy,
        };
        if let Some(known) = self.written_before(&draft, turn)? {
            return Ok(ProposalUpdate { proposal: known, skill_path: None, events: Vec::new() });
        }
        let mut made = self.suggest(&draft, &origin)?;
        // A skill that has become too long is a question of its own.
        if let Ok(Some(split)) = self.split_when_full(&made.proposal.skill_name) {
            made.events.extend(split.events);
        }
        Ok(made)
    }

    /// What the same correction of the same session was written as before. A turn may be processed
    /// twice, where its process ended between writing the skill and noting that it had.
    fn written_before(
        &self,
        draft: &ProposalRequest,
        turn: &FinishedTurn<'_>,
    ) -> Result<Option<Proposal>> {
        let Some(session) = turn.session_id else { return Ok(None) };
        let evidence = quoted(&draft.evidence);
        let is_it = |known: &Proposal| {
            known.source == ProposalSource::AgentEnd
                && known.status == ProposalState::Applied
                && known.session_id.as_deref() == Some(session)
                && known.evidence == evidence
        };
        Ok(self.proposals()?.into_iter().find(is_it))
    }

    /// The extended profile refuses text in which the scanner has a critical finding; Skill Workshop
    /// keeps such a proposal in quarantine.
    pub fn refuse_injection(&self, instruction: &str) -> Result<()> {
        let report = self.parts.scanner.scan_proposal_text(instruction);
        let critical = report.at_least(sinew_guard::scan::FindingSeverity::Critical).next();
        match critical {
            Some(finding) => Err(crate::error::WorkshopError::Unsafe(finding.message.clone())),
            None => Ok(()),
        }
    }

    /// Counts a turn; whether the reviewer is due. The counters go to zero before it runs, so that a
    /// review that hangs or fails is not tried again at once.
    fn count_turn(&self, turn: &FinishedTurn<'_>, matched: bool) -> Result<bool> {
        let _lock = self.lock()?;
        let settings = self.settings();
        let mut entry = self.raw_records().change()?;
        let review = &mut entry.state.review;
        review.turns_since_review += 1;
        review.tool_calls_since_review += count_tool_calls(turn.messages);
        let due = review.turns_since_review >= settings.review_interval
            || review.tool_calls_since_review >= settings.review_min_tool_calls
            || (settings.review_mode == ReviewMode::Llm && matched);
        if due {
            review.turns_since_review = 0;
            review.tool_calls_since_review = 0;
            review.last_review_at = Some(self.now());
        }
        entry.save()?;
        Ok(due)
    }
}
