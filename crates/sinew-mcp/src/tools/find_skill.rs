//! `find_skill`: the right skills for a message, or none.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sinew_engine::{ModelChoice, PromptOptions, RoutedMessage};
use sinew_route::RouteDecision;

use super::{
    LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always, number,
    text,
};
use crate::tool_answer::one_line;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "find_skill",
    title: "Find a skill",
    description: "Rank the installed skills for what the user said. `match` names one skill to read and \
                  follow, `shortlist` a few worth a look, `none` that nothing installed fits.",
    input,
    output,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// Matches in an answer unless the caller wants more: a model reads one or two.
const DEFAULT_LIMIT: usize = 3;

fn input() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["message"],
        "properties": {
            "message": {
                "type": "string", "minLength": 1, "maxLength": 20_000,
                "description": "What the user said, in the user's own words",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": DEFAULT_LIMIT},
            "mode": {
                "type": "string", "enum": ["auto", "semantic", "keyword", "full_index"],
                "default": "auto",
                "description": "keyword ranks by words alone; full_index adds the whole index",
            },
            "include_prompt": {
                "type": "boolean", "default": false,
                "description": "Add the block that a system prompt gets for this message",
            },
            "intent": {
                "type": "string", "maxLength": 300,
                "description": "The message in your own short English words, when it is not English",
            },
            "session": {"type": "string", "maxLength": 200},
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    let part = json!({
        "type": "object",
        "properties": {"raw": number(), "normalised": number(), "weight": number()},
    });
    let parts = json!({
        "type": "object",
        "properties": {
            "lexical": part, "static": part, "encoder": part, "name": part, "trigger": part,
            "prior": part,
        },
    });
    let found = json!({
        "type": "object",
        "required": ["name", "location", "description", "probability", "score", "parts", "reason"],
        "properties": {
            "id": text(), "name": text(), "uri": text(), "location": text(), "description": text(),
            "probability": number(), "score": number(), "parts": parts, "reason": text(),
            "terms": {"type": "array", "items": {"type": "object"}},
        },
    });
    let properties = json!({
        "decision": {"type": "string", "enum": ["match", "shortlist", "none"]},
        "reason": text(),
        "offered": {"type": "integer"},
        "matches": {"type": "array", "items": found},
        "fit": number(),
        "threshold": number(),
        "margin": number(),
        "model": text(),
        "calibration": text(),
        "language": text(),
        "degraded": {"type": "array", "items": {"type": "object"}},
        "took": {"type": "object"},
        "region": text(),
        "reflex": {
            "type": "object",
            "properties": {
                "slug": text(), "version": text(), "success_rate": number(), "notice": text(),
            },
        },
        "prompt": text(),
    });
    (properties, &["decision", "matches", "threshold", "degraded"])
}

#[derive(Deserialize)]
struct FindSkillInput {
    message: String,
    limit: Option<usize>,
    mode: Option<FindSkillMode>,
    #[serde(default)]
    include_prompt: bool,
    intent: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum FindSkillMode {
    Auto,
    Semantic,
    Keyword,
    FullIndex,
}

#[derive(Serialize)]
struct FindSkillWire<'a> {
    #[serde(flatten)]
    routed: &'a RoutedMessage,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: FindSkillInput = call.read()?;
    let look = call.look;
    let catalog = &look.snapshot.catalog;
    let mode = input.mode.unwrap_or(FindSkillMode::Auto);
    let choice =
        if mode == FindSkillMode::Keyword { ModelChoice::Words } else { ModelChoice::Default };
    let router = look.router(choice);
    let top = input.limit.unwrap_or(DEFAULT_LIMIT);
    let found = router.find_with_intent(&input.message, input.intent.as_deref(), Some(top));
    let mut result = found.result;
    // A short list may be longer than what was asked for.
    result.matches.truncate(top);
    result.offered = result.offered.min(top);
    let routed = look.engine.describe_route(catalog, &input.message, result);
    let options = match (mode, input.include_prompt) {
        (FindSkillMode::FullIndex, _) => Some(PromptOptions::default()),
        (_, true) => Some(look.engine.prompt_options_for(catalog, &router, &input.message)),
        (_, false) => None,
    };
    let prompt = options.map(|options| look.engine.prompt(catalog, &options).text);
    let lines = lines(&routed);
    Ok(McpToolAnswer::new(&FindSkillWire { routed: &routed, prompt }, lines).into())
}

/// What a model needs of the answer.
fn lines(routed: &RoutedMessage) -> String {
    let result = &routed.result;
    let mut lines = vec![match result.decision {
        RouteDecision::Match => "match: read this skill with read_skill and follow it".to_owned(),
        RouteDecision::Shortlist => "shortlist: read at most one of these first".to_owned(),
        RouteDecision::None => "none: no installed skill fits".to_owned(),
    }];
    for found in result.matches.iter().take(result.offered) {
        lines.push(format!(
            "- {} ({:.0} % sure): {}",
            one_line(&found.name),
            100.0 * found.probability,
            one_line(&found.description)
        ));
    }
    if let Some(reflex) = &routed.reflex {
        lines.push(reflex.notice.clone());
    }
    lines.extend(
        result.degraded.iter().map(|degraded| format!("note: {}", one_line(&degraded.message))),
    );
    lines.join("\n")
}
