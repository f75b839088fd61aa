use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use sinew_engine::Engine;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Write the proposals of this workspace as OpenClaw keeps them
///
/// Without --out the file goes to standard output. A file that is replaced stays beside it as a
/// backup; one that is not a workshop store is never overwritten.
///
/// Examples:
///   sinew workshop export > store.json
///   sinew workshop export --out ~/.openclaw/skill-workshop/0919d19c93f36cd3.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopExportArgs {
    /// The file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &WorkshopExportArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let text = engine.workshop().with(|shop| shop.export_openclaw())?;
    let Some(file) = &args.out else {
        out.raw(&text)?;
        return Ok(Exit::Done);
    };
    let path = engine.environment().cwd.join(file);
    let backup = engine.workshop().write_openclaw_store(&path, &text)?;
    out.data(&json!({"file": path, "backup": backup}), |text| {
        writeln!(text, "wrote {}", render::safe(&path.to_string_lossy()))
    })?;
    if let Some(backup) = backup {
        out.note(&format!("the file as it was: {}", backup.display()));
    }
    Ok(Exit::Done)
}
