//! Resources: the files of served skills, and what sinew knows at addresses of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use sinew_catalog::SKILL_FILE;
use sinew_engine::{EngineError, LiveView, PromptOptions};
use sinew_settings::Actor;
use sinew_skill::content_hash;
use sinew_workshop::WorkshopCaller;

use super::caller::McpCaller;
use super::host::internal;
use super::skills::{cursor_of, cursor_offset};
use super::tool_answer::{clean, visible_text};

/// How long a client may cache an answer before it asks again.
pub(super) const CACHE_MS: u64 = 30_000;
/// Resources on a page.
const PAGE: usize = 200;

const PROMPT: &str = "sinew://prompt/available_skills";
const CATALOG: &str = "sinew://catalog";
const CORTEX: &str = "sinew://cortex";
const PROPOSAL: &str = "sinew://proposal/";
const EXPLAIN: &str = "sinew://explain/";

/// What is always there: address, name, what it is, type.
const FIXED: [(&str, &str, &str, &str); 3] = [
    (PROMPT, "available_skills", "The block of skills that a system prompt gets", "text/plain"),
    (CATALOG, "catalog", "Every skill with its state", "application/json"),
    (CORTEX, "cortex", "What was learned: task areas, candidates, lessons", "application/json"),
];

/// The resources that clients list: each served skill's own file, and sinew's own.
pub(super) fn list(
    look: &LiveView,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let fixed = FIXED.iter().map(|(uri, name, description, mime)| {
        Resource::new(*uri, *name).with_description(*description).with_mime_type(*mime)
    });
    let served = look.snapshot.catalog.unshadowed().filter_map(|entry| {
        let uri = look.engine.skills().skill_uri(entry)?;
        let resource =
            Resource::new(uri, visible_text(&entry.name)).with_mime_type("text/markdown");
        let resource = resource.with_description(visible_text(&entry.description));
        Some(resource.with_title(visible_text(&entry.display_name)))
    });
    let all: Vec<Resource> = fixed.chain(served).collect();
    let from = cursor_offset(cursor, look)?;
    let more = from + PAGE < all.len();
    let page = all.into_iter().skip(from).take(PAGE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = more.then(|| cursor_of(look, from + PAGE));
    Ok(result)
}

/// Address templates.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let proposal = ResourceTemplate::new("sinew://proposal/{id}", "proposal")
        .with_description("A proposal of the workshop with its diff")
        .with_mime_type("application/json");
    let explain = ResourceTemplate::new("sinew://explain/{skill}", "explain")
        .with_description("Why a skill is in or out")
        .with_mime_type("application/json");
    ListResourceTemplatesResult::with_all_items(vec![proposal, explain])
}

/// The content of an address.
pub(super) fn read(
    look: &LiveView,
    caller: &McpCaller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    Ok(ReadResourceResult::new(vec![contents(look, caller, uri)?]))
}

fn contents(look: &LiveView, caller: &McpCaller, uri: &str) -> Result<ResourceContents, ErrorData> {
    let catalog = &look.snapshot.catalog;
    if let Some((entry, file)) = look.engine.skills().served_at(catalog, uri) {
        let bytes = look.engine.skills().read_served(entry, &file).map_err(|_| unknown(uri))?;
        return Ok(match String::from_utf8(bytes) {
            Ok(text) => ResourceContents::text(text, uri).with_mime_type(mime_type(&file)),
            Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri)
                .with_mime_type(mime_type(&file)),
        });
    }
    let json = |value: &Value| {
        let mut value = value.clone();
        clean(&mut value);
        ResourceContents::text(value.to_string(), uri).with_mime_type("application/json")
    };
    match uri {
        PROMPT => {
            let block = look.engine.skills().prompt(catalog, &PromptOptions::default());
            Ok(ResourceContents::text(block.text, uri))
        }
        CATALOG => {
            let actor = caller.actor();
            let each = catalog.entries.iter();
            let skills: Vec<_> =
                each.map(|entry| look.engine.skills().summary(entry, &actor)).collect();
            let counts = look.engine.skills().state_counts(catalog);
            let version = look.snapshot.version;
            Ok(json(&json!({"version": version, "counts": counts, "skills": skills})))
        }
        CORTEX => {
            let learned = || -> Result<Value, EngineError> {
                let cortex = look.engine.cortex()?;
                Ok(json!({"overview": cortex.overview(None)?, "lessons": cortex.lessons()?}))
            };
            learned().map(|value| json(&value)).map_err(|error| internal(&error))
        }
        _ => templated(look, caller, uri).map(|value| json(&value)).ok_or_else(|| unknown(uri)),
    }
}

/// The content of an address that fits a template.
fn templated(look: &LiveView, caller: &McpCaller, uri: &str) -> Option<Value> {
    if let Some(skill) = uri.strip_prefix(EXPLAIN) {
        let catalog = &look.snapshot.catalog;
        let entry = look.engine.find(catalog, skill).ok()?;
        let entry = look.engine.skills().entry_visible_to(entry, &caller.actor());
        return Some(json!(look.engine.skills().explain(
            catalog,
            &entry,
            &PromptOptions::default()
        )));
    }
    let id = uri.strip_prefix(PROPOSAL)?;
    proposal(look, caller, id).ok()
}

/// A proposal as the documented tool shows it, and what it would change.
pub(super) fn proposal(
    look: &LiveView,
    caller: &McpCaller,
    id: &str,
) -> Result<Value, EngineError> {
    let by = WorkshopCaller { by: caller.actor(), agent_id: None, session_id: None };
    let mut record =
        look.engine.workshop().tool(&json!({"action": "inspect", "id": id}), &by)?.value;
    let preview = look.engine.workshop().with(|workshop| workshop.preview(id))?;
    record["diff"] = json!(preview.diff());
    Ok(record)
}

/// A digest of what an address leads to, to notice changes by; `None` where it leads nowhere.
pub(super) fn digest(look: &LiveView, uri: &str) -> Option<String> {
    let contents = contents(look, &McpCaller::server_itself(), uri).ok()?;
    Some(content_hash(serde_json::to_string(&contents).ok()?.as_bytes()))
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": uri})))
}

/// The type of a file by the end of its name.
pub(super) fn mime_type(file: &str) -> &'static str {
    let end = file.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if file.ends_with(SKILL_FILE) {
        return "text/markdown";
    }
    match end.as_str() {
        "md" | "markdown" => "text/markdown",
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" | "mjs" => "text/javascript",
        "py" => "text/x-python",
        "sh" => "application/x-sh",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "txt" | "rs" | "go" | "ts" | "c" | "h" | "java" | "rb" | "pl" | "lua" | "sql" | "ini" => {
            "text/plain"
        }
        _ => "application/octet-stream",
    }
}

impl McpCaller {
    /// The server itself, which checks what clients follow.
    fn server_itself() -> Self {
        Self {
            name: Actor::System.to_string(),
            era: super::caller::ProtocolEra::Stateless,
            elicits: false,
            samples: false,
            data: super::tool_answer::StructuredContent::Known,
        }
    }
}
