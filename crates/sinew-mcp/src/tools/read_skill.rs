//! `read_skill`: a skill's text, or one of its files.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_engine::{EngineError, fill_in};
use sinew_settings::ErrorCode;

use super::{
    LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always, text,
    texts,
};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "read_skill",
    title: "Read a skill",
    description: "Read a skill's instructions, or one file of the skill by its path below the skill's \
                  folder. Nothing outside that folder is read.",
    input,
    output,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// The largest part of a file that is given at once unless the caller wants less.
const DEFAULT_MAX: u64 = 256_000;

fn input() -> Value {
    json!({
        "type": "object", "additionalProperties": false,
        "oneOf": [{"required": ["name"]}, {"required": ["uri"]}],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "uri": {"type": "string", "minLength": 1, "maxLength": 2_000},
            "file": {
                "type": "string", "minLength": 1, "maxLength": 1_000, "default": "SKILL.md",
                "description": "A path below the skill's folder",
            },
            "args": {
                "type": "string", "maxLength": 16_384,
                "description": "Takes the place of $ARGUMENTS and $1 to $9 in the text",
            },
            "max_bytes": {
                "type": "integer", "minimum": 1, "maximum": 1_048_576, "default": DEFAULT_MAX,
            },
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    let properties = json!({
        "name": text(), "uri": text(), "file": text(), "location": text(),
        "text": text(), "blob": text(), "truncated": {"type": "boolean"},
        "sha256": text(), "size": {"type": "integer"},
        "files": texts(),
        "lessons": {"type": "array", "items": {"type": "object"}},
        "env_required": texts(),
    });
    (
        properties,
        &["name", "file", "location", "sha256", "size", "files", "lessons", "env_required"],
    )
}

#[derive(Deserialize)]
struct ReadSkillInput {
    name: Option<String>,
    uri: Option<String>,
    file: Option<String>,
    args: Option<String>,
    max_bytes: Option<u64>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
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
    let mut data = json!({
        "name": read.name, "file": read.file, "location": read.location,
        "sha256": read.sha256, "size": read.bytes.len(), "files": read.files,
        "lessons": read.lessons, "env_required": read.env_required,
    });
    if let Some(uri) = &read.uri {
        data["uri"] = json!(uri);
    }
    let shown = match read.text {
        Some(text) => {
            let text = match &input.args {
                Some(args) => fill_in(&text, args, &BTreeMap::new()).text,
                None => text,
            };
            let kept = head(&text, max).to_owned();
            if kept.len() < text.len() {
                data["truncated"] = json!(true);
            }
            data["text"] = json!(kept);
            kept
        }
        None => {
            let kept = &read.bytes[..read.bytes.len().min(max)];
            if kept.len() < read.bytes.len() {
                data["truncated"] = json!(true);
            }
            data["blob"] = json!(STANDARD.encode(kept));
            format!("{} is not text; its {} bytes are in `blob`", read.file, read.bytes.len())
        }
    };
    Ok(McpToolAnswer::exact(data, shown).into())
}

/// The beginning of a text, cut between characters.
fn head(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
