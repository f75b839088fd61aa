//! The `sinew` command: parse, open the engine, run one command, exit with a code that means
//! something.

mod cli;
mod commands;
mod environment;
mod exit;
mod input;
mod keys;
mod printer;
mod render;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::printer::Printer;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Printer::new(cli.global.json, cli.global.quiet, cli.global.color);
    let exit = commands::run(&cli, &mut out).unwrap_or_else(|error| exit::report(&error, &mut out));
    exit.into()
}
