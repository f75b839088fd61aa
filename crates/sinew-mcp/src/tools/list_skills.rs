//! `list_skills`: the catalog with states and reasons.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sinew_catalog::{CatalogEntry, EntryFilter, EntryState, SkillStateFilter, Tier};
use sinew_engine::{EngineError, PromptOptions};
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolResponse, ToolSpec, always};
use crate::tool_answer::{bad_argument, one_line, short_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list_skills",
    description: "Skills on this machine, their states, why one cannot be used.",
    input: tool_schema::input::<ListSkillsInput>,
    output: Some(tool_schema::any_object),
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

const DEFAULT_LIMIT: usize = 50;
/// Characters of a description: a list is for choosing what to look at.
const ABOUT: usize = 80;
/// Characters of a reason.
const WHY: usize = 160;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ListSkillsInput {
    /// ready unless given
    #[serde(default = "ready")]
    state: SkillStateFilter,
    #[schema(value_type = Option<Tier>)]
    tier: Option<String>,
    query: Option<String>,
    cursor: Option<String>,
    #[schema(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    #[serde(default)]
    format: ListSkillsFormat,
}

#[derive(Deserialize, ToSchema, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ListSkillsFormat {
    #[default]
    Summary,
    Index,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListSkillsOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    skills: Option<Vec<ListSkillsRow>>,
    /// How many skills of the whole catalog are in which state
    #[schema(value_type = BTreeMap<String, usize>)]
    counts: BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
}

/// A skill in the list.
#[derive(Serialize, ToSchema)]
struct ListSkillsRow {
    name: String,
    description: String,
    state: EntryState,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What a model can use is what it asks for most.
fn ready() -> SkillStateFilter {
    SkillStateFilter::Ready
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: ListSkillsInput = call.read()?;
    let (engine, snapshot) = (&call.look.engine, &call.look.snapshot);
    let counts = engine.skills().state_counts(&snapshot.catalog);
    if input.format == ListSkillsFormat::Index {
        let block = engine.skills().prompt(&snapshot.catalog, &PromptOptions::default()).text;
        let text = format!("{} characters of index in `prompt`", block.chars().count());
        let data =
            ListSkillsOutput { skills: None, counts, next_cursor: None, prompt: Some(block) };
        return Ok(McpToolAnswer::new(&data, text).into());
    }
    let filter = EntryFilter::new(input.state, input.tier.as_deref(), input.query.as_deref());
    let from = match &input.cursor {
        Some(cursor) => place(cursor, snapshot.version)?,
        None => 0,
    };
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
    let actor = call.caller.actor();
    let all: Vec<&CatalogEntry> =
        snapshot.catalog.entries.iter().filter(|entry| filter.takes(entry)).collect();
    let row = |entry: &&CatalogEntry| {
        let entry = engine.skills().entry_visible_to(entry, &actor);
        ListSkillsRow {
            name: one_line(&entry.name),
            description: short_line(&entry.description, ABOUT),
            state: entry.state,
            why: entry.primary_reason().map(|reason| short_line(&reason.to_string(), WHY)),
        }
    };
    let skills: Vec<ListSkillsRow> = all.iter().skip(from).take(limit).map(row).collect();
    let mut lines = vec![format!("{} skills, {} shown", all.len(), skills.len())];
    lines.extend(skills.iter().map(|skill| match &skill.why {
        None => format!("- {}: {}", skill.name, skill.description),
        Some(why) => format!("- {}: {} ({why})", skill.name, skill.state.as_str()),
    }));
    let next_cursor =
        (from + limit < all.len()).then(|| format!("{}:{}", snapshot.version, from + limit));
    if let Some(cursor) = &next_cursor {
        lines.push(format!("there are more: call again with cursor {cursor}"));
    }
    let data = ListSkillsOutput { skills: Some(skills), counts, next_cursor, prompt: None };
    Ok(McpToolAnswer::new(&data, lines.join("\n")).into())
}

/// Where a page begins; a cursor of another version of the catalog would skip or repeat skills.
fn place(cursor: &str, version: u64) -> Result<usize, EngineError> {
    let parts = cursor.split_once(':');
    let parts = parts.and_then(|(of, at)| Some((of.parse::<u64>().ok()?, at.parse().ok()?)));
    match parts {
        Some((of, at)) if of == version => Ok(at),
        _ => Err(bad_argument("`cursor` belongs to another version of the catalog")
            .hint("begin without one")),
    }
}
