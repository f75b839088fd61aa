//! What people type for a command that has another name here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Words of other programs, and the command that does the same. Typing errors are found by their letters.
const SYNONYMS: &[(&str, &str)] = &[
    ("add", "install"),
    ("audit", "scan"),
    ("create", "new"),
    ("dashboard", "ui"),
    ("daemon", "service install"),
    ("delete", "uninstall"),
    ("edit", "open"),
    ("explain", "why"),
    ("get", "install"),
    ("health", "doctor"),
    ("init", "new"),
    ("library", "bundled"),
    ("lint", "validate"),
    ("ls", "list"),
    ("off", "disable"),
    ("on", "enable"),
    ("outdated", "update --all --dry-run"),
    ("path", "open"),
    ("rm", "uninstall"),
    ("route", "find"),
    ("run", "exec"),
    ("server", "serve"),
    ("set", "config set"),
    ("settings", "config show"),
    ("show", "info"),
    ("start", "serve"),
    ("upgrade", "update"),
    ("web", "ui"),
];

/// The command that a mistyped one means by its sense.
pub(crate) fn meant_command(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let typed = typed.to_lowercase();
    SYNONYMS.iter().find(|(word, _)| *word == typed).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::{SYNONYMS, meant_command};
    use crate::cli::Cli;

    #[test]
    fn every_synonym_leads_to_a_command_and_is_none() {
        let cli = Cli::command();
        let is_command = |name: &str| {
            cli.get_subcommands().any(|one| one.get_name_and_visible_aliases().contains(&name))
        };
        for (word, command) in SYNONYMS {
            let first = command.split(' ').next().unwrap_or(command);
            assert!(is_command(first), "{word} leads to {command}");
            assert!(!is_command(word), "{word} is a command itself");
        }
    }

    #[test]
    fn only_a_word_in_the_place_of_a_command_is_looked_up() {
        let meant =
            |args: &[&str]| Cli::try_parse_from(args).err().as_ref().and_then(meant_command);
        assert_eq!(meant(&["sinew", "upgrade"]), Some("update"));
        assert_eq!(meant(&["sinew", "find", "--upgrade"]), None);
        assert_eq!(meant(&["sinew", "zzz"]), None);
    }
}
