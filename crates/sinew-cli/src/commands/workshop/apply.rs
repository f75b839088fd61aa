use sinew_engine::Engine;
use sinew_workshop::ApplyConsent;

use super::shared::{caller, print_decision, resolve_id};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Write a proposal; typing this in a terminal is the approval
///
/// Examples:
///   sinew workshop apply 3f2a91c0
///   sinew workshop apply 3f2a91c0 --expect <SHA256>
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopApplyArgs {
    /// The proposal's id, or its first characters
    id: String,
    /// Write only if the result still has this SHA-256 (`resultSha256` of the record)
    #[arg(long, value_name = "SHA256")]
    expect: Option<String>,
    /// Accept that other skills would lose messages
    #[arg(long)]
    accept_stolen: bool,
    /// The nearest skill is not a duplicate; do not report it again
    #[arg(long)]
    not_duplicate: bool,
}

pub(super) fn run(args: &WorkshopApplyArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = resolve_id(engine, &args.id)?;
    let consent = ApplyConsent {
        result_sha256: args.expect.clone(),
        accept_stolen: args.accept_stolen,
        not_a_duplicate: args.not_duplicate,
    };
    let done = engine.workshop().with(|shop| shop.apply(&id, &caller(engine, out), &consent))?;
    print_decision(&done, out)
}
