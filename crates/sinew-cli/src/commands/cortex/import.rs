use std::fmt::Write as _;
use std::path::PathBuf;

use sinew_cortex::record::CortexImportMode;
use sinew_engine::{Cortex, Engine};

use crate::commands::approve::current_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Import a cortex.json
///
/// What can be used is used; everything that was repaired or dropped is listed with its position.
///
/// Examples:
///   sinew cortex import ~/.openclaw/skill-cortex/cortex.json
///   sinew cortex import backup.json --replace
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexImportArgs {
    /// The file
    file: PathBuf,
    /// Add it to what is known; the record with more runs wins [default]
    #[arg(long, conflicts_with = "replace")]
    merge: bool,
    /// Replace what is known
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(
    args: &CortexImportArgs,
    engine: &Engine,
    cortex: &Cortex<'_>,
    out: &mut Printer,
) -> CommandResult {
    let by = current_actor(engine, out);
    let mode = if args.replace { CortexImportMode::Replace } else { CortexImportMode::Merge };
    let imported = cortex.import(&args.file, mode, &by)?;
    out.data(&imported, |text| {
        let path = render::safe(&imported.path.to_string_lossy());
        let holds = super::holds(imported.regions, imported.candidates, imported.lessons);
        writeln!(text, "read {path}: {holds}")?;
        for repaired in &imported.repaired {
            writeln!(text, "  {} {}", render::warning("!"), render::safe(&repaired.to_string()))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
