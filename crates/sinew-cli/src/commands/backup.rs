use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use sinew_engine::{DatabaseCopy, Engine, EngineError};
use sinew_settings::ErrorCode;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Copy the database, show the copies, or bring one back
///
/// The database holds what was learned, proposed and approved. A copy is made every day that
/// something changes, and seven are kept; a copy to a file of your own is kept by you. --restore
/// puts a copy in the database's place, in a terminal only, because approvals come back with it;
/// the database that was there is kept beside it. What was installed comes back with `sinew
/// restore`.
///
/// Examples:
///   sinew backup
///   sinew backup /mnt/stick/sinew.db
///   sinew backup --list
///   sinew backup --restore
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BackupArgs {
    /// The file; with --restore, the copy to bring back [default: the newest]
    file: Option<PathBuf>,
    /// Show the copies there are
    #[arg(long, conflicts_with_all = ["file", "restore"])]
    list: bool,
    /// Bring a copy back
    #[arg(long)]
    restore: bool,
}

/// What was brought back.
#[derive(Serialize)]
struct BroughtBack {
    restored: String,
    #[serde(rename = "keptAs")]
    kept_as: Option<String>,
}

pub(crate) fn run(args: &BackupArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let care = engine.database();
    if args.list {
        let copies = care.copies();
        out.data(&copies, |text| write_copies(text, &copies))?;
        return Ok(Exit::Done);
    }
    if args.restore {
        check_person(out, "brings a database back, with the approvals in it")?;
        let (restored, kept_as) = care.bring_back(args.file.as_deref())?;
        let told = BroughtBack { restored, kept_as };
        out.data(&told, |text| {
            writeln!(text, "brought back {}", render::safe(&told.restored))?;
            match &told.kept_as {
                Some(kept) => writeln!(text, "the database before it is {}", render::safe(kept)),
                None => Ok(()),
            }
        })?;
        return Ok(Exit::Done);
    }
    let copy = care.back_up(args.file.as_deref())?;
    out.data(&copy, |text| write_copies(text, std::slice::from_ref(&copy)))?;
    Ok(Exit::Done)
}

/// Refuses what only a person may do where no person is.
pub(crate) fn check_person(out: &Printer, what: &str) -> Result<(), EngineError> {
    if out.at_terminal() {
        return Ok(());
    }
    let said = format!("only a person at a terminal {what}");
    Err(EngineError::new(ErrorCode::NeedsATerminal, said).hint("run the command in a terminal"))
}

fn write_copies(text: &mut String, copies: &[DatabaseCopy]) -> std::fmt::Result {
    if copies.is_empty() {
        return writeln!(text, "there are no copies yet");
    }
    copies.iter().try_for_each(|copy| {
        writeln!(
            text,
            "{} {}",
            render::safe(&copy.file),
            render::dim(&format!("{} bytes", copy.bytes))
        )
    })
}
