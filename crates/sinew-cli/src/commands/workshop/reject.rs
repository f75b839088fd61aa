use sinew_engine::Engine;

use super::shared::{caller, print_decision, resolve_id};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Reject a proposal
///
/// Examples:
///   sinew workshop reject 3f2a91c0 --reason "one-off"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopRejectArgs {
    /// The proposal's id, or its first characters
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &WorkshopRejectArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = resolve_id(engine, &args.id)?;
    let why = args.reason.as_deref();
    let done = engine.workshop().with(|shop| shop.reject(&id, why, &caller(engine, out)))?;
    print_decision(&done, out)
}
