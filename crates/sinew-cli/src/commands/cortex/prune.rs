use std::fmt::Write as _;

use sinew_engine::Cortex;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Let go of what is too weak, too old or too much
///
/// This happens by itself whenever something is learned.
///
/// Examples:
///   sinew cortex prune --dry-run
///   sinew cortex prune
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexPruneArgs {
    /// Show what would leave, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &CortexPruneArgs, cortex: &Cortex<'_>, out: &mut Printer) -> CommandResult {
    let pruned = cortex.prune(args.dry_run)?;
    out.data(&pruned, |text| {
        if pruned.removed.is_empty() {
            return writeln!(text, "nothing has to leave");
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
