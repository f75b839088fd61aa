//! `list_skills`: the catalog with states and reasons.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sinew_catalog::{CatalogEntry, EntryState, Tier};
use sinew_engine::{PromptOptions, SkillSummary};
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always};
use crate::tool_answer::one_line;
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list_skills",
    title: "List skills",
    description: "List the skills on this machine with their state and, where one cannot be used, why.",
    input: tool_schema::input::<ListSkillsInput>,
    output: tool_schema::output::<ListSkillsOutput>,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

const DEFAULT_LIMIT: usize = 50;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ListSkillsInput {
    #[serde(default)]
    #[schema(default = "ready")]
    state: ListSkillsState,
    #[schema(value_type = Option<Tier>)]
    tier: Option<String>,
    /// Only skills whose name or description holds this text
    #[schema(max_length = 200)]
    query: Option<String>,
    #[schema(max_length = 100)]
    cursor: Option<String>,
    #[schema(minimum = 1, maximum = 200, default = 50)]
    limit: Option<usize>,
    /// index adds the block that a system prompt gets
    #[serde(default)]
    #[schema(default = "summary")]
    format: ListSkillsFormat,
}

#[derive(Deserialize, ToSchema, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum ListSkillsState {
    #[default]
    Ready,
    NeedsSetup,
    Disabled,
    Blocked,
    Excluded,
    Shadowed,
    Broken,
    All,
}

impl ListSkillsState {
    fn takes(self, state: EntryState) -> bool {
        let wanted = match self {
            Self::All => return true,
            Self::Ready => EntryState::Ready,
            Self::NeedsSetup => EntryState::NeedsSetup,
            Self::Disabled => EntryState::Disabled,
            Self::Blocked => EntryState::Blocked,
            Self::Excluded => EntryState::Excluded,
            Self::Shadowed => EntryState::Shadowed,
            Self::Broken => EntryState::Broken,
        };
        wanted == state
    }
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
    skills: Vec<SkillSummary>,
    /// How many skills of the whole catalog are in which state
    #[schema(value_type = BTreeMap<String, usize>)]
    counts: BTreeMap<&'static str, usize>,
    /// Where the next page begins
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The block that a system prompt gets
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ListSkillsInput = call.read()?;
    let (engine, snapshot) = (&call.look.engine, &call.look.snapshot);
    let query = input.query.as_deref().map(str::to_lowercase);
    let wanted = |entry: &&CatalogEntry| {
        let holds = |query: &String| {
            entry.name.to_lowercase().contains(query)
                || entry.description.to_lowercase().contains(query)
        };
        input.state.takes(entry.state)
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
    let next_cursor =
        (from + limit < all.len()).then(|| format!("{}:{}", snapshot.version, from + limit));
    if next_cursor.is_some() {
        lines.push("there are more: call again with nextCursor".to_owned());
    }
    let prompt = || engine.skills().prompt(&snapshot.catalog, &PromptOptions::default()).text;
    let data = ListSkillsOutput {
        skills,
        counts: engine.skills().state_counts(&snapshot.catalog),
        next_cursor,
        prompt: (input.format == ListSkillsFormat::Index).then(prompt),
    };
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
