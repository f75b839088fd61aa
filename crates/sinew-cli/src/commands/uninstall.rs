use sinew_engine::Engine;
use sinew_engine::EngineError;
use sinew_engine::hub::HubRecord;
use sinew_settings::ErrorCode;
use sinew_settings::config::UnattendedAct;

use super::hub::{HubArgs, InstallTargetArgs, print_records, record, require_yes};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Remove installed skills
///
/// Removes the folder and its entries in both locks; nothing is sent. A pinned skill stays.
///
/// Examples:
///   sinew uninstall todoist-cli
///   sinew uninstall @steipete/todoist-cli --yes
///   sinew uninstall --gone                what its registry no longer has
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UninstallArgs {
    /// The skills, by folder or slug
    #[arg(value_name = "REF", required_unless_present = "gone")]
    references: Vec<String>,
    /// Those that their registry no longer has
    #[arg(long)]
    gone: bool,
    #[command(flatten)]
    place: InstallTargetArgs,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &UninstallArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = HubArgs { registry: None, offline: true }.open(engine)?;
    let workdir = engine.hub().workdir(args.place.place());
    let mut wanted = args.references.clone();
    if args.gone {
        let rows = hub.installed(&workdir).map_err(EngineError::from)?;
        let gone = rows.into_iter().filter(|row| row.status == "upstream-gone" && !row.pinned);
        wanted.extend(gone.map(|row| row.key));
        if wanted.is_empty() {
            let message = "no installed skill is known to be gone from its registry";
            return Err(EngineError::new(ErrorCode::NothingGone, message)
                .hint("`sinew verify --online` asks")
                .into());
        }
    }
    if args.dry_run {
        let lock = workdir.lock(engine.environment()).map_err(EngineError::from)?;
        let mut records = Vec::new();
        for wanted in &wanted {
            records.push(match lock.find(wanted) {
                Ok(key) => HubRecord::done(key, "would-remove"),
                Err(error) => record(wanted, error)?,
            });
        }
        return print_records(&records, out);
    }
    require_yes(&format!("Remove {}?", wanted.join(", ")), args.yes, out)?;
    let actor = super::approve::deciding_actor(engine, out, UnattendedAct::Uninstall);
    let mut records = Vec::new();
    for wanted in &wanted {
        records.push(match hub.uninstall(wanted, &workdir, &actor) {
            Ok(removed) => HubRecord::removed(&removed),
            Err(error) => record(wanted, error)?,
        });
    }
    print_records(&records, out)
}
