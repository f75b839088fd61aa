//! One pass of the reviewer: a model reads the end of a turn and may propose one change.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew_guard::atomic::FileLock;
use sinew_settings::Actor;
use sinew_settings::config::ReviewerProvider;
use sinew_workshop::{
    ApplyMode, FinishedTurn, MAX_OUTPUT_TOKENS, ProposalOrigin, ProposalRequest, ProposalSource,
    ReviewPrompt, ReviewerSkill, WorkshopEvent, WorkshopEventKind, read_reply, repair_prompt,
    review_prompt, workspace_hash,
};

use super::TurnReport;
use crate::model::{CompletionRequest, LanguageModel, LanguageModelError, open_model};
use crate::{EngineError, WorkshopHandle};

/// The message when no model is configured.
const NO_PROVIDER: &str = "no provider";

/// What a pass came to.
pub(super) enum ReviewReply {
    Draft(Box<ProposalRequest>),
    Nothing(String),
    Skipped(String),
}

impl WorkshopHandle<'_> {
    /// Runs the reviewer over a turn. A failure is an event, never an error of the turn; nothing is
    /// tried again.
    pub fn review_turn(&self, turn: &FinishedTurn<'_>) -> Result<TurnReport, EngineError> {
        let (settings, _) = self.settings();
        if settings.provider == Some(ReviewerProvider::Mcp) {
            return self.queue_review(turn);
        }
        let model =
            settings.provider.as_ref().and_then(|provider| open_model(provider, &self.engine.env));
        match model {
            Some(model) => self.review_with(turn, model.as_ref()),
            None => {
                let events = self.skipped_without_provider()?;
                Ok(TurnReport { events, ..TurnReport::default() })
            }
        }
    }

    /// The same with a model of the caller's, such as the client of an MCP connection.
    pub fn review_with(
        &self,
        turn: &FinishedTurn<'_>,
        model: &dyn LanguageModel,
    ) -> Result<TurnReport, EngineError> {
        let mut report = TurnReport::default();
        let path = self
            .engine
            .env
            .sinew_home()
            .join("workshop")
            .join(format!("{}.review", workspace_hash(self.engine.workspace())));
        let lock = FileLock::try_acquire(&path)
            .map_err(|error| EngineError::file("lock", &path, error))?;
        let Some(_lock) = lock else {
            report.events =
                self.note(WorkshopEventKind::ReviewerSkipped, "another review is running")?;
            return Ok(report);
        };
        let reply = self.ask(turn.messages, model)?;
        self.settle(reply, turn.agent_id, turn.session_id)
    }

    /// Turns a reply into a proposal, where it holds one.
    pub(super) fn settle(
        &self,
        reply: ReviewReply,
        agent_id: Option<&str>,
        session_id: Option<&str>,
    ) -> Result<TurnReport, EngineError> {
        let mut report = TurnReport::default();
        match reply {
            ReviewReply::Nothing(why) => {
                report.events = self.note(WorkshopEventKind::ReviewerFoundNothing, &why)?;
            }
            ReviewReply::Skipped(why) => {
                report.events = self.note(WorkshopEventKind::ReviewerSkipped, &why)?;
            }
            ReviewReply::Draft(draft) => {
                let origin = ProposalOrigin {
                    by: Actor::System,
                    source: ProposalSource::Reviewer,
                    agent_id: agent_id.map(str::to_owned),
                    session_id: session_id.map(str::to_owned),
                    apply: ApplyMode::ByPolicy,
                };
                match self.with(|shop| Ok(shop.suggest(&draft, &origin)))? {
                    Ok(made) => {
                        report.events = made.events;
                        report.proposals.push(made.proposal);
                    }
                    Err(error) => {
                        report.events =
                            self.note(WorkshopEventKind::ReviewerSkipped, &error.to_string())?;
                    }
                }
            }
        }
        Ok(report)
    }

    /// Asks the model, and once more about its form where that is configured.
    fn ask(
        &self,
        messages: &[Value],
        model: &dyn LanguageModel,
    ) -> Result<ReviewReply, EngineError> {
        let (settings, _) = self.settings();
        let start = Instant::now();
        let whole = Duration::from_millis(settings.review_timeout_ms);
        let mut prompt = review_prompt(messages, &self.known_skills())?;
        let mut repairs = settings.review_repair;
        loop {
            let left = whole.saturating_sub(start.elapsed());
            let problem = match complete(model, &prompt, left) {
                Err(error) if error.is_about_form() => error.to_string(),
                Err(LanguageModelError::Timeout(_)) => {
                    return Ok(ReviewReply::Skipped(
                        LanguageModelError::Timeout(whole).to_string(),
                    ));
                }
                Err(error) => return Ok(ReviewReply::Skipped(error.to_string())),
                Ok(reply) => match read_reply(&reply) {
                    Ok(Some(draft)) => return Ok(ReviewReply::Draft(Box::new(draft))),
                    Ok(None) => return Ok(ReviewReply::Nothing("the answer is none".to_owned())),
                    Err(problem) => problem,
                },
            };
            if repairs == 0 || start.elapsed() >= whole {
                return Ok(ReviewReply::Nothing(problem));
            }
            repairs -= 1;
            prompt = repair_prompt(&prompt, &problem);
        }
    }

    /// The workspace's own skills, for the reviewer.
    pub(super) fn known_skills(&self) -> Vec<ReviewerSkill> {
        let snapshot = self.engine.snapshot();
        let own = self.engine.workspace().join("skills");
        let entries =
            snapshot.catalog.unshadowed().filter(|entry| entry.base_dir.starts_with(&own));
        entries
            .filter_map(|entry| {
                let file =
                    self.engine.skills().read_file(&snapshot.catalog, &entry.name, None).ok()?;
                Some(ReviewerSkill { name: entry.name.clone(), text: file.text })
            })
            .collect()
    }

    /// Says once in the life of this engine that there is no model to ask.
    pub(super) fn skipped_without_provider(&self) -> Result<Vec<WorkshopEvent>, EngineError> {
        if self.engine.said_no_provider.swap(true, Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        self.note(WorkshopEventKind::ReviewerSkipped, NO_PROVIDER)
    }

    fn note(&self, kind: WorkshopEventKind, why: &str) -> Result<Vec<WorkshopEvent>, EngineError> {
        self.with(|shop| shop.note(kind, why))
    }
}

fn complete(
    model: &dyn LanguageModel,
    prompt: &ReviewPrompt,
    deadline: Duration,
) -> Result<String, LanguageModelError> {
    model.complete(&CompletionRequest {
        system: prompt.system.clone(),
        prompt: prompt.prompt.clone(),
        max_output_tokens: MAX_OUTPUT_TOKENS,
        deadline,
    })
}
