use std::fmt::Write as _;

use serde::Serialize;
use sinew_engine::{Engine, EngineError};

use super::hub::{HubArgs, InstallTargetArgs};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Keep an installed skill exactly as it is
///
/// A pinned skill is not overwritten, updated or removed; the refusal says why.
///
/// Examples:
///   sinew pin todoist-cli --reason "2.0 breaks our labels"
///   sinew pin --remove todoist-cli
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PinArgs {
    /// The skill, by folder or slug
    #[arg(value_name = "REF")]
    reference: String,
    /// Why
    #[arg(long, value_name = "TEXT", conflicts_with = "remove")]
    reason: Option<String>,
    /// Unpin it
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    place: InstallTargetArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PinReport {
    key: String,
    version: String,
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) fn run(args: &PinArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = HubArgs { registry: None, offline: true }.open(engine)?;
    let pin = (!args.remove).then(|| args.reason.clone());
    let workdir = engine.hub().workdir(args.place.place());
    let actor = super::approve::current_actor(engine, out);
    let (key, entry) =
        hub.pin(&args.reference, pin, &workdir, &actor).map_err(EngineError::from)?;
    let pinned =
        PinReport { key, version: entry.version, pinned: entry.pinned, reason: entry.pin_reason };
    out.data(&pinned, |text| {
        let word = if pinned.pinned { "is pinned to" } else { "is free to change from" };
        writeln!(text, "{} {word} {}", render::safe(&pinned.key), render::safe(&pinned.version))
    })?;
    Ok(Exit::Done)
}
