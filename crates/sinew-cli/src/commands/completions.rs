use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Print a completion script for your shell
///
/// Examples:
///   sinew completions bash > ~/.local/share/bash-completion/completions/sinew
///   sinew completions zsh > ~/.zfunc/_sinew
///   sinew completions fish > ~/.config/fish/completions/sinew.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, out: &mut Printer) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sinew", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
