use std::fmt::Write as _;

use sinew_engine::Cortex;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Drop what is too weak, too old or over the limits
///
/// This happens automatically whenever something is learned.
///
/// Examples:
///   sinew cortex prune --dry-run
///   sinew cortex prune
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexPruneArgs {
    /// Show what would be dropped, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &CortexPruneArgs, cortex: &Cortex<'_>, out: &mut Printer) -> CommandResult {
    let pruned = cortex.prune(args.dry_run)?;
    out.data(&pruned, |text| {
        if pruned.removed.is_empty() {
            return writeln!(text, "nothing to prune");
        }
        for removal in &pruned.removed {
            let what = super::removal(removal);
            let would = if pruned.done { "" } else { "would have " };
            writeln!(text, "{would}{}", render::safe(&what))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
