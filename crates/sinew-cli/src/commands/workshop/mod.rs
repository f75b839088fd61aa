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
mod reject;
mod restore;
mod review;
mod revise;
mod shared;
mod show;
mod status;
mod suggest;
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
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Status(status::StatusArgs),
    List(list::ListArgs),
    Inspect(inspect::InspectArgs),
    Review(review::ReviewArgs),
    Suggest(suggest::SuggestArgs),
    Revise(revise::ReviseArgs),
    Restore(restore::RestoreArgs),
    Apply(apply::ApplyArgs),
    Reject(reject::RejectArgs),
    Undo(undo::UndoArgs),
    History(history::HistoryArgs),
    WriteSupportFile(write_support_file::WriteSupportFileArgs),
    Capture(capture::CaptureArgs),
    Promote(promote::PromoteArgs),
    Import(import::ImportArgs),
    Export(export::ExportArgs),
}

impl WorkshopArgs {
    /// Whether `--profile` chooses patterns here, and not whose folders apply.
    pub(crate) fn takes_profile(&self) -> bool {
        matches!(&self.action, Action::Capture(args) if args.takes_profile())
    }
}

pub(crate) fn run(args: &WorkshopArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        Action::Status(args) => status::run(args, engine, out),
        Action::List(args) => list::run(args, engine, out),
        Action::Inspect(args) => inspect::run(args, engine, out),
        Action::Review(args) => review::run(args, engine, out),
        Action::Suggest(args) => suggest::run(args, engine, out),
        Action::Revise(args) => revise::run(args, engine, out),
        Action::Restore(args) => restore::run(args, engine, out),
        Action::Apply(args) => apply::run(args, engine, out),
        Action::Reject(args) => reject::run(args, engine, out),
        Action::Undo(args) => undo::run(args, engine, out),
        Action::History(args) => history::run(args, engine, out),
        Action::WriteSupportFile(args) => write_support_file::run(args, engine, out),
        Action::Capture(args) => capture::run(args, engine, out),
        Action::Promote(args) => promote::run(args, engine, out),
        Action::Import(args) => import::run(args, engine, out),
        Action::Export(args) => export::run(args, engine, out),
    }
}
