use sinew_engine::hub::{HubRecord, Strictness};
use sinew_engine::{Engine, Error};

use super::approve::person;
use super::hub::{Asked, HubArgs, PlaceArgs, downloading, tell};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Install again exactly what the lock says
///
/// Everything is fetched and checked before the first folder changes. With --frozen any digest, source
/// or approval that would change is a failure, as a build machine wants it.
///
/// Examples:
///   sinew restore
///   sinew restore --frozen --offline
///   sinew restore --import              take in what clawhub and skills installed here
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreArgs {
    /// Fail rather than change anything that the lock fixes
    #[arg(long)]
    frozen: bool,
    /// Take what other tools installed here into the lock; it is held back until somebody approves it
    #[arg(long, conflicts_with = "frozen")]
    import: bool,
    #[command(flatten)]
    place: PlaceArgs,
    /// Say yes to what nobody approved yet
    #[arg(long, short, conflicts_with = "frozen")]
    yes: bool,
    #[command(flatten)]
    hub: HubArgs,
}

pub(crate) fn run(args: &RestoreArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = args.hub.open(engine)?;
    let workdir = engine.workdir(args.place.place());
    if args.import {
        let imported = hub.import(&workdir).map_err(Error::from)?;
        let records: Vec<HubRecord> = imported.iter().map(HubRecord::restored).collect();
        return tell(&records, out);
    }
    let strictness = if args.frozen { Strictness::Frozen } else { Strictness::Ask };
    let mut progress = downloading(out);
    let mut asked = Asked { yes: args.yes, engine, out };
    let restored = engine
        .restore_skills(
            &hub,
            strictness,
            &person(engine).to_string(),
            &workdir,
            &mut asked,
            &mut progress,
        )
        .map_err(Error::from)?;
    let records: Vec<HubRecord> = restored.iter().map(HubRecord::restored).collect();
    tell(&records, out)
}
