//! One pass of the reviewer: a model reads the end of a turn and may propose one change.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew_guard::atomic::Lock;
use sinew_workshop::{
    Apply, By, Draft, Event, EventKind, KnownSkill, MAX_OUTPUT_TOKENS, Origin, Provider,
    ReviewPrompt, Source, Turn, read_reply, repair_prompt, review_prompt, workspace_hash,
};

use super::TurnReport;
use crate::model::{Completion, Model, ModelError, model};
use crate::{Engine, Error};

/// What is said when no model is configured.
const NO_PROVIDER: &str = "no provider";

/// What a pass came to.
pub(super) enum Reply {
    Draft(Box<Draft>),
    Nothing(String),
    Skipped(String),
}

impl Engine {
    /// Runs the reviewer over a turn. A failure is an event, never an error of the turn; nothing is
    /// tried again.
    pub fn review_turn(&self, turn: &Turn<'_>) -> Result<TurnReport, Error> {
        let (settings, _) = self.workshop_settings();
        if settings.provider == Some(Provider::Mcp) {
            return self.queue_review(turn);
        }
        let model = settings.provider.as_ref().and_then(|provider| model(provider, &self.env));
        match model {
            Some(model) => self.review_with(turn, model.as_ref()),
            None => {
                let events = self.skipped_without_provider()?;
                Ok(TurnReport { events, ..TurnReport::default() })
            }
        }
    }

    /// The same with a model of the caller's, such as the client of an MCP connection.
    pub fn review_with(&self, turn: &Turn<'_>, model: &dyn Model) -> Result<TurnReport, Error> {
        let mut report = TurnReport::default();
        let path = self
            .env
            .sinew_home()
            .join("workshop")
            .join(format!("{}.review", workspace_hash(self.workspace())));
        let lock = Lock::try_acquire(&path).map_err(|error| Error::file("lock", &path, &error))?;
        let Some(_lock) = lock else {
            report.events = self.note(EventKind::ReviewerSkipped, "another review is running")?;
            return Ok(report);
        };
        let reply = self.ask(turn.messages, model)?;
        self.settle(reply, turn.agent_id, turn.session_id)
    }

    /// Makes of a reply what it comes to.
    pub(super) fn settle(
        &self,
        reply: Reply,
        agent_id: Option<&str>,
        session_id: Option<&str>,
    ) -> Result<TurnReport, Error> {
        let mut report = TurnReport::default();
        match reply {
            Reply::Nothing(why) => {
                report.events = self.note(EventKind::ReviewerFoundNothing, &why)?;
            }
            Reply::Skipped(why) => report.events = self.note(EventKind::ReviewerSkipped, &why)?,
            Reply::Draft(draft) => {
                let origin = Origin {
                    by: By::Automatic,
                    source: Source::Reviewer,
                    agent_id: agent_id.map(str::to_owned),
                    session_id: session_id.map(str::to_owned),
                    apply: Apply::ByPolicy,
                };
                match self.workshop(|shop| Ok(shop.suggest(&draft, &origin)))? {
                    Ok(made) => {
                        report.events = made.events;
                        report.proposals.push(made.proposal);
                    }
                    Err(error) => {
                        report.events =
                            self.note(EventKind::ReviewerSkipped, &error.to_string())?;
                    }
                }
            }
        }
        Ok(report)
    }

    /// Asks the model, and once more about its form where that is configured.
    fn ask(&self, messages: &[Value], model: &dyn Model) -> Result<Reply, Error> {
        let (settings, _) = self.workshop_settings();
        let start = Instant::now();
        let whole = Duration::from_millis(settings.review_timeout_ms);
        let mut prompt = review_prompt(messages, &self.known_skills())?;
        let mut repairs = settings.review_repair;
        loop {
            let left = whole.saturating_sub(start.elapsed());
            let problem = match complete(model, &prompt, left) {
                Err(error) if error.is_about_form() => error.to_string(),
                Err(ModelError::Timeout(_)) => {
                    return Ok(Reply::Skipped(ModelError::Timeout(whole).to_string()));
                }
                Err(error) => return Ok(Reply::Skipped(error.to_string())),
                Ok(reply) => match read_reply(&reply) {
                    Ok(Some(draft)) => return Ok(Reply::Draft(Box::new(draft))),
                    Ok(None) => return Ok(Reply::Nothing("the answer is none".to_owned())),
                    Err(problem) => problem,
                },
            };
            if repairs == 0 || start.elapsed() >= whole {
                return Ok(Reply::Nothing(problem));
            }
            repairs -= 1;
            prompt = repair_prompt(&prompt, &problem);
        }
    }

    /// The workspace's own skills, for the reviewer.
    pub(super) fn known_skills(&self) -> Vec<KnownSkill> {
        let snapshot = self.snapshot();
        let own = self.workspace().join("skills");
        let entries = snapshot.catalog.active().filter(|entry| entry.base_dir.starts_with(&own));
        entries
            .filter_map(|entry| {
                let file = self.read_file(&snapshot.catalog, &entry.name, None).ok()?;
                Some(KnownSkill { name: entry.name.clone(), text: file.text })
            })
            .collect()
    }

    /// Says once in the life of this engine that there is no model to ask.
    pub(super) fn skipped_without_provider(&self) -> Result<Vec<Event>, Error> {
        if self.said_no_provider.swap(true, Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        self.note(EventKind::ReviewerSkipped, NO_PROVIDER)
    }

    fn note(&self, kind: EventKind, why: &str) -> Result<Vec<Event>, Error> {
        self.workshop(|shop| shop.note(kind, why))
    }
}

fn complete(
    model: &dyn Model,
    prompt: &ReviewPrompt,
    deadline: Duration,
) -> Result<String, ModelError> {
    model.complete(&Completion {
        system: prompt.system.clone(),
        prompt: prompt.prompt.clone(),
        max_output_tokens: MAX_OUTPUT_TOKENS,
        deadline,
    })
}
