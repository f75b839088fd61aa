//! From a message to the right skill, and the block that a prompt gets.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sinew_catalog::SnapshotSkill;
use sinew_catalog::prompt::{PromptMode, PromptReport};
use sinew_engine::{AnswerPrompt, PromptOptions, ResolvedSkill, RouteAnswer, RouteRequest};
use sinew_settings::config::ModelChoice;
use sinew_settings::{ErrorCode, Reason};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlQuery};
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::{ServerEventKind, WebApp, WebContext};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PromptQuery {
    // Written in percent signs it still fits into a request's head.
    /// The message it is for; a longer one goes to `POST /route`
    #[param(max_length = 4000)]
    message: Option<String>,
    /// The budget in UTF-16 code units; the configuration's where absent
    #[param(maximum = 10_000_000)]
    budget: Option<usize>,
    /// The agent whose list of skills applies
    #[param(max_length = 128)]
    agent: Option<String>,
    /// How much of a prompt the agent gets: `full`, `minimal` (a sub-agent's) or `none`
    #[param(inline)]
    mode: Option<PromptModeWire>,
    /// The tools that the agent has, separated by commas; all where absent
    #[param(max_length = 4000)]
    tools: Option<String>,
}

/// How much of a prompt an agent gets.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PromptModeWire {
    /// Everything
    Full,
    /// What a sub-agent needs
    Minimal,
    /// Nothing
    None,
}

impl From<PromptModeWire> for PromptMode {
    fn from(mode: PromptModeWire) -> Self {
        match mode {
            PromptModeWire::Full => Self::Full,
            PromptModeWire::Minimal => Self::Minimal,
            PromptModeWire::None => Self::None,
        }
    }
}

/// The block that an agent's system prompt gets, with the snapshot that it was made of
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PromptWire<'a> {
    prompt: &'a str,
    report: &'a PromptReport,
    reasons: &'a [Reason],
    /// The snapshot's version: it grows with every change
    version: u64,
    /// The format of the block
    prompt_format_version: u32,
    /// The profile that applied
    profile: &'a str,
    /// The platform that it was made for
    platform: &'a str,
    /// One digest over names, keys, sources, paths and contents
    fingerprint: &'a str,
    /// The skills that the agent may use
    skills: Vec<SnapshotSkill<'a>>,
    /// The agent's list, if one applies
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_filter: Option<&'a [String]>,
    /// The skills that the prompt names
    resolved_skills: Vec<ResolvedSkill>,
}

/// The block for a message, as every page and route shows it.
pub(crate) fn prompt_for(look: &WebContext, message: Option<&str>) -> PromptOptions {
    match message {
        Some(message) => look.engine.routing().prompt_options(&look.snapshot, message),
        None => PromptOptions::default(),
    }
}

/// The exact block that an agent's system prompt gets
#[utoipa::path(
    get, path = "/prompt", tag = "route", operation_id = "prompt", params(PromptQuery),
    responses((status = 200, body = PromptWire<'static>), ProblemResponses)
)]
pub(crate) async fn prompt(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<PromptQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let mut options = prompt_for(look, query.message.as_deref());
        options.max_chars = query.budget;
        options.mode = query.mode.map(PromptMode::from).unwrap_or_default();
        options.tools = query.tools.as_deref().map(|tools| {
            let names = tools.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        });
        // Another agent's list is another view of the same skills.
        let other = match &query.agent {
            Some(agent) if look.engine.agent() != Some(agent.as_str()) => {
                Some(look.engine.for_agent(agent)?)
            }
            _ => None,
        };
        let engine = other.as_ref().unwrap_or(&look.engine);
        let snapshot = match &other {
            Some(engine) => engine.snapshot(),
            None => Arc::clone(&look.snapshot),
        };
        let block = engine.skills().prompt(&snapshot.catalog, &options);
        let record = snapshot.record();
        JsonReply::of(&PromptWire {
            prompt: &block.text,
            report: &block.report,
            reasons: &block.reasons,
            version: record.version,
            prompt_format_version: record.prompt_format_version,
            profile: record.profile,
            platform: record.platform,
            fingerprint: record.fingerprint,
            skills: record.skills,
            skill_filter: record.skill_filter,
            resolved_skills: engine.skills().resolved_skills(&snapshot.catalog, &block),
        })
    })
    .await
}

/// A message that looks for its skill
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteBody {
    /// What the user said
    #[schema(min_length = 1, max_length = 20000)]
    message: String,
    /// How many skills to give; `route.top` of the configuration where absent
    #[schema(minimum = 1, maximum = 20)]
    limit: Option<usize>,
    /// What ranks
    #[serde(default)]
    mode: RouteMode,
    /// The caller's own short English restatement of the message
    #[schema(max_length = 300)]
    intent: Option<String>,
    /// Whether the prompt block for this message comes along
    #[serde(default)]
    include_prompt: bool,
    /// The session it belongs to
    #[schema(max_length = 200)]
    #[expect(dead_code, reason = "taken as `find_skill` takes it, and not kept")]
    session: Option<String>,
}

/// What ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RouteMode {
    /// What the configuration says
    #[default]
    Auto,
    /// Words and meaning
    Semantic,
    /// Words alone
    Keyword,
}

impl From<RouteMode> for ModelChoice {
    fn from(mode: RouteMode) -> Self {
        match mode {
            RouteMode::Auto | RouteMode::Semantic => Self::Default,
            RouteMode::Keyword => Self::Words,
        }
    }
}

impl RouteBody {
    fn check(&self) -> Result<(), Problem> {
        match self.message.trim().is_empty() {
            true => Err(Problem::new(ErrorCode::BadMessage, "`message` is blank")),
            false => Ok(()),
        }
    }
}

/// The right skills for a message, or none
#[utoipa::path(
    post, path = "/route", tag = "route", operation_id = "routed", request_body = RouteBody,
    responses((status = 200, body = RouteAnswer), ProblemResponses)
)]
pub(crate) async fn route(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(asked): JsonBody<RouteBody>,
) -> Result<JsonReply, Problem> {
    asked.check()?;
    app.ask(move |look| {
        let began = Instant::now();
        let answer = look.route(&RouteRequest {
            intent: asked.intent.clone(),
            top: asked.limit,
            models: asked.mode.into(),
            prompt: match asked.include_prompt {
                true => AnswerPrompt::ForMessage,
                false => AnswerPrompt::Omit,
            },
            actor: caller.actor(),
            ..RouteRequest::new(asked.message.as_str())
        });
        look.app.metrics().record_route(began.elapsed());
        let matched = answer.matched().map(|found| found.name.as_str());
        let told = json!({"decision": answer.decision, "skill": matched});
        look.app.bus().publish(ServerEventKind::RouteDecided, told);
        JsonReply::of(&answer)
    })
    .await
}
