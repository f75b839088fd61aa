//! What a tried agent is asked: the user's words, or a message that fits a skill at hand.

use std::sync::Arc;

use sinew_catalog::{CatalogEntry, EntryState, Snapshot};
use sinew_guard::Untrusted;
use sinew_route::RouteDecision;

use crate::{Engine, RouteRequest};

/// Skills that are tried until one matches its own description.
const MAX_TRIED: usize = 24;
/// Characters of a description that make a message.
const MAX_TASK: usize = 160;

/// A message, and the skill that should come with it.
#[derive(Debug)]
pub(super) struct TrialMessage {
    pub(super) text: String,
    /// The skill that sinew finds for it.
    pub(super) skill: Option<String>,
    /// What sinew decides about it.
    pub(super) decision: &'static str,
}

impl TrialMessage {
    pub(super) fn choose(engine: &Engine, snapshot: &Arc<Snapshot>, given: Option<&str>) -> Self {
        if let Some(text) = given {
            return Self::routed(engine, snapshot, text);
        }
        let usable = |entry: &&CatalogEntry| {
            entry.state == EntryState::Ready && entry.model_visible && !entry.description.is_empty()
        };
        let usable: Vec<&CatalogEntry> =
            snapshot.catalog.unshadowed().filter(usable).take(MAX_TRIED).collect();
        for entry in &usable {
            let message = Self::routed(engine, snapshot, &task(&entry.description));
            let is_match = message.decision == RouteDecision::Match.as_str();
            if is_match && message.skill.as_deref() == Some(entry.name.as_str()) {
                return message;
            }
        }
        match usable.first() {
            Some(entry) => {
                let name: String = Untrusted::new(&entry.name).prompt_chars().collect();
                Self::routed(engine, snapshot, &format!("Please use the {name} skill"))
            }
            None => Self::routed(engine, snapshot, "Hello"),
        }
    }

    fn routed(engine: &Engine, snapshot: &Arc<Snapshot>, text: &str) -> Self {
        let answer = engine.routing().route(snapshot, &RouteRequest::new(text));
        let named = answer.named.first().map(|named| named.name.clone());
        let offered = answer.offers().first().map(|found| found.name.clone());
        Self { text: text.to_owned(), skill: named.or(offered), decision: answer.decision.as_str() }
    }
}

/// A message for which a skill at hand is found, and that skill.
pub(crate) fn sample_message(engine: &Engine) -> Option<(String, String)> {
    let message = TrialMessage::choose(engine, &engine.snapshot(), None);
    message.skill.map(|skill| (message.text, skill))
}

/// A message that a person could have written who needs what the description promises. It begins with
/// words of ours, so that no program takes it for an option.
fn task(description: &str) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = Untrusted::new(&line).prompt_chars().collect();
    let sentence = clean.split(". ").next().unwrap_or_default();
    let short: String = sentence.chars().take(MAX_TASK).collect();
    format!("Please help me with this: {}", short.trim_end_matches('.'))
}
