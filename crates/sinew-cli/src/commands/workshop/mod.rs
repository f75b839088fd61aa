//! `sinew workshop`: one file per subcommand, and what they share in `shared.rs` and `show.rs`.

#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of a method is not general enough over the workshop's lifetime"
)]

mod apply;
mod capture;
mod export;
mod history;
mod import;
mod inspect;
mod list;
mod promote;
mod proposal_text;
mod reject;
mod restore;
mod review;
mod revise;
mod shared;
mod split;
mod status;
mod suggest;
mod tend;
mod undo;
mod write_support_file;

use clap::Subcommand;
use sinew_engine::Engine;

use crate::exit::CommandResult;
use crate::printer::Printer;

/// Review what was learned: proposals to change skills, their history, and undo
///
/// Corrections ("next time, check the frames first") become proposals. Nothing is written before
/// you agree, unless the policy says so, and every write can be undone.
///
/// Examples:
///   sinew workshop review
///   sinew workshop suggest --skill release-notes --body "- Tag last."
///   sinew workshop capture --text "from now on, tag last" --dry-run
///   sinew workshop undo release-notes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopArgs {
    #[command(subcommand)]
    action: WorkshopCommand,
}

#[derive(Debug, Subcommand)]
enum WorkshopCommand {
    Status(status::WorkshopStatusArgs),
    List(list::WorkshopListArgs),
    Inspect(inspect::WorkshopInspectArgs),
    Review(review::WorkshopReviewArgs),
    Suggest(suggest::WorkshopSuggestArgs),
    Revise(revise::WorkshopReviseArgs),
    Restore(restore::WorkshopRestoreArgs),
    Apply(apply::WorkshopApplyArgs),
    Reject(reject::WorkshopRejectArgs),
    Undo(undo::WorkshopUndoArgs),
    History(history::WorkshopHistoryArgs),
    WriteSupportFile(write_support_file::WorkshopSupportFileArgs),
    Capture(capture::WorkshopCaptureArgs),
    Promote(promote::WorkshopPromoteArgs),
    Split(split::WorkshopSplitArgs),
    Tend(tend::WorkshopTendArgs),
    Import(import::WorkshopImportArgs),
    Export(export::WorkshopExportArgs),
}

impl WorkshopArgs {
    /// Whether a proposal is made or decided.
    pub(crate) fn acts(&self) -> bool {
        match &self.action {
            WorkshopCommand::Status(_)
            | WorkshopCommand::List(_)
            | WorkshopCommand::Inspect(_)
            | WorkshopCommand::History(_)
            | WorkshopCommand::Export(_) => false,
            WorkshopCommand::Review(_)
            | WorkshopCommand::Suggest(_)
            | WorkshopCommand::Revise(_)
            | WorkshopCommand::Restore(_)
            | WorkshopCommand::Apply(_)
            | WorkshopCommand::Reject(_)
            | WorkshopCommand::Undo(_)
            | WorkshopCommand::WriteSupportFile(_)
            | WorkshopCommand::Capture(_)
            | WorkshopCommand::Promote(_)
            | WorkshopCommand::Split(_)
            | WorkshopCommand::Tend(_)
            | WorkshopCommand::Import(_) => true,
        }
    }

    /// Whether `--profile` chooses patterns here, and not whose folders apply.
    pub(crate) fn takes_profile(&self) -> bool {
        matches!(&self.action, WorkshopCommand::Capture(args) if args.takes_profile())
    }
}

pub(crate) fn run(args: &WorkshopArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        WorkshopCommand::Status(args) => status::run(args, engine, out),
        WorkshopCommand::List(args) => list::run(args, engine, out),
        WorkshopCommand::Inspect(args) => inspect::run(args, engine, out),
        WorkshopCommand::Review(args) => review::run(args, engine, out),
        WorkshopCommand::Suggest(args) => suggest::run(args, engine, out),
        WorkshopCommand::Revise(args) => revise::run(args, engine, out),
        WorkshopCommand::Restore(args) => restore::run(args, engine, out),
        WorkshopCommand::Apply(args) => apply::run(args, engine, out),
        WorkshopCommand::Reject(args) => reject::run(args, engine, out),
        WorkshopCommand::Undo(args) => undo::run(args, engine, out),
        WorkshopCommand::History(args) => history::run(args, engine, out),
        WorkshopCommand::WriteSupportFile(args) => write_support_file::run(args, engine, out),
        WorkshopCommand::Capture(args) => capture::run(args, engine, out),
        WorkshopCommand::Promote(args) => promote::run(args, engine, out),
        WorkshopCommand::Split(args) => split::run(args, engine, out),
        WorkshopCommand::Tend(args) => tend::run(args, engine, out),
        WorkshopCommand::Import(args) => import::run(args, engine, out),
        WorkshopCommand::Export(args) => export::run(args, engine, out),
    }
}
