//! The draft of a skill: what was done, in OpenPocket's sections and sinew's own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use sinew_guard::Untrusted;

use crate::confidence::DraftConfidence;
use crate::fingerprint::{STEPS, fingerprint};
use crate::judge::pitfalls;
use crate::names;
use crate::redact::CleanRun;
use crate::replay::{self, ReplayScript};
use crate::risk::{self, ReplayRisk};
use crate::run::{RunStep, StepTarget};
use crate::simhash::{format_simhash, simhash, tokens};
use sinew_skill::ecmascript as text;

/// Steps that a draft leaves out: bookkeeping of the agent that a later run does not need.
const NOISE: &[&str] = &["todo_write", "runtime_info", "evidence_add", "artifact_add"];

/// What a draft is made from besides its run.
#[derive(Debug, Clone, Copy)]
pub struct DraftContext {
    /// How many runs it stands for.
    pub runs: usize,
    /// How far it is trusted.
    pub confidence: DraftConfidence,
    /// The current time, in milliseconds since 1970.
    pub now: u64,
    /// Whether it is written as OpenPocket writes it.
    pub exact: bool,
    /// Bytes that the replay script may have; `None` where there is to be none.
    pub max_script: Option<usize>,
}

/// A skill made from a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillDraft {
    /// The skill's name.
    pub name: String,
    /// What it is for, for routing.
    pub description: String,
    /// The text below the front matter.
    pub body: String,
    /// What its front matter holds under `metadata`.
    pub metadata: Value,
    /// The replay script, where anything can be replayed.
    pub script: Option<String>,
    /// How far it is trusted: `low`, `medium` or `high`, and why.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub confidence: DraftConfidence,
    /// What is wrong with doing it this way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<ReplayRisk>,
    /// OpenPocket's hash of what was done.
    pub behavior_fingerprint: String,
    /// The hash by which similar runs are found.
    pub simhash: String,
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// How many runs it stands for.
    pub runs: usize,
}

/// Writes the draft of a run; `dangerous` says which commands the scanner would block.
pub fn draft(
    clean: &CleanRun,
    making: &DraftContext,
    dangerous: &dyn Fn(&str) -> bool,
) -> SkillDraft {
    let run = &clean.run;
    let behaviour = fingerprint(&run.steps);
    let near = format_simhash(simhash(&tokens(&run.steps)));
    let risk = risk::replay_risk(&run.steps);
    let name = names::strict_slug(&run.task, &behaviour);
    let description = match making.exact {
        true => format!("Auto-generated draft for: {}", line(&run.task, 300)),
        false => names::description(&line(&run.task, 2_000)),
    };
    let head = replay::ScriptHeader {
        agent: &run.agent,
        session: &run.session,
        generated: &names::moment(making.now),
        fingerprint: &behaviour,
        risk,
        asks: run.steps.iter().any(|step| crate::risk::is_consent(&step.action.kind)),
    };
    let script = match making.max_script {
        Some(most) => replay::script(clean, &head, most, dangerous),
        None => ReplayScript::Nothing,
    };
    let too_long = script == ReplayScript::TooLong;
    let page = DraftPage { clean, making, behaviour: &behaviour, near: &near, risk, too_long };
    let mut generated = json!({
        "kind": "auto_skill_draft",
        "source_session": run.session,
        "behavior_fingerprint": behaviour,
        "simhash": near,
        "agent": run.agent,
    });
    if let Some(risk) = risk {
        generated["risk"] = json!(risk);
    }
    let metadata = json!({"openclaw": {
        "generated": generated,
        "triggers": {"any": [line(&run.task, 300)]},
    }});
    SkillDraft {
        body: page.write(),
        script: script.text(),
        name,
        description,
        metadata,
        confidence: making.confidence,
        risk,
        behavior_fingerprint: behaviour,
        simhash: near,
        parameters: clean.params.iter().map(|param| param.name.clone()).collect(),
        runs: making.runs,
    }
}

/// Text of a run on one line: nothing unprintable, nothing invisible, cut.
pub(crate) fn line(written: &str, units: usize) -> String {
    let seen: String = Untrusted::new(written).prompt_chars().collect();
    text::short(&seen, units)
}

struct DraftPage<'p> {
    clean: &'p CleanRun,
    making: &'p DraftContext,
    behaviour: &'p str,
    near: &'p str,
    risk: Option<ReplayRisk>,
    too_long: bool,
}

impl DraftPage<'_> {
    fn write(&self) -> String {
        let mut page = String::new();
        // Writing to a string does not fail.
        let _ = self.head(&mut page);
        let _ = self.when(&mut page);
        let _ = self.parameters(&mut page);
        let _ = self.procedure(&mut page);
        let _ = self.pitfalls(&mut page);
        let _ = self.rest(&mut page);
        page
    }

    fn head(&self, page: &mut String) -> std::fmt::Result {
        let Self { clean, making, .. } = self;
        let run = &clean.run;
        writeln!(page, "# Skill Draft: {}\n", line(&run.task, 180))?;
        writeln!(page, "- Status: draft")?;
        match making.exact {
            true => writeln!(page, "- Confidence: {}", making.confidence.as_str())?,
            false => {
                let why = making.confidence.explanation();
                writeln!(page, "- Confidence: {} ({why})", making.confidence.as_str())?;
            }
        }
        writeln!(page, "- Generated: {}", names::moment(making.now))?;
        writeln!(page, "- Source session: {}", line(&run.session, 200))?;
        writeln!(page, "- behavior_fingerprint: {}", self.behaviour)?;
        if !making.exact {
            writeln!(page, "- simhash: {}", self.near)?;
            writeln!(page, "- agent: {}", line(&run.agent, 60))?;
            writeln!(page, "- runs: {}", making.runs)?;
            let counts = clean.redactions.iter().map(|(kind, count)| format!("{kind} {count}"));
            let counts: Vec<String> = counts.collect();
            let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
            writeln!(page, "- redactions: {counts}")?;
        }
        if let Some(risk) = self.risk {
            writeln!(page, "\n{}", risk.warning())?;
        }
        Ok(())
    }

    fn when(&self, page: &mut String) -> std::fmt::Result {
        let run = &self.clean.run;
        writeln!(page, "\n## When To Use\n")?;
        writeln!(page, "- The user asks for: {}", line(&run.task, 180))?;
        writeln!(page, "\n## Preconditions\n")?;
        let apps: BTreeSet<&str> = run.steps.iter().filter_map(needed).collect();
        let apps: Vec<String> = apps.into_iter().map(|app| line(app, 80)).collect();
        match apps.as_slice() {
            [] => writeln!(page, "- Nothing but the agent's own tools.")?,
            apps => writeln!(page, "- Available: {}.", apps.join(", "))?,
        }
        if let Some(cwd) = &run.cwd
            && run.steps.iter().any(|step| step.action.kind == "exec")
        {
            writeln!(page, "- Commands run in the project's folder ({}).", line(cwd, 120))?;
        }
        Ok(())
    }

    fn parameters(&self, page: &mut String) -> std::fmt::Result {
        if self.clean.params.is_empty() || self.making.exact {
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
        let shown = shown_steps(steps, self.making.exact);
        for group in shown.iter().take(STEPS) {
            write_step(page, group, &steps[group.at])?;
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
        if found.is_empty() || self.making.exact {
            return Ok(());
        }
        writeln!(page, "\n## Pitfalls\n")?;
        for (at, fix) in found.into_iter().take(STEPS) {
            let failed = &steps[at];
            write!(page, "- Step {}, {}, failed", at + 1, summary(failed))?;
            let said = line(&failed.result, 180);
            if !said.is_empty() {
                write!(page, ": {said}")?;
            }
            match fix {
                Some(fix) => writeln!(
                    page,
                    "\n  - what worked instead, step {}: {}",
                    fix + 1,
                    summary(&steps[fix])
                )?,
                None => writeln!(page, "\n  - nothing in the run put it right")?,
            }
        }
        Ok(())
    }

    fn rest(&self, page: &mut String) -> std::fmt::Result {
        let run = &self.clean.run;
        writeln!(page, "\n## Completion Criteria\n")?;
        writeln!(page, "- What the user asked for is the case, and was checked.")?;
        let last = run.steps.iter().rev().find(|step| {
            !step.failed && step.action.kind != "finish" && !step.result.trim().is_empty()
        });
        if let Some(last) = last {
            writeln!(page, "- The last step shows something like: {}", line(&last.result, 180))?;
        }
        writeln!(page, "\n## Last Known Outcome\n")?;
        match line(&run.final_message, 500) {
            said if said.is_empty() => writeln!(page, "The run ended without a message.")?,
            said => writeln!(page, "{said}")?,
        }
        if self.too_long {
            writeln!(page, "\nThe run is too long for a replay script.")?;
        }
        writeln!(page, "\n## Refinement Checklist\n")?;
        for item in [
            "Give it a name and a description of the task, not of this one run.",
            "Replace what was so only this time by parameters.",
            "Leave out steps that only looked around.",
            "Say how to tell that it worked.",
        ] {
            writeln!(page, "- [ ] {item}")?;
        }
        Ok(())
    }
}

/// The program, application or server that a step needs.
fn needed(step: &RunStep) -> Option<&str> {
    match step.action.kind.as_str() {
        "launch_app" => Some(step.action.text("packageName")),
        "exec" => Some(step.app.as_str()).filter(|app| *app != "sh" && *app != "exec"),
        kind if kind.starts_with("mcp.") => Some(step.app.as_str()),
        _ => None,
    }
    .filter(|app| !app.is_empty())
}

/// A step of the procedure, and how often it is repeated in a row.
struct StepGroup {
    at: usize,
    times: usize,
}

/// The steps that a procedure shows: no noise, no failures that were fixed later, repeats as one.
fn shown_steps(steps: &[RunStep], exact: bool) -> Vec<StepGroup> {
    if exact {
        return (0..steps.len()).map(|at| StepGroup { at, times: 1 }).collect();
    }
    let fixed: Vec<usize> =
        pitfalls(steps).into_iter().filter_map(|(at, fix)| fix.map(|_| at)).collect();
    let mut groups: Vec<StepGroup> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let kind = step.action.kind.as_str();
        if NOISE.contains(&kind) || kind.starts_with("journal_") || fixed.contains(&at) {
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

fn write_step(page: &mut String, group: &StepGroup, step: &RunStep) -> std::fmt::Result {
    let app = line(&step.app, 80);
    write!(page, "{}. {} (app={app})", group.at + 1, summary(step))?;
    if group.times > 1 {
        write!(page, ", {} times", group.times)?;
    }
    writeln!(page)?;
    if let Some((seen, of)) = step.seen_in {
        writeln!(page, "   - optional: seen in {seen} of {of} runs")?;
    }
    let thought = line(&step.thought, 160);
    if !thought.is_empty() {
        writeln!(page, "   - intent: {thought}")?;
    }
    if let Some(target) = target_line(&step.target) {
        writeln!(page, "   - ui_target: {target}")?;
    }
    let result = line(&step.result, 180);
    if !result.is_empty() {
        writeln!(page, "   - observed: {result}")?;
    }
    if step.failed {
        writeln!(page, "   - status: error")?;
    }
    Ok(())
}

/// What a step was done to, on one line whatever its text holds.
fn target_line(target: &StepTarget) -> Option<String> {
    let texts = [
        ("text", &target.text),
        ("resourceId", &target.resource_id),
        ("contentDesc", &target.content_desc),
        ("class", &target.class_name),
    ];
    let named = texts.into_iter().filter_map(|(name, text)| {
        let text = text.as_deref().filter(|text| !text.is_empty())?;
        let seen: String = Untrusted::new(text).prompt_chars().take(200).collect();
        Some(format!("{name}={}", json!(seen)))
    });
    let clickable = target.clickable.map(|clickable| format!("clickable={clickable}"));
    let parts: Vec<String> = named.chain(clickable).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// A step in one phrase.
pub(crate) fn summary(step: &RunStep) -> String {
    let action = &step.action;
    let number = |field: &str| replay::number(action, field).unwrap_or_else(|| "?".to_owned());
    let text = |field: &str, units: usize| line(action.text(field), units);
    match action.kind.as_str() {
        "tap" => format!("tap({}, {})", number("x"), number("y")),
        "tap_element" => format!("tap_element(elementId={})", text("elementId", 80)),
        kind @ ("swipe" | "drag" | "long_press_drag") => format!(
            "{kind}({}, {} -> {}, {})",
            number("x1"),
            number("y1"),
            number("x2"),
            number("y2")
        ),
        "type" => {
            let typed = action.text("text");
            match typed.starts_with("{{") {
                true => format!("type({typed})"),
                false => format!("type({})", json!(line(typed, 72))),
            }
        }
        "keyevent" => format!("keyevent({})", text("keycode", 40)),
        "launch_app" => format!("launch_app({})", text("packageName", 120)),
        "wait" => format!("wait({}ms)", number("durationMs")),
        kind @ ("shell" | "exec") => format!("{kind}({})", text("command", 96)),
        "run_script" => "run_script(<embedded>)".to_owned(),
        "request_human_auth" => format!("request_human_auth({})", text("capability", 80)),
        "finish" => "finish(...)".to_owned(),
        kind @ ("read" | "write" | "edit" | "apply_patch") => {
            format!("{kind}({})", text("path", 96))
        }
        kind => line(kind, 80),
    }
}
