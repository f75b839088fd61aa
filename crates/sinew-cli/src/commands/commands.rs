use std::fmt::Write as _;

use clap::Subcommand;
use serde::Serialize;
use sinew_catalog::commands::CommandSpec;
use sinew_catalog::dispatch::MessageResolution;
use sinew_engine::Engine;
use sinew_guard::Untrusted;
use sinew_settings::ErrorKind;

use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// List the slash commands that skills provide, or resolve a message
///
/// Examples:
///   sinew commands
///   sinew commands --agent writer --json
///   sinew commands resolve "/deploy prod --now" --tools exec_safe,read --json
///   sinew commands resolve "please use $github for this" --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CommandsArgs {
    #[command(subcommand)]
    action: Option<CommandsSubcommand>,
    #[command(flatten)]
    whole: WholeListArgs,
}

#[derive(Debug, Subcommand)]
enum CommandsSubcommand {
    /// Say what a message asks for: a skill, a text, a tool, or nothing special
    ///
    /// A command that goes to a tool is resolved only for tools that the caller may use; the host
    /// makes the call. Exit 3 when it is refused.
    #[command(verbatim_doc_comment)]
    Resolve {
        /// What the user typed
        text: String,
        /// The tools that the caller may use, separated by commas
        #[arg(long, value_delimiter = ',', value_name = "NAMES")]
        tools: Vec<String>,
    },
}

#[derive(Serialize)]
struct CommandListing<'a> {
    commands: &'a [CommandSpec],
}

pub(crate) fn run(args: &CommandsArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        Some(CommandsSubcommand::Resolve { text, tools }) => resolve(text, tools, engine, out),
        None => list(args.whole, engine, out),
    }
}

fn list(whole: WholeListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    super::tell_issues(engine, &snapshot.catalog, out);
    let listing = CommandListing { commands: snapshot.catalog.commands.specs() };
    let (width, rows) = (out.width(), out.rows(whole.all));
    out.data(&listing, |text| {
        if listing.commands.is_empty() {
            return writeln!(text, "no skill provides a command");
        }
        let columns = vec![
            TableColumn::fixed("COMMAND"),
            TableColumn::fixed("SKILL").from(100),
            TableColumn::flexible("DESCRIPTION"),
        ];
        let mut table = TextTable::new(columns);
        let (shown, left) = first_rows(listing.commands, rows);
        for command in shown {
            table.row(vec![
                render::plain(&format!("/{}", command.name)),
                render::plain(&command.skill_name),
                render::plain(&command.description),
            ]);
        }
        table.write(text, width)?;
        write_more(text, 0, left, "sinew commands --all")
    })?;
    Ok(Exit::Done)
}

fn resolve(message: &str, tools: &[String], engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let resolution = engine.skills().resolve_command(&snapshot.catalog, message, tools)?;
    if out.is_json() {
        // Arguments reach a tool as they were typed, control characters too.
        out.exact_json(&resolution)?;
    } else {
        out.data(&resolution, |text| write_resolution(text, &resolution))?;
    }
    Ok(match &resolution {
        MessageResolution::Refused { .. } => Exit::Failed(ErrorKind::Refused),
        _ => Exit::Done,
    })
}

fn write_resolution(text: &mut String, resolution: &MessageResolution) -> std::fmt::Result {
    let block = |text: &mut String, body: &str| {
        writeln!(text, "{}", Untrusted::new(body).for_terminal_block())
    };
    match resolution {
        MessageResolution::Message { message } => {
            if let Some(error) = &message.error {
                writeln!(text, "{}", render::warning(error))?;
            }
            block(text, &message.body)
        }
        MessageResolution::Skill { command, body, .. } => {
            render::heading(text, &format!("the skill {}", render::safe(&command.skill_name)))?;
            block(text, body)
        }
        MessageResolution::Prompt { command, body } => {
            render::heading(text, &format!("the command /{}", render::safe(&command.name)))?;
            block(text, body)
        }
        MessageResolution::Dispatch { dispatch, .. } => {
            render::heading(text, &format!("the tool {}", render::safe(&dispatch.tool)))?;
            block(text, &dispatch.payload.command)
        }
        MessageResolution::Refused { reason, .. } => render::reason(text, reason),
    }
}
