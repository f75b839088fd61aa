//! A run: one task that a user asked for, and the steps that were taken for it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Bytes of one field that are inspected: a longer one is a printed file, not a message.
pub(crate) const MAX_FIELD: usize = 256 * 1024;

/// Bytes of a result that are kept after inspection: a draft shows 180 characters of it.
const KEPT_RESULT: usize = 2 * 1024;

/// Bytes of a thought that are kept: a draft shows 160 characters of it.
const KEPT_THOUGHT: usize = 1024;

/// Bytes of a task or a closing message that are kept.
const KEPT_MESSAGE: usize = 8 * 1024;

/// Marks where a longer text was cut.
pub(crate) const CUT: &str = "[cut]";

/// One task, and what was done for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRun {
    /// Whose transcript it is: `claude-code`, `codex`, or what a trace says of itself.
    pub agent: String,
    /// The session's id.
    pub session: String,
    /// The session that this one works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What was asked for.
    pub task: String,
    /// When it began, as the transcript writes it.
    pub started_at: String,
    /// Where commands ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What was done.
    pub steps: Vec<RunStep>,
    /// Steps beyond the limit, which are not here.
    #[serde(default)]
    pub left_out: usize,
    /// The agent's last message.
    pub final_message: String,
    /// How it ended, as far as the transcript says.
    pub ending: RunEnding,
    /// How it went by the agent's own report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<bool>,
    /// What the user said next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_message: Option<String>,
    /// Whether a part of it was redacted before the whole could be inspected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
}

/// How a run ended, as far as the transcript says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnding {
    /// The transcript stops in the middle.
    #[default]
    Open,
    /// The agent stopped talking of its own accord.
    Normal,
    /// The agent's program recorded that the task is complete.
    Completed,
    /// It was stopped before its end.
    Aborted,
    /// The transcript says that it succeeded.
    Succeeded,
    /// The transcript says that it failed.
    Failed,
}

/// One thing that was done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RunStep {
    /// What.
    pub action: StepAction,
    /// The application it was done in; the program of a command.
    pub app: String,
    /// What came back.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// Why it was done, in the agent's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// What it was done to.
    #[serde(default, skip_serializing_if = "StepTarget::is_empty")]
    pub target: StepTarget,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether its result mentions a capability that was probed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub probed: bool,
    /// Whether it typed into a field for secrets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret_field: bool,
    /// In how many of a draft's runs it occurs, where not in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<usize>>))]
    pub seen_in: Option<(usize, usize)>,
}

/// An action with the fields that this crate uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StepAction {
    /// Its type: `exec`, `tap`, `mcp.<server>.<tool>`.
    pub kind: String,
    /// Its fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub fields: Map<String, Value>,
}

/// What a step was done to, on a screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StepTarget {
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_desc: Option<String>,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_name: Option<String>,
    /// Whether it can be tapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clickable: Option<bool>,
    /// Whether it was inferred from the result; the hashes ignore it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
}

impl StepTarget {
    /// Whether it has no details.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Fields of actions that are kept; contents of files and the like are not.
const FIELDS: &[&str] = &[
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "durationMs",
    "holdMs",
    "elementId",
    "text",
    "keycode",
    "packageName",
    "command",
    "script",
    "path",
    "capability",
    "question",
    "message",
    "outcome",
];

/// Suffix of the tool's kind by which an agent reports to sinew how a run went.
const REPORT: &str = ".report_outcome";

impl StepAction {
    /// An action of this type without fields.
    pub(crate) fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), fields: Map::new() }
    }

    /// With a text field.
    #[must_use]
    pub(crate) fn with(mut self, field: &str, text: impl Into<String>) -> Self {
        let mut text = text.into();
        clip(&mut text, MAX_FIELD);
        self.fields.insert(field.to_owned(), Value::String(text));
        self
    }

    /// From the JSON of a generic trace: `{type, …}`.
    pub(crate) fn from_json(value: &mut Value) -> Option<Self> {
        let object = value.as_object_mut()?;
        let mut kind = object.get("type")?.as_str()?.to_owned();
        clip(&mut kind, 200);
        let mut fields = Map::new();
        for name in FIELDS {
            match object.get_mut(*name).map(Value::take) {
                Some(Value::String(mut text)) => {
                    clip(&mut text, MAX_FIELD);
                    fields.insert((*name).to_owned(), Value::String(text));
                }
                Some(number @ Value::Number(_)) => {
                    fields.insert((*name).to_owned(), number);
                }
                Some(command) if *name == "command" => {
                    if let Some(text) = crate::program::command_text(&command) {
                        fields.insert((*name).to_owned(), Value::String(text));
                    }
                }
                _ => {}
            }
        }
        Some(Self { kind, fields })
    }

    /// A text field; empty where there is none.
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// How the run went, where this action is the agent's own report and not work.
    pub(crate) fn reported(&self) -> Option<bool> {
        match self.text("outcome") {
            "success" if self.kind.ends_with(REPORT) => Some(true),
            "failure" if self.kind.ends_with(REPORT) => Some(false),
            _ => None,
        }
    }

    /// A number field.
    pub fn number(&self, field: &str) -> Option<f64> {
        match self.fields.get(field)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
        .filter(|number| number.is_finite())
    }
}

/// Words in a result or a target that say that a field is for secrets.
const SECRET_FIELDS: &[&str] =
    &["password", "passcode", "otp", "cvv", "secret", "inputtype=\"textpassword", "passwort"];

/// The same as whole words: they are parts of too many others.
const SECRET_WORDS: &[&str] = &["pin", "card"];

impl RunStep {
    /// Sets the result: up to [`MAX_FIELD`] bytes of it are inspected, and its start is kept.
    pub(crate) fn set_result(&mut self, mut text: String, failed: Option<bool>) {
        clip(&mut text, MAX_FIELD);
        self.failed = failed.unwrap_or(false) || is_refusal(&text);
        self.probed = text.contains("capability_probe") || text.contains("human_auth_probe");
        if self.action.kind == "type" {
            let shown = [
                Some(text.as_str()),
                self.target.text.as_deref(),
                self.target.resource_id.as_deref(),
                self.target.content_desc.as_deref(),
                self.target.class_name.as_deref(),
            ];
            self.secret_field |= shown.into_iter().flatten().any(speaks_of_secrets);
        }
        if self.target.is_empty() && matches!(self.action.kind.as_str(), "tap" | "tap_element") {
            self.target = crate::target::from_result(&text);
        }
        keep_start(&mut text, KEPT_RESULT);
        self.result = text;
    }

    /// Sets the thought; its start is kept.
    pub(crate) fn set_thought(&mut self, mut text: String) {
        keep_start(&mut text, KEPT_THOUGHT);
        self.thought = text;
    }

    /// Bytes that it holds.
    pub(crate) fn weight(&self) -> usize {
        let fields: usize =
            self.action.fields.values().map(|v| v.as_str().map_or(8, str::len)).sum();
        self.result.len() + self.thought.len() + fields
    }
}

fn speaks_of_secrets(text: &str) -> bool {
    let lower = text.to_lowercase();
    SECRET_FIELDS.iter().any(|word| lower.contains(word))
        || lower.split(|c: char| !c.is_alphanumeric()).any(|word| SECRET_WORDS.contains(&word))
}

/// Whether a result is a JSON object that says that something went wrong.
fn is_refusal(text: &str) -> bool {
    let text = text.trim();
    let looks = text.starts_with('{')
        && ["\"ok\"", "\"success\"", "\"error\""].iter().any(|key| text.contains(key));
    if !looks {
        return false;
    }
    let Ok(Value::Object(answer)) = serde_json::from_str::<Value>(text) else { return false };
    let is_false = |key: &str| answer.get(key) == Some(&Value::Bool(false));
    is_false("ok") || is_false("success") || answer.get("error").is_some_and(|e| !e.is_null())
}

/// A message as it is kept.
pub(crate) fn clip_message(mut text: String) -> String {
    keep_start(&mut text, KEPT_MESSAGE);
    text
}

/// Cuts a text to `most` bytes, at a character, and says so.
pub(crate) fn clip(text: &mut String, most: usize) {
    if text.len() > most {
        let mut at = most;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.truncate(at);
        text.push_str(CUT);
    }
}

/// Keeps the start of a text and drops the word that the cut fell into: half a secret would not be
/// recognised as one.
pub(crate) fn keep_start(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let mut at = most;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    let end = text.rfind(char::is_whitespace).unwrap_or(0);
    text.truncate(end);
    text.push(' ');
    text.push_str(CUT);
    text.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_leaves_half_a_word() {
        let mut text = format!("{} ghp_{}", "a ".repeat(2040), "b".repeat(60));
        keep_start(&mut text, 4096);
        assert!(text.ends_with(CUT) && !text.contains("ghp_"), "{}", &text[4000..]);
        let mut whole = "x".repeat(9000);
        keep_start(&mut whole, 4096);
        assert_eq!(whole, " [cut]");
    }

    #[test]
    fn answers_that_say_no_are_failures() {
        for no in ["{\"ok\":false}", " {\"success\": false} ", "{\"error\":\"x\"}"] {
            assert!(is_refusal(no), "{no}");
        }
        for fine in ["{\"ok\":true}", "{\"error\":null}", "ok false", "[{\"ok\":false}]", "{\"ok\""]
        {
            assert!(!is_refusal(fine), "{fine}");
        }
    }
}
