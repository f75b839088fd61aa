//! `$skill` in a message: skills that a user names explicitly.
//!
//! **Invariant:** a message is either expanded completely or left as it was. Text that looks like a
//! shell variable, is escaped, or names no skill is plain text.

use serde::Serialize;
use sinew_guard::Untrusted;

use crate::commands::{
    CommandInvocation, CommandLookup, CommandSpec, CommandTrust, SlashCommands, unavailable,
};

/// The maximum number of skills in one message; more cannot all be followed.
pub const MAX_REFERENCES: usize = 8;

/// The maximum length of one reference line in UTF-16 units: a name and a path, not a text.
pub const MAX_REFERENCE_CHARS: usize = 512;

/// The maximum length of the prefix in UTF-16 units, so that it never outweighs the message.
pub const MAX_PREFIX_CHARS: usize = 1_000;

const PREFIX: &str = "The user asks for these skills by name. Read the SKILL.md of each before you do anything else:";
const MESSAGE: &str = "The message itself:";

/// A message with its references resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpandedMessage {
    /// What the model gets.
    pub body: String,
    /// The commands of the referenced skills, in the order of their first mention.
    pub skills: Vec<String>,
    /// The same skills by name, for the rank of the prompt.
    #[serde(skip)]
    pub skill_names: Vec<String>,
    /// Why nothing was expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Finds the skills that `message` names and prepends the request to read them.
pub fn expand_references(message: &str, commands: &SlashCommands) -> ExpandedMessage {
    let plain = || ExpandedMessage { body: message.to_owned(), ..ExpandedMessage::default() };
    let found = match named_skills(message, commands) {
        Ok(found) if found.is_empty() => return plain(),
        Ok(found) => found,
        Err(error) => return ExpandedMessage { error: Some(error), ..plain() },
    };
    match prefix(&found) {
        Err(error) => ExpandedMessage { error: Some(error), ..plain() },
        Ok(prefix) => ExpandedMessage {
            body: format!("{prefix}{message}"),
            skills: found.iter().map(|command| command.name.clone()).collect(),
            skill_names: found.iter().map(|command| command.skill_name.clone()).collect(),
            error: None,
        },
    }
}

fn named_skills<'c>(
    message: &str,
    commands: &'c SlashCommands,
) -> Result<Vec<&'c CommandSpec>, String> {
    if message.starts_with('/') {
        return match commands.invocation(message) {
            CommandInvocation::Run { command, .. } if command.template.is_none() => {
                Ok(vec![command])
            }
            CommandInvocation::Run { .. } | CommandInvocation::None => Ok(Vec::new()),
            CommandInvocation::Unavailable(command) => Err(unavailable(&command.skill_name)),
        };
    }
    let mut found: Vec<&CommandSpec> = Vec::new();
    for name in mentions(message) {
        match commands.lookup(name) {
            CommandLookup::Usable(command) if command.template.is_some() => {}
            CommandLookup::Usable(command)
                if found.iter().any(|known| known.name == command.name) => {}
            CommandLookup::Usable(_) if found.len() == MAX_REFERENCES => {
                return Err(format!(
                    "the message names more than {MAX_REFERENCES} skills; name fewer of them"
                ));
            }
            CommandLookup::Usable(command) => found.push(command),
            // A skill that is held back counts as unknown in a mention.
            CommandLookup::Filtered(command) if command.trust == CommandTrust::Held => {}
            CommandLookup::Filtered(command) => return Err(unavailable(&command.skill_name)),
            CommandLookup::Nothing => {}
        }
    }
    Ok(found)
}

/// The text after each `$` that could name a skill.
fn mentions(message: &str) -> impl Iterator<Item = &str> {
    message.match_indices('$').filter_map(|(at, _)| {
        let slashes = message[..at].bytes().rev().take_while(|&byte| byte == b'\\').count();
        let rest = &message[at + 1..];
        let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches(':');
        let shell_variable = !name.bytes().any(|byte| byte.is_ascii_lowercase());
        (slashes.is_multiple_of(2) && !shell_variable).then_some(name)
    })
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')
}

fn prefix(found: &[&CommandSpec]) -> Result<String, String> {
    let units = |text: &str| text.encode_utf16().count();
    let mut prefix = format!("{PREFIX}\n");
    for command in found {
        let line = line(command);
        if units(&line) > MAX_REFERENCE_CHARS {
            let name = one_line(&command.skill_name);
            return Err(format!(
                "the reference to {name} exceeds {MAX_REFERENCE_CHARS} characters"
            ));
        }
        prefix.push_str(&line);
        prefix.push('\n');
    }
    prefix.push_str(&format!("\n{MESSAGE}\n"));
    if units(&prefix) > MAX_PREFIX_CHARS {
        return Err(format!(
            "the references take more than {MAX_PREFIX_CHARS} characters; name fewer skills"
        ));
    }
    Ok(prefix)
}

/// The model cannot look up a skill that the prompt hides, so its line includes the path.
fn line(command: &CommandSpec) -> String {
    let name = one_line(&command.skill_name);
    if command.model_visible || command.skill_file.is_empty() {
        format!("- {name}")
    } else {
        format!("- {name} (at {})", one_line(&command.skill_file))
    }
}

/// Names and paths are untrusted text: one line, no invisible characters.
fn one_line(text: &str) -> String {
    let blank = |c: char| if c.is_whitespace() { ' ' } else { c };
    Untrusted::new(text).prompt_chars().map(blank).collect()
}
