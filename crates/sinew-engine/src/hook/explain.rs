//! `why --last`: the last answer that a hook gave, and what came of the turn.

use super::log::{Decided, Log, What};
use crate::{Engine, Error, ErrorKind, Explanation, Mark};

impl Engine {
    /// What a hook decided last, and what followed.
    pub fn explain_last(&self) -> Result<Explanation, Error> {
        let decisions = Log::below(&super::home(&self.env)).last();
        let Some(first) = decisions.first() else {
            return Err(Error::new(
                ErrorKind::No,
                "no-decision",
                "no hook has decided anything yet",
            )
            .hint("`sinew connect <agent>` lets an agent ask at every message"));
        };
        let mut why = Explanation {
            subject: first.event.clone(),
            answer: answer(first),
            usable: !matches!(first.what, What::Failed { .. }),
            steps: Vec::new(),
        };
        let place = first.workspace.as_ref().map(|path| format!(" in {}", path.display()));
        let ms = first.ms.map(|ms| format!(", answered within {ms} ms"));
        why.step(
            "asked",
            Mark::Note,
            format!(
                "{} at {}{}{}",
                first.agent,
                first.at,
                place.unwrap_or_default(),
                ms.unwrap_or_default()
            ),
        );
        for decided in &decisions {
            tell(&mut why, decided);
        }
        Ok(why)
    }
}

fn answer(decided: &Decided) -> String {
    match &decided.what {
        What::Routed { added: 0, .. } => "no skill was added to the message".to_owned(),
        What::Routed { ranked, named, .. } => {
            let offered = ranked.iter().filter(|skill| skill.offered).map(|skill| &skill.name);
            let mut names: Vec<&str> = named.iter().map(String::as_str).collect();
            names.extend(
                offered.map(String::as_str).filter(|name| !named.iter().any(|n| n == name)),
            );
            format!("the message was given {}", names.join(", "))
        }
        What::Indexed { skills, of, .. } => {
            format!("the session was given an index of {skills} of {of} skills")
        }
        What::Settled { .. } => "the turn was settled".to_owned(),
        What::Learned { .. } => "the run was learned from".to_owned(),
        What::Failed { why } => format!("nothing was added: {why}"),
    }
}

fn tell(why: &mut Explanation, decided: &Decided) {
    match &decided.what {
        What::Routed { message, decision, named, ranked, threshold, degraded, added } => {
            why.step("heard", Mark::Note, format!("“{message}”"));
            for name in named {
                why.step("route", Mark::Pass, format!("the message names {name}"));
            }
            why.step(
                "route",
                Mark::Note,
                format!("{decision}; a match needs {:.0} %", 100.0 * threshold),
            );
            for skill in ranked {
                let parts: Vec<String> =
                    skill.parts.iter().map(|(name, value)| format!("{name} {value:+.2}")).collect();
                let mark = if skill.offered { Mark::Pass } else { Mark::Note };
                let sure = 100.0 * skill.probability;
                why.step(
                    "route",
                    mark,
                    format!("{} {sure:.0} % ({})", skill.name, parts.join(", ")),
                );
            }
            for gone in degraded {
                why.step("route", Mark::Note, gone);
            }
            why.step("added", Mark::Note, format!("{added} characters"));
        }
        What::Indexed { added, .. } => why.step("added", Mark::Note, format!("{added} characters")),
        What::Settled { proposals, outcomes, notes } => {
            for skill in proposals {
                why.step("turn", Mark::Pass, format!("a correction became a proposal for {skill}"));
            }
            for closed in outcomes {
                let mark = if closed.result == "success" { Mark::Pass } else { Mark::Note };
                why.step("turn", mark, format!("{} was used: {}", closed.skill, closed.result));
            }
            for note in notes {
                why.step("turn", Mark::Note, note);
            }
            if proposals.is_empty() && outcomes.is_empty() && notes.is_empty() {
                why.step("turn", Mark::Note, "it ended, and left nothing to learn from");
            }
        }
        What::Learned { drafts, notes } => {
            for skill in drafts {
                why.step("learned", Mark::Pass, format!("the run became a draft of {skill}"));
            }
            for note in notes {
                why.step("learned", Mark::Note, note);
            }
        }
        What::Failed { why: reason } => why.step("failed", Mark::Fail, reason),
    }
}
