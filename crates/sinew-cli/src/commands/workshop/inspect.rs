use serde_json::json;
use sinew_engine::Engine;

use super::shared::{id, record};
use super::show;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Show one proposal: what it would change, and what speaks for and against it
///
/// Examples:
///   sinew workshop inspect 3f2a91c0
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InspectArgs {
    /// The proposal's id, or its start
    id: String,
}

pub(super) fn run(args: &InspectArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = id(engine, &args.id)?;
    let preview = engine.workshop(|shop| shop.preview(&id))?;
    let mut value = record(&preview.proposal);
    value["diff"] = json!(preview.diff());
    if let Some(problem) = &preview.problem {
        value["problem"] = json!(problem);
    }
    out.data(&value, |text| show::preview(text, &preview))?;
    Ok(Exit::Done)
}
