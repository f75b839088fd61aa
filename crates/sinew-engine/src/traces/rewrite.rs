//! The rewrite pass: a model words a draft, and the same gates judge what it says.

use std::time::Duration;

use sinew_settings::{Actor, ErrorCode};
use sinew_workshop::{LearnResult, MAX_OUTPUT_TOKENS, ProposalState, WorkshopEventKind};
use sinew_workshop::{read_rewrite, rewrite_prompt};

use super::LearnReport;
use crate::model::{CompletionRequest, open_model};
use crate::{EngineError, TracesHandle};

/// A draft is longer than a proposal of the reviewer.
const TOKENS: u32 = 3 * MAX_OUTPUT_TOKENS;

impl TracesHandle<'_> {
    /// Lets the reviewer's model word the drafts that wait, as far as runs are told one by one. A draft
    /// whose rewording is refused stays as it was.
    pub fn rewrite_drafts(&self, report: &mut LearnReport) -> Result<(), EngineError> {
        let (settings, _) = self.engine.workshop().settings();
        let provider =
            settings.provider.as_ref().and_then(|provider| open_model(provider, &self.engine.env));
        let Some(model) = provider else {
            return Err(EngineError::new(ErrorCode::NoProvider, "no model is configured")
                .hint("set plugins.entries.skill-workshop.config.provider"));
        };
        for run in &mut report.runs {
            let waits = |run: &LearnResult| {
                run.proposal
                    .as_ref()
                    .is_some_and(|proposal| proposal.status == ProposalState::Pending)
            };
            let Some(proposal) = run.proposal.clone().filter(|_| waits(run)) else { continue };
            let Some(asked) = rewrite_prompt(&proposal)? else { continue };
            let answer = model.complete(&CompletionRequest {
                system: asked.system,
                prompt: asked.prompt,
                max_output_tokens: TOKENS,
                deadline: Duration::from_millis(settings.review_timeout_ms),
            });
            let worded = answer
                .map_err(|error| error.to_string())
                .and_then(|answer| read_rewrite(&proposal, &answer));
            let done = match worded {
                Ok(revision) => self
                    .engine
                    .workshop()
                    .with(|shop| Ok(shop.revise(&proposal.id, &revision, &Actor::System)))?
                    .map_err(|error| error.to_string()),
                Err(why) => Err(why),
            };
            match done {
                Ok(done) => {
                    run.events.extend(done.events);
                    run.proposal = Some(done.proposal);
                }
                Err(why) => {
                    let noted = self
                        .engine
                        .workshop()
                        .with(|shop| shop.note(WorkshopEventKind::ReviewerSkipped, why))?;
                    run.events.extend(noted);
                }
            }
        }
        Ok(())
    }
}
