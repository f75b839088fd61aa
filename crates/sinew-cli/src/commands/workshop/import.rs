use std::fmt::Write as _;
use std::path::PathBuf;

use sinew_engine::{Engine, EngineError};

use super::shared::print_events;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Import the proposals that OpenClaw keeps for this workspace
///
/// The file is only read. A proposal that already exists is left as it is.
///
/// Examples:
///   sinew workshop import
///   sinew workshop import ./0919d19c93f36cd3.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopImportArgs {
    /// The store [default: OpenClaw's own for this workspace]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &WorkshopImportArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let path = match &args.file {
        Some(file) => engine.environment().cwd.join(file),
        None => engine.workshop().openclaw_store(),
    };
    let written =
        std::fs::read_to_string(&path).map_err(|error| EngineError::file("read", &path, error))?;
    let imported = engine.workshop().with(|shop| shop.import_openclaw(&path, &written))?;
    out.data(&imported, |text| {
        writeln!(text, "imported {}, {} were here already", imported.added, imported.known)
    })?;
    print_events(&imported.events, out);
    Ok(Exit::Done)
}
