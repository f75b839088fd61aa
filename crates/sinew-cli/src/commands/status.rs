use std::fmt::Write as _;

use sinew_engine::{Engine, MachineOverview};

use crate::exit::{CommandResult, Exit};
use crate::layout;
use crate::printer::Printer;
use crate::render;

/// Show this machine on one screen: skills, agents, what waits for you, and the next step
///
/// The same as `sinew` without a command.
///
/// Examples:
///   sinew
///   sinew status --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct StatusArgs {}

pub(crate) fn run(_args: &StatusArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let overview = engine.status().overview(&snapshot.catalog)?;
    let width = out.width();
    out.data(&overview, |text| write_overview(text, &overview, width))?;
    Ok(Exit::Done)
}

/// The machine and the next step, in at most twenty lines.
fn write_overview(text: &mut String, overview: &MachineOverview, width: usize) -> std::fmt::Result {
    write_machine(text, overview, width)?;
    writeln!(text)?;
    let next = &overview.next;
    writeln!(text, "{}: {}", render::safe(&next.why), render::good(&next.command))?;
    writeln!(text, "{}", render::dim("`sinew --help` shows everything else"))
}

/// What is here, without the next step.
pub(super) fn write_machine(
    text: &mut String,
    overview: &MachineOverview,
    width: usize,
) -> std::fmt::Result {
    let skills = &overview.skills;
    render::heading(text, &format!("sinew {}", overview.version))?;
    let mut counts = vec![format!("{} of {} ready", skills.eligible, skills.total)];
    for (count, what) in [
        (skills.missing_requirements, "need setup"),
        (skills.blocked, "blocked"),
        (skills.broken, "broken"),
        (skills.disabled, "switched off"),
        (skills.shadowed, if skills.shadowed == 1 { "shadowed copy" } else { "shadowed copies" }),
    ] {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    row(text, "skills", &counts.join(", "), usize::MAX)?;
    for blocked in &overview.blocked {
        row(text, "", &format!("✗ {}: {}", blocked.name, blocked.why), width)?;
    }
    if skills.blocked > overview.blocked.len() && !overview.blocked.is_empty() {
        let left = skills.blocked - overview.blocked.len();
        row(text, "", &format!("and {left} more: `sinew check`"), width)?;
    }
    let agents: Vec<String> = overview
        .agents
        .iter()
        .map(|agent| match agent.connected {
            true => format!("{} ✓", agent.title),
            false => format!("{} (not connected)", agent.title),
        })
        .collect();
    let agents = if agents.is_empty() { "none found".to_owned() } else { agents.join(", ") };
    row(text, "agents", &agents, usize::MAX)?;
    if overview.waiting > 0 {
        row(text, "for you", &format!("{} decisions wait", overview.waiting), width)?;
    }
    for (at, message) in overview.messages.iter().enumerate() {
        let given = match message.skills.as_slice() {
            [] => "nothing".to_owned(),
            skills => skills.join(", "),
        };
        let label = if at == 0 { "lately" } else { "" };
        let said = format!("“{}” → {given}", message.message.trim());
        row(text, label, &said, width)?;
    }
    Ok(())
}

/// A label and its text: cut to one line of the terminal, or whole where no width is given.
fn row(text: &mut String, label: &str, line: &str, width: usize) -> std::fmt::Result {
    let room = width.saturating_sub(10);
    writeln!(text, "  {label:<8}{}", layout::clipped(&render::safe(line), room))
}
