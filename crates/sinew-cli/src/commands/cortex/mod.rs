//! `sinew cortex`: one file per question about what was learned.

mod blacklist;
mod export;
mod import;
mod lessons;
mod prune;
mod read_only;
mod rebuild;
mod reset;
mod show;
mod simulate;
mod why;

use std::fmt::Write as _;

use clap::Subcommand;
use sinew_cortex::explain::CandidateView;
use sinew_cortex::lesson::Lesson;
use sinew_cortex::prune::{PruneRemoval, RemovalTarget};
use sinew_cortex::reflex::ReflexStatus;
use sinew_engine::{Cortex, Engine};

use crate::exit::CommandResult;
use crate::printer::Printer;
use crate::render::{self, StyledText};

/// Inspect and correct what was learned about skills
///
/// Examples:
///   sinew cortex show
///   sinew cortex why "manage my to-do list"
///   sinew cortex export --out cortex.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexArgs {
    #[command(subcommand)]
    action: CortexCommand,
}

impl CortexArgs {
    /// Whether the memory is changed.
    pub(crate) fn acts(&self) -> bool {
        match &self.action {
            CortexCommand::Show(_)
            | CortexCommand::Why(_)
            | CortexCommand::Export(_)
            | CortexCommand::Simulate(_) => false,
            CortexCommand::Lessons(args) => args.judges(),
            CortexCommand::Blacklist(args) => args.changes(),
            CortexCommand::ReadOnly(args) => args.changes(),
            CortexCommand::Import(_)
            | CortexCommand::Rebuild(_)
            | CortexCommand::Reset(_)
            | CortexCommand::Prune(_) => true,
        }
    }
}

#[derive(Debug, Subcommand)]
enum CortexCommand {
    Show(show::CortexShowArgs),
    Why(why::CortexWhyArgs),
    Lessons(lessons::CortexLessonsArgs),
    Blacklist(blacklist::CortexBlacklistArgs),
    ReadOnly(read_only::CortexReadOnlyArgs),
    Export(export::CortexExportArgs),
    Import(import::CortexImportArgs),
    Rebuild(rebuild::CortexRebuildArgs),
    Reset(reset::CortexResetArgs),
    Prune(prune::CortexPruneArgs),
    Simulate(simulate::CortexSimulateArgs),
}

pub(crate) fn run(args: &CortexArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    if let CortexCommand::Simulate(args) = &args.action {
        return simulate::run(args, out);
    }
    let cortex = engine.cortex()?;
    let result = match &args.action {
        CortexCommand::Show(args) => show::run(args, &cortex, out),
        CortexCommand::Why(args) => why::run(args, &cortex, out),
        CortexCommand::Lessons(args) => lessons::run(args, engine, &cortex, out),
        CortexCommand::Blacklist(args) => blacklist::run(args, engine, &cortex, out),
        CortexCommand::ReadOnly(args) => read_only::run(args, engine, &cortex, out),
        CortexCommand::Export(args) => export::run(args, &cortex, out),
        CortexCommand::Import(args) => import::run(args, engine, &cortex, out),
        CortexCommand::Rebuild(args) => rebuild::run(args, &cortex, out),
        CortexCommand::Reset(args) => reset::run(args, &cortex, out),
        CortexCommand::Prune(args) => prune::run(args, &cortex, out),
        CortexCommand::Simulate(args) => simulate::run(args, out),
    };
    print_notices(&cortex, out);
    result
}

/// Tells what happened beside the answer.
pub(super) fn print_notices(cortex: &Cortex<'_>, out: &mut Printer) {
    for notice in cortex.notices() {
        out.warn(&notice);
    }
}

/// Blocks in a bar.
const BLOCKS: usize = 20;

/// A weight as a bar: full blocks for what counts today, shaded ones for what disuse has taken.
pub(super) fn bar(weight: f64, effective: f64) -> StyledText {
    let blocks = |share: f64| (share * BLOCKS as f64).round().clamp(0.0, BLOCKS as f64) as usize;
    let (full, faded) = (blocks(effective), blocks(weight).saturating_sub(blocks(effective)));
    let rest = BLOCKS - full - faded;
    render::good(&format!("{}{}{}", "█".repeat(full), "▒".repeat(faded), "░".repeat(rest)))
}

/// A number of things.
fn many(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// What a file of the original holds.
fn holds(regions: usize, candidates: usize, lessons: usize) -> String {
    let [regions, candidates, lessons] =
        [(regions, "region"), (candidates, "candidate"), (lessons, "lesson")]
            .map(|(number, thing)| many(number as u64, thing));
    format!("{regions}, {candidates}, {lessons}")
}

/// A share in whole percent, rounded down: a bound must not promise more than it holds.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (100.0 * share).floor())
}

/// How often a skill worked, and what that says at least.
fn worked(view: &CandidateView) -> String {
    let all = view.runs.success + view.runs.fail;
    match all {
        0 => "never used here".to_owned(),
        _ => format!(
            "worked {} of {all} times here; at least {} (one-sided 95 %)",
            view.runs.success,
            percent(view.bayes.lb)
        ),
    }
}

/// Whether a reflex fires, or what it lacks.
pub(super) fn write_reflex(text: &mut String, reflex: &ReflexStatus) -> std::fmt::Result {
    match (reflex.fires, reflex.missing.is_empty()) {
        (true, _) => writeln!(text, "  {}", render::good("⚡ reflex: the plan is not asked about")),
        (false, false) => {
            writeln!(
                text,
                "  {}",
                render::dim(&format!("no reflex: {}", reflex.missing.join("; ")))
            )
        }
        (false, true) => Ok(()),
    }
}

/// A lesson in a sentence.
fn lesson(lesson: &Lesson) -> String {
    match lesson {
        Lesson::DependencyWarning { region, key } => {
            format!("{region} needs `{key}`, which is often missing")
        }
        Lesson::SkillQualityWarning { slug, detail } => {
            format!("the description of {slug} misleads: {detail}")
        }
        Lesson::EnvReady { region, key } => format!("{key} is set for {region}"),
    }
}

/// What left, and why.
pub(super) fn removal(removal: &PruneRemoval) -> String {
    let what = match &removal.what {
        RemovalTarget::Region { region } => format!("region {region}"),
        RemovalTarget::Candidate { region, slug } => format!("{slug} in {region}"),
        RemovalTarget::Signal { region, word } => format!("the word {word} of {region}"),
        RemovalTarget::Lesson { lesson: left } => format!("the lesson that {}", lesson(left)),
    };
    format!("pruned {what} ({})", removal.rule.as_str())
}
