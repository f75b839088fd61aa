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
    /// A helper of the agent begins.
    SubagentStart,
    /// A helper of the agent has finished.
    SubagentStop,
    /// The session is over.
    SessionEnd,
    /// The agent shortens its conversation, and does not begin a session for it.
    Compacted,
}

impl HookMoment {
    /// Every moment with the word for it on the command line.
    const WORDS: [(&'static str, Self); 10] = [
        ("session-start", Self::SessionStart),
        ("user-prompt", Self::UserPrompt),
        ("pre-tool", Self::PreTool),
        ("post-tool", Self::PostTool),
        ("tool-failure", Self::ToolFailure),
        ("stop", Self::Stop),
        ("subagent-start", Self::SubagentStart),
        ("subagent-stop", Self::SubagentStop),
        ("session-end", Self::SessionEnd),
        ("compacted", Self::Compacted),
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
    /// In which form it reads an answer.
    form: AnswerForm,
    /// How it calls a skill that it knows itself; `{name}` stands for the skill. Some only read its file.
    call: Option<&'static str>,
    /// Bytes of an addition that its model gets whole, where they are counted and not characters.
    pub(super) most_bytes: Option<usize>,
    /// Whether what was added to a message is still there with the next one.
    pub(super) keeps_additions: bool,
}

/// Codex cuts the middle out of what has more than 2,500 tokens, which it reckons as four bytes each.
const CODEX_BYTES: usize = 9_900;

/// How an agent reads what is added to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerForm {
    /// `hookSpecificOutput`, not to be shown to the user.
    Quiet,
    /// `hookSpecificOutput` alone. Codex treats a word about showing it as an error.
    Plain,
    /// One field with the text: what a plugin of ours passes on.
    Field(&'static str),
    /// One field with the text, when a session begins; nothing can be added to a message.
    FieldAtStart(&'static str),
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
            ("SubagentStart", HookMoment::SubagentStart),
            ("SubagentStop", HookMoment::SubagentStop),
            ("SessionEnd", HookMoment::SessionEnd),
        ],
        form: AnswerForm::Quiet,
        call: Some("the Skill tool with `{name}`, or /{name}"),
        most_bytes: None,
        keeps_additions: true,
    },
    HookAgent {
        name: "codex",
        events: &[
            ("SessionStart", HookMoment::SessionStart),
            ("UserPromptSubmit", HookMoment::UserPrompt),
            ("PreToolUse", HookMoment::PreTool),
            ("PostToolUse", HookMoment::PostTool),
            ("Stop", HookMoment::Stop),
            ("SubagentStart", HookMoment::SubagentStart),
            ("SubagentStop", HookMoment::SubagentStop),
            ("SessionEnd", HookMoment::SessionEnd),
        ],
        form: AnswerForm::Plain,
        call: Some("mention ${name}"),
        most_bytes: Some(CODEX_BYTES),
        keeps_additions: true,
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
            ("PreCompress", HookMoment::Compacted),
        ],
        form: AnswerForm::Quiet,
        call: Some("the tool activate_skill with `{name}`"),
        most_bytes: None,
        keeps_additions: true,
    },
    HookAgent {
        name: "openclaw",
        events: &[
            ("before_prompt_build", HookMoment::UserPrompt),
            ("after_tool_call", HookMoment::PostTool),
            ("agent_end", HookMoment::Stop),
        ],
        form: AnswerForm::Field("prependContext"),
        call: None,
        most_bytes: None,
        // Its conversation holds the message as it was typed.
        keeps_additions: false,
    },
    HookAgent {
        name: "opencode",
        events: &[
            ("chat.message", HookMoment::UserPrompt),
            ("tool.execute.after", HookMoment::PostTool),
            ("session.idle", HookMoment::Stop),
            ("session.compacted", HookMoment::Compacted),
        ],
        form: AnswerForm::Field("context"),
        call: Some("the tool skill with `{name}`"),
        most_bytes: None,
        keeps_additions: true,
    },
    HookAgent {
        name: "cursor",
        events: &[
            ("sessionStart", HookMoment::SessionStart),
            ("beforeSubmitPrompt", HookMoment::UserPrompt),
            ("preToolUse", HookMoment::PreTool),
            ("postToolUse", HookMoment::PostTool),
            ("postToolUseFailure", HookMoment::ToolFailure),
            ("stop", HookMoment::Stop),
            ("sessionEnd", HookMoment::SessionEnd),
        ],
        form: AnswerForm::FieldAtStart("additional_context"),
        call: None,
        most_bytes: None,
        keeps_additions: true,
    },
];

impl HookAgent {
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        HOSTS.iter().find(|host| host.name == name)
    }

    pub(super) fn moment(&self, event: &str) -> Option<HookMoment> {
        self.events.iter().find(|(name, _)| *name == event).map(|(_, moment)| *moment)
    }

    /// Whether it reads what is said at a moment; some hear everything, and read little.
    pub(super) fn reads(&self, moment: HookMoment) -> bool {
        match self.form {
            AnswerForm::Quiet | AnswerForm::Plain | AnswerForm::Field(_) => true,
            AnswerForm::FieldAtStart(_) => moment == HookMoment::SessionStart,
        }
    }

    /// How it calls one of its own skills. A name that is more than a word is not put into a sentence.
    pub(super) fn call(&self, name: &str) -> Option<String> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_word = !name.is_empty() && name.chars().all(plain);
        self.call.filter(|_| is_word).map(|call| call.replace("{name}", name))
    }

    /// The answer that adds `context` to a message, in the agent's own form.
    pub(super) fn answer(&self, moment: HookMoment, context: &str) -> Option<Value> {
        let (event, _) = self.events.iter().find(|(_, known)| *known == moment)?;
        let specific = json!({ "hookEventName": event, "additionalContext": context });
        match self.form {
            AnswerForm::Quiet => {
                Some(json!({ "suppressOutput": true, "hookSpecificOutput": specific }))
            }
            AnswerForm::Plain => Some(json!({ "hookSpecificOutput": specific })),
            AnswerForm::Field(name) => Some(json!({ name: context })),
            AnswerForm::FieldAtStart(name) => self.reads(moment).then(|| json!({ name: context })),
        }
    }
}
