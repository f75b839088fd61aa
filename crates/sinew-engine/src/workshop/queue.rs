//! A review that only a connected client's model can do: what it is asked waits in the database until
//! such a client calls.

use serde::{Deserialize, Serialize};
use sinew_store::{ExpectedVersion, JsonText, StoreOp};
use sinew_workshop::{FinishedTurn, ReviewPrompt, read_reply, review_prompt, workspace_hash};

use super::TurnReport;
use super::review::ReviewReply;
use crate::{EngineError, WorkshopHandle};

/// Reviews that wait, one for each workspace: the latest turn says the most.
const REVIEWS: &str = "reviews";

/// A review that waits for a client's model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QueuedReview {
    /// Who the model is and what it must never do.
    pub system: String,
    /// What it is shown; secrets were masked before it was kept.
    pub prompt: String,
    agent_id: Option<String>,
    session_id: Option<String>,
}

impl WorkshopHandle<'_> {
    /// Keeps a turn for the model of the next client that offers one.
    pub(super) fn queue_review(&self, turn: &FinishedTurn<'_>) -> Result<TurnReport, EngineError> {
        let ReviewPrompt { system, prompt } = review_prompt(turn.messages, &self.known_skills())?;
        let queued = QueuedReview {
            system,
            prompt,
            agent_id: turn.agent_id.map(str::to_owned),
            session_id: turn.session_id.map(str::to_owned),
        };
        let key = workspace_hash(self.engine.workspace());
        let put = StoreOp::put(REVIEWS, &key, ExpectedVersion::Any, JsonText::of(&queued)?);
        self.engine.store()?.transact(&[put])?;
        Ok(TurnReport::default())
    }

    /// The review that waits for a client's model, if one does.
    pub fn queued_review(&self) -> Result<Option<QueuedReview>, EngineError> {
        let found = self.engine.store()?.get(REVIEWS, &workspace_hash(self.engine.workspace()))?;
        Ok(found.map(|found| found.body.read()).transpose()?)
    }

    /// Takes the reply of a client's model, or why there is none. Either way the review is over: nothing
    /// is tried again.
    pub fn finish_review(&self, reply: Result<&str, &str>) -> Result<TurnReport, EngineError> {
        let key = workspace_hash(self.engine.workspace());
        let store = self.engine.store()?;
        let Some(found) = store.get(REVIEWS, &key)? else { return Ok(TurnReport::default()) };
        let queued: QueuedReview = found.body.read()?;
        store.transact(&[StoreOp::delete(
            REVIEWS,
            &key,
            ExpectedVersion::Version(found.version),
        )])?;
        let reply = match reply {
            Err(why) => ReviewReply::Skipped(why.to_owned()),
            Ok(text) => match read_reply(text) {
                Ok(Some(draft)) => ReviewReply::Draft(Box::new(draft)),
                Ok(None) => ReviewReply::Nothing("the answer is none".to_owned()),
                Err(problem) => ReviewReply::Nothing(problem),
            },
        };
        self.settle(reply, queued.agent_id.as_deref(), queued.session_id.as_deref())
    }
}
