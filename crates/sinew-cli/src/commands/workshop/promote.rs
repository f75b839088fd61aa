use sinew_engine::Engine;

use super::shared::{caller, print_decision, resolve_id};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Turn a draft that was learned from a run into a skill
///
/// The draft and its script move into a folder of their own, and text that only a draft needs is
/// removed. It has to be a valid skill; otherwise nothing moves.
///
/// Examples:
///   sinew workshop promote publish-the-release
///   sinew workshop promote skills/auto/20261101-101500-publish-the-release.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopPromoteArgs {
    /// The draft: its skill's name, its file, or its proposal's id
    draft: String,
}

pub(super) fn run(args: &WorkshopPromoteArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let draft = resolve_id(engine, &args.draft)?;
    let done = engine.workshop().with(|shop| shop.promote(&draft, &caller(engine, out)))?;
    print_decision(&done, out)
}
