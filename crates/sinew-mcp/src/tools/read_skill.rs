//! `read_skill`: a skill's text, or one of its files.
//!
//! The text is the answer, and there is no data beside it: hosts that hand data to their model hand
//! over nothing else, and a host that hands over both would pay for the text twice.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ContentBlock, ResourceContents};
use serde::Deserialize;
use sinew_catalog::SKILL_FILE;
use sinew_cortex::lesson::Lesson;
use sinew_engine::hook::SkillToolUse;
use sinew_engine::{EngineError, SkillReading, fill_in};
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolResponse, ToolSpec, always};
use crate::tool_answer::{one_line, short_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "read_skill",
    description: "A skill's instructions, or one file below its folder. Give name or uri.",
    input: tool_schema::input::<ReadSkillInput>,
    output: None,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// The largest part of a file that is given at once unless the caller wants less.
const DEFAULT_MAX: u64 = 256_000;
/// Other files that are named; a skill with more says itself which to read.
const FILES: usize = 40;
/// Lessons that are told.
const LESSONS: usize = 3;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReadSkillInput {
    name: Option<String>,
    uri: Option<String>,
    file: Option<String>,
    /// For $ARGUMENTS
    #[schema(max_length = 16384)]
    args: Option<String>,
    #[schema(minimum = 1, maximum = 1048576)]
    max_bytes: Option<u64>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    call.check_one_of(&["name", "uri"])?;
    let input: ReadSkillInput = call.read()?;
    let (engine, catalog) = (&call.look.engine, &call.look.snapshot.catalog);
    let (wanted, file) = match (&input.name, &input.uri) {
        (Some(name), _) => (name.clone(), input.file.clone()),
        (None, uri) => {
            let uri = uri.as_deref().unwrap_or_default();
            let (entry, below) = engine.skills().served_at(catalog, uri).ok_or_else(|| {
                EngineError::new(ErrorCode::UnknownSkill, format!("no skill is served at {uri}"))
                    .hint("name the skill; list_skills has the names")
            })?;
            let below = Some(below).filter(|below| !below.is_empty());
            (entry.name.clone(), input.file.clone().or(below))
        }
    };
    let read = engine.skills().read(catalog, &wanted, file.as_deref(), &call.caller.actor())?;
    if read.file == SKILL_FILE {
        let agent = call.caller.record_name();
        engine.hooks().note_tool_use(agent, &read.name, SkillToolUse::Read);
    }
    let max = usize::try_from(input.max_bytes.unwrap_or(DEFAULT_MAX)).unwrap_or(usize::MAX);
    let (block, given, whole) = match &read.text {
        Some(text) => {
            let text = match &input.args {
                Some(args) => fill_in(text, args, &BTreeMap::new()).text,
                None => text.clone(),
            };
            let given = head(&text, max);
            (ContentBlock::text(given), given.len(), text.len())
        }
        None => {
            let given = &read.bytes[..read.bytes.len().min(max)];
            let uri = match &read.uri {
                Some(uri) => uri.clone(),
                None => format!("file:{}", read.location),
            };
            let bytes = ResourceContents::blob(STANDARD.encode(given), uri);
            (ContentBlock::resource(bytes), given.len(), read.bytes.len())
        }
    };
    let about = ContentBlock::text(about(&read, given, whole));
    Ok(McpToolAnswer::content(vec![block, about]).into())
}

/// What a reader of the text should know beside it.
fn about(read: &SkillReading, given: usize, whole: usize) -> String {
    let mut lines =
        vec![format!("({} of the skill {})", one_line(&read.file), one_line(&read.name))];
    lines.push(format!("location: {}", one_line(&read.location)));
    if given < whole {
        lines.push(format!("cut: {given} of {whole} bytes; max_bytes gives more"));
    }
    if !read.files.is_empty() {
        let named: Vec<String> = read.files.iter().take(FILES).map(|file| one_line(file)).collect();
        let more = match read.files.len().saturating_sub(FILES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!("other files: {}{more}", named.join(", ")));
    }
    if !read.env_required.is_empty() {
        let names: Vec<String> = read.env_required.iter().map(|name| one_line(name)).collect();
        lines.push(format!("needs these variables: {}", names.join(", ")));
    }
    lines.extend(read.lessons.iter().take(LESSONS).map(|known| match &known.lesson {
        Lesson::DependencyWarning { key, .. } => {
            format!("learned: it needs {}, which is often missing", one_line(key))
        }
        Lesson::SkillQualityWarning { detail, .. } => {
            format!("learned: its description misleads: {}", short_line(detail, 160))
        }
        Lesson::EnvReady { key, .. } => format!("learned: {} is set", one_line(key)),
    }));
    lines.join("\n")
}

/// The beginning of a text, cut between characters.
fn head(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
