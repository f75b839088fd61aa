use sinew_engine::Engine;

use super::shared::{decided, id, person};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Turn a proposal down
///
/// Examples:
///   sinew workshop reject 3f2a91c0 --reason "one-off"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RejectArgs {
    /// The proposal's id, or its start
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &RejectArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = id(engine, &args.id)?;
    let why = args.reason.as_deref();
    let done = engine.workshop(|shop| shop.reject(&id, why, &person(engine)))?;
    decided(&done, out)
}
