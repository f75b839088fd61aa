//! Why a message was routed as it was, and where one skill stands for it.

use std::sync::Arc;

use sinew_catalog::{CatalogEntry, Snapshot};
use sinew_route::{AbstainReason, RouteDecision};
use sinew_settings::config::ModelChoice;

use super::{RouteAnswer, Routing};
use crate::{DecisionExplanation, ExplanationMark, ExplanationStep, percent};

impl DecisionExplanation {
    /// How a message was routed.
    pub fn of_route(message: &str, answer: &RouteAnswer) -> Self {
        let mut why = Self {
            subject: message.to_owned(),
            answer: match (answer.decision, answer.matches.first()) {
                (RouteDecision::Match, Some(found)) => format!("{} fits", found.name),
                (RouteDecision::Shortlist, Some(found)) => {
                    format!("{} and others may fit", found.name)
                }
                _ if answer.reason == Some(AbstainReason::OnlyUnavailable) => {
                    "no skill that fits can be used".to_owned()
                }
                _ => "no skill fits".to_owned(),
            },
            usable: !answer.is_none(),
            steps: Vec::new(),
        };
        for (at, found) in answer.matches.iter().enumerate() {
            let mark = match at < answer.offered {
                true => ExplanationMark::Pass,
                false => ExplanationMark::Note,
            };
            let parts = found.parts.each().filter(|(_, part)| part.weight != 0.0);
            let parts: Vec<String> =
                parts.map(|(name, part)| format!("{name} {:+.2}", part.value())).collect();
            let sure = percent(found.probability);
            let said = format!("{}: {sure} sure ({})", found.name, parts.join(", "));
            why.step("route", mark, said);
        }
        for skill in &answer.unavailable {
            let help = Some(format!("`{}` helps", skill.command));
            why.steps.push(step(ExplanationMark::Fail, skill.sentence(), help));
        }
        let needed = format!(
            "a match needs {:.0} % and a lead of {:.0}",
            100.0 * answer.threshold,
            100.0 * answer.margin
        );
        why.step("route", ExplanationMark::Note, needed);
        for signal in &answer.degraded {
            let (said, help) = (signal.sentence(), Some(signal.remedy.clone()));
            why.steps.push(step(ExplanationMark::Note, said, help));
        }
        if let Some(region) = &answer.region {
            let said = format!("the task belongs to {region}");
            why.step("learned", ExplanationMark::Note, said);
        }
        why
    }
}

impl Routing<'_> {
    /// Adds where the skill stands for a message.
    pub fn explain_route(
        &self,
        snapshot: &Arc<Snapshot>,
        entry: &CatalogEntry,
        message: &str,
        why: &mut DecisionExplanation,
    ) {
        let router = self.router(snapshot, ModelChoice::Default);
        let Some(route) = router.explain(message, &entry.name) else {
            why.step("route", ExplanationMark::Note, "the message holds no word to go by");
            return;
        };
        let mark = if route.rank == 1 && !route.excluded {
            ExplanationMark::Pass
        } else {
            ExplanationMark::Note
        };
        why.step(
            "route",
            mark,
            format!(
                "place {} for this message, {} sure{}",
                route.rank,
                percent(route.skill.probability),
                match (route.excluded, route.rank) {
                    (true, 1) => "; it would be first if it could be used",
                    (true, _) => "; it cannot be used",
                    (false, _) => "",
                }
            ),
        );
        for (name, part) in route.skill.parts.each().filter(|(_, part)| part.weight != 0.0) {
            why.step("route", ExplanationMark::Note, format!("{name} {:+.2}", part.value()));
        }
        if let Some(first) = route.result.matches.first().filter(|first| first.name != entry.name) {
            why.step(
                "route",
                ExplanationMark::Note,
                format!("first is {}, {} sure", first.name, percent(first.probability)),
            );
        }
    }
}

fn step(mark: ExplanationMark, text: String, remedy: Option<String>) -> ExplanationStep {
    ExplanationStep { stage: "route", mark, text, remedy }
}
