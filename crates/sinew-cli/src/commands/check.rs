use std::fmt::Write as _;

use sinew_engine::{CheckReport, Engine, SkillShortfall};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show the whole catalog at a glance: what is ready, what is missing, what the prompt leaves out
///
/// Examples:
///   sinew check
///   sinew check --agent writer --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CheckArgs {}

pub(crate) fn run(_args: &CheckArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.quality().check(&snapshot.catalog);
    super::tell_issues(engine, &snapshot.catalog, out);
    out.data(&report, |text| write_check(text, &report))?;
    Ok(Exit::Done)
}

fn write_check(text: &mut String, report: &CheckReport) -> std::fmt::Result {
    let sum = &report.summary;
    render::heading(text, &format!("{} of {} skills can be used", sum.eligible, sum.total))?;
    let rows: [(&str, usize, &str); 8] = [
        ("the model sees", sum.model_visible, ""),
        ("slash commands", sum.command_visible, ""),
        ("need setup", sum.missing_requirements, "`sinew why <skill>` names the next step"),
        ("switched off", sum.disabled, ""),
        ("held back", sum.blocked, ""),
        ("not for this agent", sum.agent_filtered, ""),
        ("broken", sum.broken, "`sinew list` shows the errors"),
        ("shadowed", sum.shadowed, "`sinew list --all` shows the copies"),
    ];
    for (what, count, hint) in rows {
        if count > 0 && !hint.is_empty() {
            writeln!(text, "  {count:>5}  {what:<20} {}", render::dim(hint))?;
        } else {
            writeln!(text, "  {count:>5}  {what}")?;
        }
    }
    let prompt = &report.prompt;
    writeln!(
        text,
        "\n  prompt: {} of {} skills in {} of {} characters ({})",
        prompt.included,
        prompt.total,
        prompt.used,
        prompt.budget,
        serde_json::to_value(prompt.planner)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default(),
    )?;
    if !prompt.shortened.is_empty() {
        writeln!(text, "          {} descriptions shortened", prompt.shortened.len())?;
    }
    let (carried, own): (Vec<&SkillShortfall>, Vec<&SkillShortfall>) =
        report.missing_requirements.iter().partition(|missing| missing.bundled);
    if !carried.is_empty() {
        let count = carried.len();
        writeln!(text, "\n  {count} carried skills need setup: `sinew list --bundled`")?;
    }
    if !own.is_empty() {
        writeln!(text, "\n  need setup")?;
        for missing in own {
            let m = &missing.missing;
            let parts = [&m.bins, &m.any_bins, &m.env, &m.any_env, &m.config, &m.os];
            let what: Vec<&str> =
                parts.iter().flat_map(|list| list.iter().map(String::as_str)).collect();
            writeln!(
                text,
                "    {} lacks {}",
                render::safe(&missing.name),
                render::safe(&what.join(", "))
            )?;
        }
    }
    if !report.not_injected.is_empty() {
        writeln!(text, "\n  eligible, but not shown to the model")?;
        for hidden in &report.not_injected {
            writeln!(text, "    {} ({})", render::safe(&hidden.name), hidden.reason)?;
        }
    }
    Ok(())
}
