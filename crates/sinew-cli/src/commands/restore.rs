use sinew_engine::hub::{HubRecord, RestoreStrictness};
use sinew_engine::{Engine, EngineError};

use super::approve::terminal_person;
use super::hub::{HubArgs, InstallTargetArgs, print_records};
use super::terminal_approver::{GivenAnswers, TerminalApprover};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Reinstall exactly what the lock records
///
/// Everything is fetched and checked before the first folder changes. With --frozen any digest,
/// source or approval that would change is a failure, as build machines need it.
///
/// Examples:
///   sinew restore
///   sinew restore --frozen --offline
///   sinew restore --import              take in what clawhub and skills installed here
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreArgs {
    /// Fail rather than change anything that the lock pins
    #[arg(long)]
    frozen: bool,
    /// Add what other tools installed here to the lock; it is held back until it is approved
    #[arg(long, conflicts_with = "frozen")]
    import: bool,
    #[command(flatten)]
    place: InstallTargetArgs,
    /// Approve what is not approved yet
    #[arg(long, short, conflicts_with = "frozen")]
    yes: bool,
    #[command(flatten)]
    hub: HubArgs,
}

pub(crate) fn run(args: &RestoreArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = args.hub.open(engine)?;
    let workdir = engine.hub().workdir(args.place.place());
    if args.import {
        let imported = hub.import(&workdir).map_err(EngineError::from)?;
        let records: Vec<HubRecord> = imported.iter().map(HubRecord::restored).collect();
        return print_records(&records, out);
    }
    let strictness = if args.frozen { RestoreStrictness::Frozen } else { RestoreStrictness::Ask };
    let given = GivenAnswers { install: args.yes, ..GivenAnswers::default() };
    let mut approver = TerminalApprover::new(engine, out, given);
    let by = terminal_person(engine).to_string();
    let restored =
        hub.restore(strictness, &by, &workdir, &mut approver).map_err(EngineError::from)?;
    let records: Vec<HubRecord> = restored.iter().map(HubRecord::restored).collect();
    if records.is_empty() {
        out.note("the lock records nothing here, so there is nothing to reinstall");
    }
    print_records(&records, out)
}
