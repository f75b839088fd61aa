//! The commands in `sinew --help`, grouped by what people want.

use std::fmt::Write as _;

use clap::Command;

/// Each command stands in one group; a test holds this against the command line.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["setup", "status", "demo", "ui", "doctor"]),
    ("Find", &["find", "list", "info", "why", "check", "read", "prompt", "search", "acquire"]),
    (
        "Manage",
        &[
            "install",
            "installed",
            "update",
            "uninstall",
            "restore",
            "sync",
            "pin",
            "new",
            "bundled",
            "enable",
            "disable",
            "open",
            "deps",
            "exec",
            "config",
            "backup",
        ],
    ),
    ("Learn", &["report", "usage", "cortex", "workshop", "learn"]),
    ("Safety", &["scan", "approve", "verify", "sbom"]),
    (
        "Agents",
        &["connect", "disconnect", "context", "import", "commands", "skills", "hook", "mcp"],
    ),
    ("Team", &["serve", "service", "registry"]),
    ("Developers", &["validate", "eval", "dedupe", "index", "watch", "completions", "man", "docs"]),
];

/// The program with its commands in groups.
pub(crate) fn grouped(program: Command) -> Command {
    let list = group_list(&program);
    // Braces would be read as names of the template's parts.
    let list = list.replace('{', "(").replace('}', ")");
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}\n"
    ))
}

fn group_list(program: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let commands = names.iter().filter_map(|name| program.find_subcommand(name));
        // A build without some features has fewer commands.
        let mut commands = commands.peekable();
        if commands.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "{title}:");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:<12} {}", command.get_name(), first_clause(&about));
        }
        text.push('\n');
    }
    text
}

/// A line of a list has room for the first clause; `--help` of the command has the rest.
fn first_clause(about: &str) -> &str {
    const ROOM: usize = 64;
    if about.chars().count() <= ROOM {
        return about;
    }
    // A clause ends at a colon; among commas, a list is worth more than its first item.
    let end = about.find([':', ';']).filter(|end| *end <= ROOM);
    let last_comma = || about.match_indices(',').map(|(at, _)| at).rfind(|at| *at <= ROOM);
    end.or_else(last_comma).map_or(about, |end| &about[..end])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory as _;

    use super::GROUPS;
    use crate::cli::Cli;

    #[test]
    fn every_command_stands_in_one_group() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            *counts.entry(name).or_default() += 1;
        }
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let count = counts.remove(command.get_name()).unwrap_or_default();
            assert_eq!(count, 1, "`{}` belongs into one group", command.get_name());
        }
        assert!(counts.is_empty(), "no such commands: {counts:?}");
    }
}
