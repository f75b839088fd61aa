use std::fmt::Write as _;

use serde::Serialize;
use sinew_engine::hub::{Place, Row};
use sinew_engine::{Engine, Error};

use super::hub::HubArgs;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, Column, Table};

/// Show what is installed, and how it stands to the lock
///
/// Examples:
///   sinew installed
///   sinew installed --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InstalledArgs {}

#[derive(Serialize)]
struct Listing {
    workspace: Vec<Row>,
    managed: Vec<Row>,
}

pub(crate) fn run(_args: &InstalledArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = HubArgs { registry: None, offline: true }.open(engine)?;
    let rows = |place| hub.installed(&engine.workdir(place)).map_err(Error::from);
    let listing = Listing { workspace: rows(Place::Workspace)?, managed: rows(Place::Managed)? };
    let width = out.width();
    out.data(&listing, |text| write_listing(text, &listing, width))?;
    Ok(Exit::Done)
}

fn write_listing(text: &mut String, listing: &Listing, width: usize) -> std::fmt::Result {
    if listing.workspace.is_empty() && listing.managed.is_empty() {
        return writeln!(text, "nothing is installed");
    }
    let mut table = Table::new(vec![
        Column::fixed("SKILL"),
        Column::fixed("STATUS"),
        Column::fixed("VERSION"),
        Column::fixed("PLACE"),
        Column::fixed("FROM"),
        Column::flexible("NOTE"),
    ]);
    for (place, rows) in [("workspace", &listing.workspace), ("managed", &listing.managed)] {
        for row in rows {
            let status = match row.status {
                "ok" => render::good(row.status),
                "pinned" => render::plain(row.status),
                "extraneous" | "upstream-gone" => render::warning(row.status),
                _ => render::bad(row.status),
            };
            let from = row.source.as_ref().map(|source| source.kind.as_str()).unwrap_or_default();
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
    }
    table.write(text, width)
}
