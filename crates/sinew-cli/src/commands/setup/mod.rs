mod proof;
mod record;
mod steps;
mod undo;

use std::fmt::Write as _;

use clap::ValueEnum;
use serde::Serialize;
use sinew_engine::connect::AgentContext;
use sinew_engine::{Engine, MachineOverview};

use self::proof::SetupProof;
use self::steps::{SetupStep, StepStatus};
use super::status;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Set sinew up: look at this machine, connect its agents, and prove that it works
///
/// Shows what is here, then offers each step by itself: connect an agent, read skills that no
/// agent shared so far, compute the vectors that finding by meaning needs. At the end a message
/// goes through a connected agent's hook, and each agent is asked for its own list of skills, to see
/// whether sinew's is the same. Every step can be declined, run alone and repeated;
/// --undo takes back what setup did.
///
/// Examples:
///   sinew setup
///   sinew setup --yes
///   sinew setup --only connect
///   sinew setup --undo
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SetupArgs {
    /// Take every step without a question
    #[arg(long, short)]
    yes: bool,
    /// Only this step; may be repeated
    #[arg(long, value_name = "STEP", conflicts_with = "undo")]
    only: Vec<SetupStage>,
    /// Show what would be done, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Take back what setup did
    #[arg(long)]
    undo: bool,
}

impl SetupArgs {
    /// Whether anything is changed.
    pub(crate) fn acts(&self) -> bool {
        !self.dry_run
    }

    fn wants(&self, stage: SetupStage) -> bool {
        self.only.is_empty() || self.only.contains(&stage)
    }
}

/// A part of setting up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SetupStage {
    /// Connect the agents that are here
    Connect,
    /// Read folders of skills that are not read yet
    Import,
    /// Compute the vectors that are missing
    Index,
    /// Send a message through a connected agent's hook
    Prove,
    /// Ask each agent for its own list of skills, and compare
    Compare,
}

/// What was found and done.
#[derive(Debug, Serialize)]
struct SetupReport {
    /// The machine as it is now.
    machine: MachineOverview,
    /// What the list of skills costs each agent.
    context: Vec<AgentContext>,
    steps: Vec<SetupStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<SetupProof>,
}

pub(crate) fn run(args: &SetupArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if args.undo {
        return undo::run(args.dry_run, engine, out);
    }
    survey(engine, out)?;
    let mut wizard = steps::SetupWizard::begin(args, engine, out)?;
    let taken = wizard.take_steps().and_then(|()| wizard.wants_proof());
    let (steps, proves) = wizard.finish(taken)?;
    let proof = if proves { proof::prove(engine)? } else { None };
    let report = SetupReport {
        machine: engine.status().overview(&engine.snapshot().catalog)?,
        context: engine.connect().context(None)?,
        steps,
        proof,
    };
    let failed = report.steps.iter().any(|step| step.status == StepStatus::Failed)
        || report.proof.as_ref().is_some_and(|proof| !proof.works);
    out.data(&report, |text| write_report(text, &report))?;
    Ok(if failed { Exit::No } else { Exit::Done })
}

/// What is here, before anything is asked.
fn survey(engine: &Engine, out: &mut Printer) -> CommandResult {
    if out.is_json() {
        return Ok(Exit::Done);
    }
    let overview = engine.status().overview(&engine.snapshot().catalog)?;
    let mut text = String::new();
    let written = status::write_machine(&mut text, &overview, out.width());
    for context in engine.connect().context(None)? {
        // An agent that lists nothing pays nothing.
        if context.all.skills > 0 {
            let _ = writeln!(
                text,
                "          {} pays about {} tokens for its list of {} skills",
                context.title, context.all.tokens, context.all.skills
            );
        }
    }
    written.map_err(std::io::Error::other)?;
    out.ask(&format!("{text}\n"));
    Ok(Exit::Done)
}

fn write_report(text: &mut String, report: &SetupReport) -> std::fmt::Result {
    for step in &report.steps {
        let mark = match step.status {
            StepStatus::Done => render::good("✓"),
            StepStatus::Unchanged | StepStatus::Declined | StepStatus::Planned => render::dim("·"),
            StepStatus::Failed => render::bad("✗"),
        };
        writeln!(text, "{mark} {}", render::safe(&step.detail))?;
        if let Some(note) = step.note {
            writeln!(text, "  {} {note}", render::warning("→"))?;
        }
    }
    if let Some(proof) = &report.proof {
        let mark = if proof.works { render::good("✓") } else { render::bad("✗") };
        writeln!(text, "{mark} {}", render::safe(&proof.detail))?;
    }
    let next = &report.machine.next;
    writeln!(text, "\n{}: {}", render::safe(&next.why), render::good(&next.command))
}
