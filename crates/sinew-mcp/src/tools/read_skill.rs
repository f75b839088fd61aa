//! `read_skill`: a skill's text, or one of its files.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sinew_cortex::explain::LessonView;
use sinew_engine::{EngineError, fill_in};
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "read_skill",
    title: "Read a skill",
    description: "Read a skill's instructions, or one file of the skill by its path below the skill's \
                  folder. Give either its name or its uri. Nothing outside that folder is read.",
    input: tool_schema::input::<ReadSkillInput>,
    output: tool_schema::output::<ReadSkillOutput>,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// The largest part of a file that is given at once unless the caller wants less.
const DEFAULT_MAX: u64 = 256_000;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReadSkillInput {
    /// The skill's name; or its uri
    #[schema(min_length = 1, max_length = 1000)]
    name: Option<String>,
    #[schema(min_length = 1, max_length = 2000)]
    uri: Option<String>,
    /// A path below the skill's folder
    #[schema(min_length = 1, max_length = 1000, default = "SKILL.md")]
    file: Option<String>,
    /// Takes the place of $ARGUMENTS and $1 to $9 in the text
    #[schema(max_length = 16384)]
    args: Option<String>,
    #[schema(minimum = 1, maximum = 1048576, default = 256000)]
    max_bytes: Option<u64>,
}

#[derive(Serialize, ToSchema)]
struct ReadSkillOutput {
    name: String,
    file: String,
    /// Where it lies, as the prompt block names it
    location: String,
    /// Of the whole file
    sha256: String,
    /// Of the whole file, in bytes
    size: usize,
    /// The other files of the skill
    files: Vec<String>,
    /// Warnings about it that were learned
    lessons: Vec<LessonView>,
    /// Variables that it asks for, by name
    env_required: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// Whether only the beginning is given
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// The text, where it is text
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes in base64, where it is not
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    call.check_one_of(&["name", "uri"])?;
    let input: ReadSkillInput = call.read()?;
    let (engine, catalog) = (&call.look.engine, &call.look.snapshot.catalog);
    let (wanted, file) = match (&input.name, &input.uri) {
        (Some(name), _) => (name.clone(), input.file.clone()),
        (None, uri) => {
            let uri = uri.as_deref().unwrap_or_default();
            let (entry, below) = engine.skills().served_at(catalog, uri).ok_or_else(|| {
                EngineError::new(ErrorCode::UnknownSkill, format!("no skill is served at {uri}"))
                    .hint("list_skills names the addresses there are")
            })?;
            let below = Some(below).filter(|below| !below.is_empty());
            (entry.name.clone(), input.file.clone().or(below))
        }
    };
    let read = engine.skills().read(catalog, &wanted, file.as_deref(), &call.caller.actor())?;
    let max = usize::try_from(input.max_bytes.unwrap_or(DEFAULT_MAX)).unwrap_or(usize::MAX);
    let mut data = ReadSkillOutput {
        name: read.name,
        file: read.file,
        location: read.location,
        sha256: read.sha256,
        size: read.bytes.len(),
        files: read.files,
        lessons: read.lessons,
        env_required: read.env_required,
        uri: read.uri,
        truncated: false,
        text: None,
        blob: None,
    };
    let shown = match read.text {
        Some(text) => {
            let text = match &input.args {
                Some(args) => fill_in(&text, args, &BTreeMap::new()).text,
                None => text,
            };
            let kept = head(&text, max).to_owned();
            data.truncated = kept.len() < text.len();
            data.text = Some(kept.clone());
            kept
        }
        None => {
            let kept = &read.bytes[..read.bytes.len().min(max)];
            data.truncated = kept.len() < read.bytes.len();
            data.blob = Some(STANDARD.encode(kept));
            format!("{} is not text; its {} bytes are in `blob`", data.file, read.bytes.len())
        }
    };
    Ok(McpToolAnswer::exact(&data, shown).into())
}

/// The beginning of a text, cut between characters.
fn head(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
