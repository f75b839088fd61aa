//! `list_skills`: the catalog with states and reasons.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_catalog::{CatalogEntry, EntryState};
use sinew_engine::{PromptOptions, SkillSummary};

use super::{
    LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always, number,
    text, texts,
};
use crate::tool_answer::one_line;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list_skills",
    title: "List skills",
    description: "List the skills on this machine with their state and, where one cannot be used, why.",
    input,
    output,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

const STATES: [EntryState; 7] = [
    EntryState::Ready,
    EntryState::NeedsSetup,
    EntryState::Disabled,
    EntryState::Blocked,
    EntryState::Excluded,
    EntryState::Shadowed,
    EntryState::Broken,
];

const DEFAULT_LIMIT: usize = 50;

fn input() -> Value {
    let states: Vec<&str> = STATES.iter().map(|state| state.as_str()).chain(["all"]).collect();
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "state": {"type": "string", "enum": states, "default": "ready"},
            "tier": {
                "type": "string",
                "enum": ["extra", "bundled", "grown", "managed", "personal", "project", "workspace"],
            },
            "query": {
                "type": "string", "maxLength": 200,
                "description": "Only skills whose name or description holds this text",
            },
            "cursor": {"type": "string", "maxLength": 100},
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": DEFAULT_LIMIT},
            "format": {
                "type": "string", "enum": ["summary", "index"], "default": "summary",
                "description": "index adds the block that a system prompt gets",
            },
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    let flag = json!({"type": "boolean"});
    let missing = json!({
        "type": "object",
        "properties": {
            "bins": texts(), "anyBins": texts(), "env": texts(), "anyEnv": texts(),
            "config": texts(), "os": texts(),
        },
    });
    let skill = json!({
        "type": "object",
        "required": ["name", "description", "tier", "state", "user_invocable", "model_visible", "trust"],
        "properties": {
            "name": text(), "uri": text(), "description": text(), "tier": text(), "state": text(),
            "reason": text(), "missing": missing, "user_invocable": flag, "model_visible": flag,
            "commands": texts(), "version": text(),
            "trust": {
                "type": "object",
                "properties": {"verdict": text(), "findings": {"type": "integer"}, "reviewed": flag},
            },
        },
    });
    let properties = json!({
        "skills": {"type": "array", "items": skill},
        "counts": {"type": "object", "additionalProperties": number()},
        "nextCursor": text(),
        "prompt": text(),
    });
    (properties, &["skills", "counts"])
}

#[derive(Deserialize)]
struct ListSkillsInput {
    state: Option<String>,
    tier: Option<String>,
    query: Option<String>,
    cursor: Option<String>,
    limit: Option<usize>,
    format: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ListSkillsInput = call.read()?;
    let (engine, snapshot) = (&call.look.engine, &call.look.snapshot);
    let state = input.state.as_deref().unwrap_or("ready");
    let query = input.query.as_deref().map(str::to_lowercase);
    let wanted = |entry: &&CatalogEntry| {
        let holds = |query: &String| {
            entry.name.to_lowercase().contains(query)
                || entry.description.to_lowercase().contains(query)
        };
        (state == "all" || entry.state.as_str() == state)
            && input.tier.as_deref().is_none_or(|tier| entry.tier.as_str() == tier)
            && query.as_ref().is_none_or(holds)
    };
    let from = match &input.cursor {
        Some(cursor) => place(cursor, snapshot.version)?,
        None => 0,
    };
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
    let actor = call.caller.actor();
    let all: Vec<&CatalogEntry> = snapshot.catalog.entries.iter().filter(wanted).collect();
    let page = all.iter().skip(from).take(limit);
    let skills: Vec<SkillSummary> =
        page.map(|entry| engine.skills().summary(entry, &actor)).collect();
    let mut lines = vec![format!("{} skills, {} shown", all.len(), skills.len())];
    for skill in &skills {
        let why = skill.reason.as_ref().map(|reason| format!(" ({})", one_line(reason)));
        lines.push(format!(
            "- {}: {}{}",
            one_line(&skill.name),
            skill.state.as_str(),
            why.unwrap_or_default()
        ));
    }
    let mut data =
        json!({"skills": skills, "counts": engine.skills().state_counts(&snapshot.catalog)});
    if from + limit < all.len() {
        data["nextCursor"] = json!(format!("{}:{}", snapshot.version, from + limit));
        lines.push("there are more: call again with nextCursor".to_owned());
    }
    if input.format.as_deref() == Some("index") {
        let block = engine.skills().prompt(&snapshot.catalog, &PromptOptions::default());
        data["prompt"] = json!(block.text);
    }
    Ok(McpToolAnswer::new(&data, lines.join("\n")).into())
}

/// Where a page begins; a cursor of another version of the catalog would skip or repeat skills.
fn place(cursor: &str, version: u64) -> Result<usize, McpToolRefusal> {
    let parts = cursor.split_once(':');
    let parts = parts.and_then(|(of, at)| Some((of.parse::<u64>().ok()?, at.parse().ok()?)));
    match parts {
        Some((of, at)) if of == version => Ok(at),
        _ => Err(McpToolRefusal::Invalid(
            "the cursor belongs to another version of the catalog; begin without one".to_owned(),
        )),
    }
}
