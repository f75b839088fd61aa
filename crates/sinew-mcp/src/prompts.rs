//! Prompts: one for each skill that people may call, and two of sinew's own.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::{Value, json};
use sinew_catalog::commands::{CommandSpec, fill_arguments};
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_engine::{EngineError, HostListing, LiveView, RouteRequest, declared_arguments, fill_in};
use sinew_settings::config::SkillPromptMode;

use super::caller::McpCaller;
use super::info::RESERVED_COMMANDS;
use super::resources::proposal;
use super::skills::{cursor_of, cursor_offset};
use super::tool_answer::{one_line, visible_text};

/// Prompts on a page.
const PAGE: usize = 200;
/// Skills that `sinew_find` names.
const FOUND: usize = 3;

/// The prompts there are.
pub(super) fn list(
    look: &LiveView,
    caller: &McpCaller,
    cursor: Option<&str>,
) -> Result<ListPromptsResult, ErrorData> {
    let catalog = &look.snapshot.catalog;
    let [find, review] = RESERVED_COMMANDS;
    let message = PromptArgument::new("message")
        .with_description("What the user wants to do")
        .with_required(true);
    let own = [
        Prompt::new(find, Some("Find the skill that fits a message"), Some(vec![message]))
            .with_title("Find a skill"),
        Prompt::new(review, Some("Look at the next proposal of the workshop"), None)
            .with_title("Review a proposal"),
    ];
    let shown = PromptFilter::of(look, caller);
    let specs = catalog.commands.specs().iter().filter(|spec| shown.takes(catalog, spec));
    let skills = specs.map(|spec| of_skill(catalog, spec));
    let all: Vec<Prompt> = own.into_iter().chain(skills).collect();
    let from = cursor_offset(cursor, look)?;
    let more = from + PAGE < all.len();
    let page = all.into_iter().skip(from).take(PAGE).collect();
    let mut result = ListPromptsResult::with_all_items(page);
    result.next_cursor = more.then(|| cursor_of(look, from + PAGE));
    Ok(result)
}

/// Which skills are prompts for a client.
enum PromptFilter {
    All,
    /// Those that its host does not list by itself: it would show each of them twice.
    Unlisted(HostListing),
    None,
}

impl PromptFilter {
    fn of(look: &LiveView, caller: &McpCaller) -> Self {
        match look.engine.config().mcp.prompts {
            SkillPromptMode::All => Self::All,
            SkillPromptMode::None => Self::None,
            SkillPromptMode::Auto => {
                let agent = caller.agent();
                let listing = agent.map(|agent| look.engine.skills().host_listing(agent));
                listing.map_or(Self::All, Self::Unlisted)
            }
        }
    }

    fn takes(&self, catalog: &Catalog, spec: &CommandSpec) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Unlisted(host) => entry_of(catalog, spec).is_none_or(|entry| !host.knows(entry)),
        }
    }
}

fn of_skill(catalog: &Catalog, spec: &CommandSpec) -> Prompt {
    let arguments = match entry_of(catalog, spec) {
        Some(entry) => declared_arguments(entry),
        None => Vec::new(),
    };
    let arguments: Vec<PromptArgument> = arguments
        .into_iter()
        .map(|argument| {
            let known = PromptArgument::new(argument.name).with_required(false);
            match argument.hint {
                Some(hint) => known.with_description(visible_text(&hint)),
                None => known,
            }
        })
        .collect();
    Prompt::new(&spec.name, Some(visible_text(&spec.description)), Some(arguments))
        .with_title(visible_text(&spec.display_name))
}

fn entry_of<'c>(catalog: &'c Catalog, spec: &CommandSpec) -> Option<&'c CatalogEntry> {
    let file = std::path::Path::new(&spec.skill_file);
    catalog.unshadowed().find(|entry| entry.file_path == file)
}

/// One prompt with its arguments in place.
pub(super) fn get(
    look: &LiveView,
    caller: &McpCaller,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let arguments = texts(arguments)?;
    let [find, review] = RESERVED_COMMANDS;
    if name == find {
        return found(look, &arguments);
    }
    if name == review {
        return review_next(look, caller);
    }
    let catalog = &look.snapshot.catalog;
    let spec = catalog.commands.specs().iter().find(|spec| spec.name == name).ok_or_else(|| {
        ErrorData::invalid_params("there is no such prompt", Some(json!({"name": name})))
    })?;
    let (body, description) =
        (body(look, caller, spec, &arguments)?, visible_text(&spec.description));
    let message = PromptMessage::new_text(Role::User, body);
    Ok(GetPromptResult::new(vec![message]).with_description(description))
}

fn body(
    look: &LiveView,
    caller: &McpCaller,
    spec: &CommandSpec,
    arguments: &BTreeMap<String, String>,
) -> Result<String, ErrorData> {
    let catalog = &look.snapshot.catalog;
    if let Some(template) = &spec.template {
        return Ok(fill_arguments(template, arguments.get("args").map(String::as_str)));
    }
    let entry = entry_of(catalog, spec);
    let entry = entry.ok_or_else(|| ErrorData::invalid_params("the skill is gone", None))?;
    look.engine.skills().check_usable(entry, &caller.actor()).map_err(|error| refused(&error))?;
    let names = declared_arguments(entry);
    // Named arguments in the order of their declaration are what a person would have typed.
    let typed = match arguments.get("args") {
        Some(typed) => typed.clone(),
        None => {
            let given = names.iter().filter_map(|argument| arguments.get(&argument.name));
            given.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
    };
    let typed = typed.trim();
    if let Some(dispatch) = &spec.dispatch {
        return Ok(format!(
            "The skill {} sends this command to the tool {}. Call that tool with these arguments, \
             unchanged:\n{typed}",
            one_line(&spec.skill_name),
            one_line(&dispatch.tool)
        ));
    }
    let location = look.engine.skills().read(catalog, &entry.name, None, &caller.actor());
    let read = location.map_err(|error| refused(&error))?;
    let text = read.text.unwrap_or_default();
    let body = sinew_skill::split_front_matter(&text).map_or(text.as_str(), |fenced| fenced.body);
    let filled = fill_in(body, typed, arguments);
    let mut whole = format!(
        "Use the skill {} ({}).\n\n{}",
        one_line(&read.name),
        read.location,
        filled.text.trim()
    );
    if !filled.used && !typed.is_empty() {
        whole.push_str(&format!("\n\nUser input:\n{typed}"));
    }
    Ok(whole)
}

/// The skills that fit a message, for a person who asks.
fn found(
    look: &LiveView,
    arguments: &BTreeMap<String, String>,
) -> Result<GetPromptResult, ErrorData> {
    let message = arguments.get("message").map(String::as_str).unwrap_or_default();
    if message.trim().is_empty() {
        return Err(ErrorData::invalid_params("message is required", None));
    }
    let request = RouteRequest { top: Some(FOUND), ..RouteRequest::new(message) };
    let answer = look.route(&request);
    let lines: Vec<String> = answer
        .offers()
        .iter()
        .map(|found| format!("- {}: {}", one_line(&found.name), one_line(&found.description)))
        .collect();
    let mut text = match lines.as_slice() {
        [] => format!("{message}\n\n(No installed skill fits this.)"),
        lines => format!(
            "{message}\n\nThese skills fit, best first. Read the first with read_skill and follow it:\n{}",
            lines.join("\n")
        ),
    };
    for skill in &answer.unavailable {
        let (sentence, command) = (one_line(&skill.sentence()), one_line(&skill.command));
        text.push_str(&format!("\n({sentence}; `{command}` helps.)"));
    }
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// The oldest proposal that waits, with its diff.
fn review_next(look: &LiveView, caller: &McpCaller) -> Result<GetPromptResult, ErrorData> {
    let pending = look
        .engine
        .workshop()
        .with(|workshop| workshop.list("pending"))
        .map_err(|error| refused(&error))?;
    let text = match pending.iter().min_by_key(|proposal| proposal.created_at) {
        None => "No proposal waits in the workshop.".to_owned(),
        Some(next) => {
            let record = proposal(look, caller, &next.id).map_err(|error| refused(&error))?;
            let field = |name: &str| one_line(record[name].as_str().unwrap_or_default());
            format!(
                "Review this proposal for the skill {} ({}): {}\nWhy: {}\nFindings: {}\n\n{}\n\nSay what \
                 it changes and whether it is worth keeping; I decide.",
                field("skillName"),
                field("id"),
                field("title"),
                field("reason"),
                record["scanFindings"]
                    .as_array()
                    .map_or_else(|| "none".to_owned(), |f| json!(f).to_string()),
                record["diff"].as_str().unwrap_or_default()
            )
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

/// Arguments are text, in this protocol.
fn texts(arguments: Option<&JsonObject>) -> Result<BTreeMap<String, String>, ErrorData> {
    let each = arguments.into_iter().flatten().map(|(name, value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        _ => Err(ErrorData::invalid_params(format!("{name} must be text"), None)),
    });
    each.collect()
}

fn refused(error: &EngineError) -> ErrorData {
    ErrorData::invalid_params(error.message.clone(), serde_json::to_value(error).ok())
}
