//! `find_skill`: the right skills for a message, or none.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_engine::{AnswerPrompt, RouteAnswer, RouteRequest};
use sinew_route::{AbstainReason, RouteDecision};
use sinew_settings::config::ModelChoice;

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

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: FindSkillInput = call.read()?;
    let look = call.look;
    let mode = input.mode.unwrap_or(FindSkillMode::Auto);
    let answer = look.route(&RouteRequest {
        intent: input.intent,
        top: Some(input.limit.unwrap_or(DEFAULT_LIMIT)),
        models: match mode {
            FindSkillMode::Keyword => ModelChoice::Words,
            _ => ModelChoice::Default,
        },
        prompt: match (mode, input.include_prompt) {
            (FindSkillMode::FullIndex, _) => AnswerPrompt::ForSession,
            (_, true) => AnswerPrompt::ForMessage,
            (_, false) => AnswerPrompt::Omit,
        },
        actor: call.caller.actor(),
        ..RouteRequest::new(input.message)
    });
    Ok(McpToolAnswer::new(&answer, lines(&answer)).into())
}

/// What a model needs of the answer.
fn lines(answer: &RouteAnswer) -> String {
    let mut lines = vec![
        match (answer.decision, answer.reason) {
            (RouteDecision::Match, _) => "match: read this skill with read_skill and follow it",
            (RouteDecision::Shortlist, _) => "shortlist: read at most one of these first",
            (RouteDecision::None, Some(AbstainReason::OnlyUnavailable)) => {
                "none: no installed skill that fits can be used"
            }
            (RouteDecision::None, _) => "none: no installed skill fits",
        }
        .to_owned(),
    ];
    for found in answer.offers() {
        lines.push(format!(
            "- {} ({:.0} % sure): {}",
            one_line(&found.name),
            100.0 * found.probability,
            one_line(&found.description)
        ));
    }
    for skill in &answer.unavailable {
        lines.push(format!("unavailable: {}", one_line(&skill.sentence())));
        lines.push(format!("  the user can run `{}`", one_line(&skill.command)));
    }
    if let Some(reflex) = &answer.reflex {
        lines.push(reflex.notice.clone());
    }
    lines.extend(
        answer.degraded.iter().map(|signal| format!("note: {}", one_line(&signal.sentence()))),
    );
    lines.join("\n")
}
