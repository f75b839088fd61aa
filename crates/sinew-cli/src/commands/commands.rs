use std::fmt::Write as _;

use serde::Serialize;
use sinew_catalog::commands::CommandSpec;
use sinew_engine::Engine;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, Column, Table};

/// List the slash commands that the skills give
///
/// Examples:
///   sinew commands
///   sinew commands --agent writer --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CommandsArgs {}

#[derive(Serialize)]
struct Listing<'a> {
    commands: &'a [CommandSpec],
}

pub(crate) fn run(_args: &CommandsArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    super::tell_issues(engine, &snapshot.catalog, out);
    let listing = Listing { commands: snapshot.catalog.commands.specs() };
    let width = out.width();
    out.data(&listing, |text| {
        if listing.commands.is_empty() {
            return writeln!(text, "no skill gives a command");
        }
        let columns =
            vec![Column::fixed("COMMAND"), Column::fixed("SKILL"), Column::flexible("DESCRIPTION")];
        let mut table = Table::new(columns);
        for command in listing.commands {
            table.row(vec![
                render::plain(&format!("/{}", command.name)),
                render::plain(&command.skill_name),
                render::plain(&command.description),
            ]);
        }
        table.write(text, width)
    })?;
    Ok(Exit::Done)
}
