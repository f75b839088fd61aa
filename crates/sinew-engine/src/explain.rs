//! Why a skill is in or out: the steps of a decision, in the order in which they were taken.

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry, EntryState};
use sinew_settings::{Reason, ReasonCode, ReasonSeverity, ReasonStage};

use crate::skills::place_elsewhere;
use crate::{DigestCache, PromptOptions, SkillsHandle, WhyAnswer};

/// How a decision came about. Every surface renders the same one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DecisionExplanation {
    /// What it is about.
    pub subject: String,
    /// The answer in one sentence.
    pub answer: String,
    /// Whether the answer is that it can be used.
    pub usable: bool,
    /// What led to it.
    pub steps: Vec<ExplanationStep>,
}

/// One step of a decision.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExplanationStep {
    /// The stage: found, read, merge, gate, seen, prompt, command, scan, served, learned, route.
    pub stage: &'static str,
    /// How it went.
    pub mark: ExplanationMark,
    /// What was found.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ExplanationMark {
    /// It went through.
    Pass,
    /// It stopped here.
    Fail,
    /// Worth knowing.
    Note,
}

impl DecisionExplanation {
    pub(crate) fn step(
        &mut self,
        stage: &'static str,
        mark: ExplanationMark,
        text: impl Into<String>,
    ) {
        self.steps.push(ExplanationStep { stage, mark, text: text.into(), remedy: None });
    }

    fn reason(&mut self, stage: &'static str, mark: ExplanationMark, reason: &Reason) {
        self.steps.push(ExplanationStep {
            stage,
            mark,
            text: reason.to_string(),
            remedy: reason.remedy.clone(),
        });
    }
}

impl SkillsHandle<'_> {
    /// Why a skill is in or out, shadowed or cut.
    pub fn explain(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        options: &PromptOptions,
    ) -> DecisionExplanation {
        let mut why = DecisionExplanation {
            subject: entry.name.clone(),
            answer: String::new(),
            usable: false,
            steps: Vec::new(),
        };
        why.step(
            "found",
            ExplanationMark::Pass,
            format!(
                "{} (source {}, tier {})",
                entry.file_path.display(),
                entry.source,
                entry.tier.as_str()
            ),
        );
        if let Some(plugin) = &entry.plugin {
            let came = format!("it came with the plugin {}", plugin.sentence());
            why.step("found", ExplanationMark::Pass, came);
        }
        let of =
            |stage: ReasonStage| entry.reasons.iter().filter(move |reason| reason.stage == stage);
        for reason in of(ReasonStage::Discover).chain(of(ReasonStage::Parse)) {
            let stopped =
                entry.state == EntryState::Broken && reason.severity == ReasonSeverity::Error;
            why.reason(
                "read",
                if stopped { ExplanationMark::Fail } else { ExplanationMark::Note },
                reason,
            );
        }
        if entry.state == EntryState::Broken {
            why.answer = format!("{} could not be loaded", entry.name);
            return why;
        }
        why.step("read", ExplanationMark::Pass, format!("“{}”", entry.description));
        self.explain_merge(catalog, entry, &mut why);
        if entry.state == EntryState::Shadowed {
            return why;
        }
        for reason in of(ReasonStage::Gate) {
            why.reason("gate", ExplanationMark::Fail, reason);
        }
        if entry.eligible {
            let checked = match (entry.requirements.is_empty(), place_elsewhere(entry)) {
                (_, Some(place)) => format!("what it asks for and is not here is {place}"),
                (true, None) => "it asks for nothing".to_owned(),
                (false, None) => "everything it asks for is here".to_owned(),
            };
            why.step("gate", ExplanationMark::Pass, checked);
        }
        for reason in of(ReasonStage::Visibility) {
            let hides = matches!(reason.code.as_str(), "agent-filter" | "session-override");
            why.reason(
                "seen",
                if hides { ExplanationMark::Fail } else { ExplanationMark::Note },
                reason,
            );
        }
        why.usable = entry.state == EntryState::Ready;
        why.answer = match entry.state {
            EntryState::Ready => format!("{} can be used", entry.name),
            EntryState::NeedsSetup => {
                format!("{} needs something that is missing here", entry.name)
            }
            EntryState::Disabled => format!("{} is switched off", entry.name),
            EntryState::Blocked => format!("{} is held back", entry.name),
            EntryState::Excluded => format!("{} is not for this agent", entry.name),
            EntryState::Shadowed | EntryState::Broken => String::new(),
        };
        self.explain_prompt(catalog, entry, options, &mut why);
        if let Some(command) = &entry.command_name {
            why.step("command", ExplanationMark::Pass, format!("people call it with /{command}"));
        }
        self.explain_trust(entry, &mut why);
        why
    }

    /// What the guard, the hosts and earlier outcomes say.
    fn explain_trust(&self, entry: &CatalogEntry, why: &mut DecisionExplanation) {
        if let Some(scan) = entry.scan.as_ref().filter(|scan| scan.findings > 0) {
            let said =
                format!("the guard says {}: {} findings", scan.verdict.as_str(), scan.findings);
            why.step("scan", ExplanationMark::Note, said);
        }
        let trust = self.engine.trust();
        if let Some((_, locked)) = trust.locked_skill(&entry.base_dir)
            && !locked.signature.is_unsigned()
        {
            why.step("scan", ExplanationMark::Note, locked.signature.sentence());
        }
        if entry.state == EntryState::Ready
            && let Err(not) = self.engine.skills().serve(entry, &DigestCache::default())
        {
            let said = format!("not_servable: {} ({})", not.as_str(), not.sentence());
            why.step("served", ExplanationMark::Note, said);
        }
        for reason in crate::routing::discounts(entry) {
            why.step("route", ExplanationMark::Note, reason.sentence());
        }
        if self.engine.known_outcomes() == 0 {
            return;
        }
        let learned = self.engine.cortex().and_then(|cortex| cortex.why(&entry.name));
        let Ok(WhyAnswer::Skill { regions, blacklisted, .. }) = learned else { return };
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
            why.step("learned", ExplanationMark::Note, said);
        }
        if blacklisted {
            why.step("learned", ExplanationMark::Fail, "it is on the blacklist");
        }
    }

    fn explain_merge(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        why: &mut DecisionExplanation,
    ) {
        for reason in entry.reasons.iter().filter(|reason| reason.stage == ReasonStage::Merge) {
            let lost = entry.state == EntryState::Shadowed
                && matches!(reason.code, ReasonCode::Shadowed | ReasonCode::InstalledNameTaken);
            why.reason(
                "merge",
                if lost { ExplanationMark::Fail } else { ExplanationMark::Note },
                reason,
            );
        }
        if entry.state == EntryState::Shadowed {
            why.answer = format!("another skill named {} is used instead", entry.name);
            return;
        }
        for copy in catalog.shadowed_by(entry) {
            why.step(
                "merge",
                ExplanationMark::Note,
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
        entry: &CatalogEntry,
        options: &PromptOptions,
        why: &mut DecisionExplanation,
    ) {
        if !entry.model_visible {
            return;
        }
        let block = self.engine.skills().prompt(catalog, options);
        let mut mine = block
            .reasons
            .iter()
            .filter(|reason| reason.skill.as_deref() == Some(&entry.name))
            .peekable();
        let omitted = block.report.omitted.iter().any(|omitted| omitted.name == entry.name);
        if mine.peek().is_none() && !omitted && block.report.included > 0 {
            why.step(
                "prompt",
                ExplanationMark::Pass,
                format!(
                    "the model sees it whole, one of {} in {} of {} characters",
                    block.report.included, block.report.used, block.report.budget
                ),
            );
        }
        for reason in mine {
            why.reason(
                "prompt",
                if omitted { ExplanationMark::Fail } else { ExplanationMark::Note },
                reason,
            );
        }
        if omitted {
            why.answer = format!("{} can be used, but the prompt has no room for it", entry.name);
        }
    }
}
