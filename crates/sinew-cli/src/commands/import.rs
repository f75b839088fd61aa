use std::fmt::Write as _;

use sinew_engine::{Engine, ImportReport, ImportRequest, ImportStatus, SkillImportMode};
use sinew_settings::config::UnattendedAct;

use super::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Import the skills of other agents on this machine
///
/// Their folders are read in place, unless you ask for links or copies in sinew's own folder. No
/// file of the other agent is changed, and nothing is executed.
///
/// Examples:
///   sinew import --dry-run
///   sinew import claude-code codex
///   sinew import claude-code --copy --commands
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ImportArgs {
    /// Whose skills [default: those of all agents]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Link each skill into the folder of installed skills
    #[arg(long, conflicts_with = "copy")]
    link: bool,
    /// Copy each skill there, after a scan
    #[arg(long)]
    copy: bool,
    /// Turn single-file commands into skills, too; they are copied
    #[arg(long)]
    commands: bool,
    /// Show what was found, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &ImportArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let report = engine.connect().import(&ImportRequest {
        agents: args.names.clone(),
        mode: match (args.link, args.copy) {
            (true, _) => SkillImportMode::Link,
            (_, true) => SkillImportMode::Copy,
            _ => SkillImportMode::Register,
        },
        commands: args.commands,
        write: !args.dry_run,
        by: deciding_actor(engine, out, UnattendedAct::Install),
    })?;
    out.data(&report, |text| write_report(text, &report))?;
    Ok(if report.skills.is_empty() { Exit::No } else { Exit::Done })
}

fn write_report(text: &mut String, report: &ImportReport) -> std::fmt::Result {
    for root in &report.roots {
        let path = render::safe(&root.path.to_string_lossy());
        let what = match (root.known, report.written) {
            (true, _) => "read already",
            (false, true) => "new",
            (false, false) => "not read yet",
        };
        writeln!(text, "{path} ({}; {what})", root.agents.join(", "))?;
    }
    for skill in &report.skills {
        let shown = |path: &std::path::Path| render::safe(&path.to_string_lossy());
        let (mark, what) = match &skill.status {
            ImportStatus::Added => (render::good("✓"), "added".to_owned()),
            ImportStatus::AlreadyKnown { at } => {
                (render::dim("·"), format!("known from {}", shown(at)))
            }
            ImportStatus::ShadowedBy { at } => {
                (render::dim("·"), format!("shadowed by {}", shown(at)))
            }
            ImportStatus::Invalid { why } => (render::bad("✗"), render::safe(why)),
            ImportStatus::ScanCritical { findings } => {
                (render::bad("✗"), format!("held back by the guard: {findings} findings"))
            }
            ImportStatus::NeedsCopy => {
                (render::warning("!"), "a command; --copy takes it in".to_owned())
            }
        };
        writeln!(text, "  {mark} {:<24} {what}", render::safe(&skill.name))?;
    }
    match (report.skills.is_empty(), report.written) {
        (true, _) => writeln!(text, "no other agent has skills here"),
        (false, false) => writeln!(text, "{}", render::dim("nothing was written")),
        (false, true) => Ok(()),
    }
}
