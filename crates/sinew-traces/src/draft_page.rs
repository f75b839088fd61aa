//! The page of a draft as a person would write it: sentences, commands in backticks, no hashes.

use std::fmt::Write as _;

use serde_json::json;

use crate::draft::{DraftContext, line};
use crate::fingerprint::STEPS;
use crate::judge::pitfalls;
use crate::names;
use crate::redact::CleanRun;
use crate::reference_page::{checklist, completion, outcome, target_line, when_to_use};
use crate::risk::{ReplayRisk, is_consent};
use crate::run::RunStep;
use crate::step_sentence::{code, sentence};

/// Steps that a draft leaves out: bookkeeping of the agent that a later run does not need.
const NOISE: &[&str] = &["todo_write", "runtime_info", "evidence_add", "artifact_add"];

/// What the page is written from.
pub(crate) struct DraftPage<'p> {
    pub(crate) clean: &'p CleanRun,
    pub(crate) making: &'p DraftContext,
    pub(crate) risk: Option<ReplayRisk>,
    /// What a person was asked for.
    pub(crate) asked: &'p [String],
    pub(crate) too_long: bool,
}

impl DraftPage<'_> {
    /// The whole page.
    pub(crate) fn write(&self) -> String {
        let mut page = String::new();
        // Writing to a string does not fail.
        let _ = self.head(&mut page);
        let _ = when_to_use(&mut page, &self.clean.run);
        let _ = self.parameters(&mut page);
        let _ = self.procedure(&mut page);
        let _ = self.pitfalls(&mut page);
        let _ = completion(&mut page, &self.clean.run);
        let _ = outcome(&mut page, &self.clean.run, self.too_long);
        let _ = checklist(&mut page);
        page
    }

    fn head(&self, page: &mut String) -> std::fmt::Result {
        let Self { clean, making, .. } = self;
        let run = &clean.run;
        writeln!(page, "# Skill Draft: {}\n", line(&run.task, 180))?;
        writeln!(page, "- Status: draft")?;
        let why = making.confidence.explanation();
        writeln!(page, "- Confidence: {} ({why})", making.confidence.as_str())?;
        writeln!(page, "- Generated: {}", names::moment(making.now))?;
        writeln!(page, "- Learned from: {}, runs: {}", line(&run.agent, 60), making.runs)?;
        let counts = clean.redactions.iter().map(|(kind, count)| format!("{kind} {count}"));
        let counts: Vec<String> = counts.collect();
        if !counts.is_empty() {
            writeln!(page, "- Taken out: {}", counts.join(", "))?;
        }
        if let Some(risk) = self.risk {
            writeln!(page, "\n{}", risk.warning())?;
        }
        if !self.asked.is_empty() {
            let what: Vec<String> = self.asked.iter().map(|what| line(what, 120)).collect();
            writeln!(
                page,
                "\n> **A person is asked.** Get a clear yes for this before anything is done, and stop without \
                 one: {}.",
                what.join("; ")
            )?;
        }
        Ok(())
    }

    fn parameters(&self, page: &mut String) -> std::fmt::Result {
        if self.clean.params.is_empty() {
            return Ok(());
        }
        writeln!(page, "\n## Parameters\n")?;
        for param in &self.clean.params {
            write!(page, "- `{{{{{}}}}}`: {}", param.name, line(&param.meaning, 120))?;
            match (&param.default, param.secret) {
                (_, true) => write!(page, "; secret, ask for it and never repeat it")?,
                (Some(value), _) => write!(page, "; for example {}", json!(line(value, 72)))?,
                (None, _) => {}
            }
            match param.distinct {
                0 | 1 => writeln!(page)?,
                n => writeln!(page, "; {n} values seen")?,
            }
        }
        Ok(())
    }

    fn procedure(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "\n## Procedure (Draft)\n")?;
        let steps = &self.clean.run.steps;
        let shown = shown_steps(steps);
        for (at, group) in shown.iter().take(STEPS).enumerate() {
            write_step(page, at + 1, group, &steps[group.at])?;
        }
        let left = shown.len().saturating_sub(STEPS) + self.clean.run.left_out;
        if left > 0 {
            writeln!(page, "\n{left} further steps are left out.")?;
        }
        Ok(())
    }

    fn pitfalls(&self, page: &mut String) -> std::fmt::Result {
        let steps = &self.clean.run.steps;
        let found = pitfalls(steps);
        if found.is_empty() {
            return Ok(());
        }
        writeln!(page, "\n## Pitfalls\n")?;
        for (at, fix) in found.into_iter().take(STEPS) {
            let failed = &steps[at];
            write!(page, "- Step {} of the run failed: {}", at + 1, sentence(failed))?;
            let said = line(&failed.result, 180);
            if !said.is_empty() {
                write!(page, " It said: {}", code(&said))?;
            }
            match fix {
                Some(fix) => {
                    writeln!(page, "\n  - What worked instead: {}", sentence(&steps[fix]))?;
                }
                None => writeln!(page, "\n  - Nothing in the run put it right.")?,
            }
        }
        Ok(())
    }
}

/// A step of the procedure, and how often it is repeated in a row.
struct StepGroup {
    at: usize,
    times: usize,
}

/// The steps that a procedure shows: no noise, no failures that were fixed later, repeats as one. What
/// asked a person is always shown.
fn shown_steps(steps: &[RunStep]) -> Vec<StepGroup> {
    let fixed: Vec<usize> =
        pitfalls(steps).into_iter().filter_map(|(at, fix)| fix.map(|_| at)).collect();
    let mut groups: Vec<StepGroup> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let kind = step.action.kind.as_str();
        let is_noise = NOISE.contains(&kind) || kind.starts_with("journal_") || fixed.contains(&at);
        if is_noise && !is_consent(kind) {
            continue;
        }
        match groups.last_mut() {
            Some(last)
                if steps[last.at].action == step.action
                    && steps[last.at].target == step.target
                    && steps[last.at].failed == step.failed =>
            {
                last.times += 1;
            }
            _ => groups.push(StepGroup { at, times: 1 }),
        }
    }
    groups
}

fn write_step(
    page: &mut String,
    number: usize,
    group: &StepGroup,
    step: &RunStep,
) -> std::fmt::Result {
    write!(page, "{number}. {}", sentence(step))?;
    if group.times > 1 {
        write!(page, " Do it {} times.", group.times)?;
    }
    writeln!(page)?;
    match step.seen_in {
        // A question that one run asked is asked always.
        Some((seen, of)) if is_consent(&step.action.kind) => {
            writeln!(page, "   - Required, though only {seen} of {of} runs asked.")?;
        }
        Some((seen, of)) => writeln!(page, "   - Optional: seen in {seen} of {of} runs.")?,
        None => {}
    }
    let thought = line(&step.thought, 160);
    if !thought.is_empty() {
        writeln!(page, "   - Why: {thought}")?;
    }
    if let Some(target) = target_line(&step.target) {
        writeln!(page, "   - ui_target: {target}")?;
    }
    let result = line(&step.result, 180);
    if !result.is_empty() {
        writeln!(page, "   - You should see: {result}")?;
    }
    if step.failed {
        writeln!(page, "   - It failed when it was recorded.")?;
    }
    Ok(())
}
