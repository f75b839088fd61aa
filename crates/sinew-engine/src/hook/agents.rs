//! The agents whose hooks are supported, as data: their names for each moment, and the form of answers.

use serde::Serialize;
use serde_json::{Value, json};

/// A moment of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookMoment {
    /// A session begins, or begins again.
    SessionStart,
    /// A message was sent.
    UserPrompt,
    /// A tool is about to run.
    PreTool,
    /// A tool has run.
    PostTool,
    /// A tool has failed.
    ToolFailure,
    /// The turn is over.
    Stop,
    /// A helper of the agent has finished.
    SubagentStop,
    /// The session is over.
    SessionEnd,
}

impl HookMoment {
    /// Every moment with the word for it on the command line.
    const WORDS: [(&'static str, Self); 8] = [
        ("session-start", Self::SessionStart),
        ("user-prompt", Self::UserPrompt),
        ("pre-tool", Self::PreTool),
        ("post-tool", Self::PostTool),
        ("tool-failure", Self::ToolFailure),
        ("stop", Self::Stop),
        ("subagent-stop", Self::SubagentStop),
        ("session-end", Self::SessionEnd),
    ];

    pub(super) fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, moment)| *moment)
    }

    /// The word for it on the command line.
    pub fn as_str(self) -> &'static str {
        Self::WORDS.iter().find(|(_, moment)| *moment == self).map_or("", |(word, _)| word)
    }

    /// Whether it belongs to one call of a tool: agents wait for many of these.
    pub fn is_about_a_tool(self) -> bool {
        matches!(self, Self::PreTool | Self::PostTool | Self::ToolFailure)
    }
}

/// An agent that runs hooks.
#[derive(Debug)]
pub(super) struct HookAgent {
    pub(super) name: &'static str,
    /// Its own names for moments.
    events: &'static [(&'static str, HookMoment)],
    /// Whether it is asked not to show our answer to its user. Codex treats that as an error.
    quiet: bool,
}

const HOSTS: &[HookAgent] = &[
    HookAgent {
        name: "claude-code",
        events: &[
            ("SessionStart", HookMoment::SessionStart),
            ("UserPromptSubmit", HookMoment::UserPrompt),
            ("PreToolUse", HookMoment::PreTool),
            ("PostToolUse", HookMoment::PostTool),
            ("PostToolUseFailure", HookMoment::ToolFailure),
            ("Stop", HookMoment::Stop),
            ("SubagentStop", HookMoment::SubagentStop),
            ("SessionEnd", HookMoment::SessionEnd),
        ],
        quiet: true,
    },
    HookAgent {
        name: "codex",
        events: &[
            ("SessionStart", HookMoment::SessionStart),
            ("UserPromptSubmit", HookMoment::UserPrompt),
            ("PreToolUse", HookMoment::PreTool),
            ("PostToolUse", HookMoment::PostTool),
            ("Stop", HookMoment::Stop),
            ("SubagentStop", HookMoment::SubagentStop),
            ("SessionEnd", HookMoment::SessionEnd),
        ],
        quiet: false,
    },
    HookAgent {
        name: "gemini",
        events: &[
            ("SessionStart", HookMoment::SessionStart),
            ("BeforeAgent", HookMoment::UserPrompt),
            ("BeforeTool", HookMoment::PreTool),
            ("AfterTool", HookMoment::PostTool),
            ("AfterAgent", HookMoment::Stop),
            ("SessionEnd", HookMoment::SessionEnd),
        ],
        quiet: true,
    },
];

impl HookAgent {
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.name == name)
    }

    pub(super) fn moment(&self, event: &str) -> Option<HookMoment> {
        self.events.iter().find(|(name, _)| *name == event).map(|(_, moment)| *moment)
    }

    /// The answer that adds `context` to a message, in the agent's own form.
    pub(super) fn answer(&self, moment: HookMoment, context: &str) -> Option<Value> {
        let (event, _) = self.events.iter().find(|(_, known)| *known == moment)?;
        let specific = json!({ "hookEventName": event, "additionalContext": context });
        Some(match self.quiet {
            true => json!({ "suppressOutput": true, "hookSpecificOutput": specific }),
            false => json!({ "hookSpecificOutput": specific }),
        })
    }
}
