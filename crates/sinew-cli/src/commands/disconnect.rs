use std::fmt::Write as _;

use sinew_engine::Engine;
use sinew_engine::connect::DisconnectReport;

use super::connect;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Remove exactly what `sinew connect` wrote for an agent
///
/// A file without other changes gets its old bytes back. An entry that was edited since then stays,
/// and is named.
///
/// Examples:
///   sinew disconnect claude-code --dry-run
///   sinew disconnect codex
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DisconnectArgs {
    /// The agent
    #[arg(value_name = "NAME")]
    name: String,
    /// Show what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &DisconnectArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let done = engine.connect().disconnect(&args.name, !args.dry_run)?;
    out.data(&done, |text| write_done(text, &done))?;
    Ok(Exit::Done)
}

fn write_done(text: &mut String, done: &DisconnectReport) -> std::fmt::Result {
    for file in &done.files {
        let path = render::safe(&file.file.to_string_lossy());
        let what = if file.restored { "as it was before" } else { "without sinew's entries" };
        if done.written {
            let lines = connect::changed_lines(&file.diff);
            writeln!(text, "{} {path} ({what}: {lines})", render::good("✓"))?;
        } else {
            render::heading(text, &format!("{path} ({what})"))?;
            render::diff(text, &file.diff)?;
        }
        if !file.changed_by_user.is_empty() {
            let places = file.changed_by_user.join(", ");
            writeln!(text, "{} changed since, and left: {places}", render::warning("!"))?;
        }
    }
    for folder in &done.skills {
        writeln!(text, "{} {}", render::bad("-"), render::safe(&folder.to_string_lossy()))?;
    }
    if !done.written {
        writeln!(text, "{}", render::dim("nothing was written"))?;
    }
    Ok(())
}
