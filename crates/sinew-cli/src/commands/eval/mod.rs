mod calibrate;
mod html;
mod route;
mod scan;
mod triggers;

use std::path::PathBuf;

use clap::Subcommand;
use sinew_engine::{Engine, EvalData};

use crate::exit::CommandResult;
use crate::printer::Printer;

/// Measure sinew against labelled data
///
/// Examples:
///   sinew eval route --misses
///   sinew eval route --skills ./skills --queries questions.jsonl --misses
///   sinew eval route --skills ./skills --queries questions.jsonl --compare static default
///   sinew eval route --compare before.json after.json
///   sinew eval calibrate --dry-run
///   sinew eval triggers my-skill --data triggers.jsonl
///   sinew eval scan --data guard.jsonl.gz --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    action: EvalCommand,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    /// Measure the router: `id, query, expected[], also[], kind`; kind none: no skill fits
    Route(route::EvalRouteArgs),
    /// Fit floor, threshold and margin to your own messages, and write them to the configuration
    Calibrate(calibrate::EvalCalibrateArgs),
    /// Measure whether a skill triggers when it should: rows of query and should_trigger
    Triggers {
        /// The skill
        skill: String,
        /// The rows, as JSON lines or one JSON list
        #[arg(long, value_name = "FILE")]
        data: PathBuf,
    },
    /// Measure the scanner on labelled skills: JSON lines with id, label, tier and files
    Scan {
        /// JSON lines, gzipped or plain
        #[arg(long, value_name = "FILE")]
        data: PathBuf,
    },
}

/// The files that routing is measured on.
#[derive(Debug, clap::Args)]
struct EvalDataArgs {
    /// A folder of skills, or JSON lines (.jsonl, .jsonl.gz) with id, name and text [default: the
    /// catalog]
    #[arg(long, value_name = "DIR|JSONL")]
    skills: Option<PathBuf>,
    /// The messages; rows of query, skill and should_trigger work as well [default:
    /// evals/route.jsonl, the test cases of the workspace]
    #[arg(long, value_name = "JSONL")]
    queries: Option<PathBuf>,
    /// The right skills by the messages' ids, where another file says them: SkillRouter's
    /// relevance.json, BFCL's possible_answer
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
}

impl EvalDataArgs {
    fn files(&self) -> EvalData<'_> {
        EvalData {
            skills: self.skills.as_deref(),
            queries: self.queries.as_deref(),
            answers: self.answers.as_deref(),
        }
    }
}

impl EvalArgs {
    /// Whether the configuration is changed.
    pub(super) fn acts(&self) -> bool {
        matches!(&self.action, EvalCommand::Calibrate(args) if args.writes())
    }
}

pub(crate) fn run(args: &EvalArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        EvalCommand::Scan { data } => scan::run(data, engine, out),
        EvalCommand::Calibrate(args) => calibrate::run(args, engine, out),
        EvalCommand::Route(args) => route::run(args, engine, out),
        EvalCommand::Triggers { skill, data } => triggers::run(skill, data, engine, out),
    }
}
