//! The page of a draft as OpenPocket writes it: its sections, its words for steps, its hashes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::json;
use sinew_guard::Untrusted;

use crate::draft::{DraftContext, line};
use crate::fingerprint::STEPS;
use crate::names;
use crate::redact::CleanRun;
use crate::replay;
use crate::risk::ReplayRisk;
use crate::run::{AgentRun, RunStep, StepTarget};

/// What the page is written from.
pub(crate) struct ReferencePage<'p> {
    pub(crate) clean: &'p CleanRun,
    pub(crate) making: &'p DraftContext,
    pub(crate) behaviour: &'p str,
    pub(crate) risk: Option<ReplayRisk>,
    pub(crate) too_long: bool,
}

impl ReferencePage<'_> {
    /// The whole page.
    pub(crate) fn write(&self) -> String {
        let mut page = String::new();
        // Writing to a string does not fail.
        let _ = self.head(&mut page);
        let _ = self.procedure(&mut page);
        let _ = self.rest(&mut page);
        page
    }

    fn head(&self, page: &mut String) -> std::fmt::Result {
        let run = &self.clean.run;
        writeln!(page, "# Skill Draft: {}\n", line(&run.task, 180))?;
        writeln!(page, "- Status: draft")?;
        writeln!(page, "- Confidence: {}", self.making.confidence.as_str())?;
        writeln!(page, "- Generated: {}", names::moment(self.making.now))?;
        writeln!(page, "- Source session: {}", line(&run.session, 200))?;
        writeln!(page, "- behavior_fingerprint: {}", self.behaviour)?;
        if let Some(risk) = self.risk {
            writeln!(page, "\n{}", risk.warning())?;
        }
        when_to_use(page, run)
    }

    fn procedure(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "\n## Procedure (Draft)\n")?;
        let steps = &self.clean.run.steps;
        for (at, step) in steps.iter().take(STEPS).enumerate() {
            write_step(page, at + 1, step)?;
        }
        let left = steps.len().saturating_sub(STEPS) + self.clean.run.left_out;
        if left > 0 {
            writeln!(page, "\n{left} further steps are left out.")?;
        }
        Ok(())
    }

    fn rest(&self, page: &mut String) -> std::fmt::Result {
        completion(page, &self.clean.run)?;
        outcome(page, &self.clean.run, self.too_long)?;
        checklist(page)
    }
}

/// When the draft is for, and what it needs.
pub(crate) fn when_to_use(page: &mut String, run: &AgentRun) -> std::fmt::Result {
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

/// How to tell that it worked.
pub(crate) fn completion(page: &mut String, run: &AgentRun) -> std::fmt::Result {
    writeln!(page, "\n## Completion Criteria\n")?;
    writeln!(page, "- What the user asked for is the case, and was checked.")?;
    let last = run.steps.iter().rev().find(|step| {
        !step.failed && step.action.kind != "finish" && !step.result.trim().is_empty()
    });
    match last {
        Some(last) => {
            writeln!(page, "- The last step shows something like: {}", line(&last.result, 180))
        }
        None => Ok(()),
    }
}

/// How the last run ended.
pub(crate) fn outcome(page: &mut String, run: &AgentRun, too_long: bool) -> std::fmt::Result {
    writeln!(page, "\n## Last Known Outcome\n")?;
    match line(&run.final_message, 500) {
        said if said.is_empty() => writeln!(page, "The run ended without a message.")?,
        said => writeln!(page, "{said}")?,
    }
    if too_long {
        writeln!(page, "\nThe run is too long for a replay script.")?;
    }
    Ok(())
}

/// What a person should do before the draft is a skill.
pub(crate) fn checklist(page: &mut String) -> std::fmt::Result {
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

fn write_step(page: &mut String, number: usize, step: &RunStep) -> std::fmt::Result {
    let app = line(&step.app, 80);
    writeln!(page, "{number}. {} (app={app})", summary(step))?;
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
pub(crate) fn target_line(target: &StepTarget) -> Option<String> {
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
fn summary(step: &RunStep) -> String {
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
