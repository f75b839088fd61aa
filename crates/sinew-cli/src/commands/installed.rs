use std::fmt::Write as _;

use serde::Serialize;
use sinew_engine::hub::{InstallTarget, SourceRecord, WorkdirSkill};
use sinew_engine::{Engine, EngineError};

use super::hub::HubArgs;
use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// Show what is installed, and whether it matches the lock
///
/// Examples:
///   sinew installed
///   sinew installed --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InstalledArgs {
    #[command(flatten)]
    whole: WholeListArgs,
}

#[derive(Serialize)]
struct InstalledListing {
    workspace: Vec<WorkdirSkill>,
    managed: Vec<WorkdirSkill>,
}

pub(crate) fn run(args: &InstalledArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = HubArgs { registry: None, offline: true }.open(engine)?;
    let rows = |place| hub.installed(&engine.hub().workdir(place)).map_err(EngineError::from);
    let listing = InstalledListing {
        workspace: rows(InstallTarget::Workspace)?,
        managed: rows(InstallTarget::Managed)?,
    };
    let (width, rows) = (out.width(), out.rows(args.whole.all));
    out.data(&listing, |text| write_listing(text, &listing, width, rows))?;
    Ok(Exit::Done)
}

fn write_listing(
    text: &mut String,
    listing: &InstalledListing,
    width: usize,
    rows: usize,
) -> std::fmt::Result {
    if listing.workspace.is_empty() && listing.managed.is_empty() {
        return writeln!(text, "nothing is installed");
    }
    let mut table = TextTable::new(vec![
        TableColumn::fixed("SKILL"),
        TableColumn::fixed("STATUS"),
        TableColumn::fixed("VERSION"),
        TableColumn::fixed("PLACE").from(80),
        TableColumn::fixed("FROM").from(80),
        TableColumn::flexible("NOTE"),
    ]);
    let places = [("workspace", &listing.workspace), ("managed", &listing.managed)];
    let all: Vec<(&str, &WorkdirSkill)> =
        places.iter().flat_map(|(place, rows)| rows.iter().map(move |row| (*place, row))).collect();
    let (shown, left) = first_rows(&all, rows);
    for (place, row) in shown {
        let status = match row.status {
            "ok" => render::good(row.status),
            "pinned" => render::plain(row.status),
            "extraneous" | "upstream-gone" => render::warning(row.status),
            _ => render::bad(row.status),
        };
        let from = row.source.as_ref().map(SourceRecord::place).unwrap_or_default();
        let note = row.note.as_deref().or(row.pin_reason.as_deref()).unwrap_or_default();
        table.row(vec![
            render::plain(&row.key),
            status,
            render::plain(row.version.as_deref().unwrap_or_default()),
            render::dim(place),
            render::plain(from),
            render::plain(note),
        ]);
    }
    table.write(text, width)?;
    write_more(text, 0, left, "sinew installed --all")
}
