use std::fmt::Write as _;
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;
use serde_json::json;
use sinew_engine::EngineError;
use sinew_guard::atomic::{self, FileAccess};

use crate::cli::Cli;
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Print the manual page, or write one for each command
///
/// Examples:
///   sinew man | man -l -
///   sinew man --out ~/.local/share/man/man1 && man sinew-find
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, out: &mut Printer) -> CommandResult {
    // The names of all commands are known once the tree is built; its own `help` needs no page.
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.out else {
        out.text(&String::from_utf8_lossy(&page(program)?.1))?;
        return Ok(Exit::Done);
    };
    let folder = environment::of_process()?.cwd.join(folder);
    let mut pages = Vec::new();
    collect(program, &mut pages)?;
    for (name, text) in &pages {
        let path = folder.join(name);
        atomic::write(&path, text, FileAccess::Shared)
            .map_err(|error| EngineError::file("write", &path, error))?;
    }
    let told = json!({"folder": folder, "pages": pages.len()});
    out.data(&told, |text| {
        let folder = render::safe(&folder.to_string_lossy());
        writeln!(text, "wrote {} pages to {folder}", pages.len())
    })?;
    Ok(Exit::Done)
}

/// A command's page: the name of its file, and its text.
fn page(command: clap::Command) -> std::io::Result<(String, Vec<u8>)> {
    let man = Man::new(command).manual("sinew");
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), text))
}

/// The pages of a command and of everything below it.
fn collect(command: clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below.clone(), pages)?;
    }
    pages.push(page(command)?);
    Ok(())
}
