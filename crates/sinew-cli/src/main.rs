//! The `sinew` command: parse, open the engine, run one command, exit with a code that means
//! something.

#![allow(
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "the doc comments of commands and options are their help, as the terminal shows it"
)]

mod background;
mod cli;
mod commands;
mod environment;
mod exit;
mod help_groups;
mod keys;
mod layout;
mod logging;
mod printer;
mod question;
mod reading_notice;
#[cfg(all(test, feature = "web"))]
mod reference;
mod render;
#[cfg(test)]
mod screens;
mod signals;
mod stdin;
mod synonyms;

use std::process::ExitCode;

use crate::cli::Cli;
use crate::exit::CommandError;
use crate::printer::Printer;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|word| word == sinew_exec::sandbox::LAUNCH) {
        // This process becomes the program that is to run in a box, and reads nothing before.
        return sinew_exec::sandbox::launch(args);
    }
    let cli = match Cli::of_process() {
        Ok(cli) => cli,
        // To agents, a hook that ends with 2 forbids what they were about to do.
        Err(error)
            if error.use_stderr() && commands::hook::is_hook_command(std::env::args_os()) =>
        {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let mut out = Printer::new(false, false, printer::ColorChoice::Auto);
            out.help(&error.render().ansi().to_string(), error.use_stderr());
            if let Some(meant) = synonyms::meant_command(&error) {
                out.hint(&format!("did you mean `sinew {meant}`?"));
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let mut out = Printer::new(cli.global.json, cli.global.quiet, cli.global.color)
        .for_width(cli.global.width)
        .at_home(environment::of_process().ok().map(|env| env.home));
    let exit = logging::start(&cli)
        .map_err(CommandError::from)
        .and_then(|()| commands::run(&cli, &mut out))
        .unwrap_or_else(|error| exit::report(&error, &mut out));
    exit.into()
}
