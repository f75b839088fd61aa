//! What an agent writes to a hook, read leniently: a field that is absent or of another type is
//! ignored.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sinew_cortex::failure::FailureKind;
use sinew_exec::child::ExitCause;
use sinew_exec::classify::{FailureEvidence, RunOutcome, classify};
use sinew_guard::effects::ScriptEffects;
use sinew_guard::own_frames::without_own_frames;
use sinew_guard::secrets;
use sinew_traces::{LiveStep, is_harness_tool, live_step};

use super::agents::HookMoment;
use super::in_use::SessionReturn;

/// Characters of a message that are kept until the turn ends: a longer one is never a correction.
const MAX_PROMPT: usize = 4_000;
/// Characters of the agent's last message that are kept for the reviewer.
const MAX_SAID: usize = 2_000;
/// Characters of a name, an id or a path.
const MAX_NAME: usize = 512;
/// Characters of a tool's error that are inspected.
const MAX_ERROR: usize = 4_000;

/// Messages that the agent's own machinery sends in the user's place.
const NOT_BY_A_PERSON: &[&str] = &["system", "loop_wakeup", "schedule_wakeup", "poll_event"];

/// Fields of a tool's input that name a file.
const FILE_FIELDS: &[&str] = &["file_path", "filePath", "absolute_path", "path", "filename"];
/// Files of one call that are kept.
const MAX_FILES: usize = 8;
/// What stands before a file in Codex's patches.
const PATCH_MARKS: &[&str] = &["*** Update File: ", "*** Add File: "];
/// Fields of a tool's input that hold a patch.
const PATCH_FIELDS: &[&str] = &["input", "patch", "command", "cmd"];
/// Tools by which an agent gives a task to a helper, by the end of their names, and the fields that hold
/// the task.
const DELEGATION_TOOLS: &[(&str, &[&str])] = &[
    ("task", &["prompt", "description"]),
    ("agent", &["prompt", "description"]),
    ("spawn_agent", &["message", "prompt", "task"]),
];
/// Fields of a tool's input that hold a command line.
const COMMAND_FIELDS: &[&str] = &["command", "cmd"];

/// Tools that open a skill by its name, by the end of their own, and the fields that hold it.
const SKILL_TOOLS: &[(&str, &[&str])] = &[
    ("skill", &["skill", "command", "name"]),
    ("activate_skill", &["name", "skill"]),
    ("read_skill", &["name", "uri"]),
];
/// The tool by which an agent reports how a skill did.
const REPORT_TOOL: &str = "report_outcome";

/// An event, in the form that all agents share.
#[derive(Debug)]
pub(super) struct HookInput {
    fields: Map<String, Value>,
}

/// Tools of agents that write a file, by their plain names.
const EDITORS: &[&str] = &[
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "apply_patch",
    "write_file",
    "replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "edit_file",
    "create_file",
];

/// A skill that was opened: by its file, or by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OpenedSkill {
    File(PathBuf),
    Name(String),
}

/// A call of a tool: which, how it went, and the names of files, without what they hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolCall {
    pub(super) tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<FailureKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) used: Option<OpenedSkill>,
    /// The skill whose outcome the agent reported itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reported: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) subagent: Option<String>,
    /// Files that it touched, below the workspace where they lie there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<String>,
    /// The program that it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<String>,
    /// What it certainly changed, as the memory names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<String>,
}

impl ToolCall {
    /// The work of a helper, as one step of its agent's.
    pub(super) fn of_helper(helper: String) -> Self {
        Self {
            tool: "subagent".to_owned(),
            failed: None,
            used: None,
            reported: None,
            subagent: Some(helper),
            files: Vec::new(),
            program: None,
            changed: Vec::new(),
        }
    }

    /// Whether it is a step of the work, and not the agent keeping itself in order.
    pub(super) fn is_step(&self) -> bool {
        self.used.is_some() || self.reported.is_some() || !is_harness_tool(&self.tool)
    }
}

/// Text that may be kept, and whether a secret was taken out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MaskedText {
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) had_secret: bool,
}

impl MaskedText {
    /// The first characters of a text, with secrets redacted before it is cut: half a key would not be
    /// recognised.
    pub(super) fn of(text: &str, most: usize) -> Self {
        let masked = secrets::mask_strict(text);
        Self { had_secret: masked != text, text: masked.chars().take(most).collect() }
    }
}

impl HookInput {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        match serde_json::from_slice(bytes).ok()? {
            Value::Object(fields) => Some(Self { fields }),
            _ => None,
        }
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn name(&self, field: &str) -> Option<String> {
        self.text(field).map(|text| text.chars().take(MAX_NAME).collect())
    }

    pub(super) fn event(&self) -> Option<&str> {
        self.text("hook_event_name")
    }

    pub(super) fn session(&self) -> Option<String> {
        // Cursor calls it a conversation.
        self.name("session_id").or_else(|| self.name("conversation_id"))
    }

    /// Where the agent works; a relative path is ignored.
    pub(super) fn cwd(&self) -> Option<PathBuf> {
        // Cursor names every folder of its window; the agent works in the first.
        let roots = self.fields.get("workspace_roots").and_then(Value::as_array);
        let first = roots.and_then(|roots| roots.first()).and_then(Value::as_str);
        self.text("cwd").or(first).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// What the user said, where a user said it. What a hook added before is not part of it, even where
    /// the agent hands it back.
    pub(super) fn prompt(&self) -> Option<Cow<'_, str>> {
        let source = self.text("source");
        let by_person = !source.is_some_and(|source| NOT_BY_A_PERSON.contains(&source));
        let prompt = self.text("prompt").filter(|_| by_person).map(without_own_frames);
        prompt.filter(|prompt| !prompt.trim().is_empty())
    }

    pub(super) fn masked_prompt(&self) -> Option<MaskedText> {
        self.prompt().map(|prompt| MaskedText::of(&prompt, MAX_PROMPT))
    }

    /// Why the session begins in the middle, if it does.
    pub(super) fn session_return(&self) -> Option<SessionReturn> {
        match self.text("source")? {
            "compact" => Some(SessionReturn::Compacted),
            "resume" => Some(SessionReturn::Resumed),
            "clear" => Some(SessionReturn::Cleared),
            _ => None,
        }
    }

    /// The helper that begins, and of which kind it is.
    pub(super) fn helper(&self) -> Option<String> {
        self.subagent()
    }

    pub(super) fn helper_kind(&self) -> Option<String> {
        self.name("agent_type")
    }

    /// The task that a call gives to a helper: its kind, and what it is to do.
    pub(super) fn delegation(&self) -> Option<(Option<String>, MaskedText)> {
        let (tool, input) = (plain_name(self.text("tool_name")?), self.fields.get("tool_input"));
        let (_, fields) = DELEGATION_TOOLS.iter().find(|(name, _)| *name == tool)?;
        let task = first_text(input, fields).filter(|task| !task.trim().is_empty())?;
        let kind = first_text(input, &["subagent_type", "agent_type"]).map(short);
        Some((kind, MaskedText::of(&without_own_frames(task), MAX_PROMPT)))
    }

    /// The agent's last message.
    pub(super) fn last_message(&self) -> Option<&str> {
        self.text("last_assistant_message").or_else(|| self.text("prompt_response"))
    }

    /// The agent's last message, as it is kept.
    pub(super) fn masked_last_message(&self) -> Option<String> {
        Some(MaskedText::of(self.last_message()?, MAX_SAID).text)
    }

    /// The helper of the agent that this is about.
    pub(super) fn subagent(&self) -> Option<String> {
        self.name("agent_id")
    }

    /// Whether the agent goes on because a hook told it to.
    pub(super) fn is_stop_loop(&self) -> bool {
        self.fields.get("stop_hook_active") == Some(&Value::Bool(true))
    }

    /// What distinguishes this event from others of its kind in the session.
    pub(super) fn key(&self, moment: HookMoment) -> Option<String> {
        let id = match moment {
            HookMoment::SubagentStart | HookMoment::SubagentStop => self.name("agent_id"),
            moment if moment.is_about_a_tool() => self.name("tool_use_id"),
            _ => self
                .name("prompt_id")
                .or_else(|| self.name("turn_id"))
                .or_else(|| self.name("generation_id")),
        };
        let id = id.or_else(|| self.name("timestamp"))?;
        Some(format!("{}:{id}", moment.as_str()))
    }

    pub(super) fn tool_call(&self, moment: HookMoment) -> Option<ToolCall> {
        let tool = self.name("tool_name")?;
        let input = self.fields.get("tool_input");
        let plain = plain_name(&tool);
        let reported =
            (plain == REPORT_TOOL).then(|| first_text(input, &["skill"]).map(short)).flatten();
        Some(ToolCall {
            failed: self.failure(moment),
            used: input.and_then(|input| used(&plain, input)),
            reported,
            subagent: self.subagent(),
            files: input.map(|input| self.files(input)).unwrap_or_default(),
            program: input.and_then(ran_program),
            changed: input.map(|input| changes(&plain, input)).unwrap_or_default(),
            tool,
        })
    }

    /// The files that a call touches.
    fn files(&self, input: &Value) -> Vec<String> {
        let named = first_text(Some(input), FILE_FIELDS).filter(|file| !is_skill_file(file));
        let patch = PATCH_FIELDS.iter().find_map(|field| match input.get(field)? {
            Value::String(text) => Some(text.as_str()),
            Value::Array(words) => words.iter().filter_map(Value::as_str).next_back(),
            _ => None,
        });
        let patched = patch.into_iter().flat_map(str::lines).filter_map(|line| {
            PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim)
        });
        let cwd = self.cwd();
        let below = |file: &str| {
            let path = Path::new(file);
            let inside = cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd).ok());
            short(&secrets::mask_strict(&inside.unwrap_or(path).to_string_lossy()))
        };
        named.into_iter().chain(patched).take(MAX_FILES).map(below).collect()
    }

    /// The call as the session's trace keeps it; what a helper of the agent does is not part of it.
    pub(super) fn live_step(&self, moment: HookMoment, agent: &str, at: &str) -> Option<Value> {
        let tool = self.name("tool_name").filter(|_| self.subagent().is_none())?;
        let said = match moment {
            HookMoment::ToolFailure => self.fields.get("error").map(told),
            _ => self.fields.get("tool_response").map(told),
        };
        let interrupted = ["is_interrupt", "interrupted"].iter().any(|field| {
            let response = self.fields.get("tool_response");
            let value = self.fields.get(*field).or_else(|| response?.get(field));
            value == Some(&Value::Bool(true))
        });
        Some(live_step(&LiveStep {
            agent,
            tool: &tool,
            input: self.fields.get("tool_input").unwrap_or(&Value::Null),
            said: &said.unwrap_or_default(),
            failed: moment == HookMoment::ToolFailure || self.failure(moment).is_some(),
            interrupted,
            at,
        }))
    }

    /// How the call failed, by what the agent says about it.
    fn failure(&self, moment: HookMoment) -> Option<FailureKind> {
        let response = self.fields.get("tool_response");
        let said = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let text = match (moment, response) {
            (HookMoment::ToolFailure, _) => said(self.fields.get("error").unwrap_or(&Value::Null)),
            (_, Some(Value::Object(fields))) => {
                let holds = |field: &str, value: Value| fields.get(field) == Some(&value);
                let exit = fields.get("exit_code").or_else(|| fields.get("exitCode"));
                let error = fields.get("error").filter(|error| !error.is_null());
                let failed = holds("is_error", true.into())
                    || holds("isError", true.into())
                    || holds("success", false.into())
                    || exit.and_then(Value::as_i64).is_some_and(|code| code != 0)
                    || error.is_some();
                if !failed {
                    return None;
                }
                let words = ["stderr", "output", "content"].iter().find_map(|f| fields.get(*f));
                said(error.or(words).unwrap_or(&Value::Null))
            }
            _ => return None,
        };
        let text: String = text.chars().take(MAX_ERROR).collect();
        let evidence = FailureEvidence {
            how: Some(ExitCause::Exit(1)),
            program: "",
            text: &text,
            missing: &[],
        };
        match classify(&evidence).outcome {
            RunOutcome::Failure(kind) => Some(kind),
            RunOutcome::Success => None,
        }
    }
}

/// Fields of an answer that hold a program's output.
const SAID_FIELDS: &[&str] = &["stdout", "stderr", "output", "content", "text", "result"];

/// A tool's output as text.
fn told(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(told).collect();
            texts.join("\n")
        }
        Value::Object(fields) => {
            let said = SAID_FIELDS.iter().filter_map(|field| fields.get(*field)).map(told);
            let said: Vec<String> = said.filter(|text| !text.is_empty()).collect();
            if said.is_empty() { response.to_string() } else { said.join("\n") }
        }
        other => other.to_string(),
    }
}

/// The skill that a call opens, if it opens one.
fn used(tool: &str, input: &Value) -> Option<OpenedSkill> {
    if let Some((_, fields)) = SKILL_TOOLS.iter().find(|(name, _)| *name == tool) {
        let named = first_text(Some(input), fields)?;
        // `skill://<name>/SKILL.md` and `/name` both mean the name.
        let named = named.strip_prefix("skill://").unwrap_or(named).trim_start_matches('/');
        let named = named.strip_suffix("/SKILL.md").unwrap_or(named);
        let named = named.rsplit('/').next().unwrap_or(named);
        return Some(OpenedSkill::Name(short(named))).filter(|_| !named.is_empty());
    }
    if let Some(file) = first_text(Some(input), FILE_FIELDS).filter(|file| is_skill_file(file)) {
        return Some(OpenedSkill::File(PathBuf::from(short(file))));
    }
    let line = COMMAND_FIELDS.iter().find_map(|field| match input.get(field)? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(words.join(" "))
        }
        _ => None,
    })?;
    let word = line.split([' ', '\t', '\n', '"', '\'', ';', '|', '&', '<', '>', '(', ')']);
    word.into_iter()
        .find(|word| is_skill_file(word))
        .map(|word| OpenedSkill::File(PathBuf::from(short(word))))
}

/// A tool's name without its server, in lower case.
fn plain_name(tool: &str) -> String {
    let plain = tool.rsplit("__").next().unwrap_or(tool).rsplit(['/', '.', ':']).next();
    plain.unwrap_or(tool).to_lowercase()
}

/// The command line of a call.
fn command_line(input: &Value) -> Option<&str> {
    COMMAND_FIELDS.iter().find_map(|field| match input.get(field)? {
        Value::String(line) => Some(line.as_str()),
        Value::Array(words) => words.iter().filter_map(Value::as_str).next_back(),
        _ => None,
    })
}

/// What a call certainly changes: what its command is known for, or files that an editor writes.
fn changes(tool: &str, input: &Value) -> Vec<String> {
    match command_line(input) {
        Some(line) => ScriptEffects::of(line).changes(),
        None if EDITORS.contains(&tool) => vec!["write:files".to_owned()],
        None => Vec::new(),
    }
}

/// The name of the program that a command line runs; nothing else of the line.
fn ran_program(input: &Value) -> Option<String> {
    let line = command_line(input)?;
    let is_setting = |word: &&str| word.contains('=') && !word.starts_with('-');
    let word = line.split_whitespace().find(|word| !is_setting(word))?;
    let name = word.rsplit('/').next().unwrap_or(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let is_name = (1..=40).contains(&name.len()) && name.chars().all(plain);
    is_name.then(|| name.to_owned())
}

fn is_skill_file(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

fn first_text<'v>(input: Option<&'v Value>, fields: &[&str]) -> Option<&'v str> {
    fields.iter().find_map(|field| input?.get(field)?.as_str())
}

fn short(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(event: &Value, used: Option<OpenedSkill>, failed: Option<FailureKind>) {
        let bytes = serde_json::to_vec(event).expect("JSON");
        let input = HookInput::read(&bytes).expect("an object");
        let moment = match event.get("error") {
            Some(_) => HookMoment::ToolFailure,
            None => HookMoment::PostTool,
        };
        let call = input.tool_call(moment).expect("a call");
        assert_eq!((call.used, call.failed), (used, failed), "{event}");
    }

    #[test]
    fn a_skill_is_used_when_its_file_or_its_name_is_opened() {
        let file = |path: &str| Some(OpenedSkill::File(path.into()));
        let name = |name: &str| Some(OpenedSkill::Name(name.to_owned()));
        let call = |tool: &str, input: Value| json!({"tool_name": tool, "tool_input": input});
        check(
            &call("Read", json!({"file_path": "/s/tea/SKILL.md"})),
            file("/s/tea/SKILL.md"),
            None,
        );
        check(&call("Read", json!({"file_path": "/s/tea/notes.md"})), None, None);
        check(
            &call("Bash", json!({"command": "cat '/s/a/SKILL.md' | head"})),
            file("/s/a/SKILL.md"),
            None,
        );
        check(
            &call("shell", json!({"command": ["sed", "-n", "1p", "b/SKILL.md"]})),
            file("b/SKILL.md"),
            None,
        );
        check(&call("Skill", json!({"skill": "tea"})), name("tea"), None);
        check(
            &call("mcp__sinew__read_skill", json!({"uri": "skill://tea/SKILL.md"})),
            name("tea"),
            None,
        );
        check(&call("sinew.read_skill", json!({"name": "tea"})), name("tea"), None);
        check(&call("Write", json!({"content": "read SKILL.md"})), None, None);
    }

    #[test]
    fn a_failure_is_known_by_what_the_agent_says() {
        let answer = |response: Value| json!({"tool_name": "shell", "tool_response": response});
        check(&answer(json!("error: this is text")), None, None);
        check(&answer(json!({"exit_code": 0, "output": "fine"})), None, None);
        check(
            &answer(json!({"exit_code": 127, "output": "sh: 1: ffmpeg: not found"})),
            None,
            Some(FailureKind::DependencyMissing),
        );
        let failed = json!({"tool_name": "Bash", "error": "HTTP 401 Unauthorized"});
        check(&failed, None, Some(FailureKind::AuthError));
    }

    #[test]
    fn what_is_kept_holds_no_secret_and_no_book() {
        let key = format!("sk-ant-{}", "api03-".to_owned() + &"Zb4".repeat(30));
        let masked = MaskedText::of(&format!("use {key} {}", "x".repeat(9_000)), MAX_PROMPT);
        assert!(masked.had_secret && !masked.text.contains("Zb4Zb4"));
        assert_eq!(masked.text.chars().count(), MAX_PROMPT);
    }
}
