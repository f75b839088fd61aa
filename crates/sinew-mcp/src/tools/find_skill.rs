//! `find_skill`: the right skills for a message, or none.

use serde::{Deserialize, Serialize};
use sinew_engine::{AnswerPrompt, EngineError, RouteAnswer, RouteRequest};
use sinew_route::{AbstainReason, DegradedSignal, RouteDecision};
use sinew_settings::config::ModelChoice;
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolResponse, ToolSpec, always};
use crate::tool_answer::{one_line, short_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "find_skill",
    description: "Which installed skill fits what the user said. Read a match and follow it; of a shortlist at most one.",
    input: tool_schema::input::<FindSkillInput>,
    output: Some(tool_schema::output::<FindSkillOutput>),
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// Matches in an answer unless the caller wants more: a model reads one or two.
const DEFAULT_LIMIT: usize = 3;
/// Characters of an answer with up to three matches, text and data together: it is paid for with every
/// message of the session that follows.
const ROOM: usize = 1_150;
/// What each further match may add.
const ROOM_EACH: usize = 300;
/// Characters of a description, widest first; the first that fits is taken.
const WIDTHS: [usize; 7] = [240, 160, 120, 90, 60, 40, 0];
/// Characters of a reason or a note.
const SENTENCE: usize = 160;
/// Notes in an answer.
const NOTES: usize = 3;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FindSkillInput {
    /// The user's own words
    #[schema(min_length = 1, max_length = 20000)]
    message: String,
    #[schema(minimum = 1, maximum = 20)]
    limit: Option<usize>,
    mode: Option<FindSkillMode>,
    include_prompt: Option<bool>,
    /// It in short English, when it is not
    #[schema(max_length = 300)]
    intent: Option<String>,
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

/// What a model needs of an answer. Scores are for `explain`.
#[derive(Serialize, ToSchema)]
struct FindSkillOutput {
    decision: RouteDecision,
    matches: Vec<FindSkillMatch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unavailable: Vec<FindSkillLack>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
}

/// A skill that is offered.
#[derive(Serialize, ToSchema)]
struct FindSkillMatch {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    /// Why it is here
    why: String,
    location: String,
}

/// A skill that would fit, and cannot be used.
#[derive(Serialize, ToSchema)]
struct FindSkillLack {
    name: String,
    why: String,
    /// What the user can run
    command: String,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: FindSkillInput = call.read()?;
    let look = call.look;
    let mode = input.mode.unwrap_or(FindSkillMode::Auto);
    let mut answer = look.route(&RouteRequest {
        intent: input.intent,
        top: Some(input.limit.unwrap_or(DEFAULT_LIMIT)),
        models: match mode {
            FindSkillMode::Keyword => ModelChoice::Words,
            _ => ModelChoice::Default,
        },
        prompt: match (mode, input.include_prompt.unwrap_or(false)) {
            (FindSkillMode::FullIndex, _) => AnswerPrompt::ForSession,
            (_, true) => AnswerPrompt::ForMessage,
            (_, false) => AnswerPrompt::Omit,
        },
        actor: call.caller.actor(),
        ..RouteRequest::new(input.message.as_str())
    });
    let prompt = answer.prompt.take();
    let elsewhere = look.engine.skill_elsewhere(&look.snapshot, &input.message, &answer);
    answer.lessons.extend(elsewhere.map(|elsewhere| elsewhere.sentence()));
    let (mut data, text) = fitting(&answer);
    let offered: Vec<&str> = answer.offers().iter().map(|found| found.name.as_str()).collect();
    let cost = text.chars().count();
    look.engine.hooks().note_answer(call.caller.record_name(), &input.message, &offered, cost);
    data.prompt = prompt;
    Ok(McpToolAnswer::new(&data, text).into())
}

/// The answer with descriptions as wide as there is room for.
fn fitting(answer: &RouteAnswer) -> (FindSkillOutput, String) {
    let further = answer.offers().len().saturating_sub(DEFAULT_LIMIT);
    let room = ROOM + further * ROOM_EACH;
    let size = |(data, text): &(FindSkillOutput, String)| {
        let data = serde_json::to_string(data).unwrap_or_default();
        data.chars().count() + text.chars().count()
    };
    let made = WIDTHS.map(|width| rendered(answer, width));
    let mut narrowest = None;
    for answer in made {
        if size(&answer) <= room {
            return answer;
        }
        narrowest = Some(answer);
    }
    narrowest.unwrap_or_else(|| rendered(answer, 0))
}

fn rendered(answer: &RouteAnswer, width: usize) -> (FindSkillOutput, String) {
    let matches: Vec<FindSkillMatch> = answer
        .offers()
        .iter()
        .map(|found| FindSkillMatch {
            name: one_line(&found.name),
            description: if width == 0 {
                String::new()
            } else {
                short_line(&found.description, width)
            },
            why: short_line(&found.reason, SENTENCE),
            location: found.location.clone(),
        })
        .collect();
    let unavailable: Vec<FindSkillLack> = answer
        .unavailable
        .iter()
        .map(|skill| FindSkillLack {
            name: one_line(&skill.name),
            why: short_line(&skill.lacks(), SENTENCE),
            command: one_line(&skill.command),
        })
        .collect();
    let learned = answer.offers().iter().flat_map(|found| &found.lessons).chain(&answer.lessons);
    let degraded = answer.degraded.iter().map(DegradedSignal::sentence);
    let mut notes: Vec<String> =
        learned.cloned().chain(degraded).map(|note| short_line(&note, SENTENCE)).collect();
    notes.truncate(NOTES);
    notes.extend(answer.reflex.iter().map(|reflex| reflex.notice.clone()));
    let data =
        FindSkillOutput { decision: answer.decision, matches, unavailable, notes, prompt: None };
    let text = lines(answer, &data);
    (data, text)
}

/// The same for hosts whose model reads the text.
fn lines(answer: &RouteAnswer, data: &FindSkillOutput) -> String {
    let mut lines = vec![
        match (answer.decision, answer.reason) {
            (RouteDecision::Match, _) => "match: read it with read_skill and follow it",
            (RouteDecision::Shortlist, _) if !answer.steps.is_empty() => {
                "several: read each with read_skill when its part comes, in this order"
            }
            (RouteDecision::Shortlist, _) => "shortlist: read at most one with read_skill first",
            (RouteDecision::None, Some(AbstainReason::OnlyUnavailable)) => {
                "none: no installed skill that fits can be used"
            }
            (RouteDecision::None, _) => "none: no installed skill fits",
        }
        .to_owned(),
    ];
    for step in &answer.steps {
        lines.push(format!("{}: {}", one_line(&step.skill), short_line(&step.text, SENTENCE)));
    }
    lines.extend(data.matches.iter().map(|found| match found.description.as_str() {
        "" => format!("- {}", found.name),
        about => format!("- {}: {about}", found.name),
    }));
    for skill in &data.unavailable {
        let lacks = if skill.why.is_empty() { String::new() } else { format!(": {}", skill.why) };
        lines.push(format!("{} would fit, but cannot be used yet{lacks}", skill.name));
        lines.push(format!("  the user can run `{}`", skill.command));
    }
    lines.extend(data.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}
