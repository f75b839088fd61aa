//! `why --last`: the last answer that a hook gave, and what came of the turn.

use std::io;
use std::path::Path;

use serde::Serialize;
use sinew_settings::{ErrorCode, path_text};

use super::Hooks;
use super::log::{HookDecision, HookDecisionKind, HookLog, LoggedOffer};
use crate::{DecisionExplanation, EngineError, ExplanationMark, ExplanationStep, percent};

/// A message of late, and what it was given.
#[derive(Debug, Serialize)]
pub struct RecentMessage {
    /// When, in RFC 3339.
    pub at: String,
    /// The agent.
    pub agent: String,
    /// Its beginning, with secrets taken out.
    pub message: String,
    /// The skills that came with it.
    pub skills: Vec<String>,
}

impl Hooks<'_> {
    /// The last messages that hooks decided on, the latest first.
    pub fn recent_messages(&self, most: usize) -> Vec<RecentMessage> {
        let log = HookLog::below(&super::home(&self.engine.env)).all();
        let messages = log.into_iter().rev().filter_map(|decided| match decided.what {
            HookDecisionKind::Routed { message, offers, .. } => Some(RecentMessage {
                at: decided.at,
                agent: decided.agent,
                message,
                skills: offers.into_iter().map(|offer| offer.skill).collect(),
            }),
            _ => None,
        });
        messages.take(most).collect()
    }

    /// What makes an agent ask: being connected, then a message.
    fn first_message_hint(&self) -> String {
        let connections = self.engine.connect().connections().unwrap_or_default();
        match connections.iter().find(|agent| !agent.files.is_empty()) {
            Some(agent) => format!("start {} and ask it something", agent.title),
            None => "`sinew setup` lets your agents ask at every message".to_owned(),
        }
    }

    /// What a hook decided last, and what followed.
    pub fn explain_last(&self) -> Result<DecisionExplanation, EngineError> {
        let folder = super::home(&self.engine.env);
        let log = HookLog::below(&folder);
        let decisions = log.last();
        if let Some(trouble) = log.write_trouble() {
            return Ok(unwritable(&folder, &trouble, &decisions));
        }
        let Some(first) = decisions.first() else {
            return Err(EngineError::new(
                ErrorCode::NoDecision,
                "no agent has asked for skills yet",
            )
            .hint(self.first_message_hint()));
        };
        let mut why = DecisionExplanation {
            subject: first.event.clone(),
            answer: answer(first),
            usable: !matches!(first.what, HookDecisionKind::Failed { .. }),
            steps: Vec::new(),
        };
        tell_all(&mut why, &decisions);
        Ok(why)
    }
}

/// Hooks that cannot keep what they decided still answer, and leave no record of it: that is said before
/// what was decided last.
fn unwritable(
    folder: &Path,
    trouble: &io::Error,
    decisions: &[HookDecision],
) -> DecisionExplanation {
    let place = path_text(folder);
    let mut why = DecisionExplanation {
        subject: "hooks".to_owned(),
        answer: format!("not recorded: hooks cannot write to {place}"),
        usable: false,
        steps: vec![ExplanationStep {
            stage: "failed",
            mark: ExplanationMark::Fail,
            text: trouble.to_string(),
            remedy: Some(format!(
                "make {place} writable; until then skills still come along, and nothing is learned"
            )),
        }],
    };
    if let Some(last) = decisions.first() {
        let said = format!("before that, {}", answer(last));
        why.step("last", ExplanationMark::Note, said);
        tell_all(&mut why, decisions);
    }
    why
}

fn tell_all(why: &mut DecisionExplanation, decisions: &[HookDecision]) {
    if let Some(first) = decisions.first() {
        let place = first.workspace.as_ref().map(|path| format!(" in {}", path.display()));
        let ms = first.ms.map(|ms| format!(", answered within {ms} ms"));
        let asked = format!(
            "{} at {}{}{}",
            first.agent,
            first.at,
            place.unwrap_or_default(),
            ms.unwrap_or_default()
        );
        why.step("asked", ExplanationMark::Note, asked);
    }
    for decided in decisions {
        tell(why, decided);
    }
}

fn answer(decided: &HookDecision) -> String {
    match &decided.what {
        HookDecisionKind::Routed { added: 0, .. } => "no skill was added to the message".to_owned(),
        HookDecisionKind::Routed { offers, .. } => {
            let names: Vec<&str> = offers.iter().map(|offer| offer.skill.as_str()).collect();
            match names.as_slice() {
                [] => "the message was told of skills that cannot be used".to_owned(),
                names => format!("the message was given {}", names.join(", ")),
            }
        }
        HookDecisionKind::Indexed { skills: 0, listed, .. } => {
            format!("the session was given no index: the agent lists its {listed} skills itself")
        }
        HookDecisionKind::Indexed { skills, of, .. } => {
            format!("the session was given an index of {skills} of {of} skills")
        }
        HookDecisionKind::Settled { .. } => "the turn was settled".to_owned(),
        HookDecisionKind::Learned { .. } => "the run was learned from".to_owned(),
        HookDecisionKind::Failed { why } => format!("nothing was added: {why}"),
    }
}

fn tell(why: &mut DecisionExplanation, decided: &HookDecision) {
    match &decided.what {
        HookDecisionKind::Routed {
            message,
            decision,
            named,
            ranked,
            unavailable,
            threshold,
            degraded,
            offers,
            notes,
            added,
        } => {
            why.step("heard", ExplanationMark::Note, format!("“{message}”"));
            for name in named {
                why.step("route", ExplanationMark::Pass, format!("the message names {name}"));
            }
            why.step(
                "route",
                ExplanationMark::Note,
                format!("{decision}; a match needs {:.0} %", 100.0 * threshold),
            );
            for skill in ranked {
                let parts: Vec<String> =
                    skill.parts.iter().map(|(name, value)| format!("{name} {value:+.2}")).collect();
                let mark =
                    if skill.offered { ExplanationMark::Pass } else { ExplanationMark::Note };
                let sure = percent(skill.probability);
                why.step("route", mark, format!("{} {sure} ({})", skill.name, parts.join(", ")));
            }
            for sentence in unavailable {
                why.step("route", ExplanationMark::Note, sentence);
            }
            for gone in degraded {
                why.step("route", ExplanationMark::Note, format!("left out: {gone}"));
            }
            for LoggedOffer { offer, skill, how } in offers {
                let told = format!("{skill}: {} (offer {offer})", how.as_str());
                why.step("offer", ExplanationMark::Pass, told);
            }
            for note in notes {
                why.step("offer", ExplanationMark::Note, note);
            }
            why.step("added", ExplanationMark::Note, format!("{added} characters"));
        }
        HookDecisionKind::Indexed { added, listed, again, .. } => {
            if *listed > 0 {
                let told = format!("{listed} skills are left out: the agent lists them itself");
                why.step("index", ExplanationMark::Note, told);
            }
            for skill in again {
                let told = format!("{skill} was in use, and came back");
                why.step("index", ExplanationMark::Pass, told);
            }
            why.step("added", ExplanationMark::Note, format!("{added} characters"));
        }
        HookDecisionKind::Settled { proposals, outcomes, notes } => {
            for skill in proposals {
                why.step(
                    "turn",
                    ExplanationMark::Pass,
                    format!("a correction became a proposal for {skill}"),
                );
            }
            for closed in outcomes {
                let mark = if closed.result == "success" {
                    ExplanationMark::Pass
                } else {
                    ExplanationMark::Note
                };
                why.step("turn", mark, format!("{} was used: {}", closed.skill, closed.result));
            }
            for note in notes {
                why.step("turn", ExplanationMark::Note, note);
            }
            if proposals.is_empty() && outcomes.is_empty() && notes.is_empty() {
                why.step("turn", ExplanationMark::Note, "it ended, and left nothing to learn from");
            }
        }
        HookDecisionKind::Learned { drafts, notes } => {
            for skill in drafts {
                why.step(
                    "learned",
                    ExplanationMark::Pass,
                    format!("the run became a draft of {skill}"),
                );
            }
            for note in notes {
                why.step("learned", ExplanationMark::Note, note);
            }
        }
        HookDecisionKind::Failed { why: reason } => {
            let told = format!("{}: {reason}", decided.event);
            why.step("failed", ExplanationMark::Fail, told);
        }
    }
}
