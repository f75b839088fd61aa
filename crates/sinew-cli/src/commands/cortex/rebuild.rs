use std::fmt::Write as _;

use sinew_engine::Cortex;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Rebuild the memory from the whole log
///
/// The memory is a fold over the log of outcomes; this computes it again from the first record.
///
/// Examples:
///   sinew cortex rebuild
///   sinew cortex rebuild --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexRebuildArgs {}

pub(super) fn run(
    _args: &CortexRebuildArgs,
    cortex: &Cortex<'_>,
    out: &mut Printer,
) -> CommandResult {
    let rebuilt = cortex.rebuild()?;
    out.data(&rebuilt, |text| {
        let agreed = if rebuilt.agreed { "as before" } else { "other than before" };
        let records = super::many(rebuilt.records, "record");
        let regions = super::many(rebuilt.regions as u64, "region");
        writeln!(text, "folded {records} into {regions}, {agreed}")
    })?;
    Ok(Exit::Done)
}
