use std::fmt::Write as _;
use std::path::PathBuf;

use sinew_engine::Cortex;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Export what was learned as a cortex.json of Skill Cortex
///
/// Examples:
///   sinew cortex export
///   sinew cortex export --out cortex.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexExportArgs {
    /// The file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(
    args: &CortexExportArgs,
    cortex: &Cortex<'_>,
    out: &mut Printer,
) -> CommandResult {
    let exported = cortex.export(args.out.as_deref())?;
    let Some(path) = &exported.path else {
        out.raw(&exported.text)?;
        return Ok(Exit::Done);
    };
    out.data(&exported, |text| {
        let path = render::safe(&path.to_string_lossy());
        let holds = super::holds(exported.regions, exported.candidates, exported.lessons);
        writeln!(text, "wrote {path}: {holds}")
    })?;
    Ok(Exit::Done)
}
