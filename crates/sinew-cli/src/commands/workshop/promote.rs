use sinew_engine::Engine;

use super::shared::{decided, id, person};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Make a skill of a draft that was learned from a run
///
/// The draft moves into a folder of its own, its script with it, and loses what only a draft says. It
/// has to be a valid skill; otherwise nothing moves.
///
/// Examples:
///   sinew workshop promote publish-the-release
///   sinew workshop promote skills/auto/20261101-101500-publish-the-release.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PromoteArgs {
    /// The draft: its skill's name, its file, or its proposal's id
    draft: String,
}

pub(super) fn run(args: &PromoteArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let draft = id(engine, &args.draft)?;
    let done = engine.workshop(|shop| shop.promote(&draft, &person(engine)))?;
    decided(&done, out)
}
