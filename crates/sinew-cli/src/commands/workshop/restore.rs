use sinew_engine::Engine;
use sinew_settings::Actor;

use super::shared::{print_decision, resolve_id};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Take a proposal out of quarantine after you have looked at what was found
///
/// Each rule that holds it must be named, with a reason; both stay in the record. Needs a terminal:
/// no program can acknowledge a finding for you.
///
/// Examples:
///   sinew workshop restore 3f2a91c0 --ack secret-exfiltration --reason "a link to the docs"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopRestoreArgs {
    /// The proposal's id, or its first characters
    id: String,
    /// A rule whose finding is acceptable; may be given more than once
    #[arg(long, value_name = "RULE", required = true)]
    ack: Vec<String>,
    /// Why it is acceptable
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(args: &WorkshopRestoreArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = resolve_id(engine, &args.id)?;
    // A terminal stands for a person: an agent that runs commands has none.
    let by = match out.can_ask() {
        true => crate::commands::approve::terminal_person(engine),
        false => Actor::Agent { name: "a program without a terminal".to_owned() },
    };
    let done = engine.workshop().with(|shop| shop.restore(&id, &args.ack, &args.reason, &by))?;
    print_decision(&done, out)
}
