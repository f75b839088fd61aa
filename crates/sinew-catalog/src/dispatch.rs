//! What a message asks for, resolved for a host: a command for the model, a text, a tool, or
//! nothing.
//!
//! sinew resolves and authorises; the host makes the call. **Must never happen here:** a dispatch
//! that was not resolved, a tool that this caller may not use, arguments that are split, quoted or
//! expanded. Arguments reach a shell only if the host's own tool passes them to one.

use serde::Serialize;
use sinew_settings::{Reason, ReasonCode};

use crate::commands::{
    CommandInvocation, CommandSpec, CommandTrust, SlashCommands, fill_arguments,
};
use crate::references::{self, ExpandedMessage};

/// Longer arguments belong in a file, not on a command line.
pub const MAX_ARGUMENTS: usize = 16 * 1024;

/// The result of resolving a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MessageResolution {
    /// An ordinary message for the model, with the skills it names listed before it.
    Message {
        /// The message, expanded.
        #[serde(flatten)]
        message: ExpandedMessage,
    },
    /// A skill's command for the model.
    Skill {
        /// The command.
        command: CommandRef,
        /// The text after it.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
        /// What the model gets.
        body: String,
    },
    /// A plain command: its text, with the arguments filled in.
    Prompt {
        /// The command.
        command: CommandRef,
        /// What the model gets.
        body: String,
    },
    /// A command for a tool; the model is not involved.
    Dispatch {
        /// The command.
        command: CommandRef,
        /// The call that the host makes.
        dispatch: DispatchCall,
    },
    /// Passed to neither the model nor a tool.
    Refused {
        /// The command.
        command: CommandRef,
        /// Why, and what to do.
        reason: Reason,
    },
}

/// A command and the skill it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandRef {
    /// The slash command.
    pub name: String,
    /// The skill.
    pub skill_name: String,
    /// The skill's file.
    pub skill_file: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DispatchCall {
    /// The tool.
    pub tool: String,
    /// What it is called with.
    pub payload: DispatchPayload,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchPayload {
    /// The text after the command, trimmed at both ends and otherwise unchanged.
    pub command: String,
    /// The slash command.
    pub command_name: String,
    /// The skill.
    pub skill_name: String,
}

/// Resolves a message for a caller who may use only `tools`.
pub fn resolve_message(
    message: &str,
    commands: &SlashCommands,
    tools: &[String],
) -> MessageResolution {
    match commands.invocation(message) {
        CommandInvocation::None => {
            MessageResolution::Message { message: references::expand_references(message, commands) }
        }
        CommandInvocation::Unavailable(command) => refused(command, unavailable(command)),
        CommandInvocation::Run { command, arguments } => {
            if command.dispatch.is_some() {
                return dispatch(command, arguments.unwrap_or_default(), tools);
            }
            match &command.template {
                Some(template) => MessageResolution::Prompt {
                    body: fill_arguments(template, arguments.as_deref()),
                    command: named(command),
                },
                None => {
                    let expanded = references::expand_references(message.trim_start(), commands);
                    MessageResolution::Skill {
                        command: named(command),
                        arguments,
                        body: expanded.body,
                    }
                }
            }
        }
    }
}

/// A skill that the guard holds back is reported as such, whatever the agent's list says.
fn unavailable(command: &CommandSpec) -> Reason {
    if command.trust == CommandTrust::Held {
        return not_trusted(command);
    }
    let detail = format!("the skill {} is not available for this agent", command.skill_name);
    Reason::new(ReasonCode::AgentFilter, detail)
        .remedy(format!("add {} to the agent's skills", command.skill_name))
}

fn dispatch(command: &CommandSpec, arguments: String, tools: &[String]) -> MessageResolution {
    let tool = command.dispatch.as_ref().map(|dispatch| dispatch.tool.as_str()).unwrap_or_default();
    if command.trust != CommandTrust::Full {
        return refused(command, not_trusted(command));
    }
    if arguments.len() > MAX_ARGUMENTS {
        let detail =
            format!("the arguments have {} bytes, more than {MAX_ARGUMENTS}", arguments.len());
        return refused(
            command,
            Reason::new(ReasonCode::DispatchArgsTooLong, detail).remedy("put them into a file"),
        );
    }
    if !tools.iter().any(|allowed| allowed == tool) {
        return refused(
            command,
            Reason::new(
                ReasonCode::DispatchToolUnavailable,
                format!("there is no tool {tool} here"),
            )
            .key(tool)
            .remedy("give the caller that tool, or call the skill by its name in a message"),
        );
    }
    MessageResolution::Dispatch {
        command: named(command),
        dispatch: DispatchCall {
            tool: tool.to_owned(),
            payload: DispatchPayload {
                command: arguments,
                command_name: command.name.clone(),
                skill_name: command.skill_name.clone(),
            },
        },
    }
}

fn not_trusted(command: &CommandSpec) -> Reason {
    let detail = format!("{} is not reviewed, so it cannot call a tool", command.skill_name);
    Reason::new(ReasonCode::DispatchNotTrusted, detail)
        .remedy("review it first; `sinew scan` shows what it contains")
}

fn refused(command: &CommandSpec, reason: Reason) -> MessageResolution {
    MessageResolution::Refused {
        command: named(command),
        reason: reason.skill(command.skill_name.as_str()).path(command.skill_file.as_str()),
    }
}

fn named(command: &CommandSpec) -> CommandRef {
    CommandRef {
        name: command.name.clone(),
        skill_name: command.skill_name.clone(),
        skill_file: command.skill_file.clone(),
    }
}
