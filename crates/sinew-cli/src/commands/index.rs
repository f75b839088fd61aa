use std::fmt::Write as _;

use clap::Subcommand;
use sinew_engine::{Engine, IndexStatus};
use sinew_settings::config::ModelChoice;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show or rebuild the index that `find` answers from
///
/// Examples:
///   sinew index status
///   sinew index rebuild
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    action: IndexCommand,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    /// Show how complete the index is
    Status,
    /// Bring the index up to date, encoder vectors included
    Rebuild,
}

pub(crate) fn run(args: &IndexArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let (routing, models) = (engine.routing(), ModelChoice::Default);
    let status = match args.action {
        IndexCommand::Status => routing.index_status(&snapshot),
        IndexCommand::Rebuild => {
            let bar = out.progress("reading skills", routing.pending_vectors(&snapshot, models));
            let filled = routing.fill_vectors(&snapshot, models, &|count| bar.add(count));
            bar.finish();
            filled?
        }
    };
    out.data(&status, |text| write_status(text, &status))?;
    Ok(Exit::Done)
}

fn write_status(text: &mut String, status: &IndexStatus) -> std::fmt::Result {
    let ready = status.skills - status.pending;
    render::heading(text, &format!("{} skills, {ready} with encoder vectors", status.skills))?;
    writeln!(text, "  file   {}", render::safe(&status.path.to_string_lossy()))?;
    writeln!(text, "  kept   {}", status.kept)?;
    writeln!(text, "  read   {}", status.read)?;
    match &status.notice {
        Some(notice) => writeln!(text, "  notice {}", render::safe(notice)),
        None => Ok(()),
    }
}
