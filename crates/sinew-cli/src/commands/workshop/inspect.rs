use serde_json::json;
use sinew_engine::Engine;

use super::proposal_text;
use super::shared::{record, resolve_id};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Show one proposal: what it would change, and what speaks for and against it
///
/// Examples:
///   sinew workshop inspect 3f2a91c0
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopInspectArgs {
    /// The proposal's id, or its first characters
    id: String,
}

pub(super) fn run(args: &WorkshopInspectArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = resolve_id(engine, &args.id)?;
    let preview = engine.workshop().with(|shop| shop.preview(&id))?;
    let mut value = record(&preview.proposal);
    value["diff"] = json!(preview.diff());
    if let Some(problem) = &preview.problem {
        value["problem"] = json!(problem);
    }
    out.data(&value, |text| proposal_text::preview(text, &preview))?;
    Ok(Exit::Done)
}
