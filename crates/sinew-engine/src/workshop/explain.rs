//! Why nothing was captured, reviewed, written or seen: the likely causes, with what was found.

use serde::Serialize;
use sinew_catalog::shell_word;
use sinew_settings::config::{ApprovalPolicy, ReviewMode, ReviewerProvider, WorkshopSettings};
use sinew_workshop::WorkshopEventKind;

use crate::{EngineError, WorkshopHandle};

/// One cause that holds here.
#[derive(Debug, Clone, Serialize)]
pub struct WorkshopDiagnosis {
    /// What a person sees.
    pub symptom: &'static str,
    /// Why, with the evidence.
    pub cause: String,
    /// What to look at or do.
    pub check: String,
}

/// Events that are shown for each symptom.
const SHOWN: usize = 3;

impl WorkshopHandle<'_> {
    /// The likely causes of trouble that hold in this workspace.
    pub fn explain(&self) -> Result<Vec<WorkshopDiagnosis>, EngineError> {
        let (settings, reasons) = self.settings();
        let mut found = Vec::new();
        let mut add = |symptom, cause: String, check: &str| {
            found.push(WorkshopDiagnosis { symptom, cause, check: check.to_owned() });
        };
        for reason in reasons {
            add("a setting has no effect", reason.detail, "correct the value");
        }
        let entry = "plugins.entries.skill-workshop";
        if !settings.is_on() {
            let why =
                format!("{entry} is not enabled, so agents have no tool and nothing is captured");
            add(
                "tool unavailable",
                why,
                "set its enabled to true; commands typed here work anyway",
            );
        }
        if !settings.auto_capture {
            let check = "set autoCapture to true, or use the tool";
            add("no automatic proposal", "autoCapture is false".to_owned(), check);
        }
        let (review, events, proposals) =
            self.with(|shop| Ok((shop.review_state()?, shop.events()?, shop.proposals()?)))?;
        match settings.review_mode {
            ReviewMode::Off => {
                let check = "choose heuristic, llm or hybrid";
                add("no automatic proposal", "reviewMode is off".to_owned(), check);
            }
            mode if mode.has_reviewer() => {
                let cause = format!(
                    "{} of {} turns and {} of {} tool calls since the last review",
                    review.turns_since_review,
                    settings.review_interval,
                    review.tool_calls_since_review,
                    settings.review_min_tool_calls
                );
                add("the reviewer made nothing", cause, "wait, or lower the thresholds");
                if let Some(cause) = missing_provider(&settings) {
                    add("the reviewer made nothing", cause, "configure provider");
                }
            }
            _ => {}
        }
        let last = |kind: WorkshopEventKind| {
            events.iter().rev().filter(move |event| event.kind == kind).take(SHOWN)
        };
        for event in last(WorkshopEventKind::CaptureSkipped) {
            add(
                "heuristic did not capture",
                event.line(),
                "`sinew workshop capture --text … --explain`",
            );
        }
        for event in last(WorkshopEventKind::ReviewerSkipped) {
            add("the reviewer made nothing", event.line(), "see reviewTimeoutMs and provider");
        }
        for event in last(WorkshopEventKind::Pruned) {
            add("vanished from pending", event.line(), "raise maxPending");
        }
        for proposal in proposals.iter().filter(|p| p.status.as_str() == "pending").take(SHOWN) {
            let held = proposal.gates.holds(&settings);
            let held = held.unwrap_or_else(|| match settings.policy_for(&proposal.skill_name) {
                ApprovalPolicy::Auto => "it was queued on request".to_owned(),
                _ => "the policy is pending".to_owned(),
            });
            let cause = format!("{} ({}): {held}", proposal.skill_name, proposal.id);
            add("not applied", cause, "`sinew workshop review`");
        }
        let snapshot = self.engine.snapshot();
        let applied = proposals.iter().filter(|p| p.status.as_str() == "applied");
        let mut names: Vec<&str> = applied.map(|p| p.skill_name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let entry = snapshot.catalog.unshadowed().find(|entry| entry.name == name);
            if !entry.is_some_and(|entry| entry.model_visible) {
                let cause = match entry {
                    Some(entry) => format!("{name} is {}", entry.state.as_str()),
                    None => format!("{name} is not in the catalog of this profile"),
                };
                add(
                    "file exists, model misses it",
                    cause,
                    &format!("`sinew why {}`", shell_word(name)),
                );
            }
        }
        Ok(found)
    }
}

fn missing_provider(settings: &WorkshopSettings) -> Option<String> {
    match settings.provider {
        None => Some("no provider is configured, so the mode works as heuristic".to_owned()),
        Some(ReviewerProvider::Mcp) => {
            Some("provider mcp works only inside an MCP connection".to_owned())
        }
        Some(_) => None,
    }
}
