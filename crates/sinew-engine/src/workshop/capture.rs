//! The end of a turn, and one message judged on request.

use serde::Serialize;
use serde_json::{Value, json};
use sinew_settings::config::{ApprovalPolicy, CaptureProfile, ReviewMode, WorkshopSettings};
use sinew_workshop::{
    CaptureGuards, CaptureVerdict, FinishedTurn, Proposal, ProposalRequest, TriggerQueries,
    WorkshopEvent, WorkshopEventKind, judge_message, judge_turn,
};

use crate::{EngineError, WorkshopHandle};

/// How a message is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct CaptureOptions {
    /// By which patterns; the configured ones where absent.
    pub profile: Option<CaptureProfile>,
    /// Whether nothing is stored.
    pub dry_run: bool,
}

/// What became of a message.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureAnswer {
    /// Whether it made a proposal, or would have.
    pub captured: bool,
    /// The proposal; without an id when nothing was stored.
    pub proposal: Option<Value>,
    /// Why a message that sounds like a correction is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// The cues that matched, for and against.
    pub cues: Vec<String>,
    /// What happened, for the log.
    #[serde(skip)]
    pub events: Vec<WorkshopEvent>,
}

/// What came of a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnReport {
    /// Proposals that were made.
    pub proposals: Vec<Proposal>,
    /// Whether the reviewer is due. It is run apart, so that no turn waits for it.
    pub review_due: bool,
    /// What happened, for the log.
    pub events: Vec<WorkshopEvent>,
}

impl WorkshopHandle<'_> {
    /// Judges one message, typed by a person: it works whether or not agents may use the workshop.
    pub fn capture(
        &self,
        message: &str,
        options: CaptureOptions,
    ) -> Result<CaptureAnswer, EngineError> {
        let (settings, _) = self.settings();
        let profile = options.profile.unwrap_or(settings.capture_profile);
        let mut answer = CaptureAnswer {
            captured: false,
            proposal: None,
            skipped: None,
            cues: Vec::new(),
            events: Vec::new(),
        };
        let found = match judge_message(message, profile, CaptureGuards::On) {
            CaptureVerdict::Captured(found) => found,
            CaptureVerdict::Skipped(why) => {
                answer.skipped = Some(why.as_str().to_owned());
                if !options.dry_run {
                    let noted = self
                        .with(|shop| shop.note(WorkshopEventKind::CaptureSkipped, why.as_str()));
                    answer.events = noted?;
                }
                return Ok(answer);
            }
            CaptureVerdict::Nothing(cues) => {
                answer.cues = cues;
                return Ok(answer);
            }
        };
        answer.cues = found.cues.clone();
        if profile == CaptureProfile::Extended {
            let refused = self.with(|shop| Ok(shop.refuse_injection(&found.instruction)))?;
            if let Err(why) = refused {
                answer.skipped = Some(why.to_string());
                return Ok(answer);
            }
        }
        answer.captured = true;
        if options.dry_run {
            let planned = match profile {
                CaptureProfile::Extended => self.with(|shop| shop.rule_request(&found))?,
                CaptureProfile::Reference => ProposalRequest {
                    skill_name: found.topic.skill.to_owned(),
                    title: found.topic.title.to_owned(),
                    reason: found.reason(),
                    change: found.change(),
                    evidence: Vec::new(),
                    queries: TriggerQueries::default(),
                },
            };
            answer.proposal = Some(json!({
                "skillName": planned.skill_name,
                "title": planned.title,
                "reason": planned.reason,
                "source": "agent_end",
                "change": planned.change,
            }));
            return Ok(answer);
        }
        let messages = [json!({"role": "user", "content": message})];
        let turn = FinishedTurn {
            messages: &messages,
            succeeded: true,
            agent_id: self.engine.agent(),
            session_id: None,
        };
        let made =
            self.with_settings(&settings, |shop| Ok(shop.propose_capture(&found, profile, &turn)))?;
        match made {
            Ok(made) => {
                answer.events = made.events;
                answer.proposal = Some(json!(made.proposal));
            }
            Err(error) => {
                answer.captured = false;
                answer.skipped = Some(error.to_string());
                answer.events = self
                    .with(|shop| shop.note(WorkshopEventKind::CaptureSkipped, error.to_string()))?;
            }
        }
        Ok(answer)
    }

    /// The end of an agent's turn: nothing happens unless the workshop is on.
    pub fn turn(&self, turn: &FinishedTurn<'_>) -> Result<TurnReport, EngineError> {
        self.turn_with(&self.settings().0, turn)
    }

    /// The end of a turn that hooks saw. The user's own corrections are captured whether or not agents
    /// may use the workshop; where they may not, nothing is written without a person and no model is
    /// asked.
    pub fn hook_turn(&self, turn: &FinishedTurn<'_>) -> Result<TurnReport, EngineError> {
        let (mut settings, _) = self.settings();
        if !settings.is_on() {
            // Most turns hold no correction, and need no database.
            let (found, skipped) = judge_turn(turn.messages, settings.capture_profile);
            if found.is_none() && skipped.is_empty() {
                return Ok(TurnReport::default());
            }
            settings.loaded = true;
            settings.approval_policy = ApprovalPolicy::Pending;
            for rule in &mut settings.approval_rules {
                if rule.policy == ApprovalPolicy::Auto {
                    rule.policy = ApprovalPolicy::Pending;
                }
            }
            settings.review_mode = match settings.review_mode.has_heuristic() {
                true => ReviewMode::Heuristic,
                false => ReviewMode::Off,
            };
        }
        self.turn_with(&settings, turn)
    }

    /// A turn that a person hands over: it is processed whether or not agents may use the workshop.
    pub fn transcript(
        &self,
        turn: &FinishedTurn<'_>,
        profile: Option<CaptureProfile>,
    ) -> Result<TurnReport, EngineError> {
        let (mut settings, _) = self.settings();
        settings.loaded = true;
        settings.capture_profile = profile.unwrap_or(settings.capture_profile);
        self.turn_with(&settings, turn)
    }

    fn turn_with(
        &self,
        settings: &WorkshopSettings,
        turn: &FinishedTurn<'_>,
    ) -> Result<TurnReport, EngineError> {
        let outcome = self.with_settings(settings, |shop| shop.end_of_turn(turn))?;
        let mut report = TurnReport {
            proposals: outcome.suggested.into_iter().map(|made| made.proposal).collect(),
            review_due: outcome.review,
            events: outcome.events,
        };
        if settings.is_on() {
            // A check that fails now is made after the next turn.
            report.events.extend(self.check_probation().unwrap_or_default());
        }
        if report.review_due && settings.provider.is_none() {
            report.review_due = false;
            report.events.extend(self.skipped_without_provider()?);
        }
        Ok(report)
    }
}
