//! Why a skill is in or out: the steps of a decision, in the order in which they were taken.

use serde::Serialize;
use sinew_catalog::{Catalog, Entry, State};
use sinew_skill::{Reason, Severity, Stage};

use crate::{Digests, Engine, PromptOptions, Why};

/// How a decision came about. Every surface renders the same one.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// What it is about.
    pub subject: String,
    /// The answer in one sentence.
    pub answer: String,
    /// Whether the answer is that it can be used.
    pub usable: bool,
    /// What led to it.
    pub steps: Vec<Step>,
}

/// One step of a decision.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The stage: found, read, merge, gate, seen, prompt, command, scan, served, learned, route.
    pub stage: &'static str,
    /// How it went.
    pub mark: Mark,
    /// What was the case.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// It went through.
    Pass,
    /// It stopped here.
    Fail,
    /// Worth knowing.
    Note,
}

impl Explanation {
    pub(crate) fn step(&mut self, stage: &'static str, mark: Mark, text: impl Into<String>) {
        self.steps.push(Step { stage, mark, text: text.into(), remedy: None });
    }

    fn reason(&mut self, stage: &'static str, mark: Mark, reason: &Reason) {
        self.steps.push(Step {
            stage,
            mark,
            text: reason.to_string(),
            remedy: reason.remedy.clone(),
        });
    }
}

impl Engine {
    /// Why a skill is in or out, shadowed or cut.
    pub fn explain(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        options: &PromptOptions,
    ) -> Explanation {
        let mut why = Explanation {
            subject: entry.name.clone(),
            answer: String::new(),
            usable: false,
            steps: Vec::new(),
        };
        why.step(
            "found",
            Mark::Pass,
            format!(
                "{} (source {}, tier {})",
                entry.file_path.display(),
                entry.source,
                entry.tier.as_str()
            ),
        );
        let of = |stage: Stage| entry.reasons.iter().filter(move |reason| reason.stage == stage);
        for reason in of(Stage::Discover).chain(of(Stage::Parse)) {
            let stopped = entry.state == State::Broken && reason.severity == Severity::Error;
            why.reason("read", if stopped { Mark::Fail } else { Mark::Note }, reason);
        }
        if entry.state == State::Broken {
            why.answer = format!("{} could not be loaded", entry.name);
            return why;
        }
        why.step("read", Mark::Pass, format!("“{}”", entry.description));
        self.explain_merge(catalog, entry, &mut why);
        if entry.state == State::Shadowed {
            return why;
        }
        for reason in of(Stage::Gate) {
            why.reason("gate", Mark::Fail, reason);
        }
        if entry.eligible {
            let checked = match entry.requirements.is_empty() {
                true => "it asks for nothing",
                false => "everything it asks for is here",
            };
            why.step("gate", Mark::Pass, checked);
        }
        for reason in of(Stage::Visibility) {
            let hides = matches!(reason.code.as_str(), "agent-filter" | "session-override");
            why.reason("seen", if hides { Mark::Fail } else { Mark::Note }, reason);
        }
        why.usable = entry.state == State::Ready;
        why.answer = match entry.state {
            State::Ready => format!("{} can be used", entry.name),
            State::NeedsSetup => format!("{} needs something that is missing here", entry.name),
            State::Disabled => format!("{} is switched off", entry.name),
            State::Blocked => format!("{} is held back", entry.name),
            State::Excluded => format!("{} is not for this agent", entry.name),
            State::Shadowed | State::Broken => String::new(),
        };
        self.explain_prompt(catalog, entry, options, &mut why);
        if let Some(command) = &entry.command_name {
            why.step("command", Mark::Pass, format!("people call it with /{command}"));
        }
        self.explain_trust(entry, &mut why);
        why
    }

    /// What the guard, the hosts and earlier outcomes have to say.
    fn explain_trust(&self, entry: &Entry, why: &mut Explanation) {
        if let Some(scan) = entry.scan.as_ref().filter(|scan| scan.findings > 0) {
            let said =
                format!("the guard says {}: {} findings", scan.verdict.as_str(), scan.findings);
            why.step("scan", Mark::Note, said);
        }
        if entry.state == State::Ready
            && let Err(not) = self.serve(entry, &Digests::default())
        {
            let said = format!("not_servable: {} ({})", not.as_str(), not.sentence());
            why.step("served", Mark::Note, said);
        }
        if self.known_outcomes() == 0 {
            return;
        }
        let learned = self.cortex().and_then(|cortex| cortex.why(&entry.name));
        let Ok(Why::Skill { regions, blacklisted, .. }) = learned else { return };
        for (region, seen) in regions {
            let said = format!(
                "in {region}: weight {:.2}, counts {:.2} after {} idle days; {} of {} worked, {} in a row",
                seen.weight,
                seen.effective_weight,
                seen.days_idle,
                seen.runs.success,
                seen.runs.success + seen.runs.fail,
                seen.streak
            );
            why.step("learned", Mark::Note, said);
        }
        if blacklisted {
            why.step("learned", Mark::Fail, "it is on the blacklist");
        }
    }

    /// Adds where the skill stands for a message.
    pub fn explain_route(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        message: &str,
        why: &mut Explanation,
    ) {
        let router = self.router(catalog, crate::ModelChoice::Default);
        let Some(route) = router.explain(message, &entry.name) else {
            why.step("route", Mark::Note, "the message holds no word to go by");
            return;
        };
        let mark = if route.rank == 1 && !route.excluded { Mark::Pass } else { Mark::Note };
        why.step(
            "route",
            mark,
            format!(
                "place {} for this message, {:.0} % sure{}",
                route.rank,
                100.0 * route.skill.probability,
                match (route.excluded, route.rank) {
                    (true, 1) => "; it would be first if it could be used",
                    (true, _) => "; it cannot be used",
                    (false, _) => "",
                }
            ),
        );
        for (name, part) in route.skill.parts.each().filter(|(_, part)| part.weight != 0.0) {
            why.step("route", Mark::Note, format!("{name} {:+.2}", part.value()));
        }
        if let Some(first) = route.result.matches.first().filter(|first| first.name != entry.name) {
            why.step(
                "route",
                Mark::Note,
                format!("first is {}, {:.0} % sure", first.name, 100.0 * first.probability),
            );
        }
    }

    fn explain_merge(&self, catalog: &Catalog, entry: &Entry, why: &mut Explanation) {
        for reason in entry.reasons.iter().filter(|reason| reason.stage == Stage::Merge) {
            let lost = entry.state == State::Shadowed && reason.code.as_str() == "shadowed";
            why.reason("merge", if lost { Mark::Fail } else { Mark::Note }, reason);
        }
        if entry.state == State::Shadowed {
            why.answer = format!("another skill named {} is used instead", entry.name);
            return;
        }
        for copy in catalog.shadowed_by(entry) {
            why.step(
                "merge",
                Mark::Note,
                format!(
                    "it is used instead of {} (source {})",
                    copy.file_path.display(),
                    copy.source
                ),
            );
        }
    }

    fn explain_prompt(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        options: &PromptOptions,
        why: &mut Explanation,
    ) {
        if !entry.model_visible {
            return;
        }
        let block = self.prompt(catalog, options);
        let mut mine = block
            .reasons
            .iter()
            .filter(|reason| reason.skill.as_deref() == Some(&entry.name))
            .peekable();
        let omitted = block.report.omitted.iter().any(|omitted| omitted.name == entry.name);
        if mine.peek().is_none() && !omitted && block.report.included > 0 {
            why.step(
                "prompt",
                Mark::Pass,
                format!(
                    "the model sees it whole, one of {} in {} of {} characters",
                    block.report.included, block.report.used, block.report.budget
                ),
            );
        }
        for reason in mine {
            why.reason("prompt", if omitted { Mark::Fail } else { Mark::Note }, reason);
        }
        if omitted {
            why.answer = format!("{} can be used, but the prompt has no room for it", entry.name);
        }
    }
}
