//! The commands, as clap knows them.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::cell;
use crate::cli::Cli;

/// Every command with its arguments and examples.
pub(super) fn page() -> String {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut text = "# Commands\n\nWhat `sinew help <command>` says, on one page.\n\n".to_owned();
    for command in program.get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "- [`{0}`](#sinew-{0}): {1}", command.get_name(), cell(&about));
    }
    text.push_str("\n## Options of every command\n\n");
    arguments(&mut text, program.get_arguments().filter(|arg| arg.is_global_set()));
    if let Some(after) = program.get_after_help().map(ToString::to_string) {
        let codes = after.lines().last().unwrap_or_default().to_owned();
        let _ = writeln!(text, "\n{codes}");
    }
    for command in program.get_subcommands() {
        section(&mut text, command, "sinew", 2);
    }
    text
}

fn section(text: &mut String, command: &Command, above: &str, level: usize) {
    let name = format!("{above} {}", command.get_name());
    let _ = writeln!(text, "\n{} {name}\n", "#".repeat(level));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let about = about.unwrap_or_default();
    let (said, examples) = about.split_once("Examples:\n").unwrap_or((&about, ""));
    for paragraph in said.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let _ = writeln!(text, "{}\n", cell(paragraph));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = writeln!(text, "```text\n{usage}\n```\n");
    if !examples.trim().is_empty() {
        let lines = examples.lines().filter(|line| !line.trim().is_empty()).map(example);
        let lines: Vec<String> = lines.collect();
        let _ = writeln!(text, "```sh\n{}\n```\n", lines.join("\n"));
    }
    let own = command.get_arguments().filter(|arg| !arg.is_global_set());
    arguments(text, own.filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version")));
    for below in command.get_subcommands() {
        section(text, below, &name, (level + 1).min(4));
    }
}

/// An example as a shell takes it: what is said about it, after a gap, is a comment.
fn example(line: &str) -> String {
    let line = line.trim();
    match line.split_once("  ") {
        Some((command, said)) => {
            let gap = " ".repeat(2 + said.len() - said.trim_start().len());
            format!("{command}{gap}# {}", said.trim())
        }
        None => line.to_owned(),
    }
}

fn arguments<'a>(text: &mut String, all: impl Iterator<Item = &'a Arg>) {
    let rows: Vec<String> = all.filter(|arg| !arg.is_hide_set()).map(row).collect();
    if !rows.is_empty() {
        let _ = write!(text, "| argument | what it does |\n|---|---|\n{}", rows.concat());
    }
}

fn row(arg: &Arg) -> String {
    let value = arg.get_action().takes_values().then(|| {
        let names = arg.get_value_names().unwrap_or_default();
        let names: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
        names.join(" ")
    });
    let flag = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => String::new(),
    };
    let shown = [flag, value.unwrap_or_default()].join(" ");
    let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
    if arg.get_action().takes_values() && !names.is_empty() {
        let _ = write!(help, ": {}", names.join(", "));
    }
    let defaults = arg.get_default_values();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let default: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        let _ = write!(help, " (default `{}`)", default.join(" "));
    }
    format!("| `{}` | {} |\n", shown.trim(), cell(&help))
}
