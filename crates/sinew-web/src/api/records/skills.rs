//! Shapes of what the catalog, the router and the prompt say of skills.

use serde_json::Value;
use sinew_catalog::{EntryState, ScanSummary, SkillRequirements};
use sinew_engine::DecisionExplanation;
use sinew_settings::Reason;
use utoipa::ToSchema;

/// A skill that was found, and what became of it
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SkillRecord {
    /// The identifier
    name: String,
    /// The name for people
    display_name: String,
    /// What it is for
    description: String,
    state: EntryState,
    /// Whether it passes the gate
    eligible: bool,
    /// The source it came from
    source: String,
    /// That source's rank
    tier: String,
    /// Whether it came with the program
    bundled: bool,
    /// The skill's file
    file_path: String,
    /// The skill's folder
    base_dir: String,
    id: String,
    /// The key under `skills.entries`
    skill_key: String,
    primary_env: Option<String>,
    emoji: Option<String>,
    homepage: Option<String>,
    always: bool,
    disabled: bool,
    blocked_by_allowlist: bool,
    blocked_by_agent_filter: bool,
    platform_incompatible: bool,
    /// The model sees it
    model_visible: bool,
    /// People may call it
    user_invocable: bool,
    command_visible: bool,
    command_name: Option<String>,
    requirements: SkillRequirements,
    missing: SkillRequirements,
    config_checks: Vec<Value>,
    /// How to get what is missing
    install: Vec<Value>,
    /// Whether a person or a registry with review vouches for it
    reviewed: bool,
    /// Where what it asks for was found, when that is not this machine
    via: Option<String>,
    /// Made by a program from a run
    generated: bool,
    /// SHA-256 of the file
    content_hash: String,
    /// Fields that were put right while reading
    repairs: Vec<Value>,
    /// Everything worth knowing
    reasons: Vec<Reason>,
    scan: Option<ScanSummary>,
}

/// One skill with what belongs to it
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SkillReply {
    #[schema(inline)]
    name: String,
    description: String,
    state: EntryState,
    reasons: Vec<Reason>,
    /// Copies that lost to it
    shadowed: Vec<SkillRecord>,
    /// Where each variable that it declares comes from; never its value
    env: Vec<Value>,
    /// What it costs in the prompt, in UTF-16 code units
    prompt_chars: Option<usize>,
    explain: DecisionExplanation,
}

/// What the router says about a message
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum RouteDecisionName {
    Match,
    Shortlist,
    None,
}

/// The right skills for a message, or none
#[derive(ToSchema)]
pub(crate) struct RouteReply {
    decision: RouteDecisionName,
    /// Why there is none
    reason: Option<String>,
    /// How many of the matches are offered
    offered: usize,
    matches: Vec<MatchRecord>,
    /// How sure we are that any skill fits
    fit: f64,
    /// The probability a match needed
    threshold: f64,
    margin: f64,
    model: String,
    calibration: String,
    language: String,
    degraded: Vec<Value>,
    took: Value,
    region: Option<String>,
    reflex: Option<Value>,
    prompt: Option<String>,
}

/// One ranked skill
#[derive(ToSchema)]
pub(crate) struct MatchRecord {
    id: String,
    name: String,
    uri: Option<String>,
    location: String,
    description: String,
    probability: f64,
    score: f64,
    /// What the score is made of
    parts: Value,
    terms: Vec<Value>,
    reason: String,
}
