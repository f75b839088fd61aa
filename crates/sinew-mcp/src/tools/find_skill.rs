//! `find_skill`: the right skills for a message, or none.

use serde::Deserialize;
use sinew_engine::{AnswerPrompt, RouteAnswer, RouteRequest};
use sinew_route::{AbstainReason, RouteDecision};
use sinew_settings::config::ModelChoice;
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always};
use crate::tool_answer::one_line;
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "find_skill",
    title: "Find a skill",
    description: "Rank the installed skills for what the user said. `match` names one skill to read and \
                  follow, `shortlist` a few worth a look, `none` that nothing installed fits.",
    input: tool_schema::input::<FindSkillInput>,
    output: tool_schema::output::<RouteAnswer>,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// Matches in an answer unless the caller wants more: a model reads one or two.
const DEFAULT_LIMIT: usize = 3;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FindSkillInput {
    /// What the user said, in the user's own words
    #[schema(min_length = 1, max_length = 20000)]
    message: String,
    #[schema(minimum = 1, maximum = 20, default = 3)]
    limit: Option<usize>,
    /// keyword ranks by words alone; full_index adds the whole index
    #[schema(default = "auto")]
    mode: Option<FindSkillMode>,
    /// Add the block that a system prompt gets for this message
    #[serde(default)]
    #[schema(default = false)]
    include_prompt: bool,
    /// The message in your own short English words, when it is not English
    #[schema(max_length = 300)]
    intent: Option<String>,
    #[schema(max_length = 200)]
    #[expect(dead_code, reason = "documented, and not kept")]
    session: Option<String>,
}

#[derive(Deserialize, ToSchema, Clone, Copy, PartialEq, Eq)]
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
