//! `search_registry` and `acquire_status`: what an acquisition could find, and where it stands. They only
//! look, so hosts that ask before anything is changed need not ask here.

use serde::{Deserialize, Serialize};
use sinew_cortex::signals::search_message;
use sinew_engine::EngineError;
use sinew_engine::hub::{HubOverrides, NameMatching, RegistryQuery, SearchSources};
use utoipa::ToSchema;

use super::acquire_output::{AcquireCandidateRow, AcquireRunRow};
use super::{LOOK, McpToolCall, ToolHints, ToolSpec, always};
use crate::questions::McpToolResponse;
use crate::tool_answer::{McpToolAnswer, bad_argument};
use crate::tool_schema;

pub(super) const SEARCH: ToolSpec = ToolSpec {
    name: "search_registry",
    description: "Skills of registries for a task; installs nothing.",
    input: tool_schema::input::<SearchRegistryInput>,
    output: Some(tool_schema::any_object),
    hints: ToolHints { open_world: true, ..LOOK },
    offered: always,
    call: look_up,
    resume: None,
};

pub(super) const STATUS: ToolSpec = ToolSpec {
    name: "acquire_status",
    description: "Open runs of acquire_skill, or one of them.",
    input: tool_schema::input::<AcquireStatusInput>,
    output: Some(tool_schema::any_object),
    hints: LOOK,
    offered: always,
    call: tell_status,
    resume: None,
};

/// Candidates in an answer: a person chooses among three, hardly among ten.
const SHOWN: usize = 3;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SearchRegistryInput {
    #[schema(max_length = 2000)]
    need: Option<String>,
    /// Instead of need
    #[schema(min_items = 3, max_items = 5)]
    keywords: Option<Vec<SearchKeyword>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AcquireStatusInput {
    run: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct SearchRegistryOutput {
    candidates: Vec<AcquireCandidateRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<&'static str>,
}

#[derive(Serialize, ToSchema)]
struct AcquireStatusOutput {
    runs: Vec<AcquireRunRow>,
}

/// An English word; which ones a search takes is checked where it begins.
#[derive(Deserialize, ToSchema)]
pub(super) struct SearchKeyword(String);

/// The words of a search.
pub(super) fn words_of(keywords: Option<&Vec<SearchKeyword>>) -> Option<Vec<String>> {
    Some(keywords?.iter().map(|word| word.0.clone()).collect())
}

fn look_up(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: SearchRegistryInput = call.read()?;
    let (candidates, network, text) =
        search(call, words_of(input.keywords.as_ref()), input.need.as_deref())?;
    Ok(McpToolAnswer::new(&SearchRegistryOutput { candidates, network }, text).into())
}

fn tell_status(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: AcquireStatusInput = call.read()?;
    let (runs, text) = status(call, input.run.as_deref())?;
    Ok(McpToolAnswer::new(&AcquireStatusOutput { runs }, text).into())
}

/// What registries have, without beginning anything; and whether they could not be asked.
pub(super) fn search(
    call: &McpToolCall<'_>,
    keywords: Option<Vec<String>>,
    task: Option<&str>,
) -> Result<(Vec<AcquireCandidateRow>, Option<&'static str>, String), EngineError> {
    let words = task.map(search_message).unwrap_or_default();
    let keywords = keywords.map(|keywords| keywords.join(" "));
    let meant = task.or(keywords.as_deref()).unwrap_or_default().to_owned();
    if words.is_empty() && keywords.is_none() {
        return Err(bad_argument("`need` or `keywords` is required to search"));
    }
    let engine = &call.look.engine;
    let hub = engine.hub().open(&HubOverrides::default())?;
    let query = RegistryQuery {
        words,
        keywords,
        sources: SearchSources::Usual,
        matching: NameMatching::Words,
        limit: SHOWN,
    };
    let found = engine.hub().search_for_task(&hub, &meant, &query)?;
    let rows: Vec<AcquireCandidateRow> =
        found.candidates.iter().take(SHOWN).map(AcquireCandidateRow::of).collect();
    let mut lines = vec![format!("{} candidates", rows.len())];
    lines.extend(rows.iter().map(AcquireCandidateRow::line));
    let offline = found.age_ms.is_some() || rows.is_empty() && !found.diagnostics.is_empty();
    if offline {
        lines.push("the registries could not be asked".to_owned());
    }
    Ok((rows, offline.then_some("offline"), lines.join("\n")))
}

/// One run, or those that are not over.
pub(super) fn status(
    call: &McpToolCall<'_>,
    run: Option<&str>,
) -> Result<(Vec<AcquireRunRow>, String), EngineError> {
    let cortex = call.look.engine.cortex()?;
    let runs = match run {
        Some(run) => vec![cortex.run(run)?],
        None => cortex.open_runs()?,
    };
    let rows: Vec<AcquireRunRow> = runs.iter().map(AcquireRunRow::of).collect();
    let mut lines = vec![format!("{} runs", rows.len())];
    lines.extend(rows.iter().map(AcquireRunRow::line));
    Ok((rows, lines.join("\n")))
}
