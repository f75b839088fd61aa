//! Shapes of what the catalog, the router and the prompt say of skills.

use serde_json::Value;
use utoipa::ToSchema;

/// The one word people see
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
pub(crate) enum SkillStateName {
    Ready,
    NeedsSetup,
    Disabled,
    Blocked,
    Excluded,
    Shadowed,
    Broken,
}

/// What a scan comes to
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum VerdictName {
    Allow,
    Warn,
    Block,
}

/// What a skill asks for, or what of it is missing: names only
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct RequirementsRecord {
    bins: Vec<String>,
    any_bins: Vec<String>,
    env: Vec<String>,
    any_env: Vec<String>,
    config: Vec<String>,
    os: Vec<String>,
}

/// Why something was left out, shortened, repaired or overridden
#[derive(ToSchema)]
pub(crate) struct ReasonRecord {
    /// A stable name, for programs
    code: String,
    /// What was the case
    detail: String,
    /// What to do about it
    remedy: Option<String>,
}

/// What the guard says of a loaded skill
#[derive(ToSchema)]
pub(crate) struct ScanSummaryRecord {
    verdict: VerdictName,
    /// The digest of the skill's folder
    digest: String,
    /// Findings at warn and above
    findings: usize,
}

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
    state: SkillStateName,
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
    requirements: RequirementsRecord,
    missing: RequirementsRecord,
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
    reasons: Vec<ReasonRecord>,
    scan: Option<ScanSummaryRecord>,
}

/// How a decision came about
#[derive(ToSchema)]
pub(crate) struct ExplanationRecord {
    subject: String,
    /// The answer in one sentence
    answer: String,
    usable: bool,
    steps: Vec<ExplanationStepRecord>,
}

/// One step of a decision
#[derive(ToSchema)]
pub(crate) struct ExplanationStepRecord {
    stage: String,
    mark: StepMarkName,
    text: String,
    remedy: Option<String>,
}

/// How a step went
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum StepMarkName {
    Pass,
    Fail,
    Note,
}

/// One skill with what belongs to it
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SkillReply {
    #[schema(inline)]
    name: String,
    description: String,
    state: SkillStateName,
    reasons: Vec<ReasonRecord>,
    /// Copies that lost to it
    shadowed: Vec<SkillRecord>,
    /// Where each variable that it declares comes from; never its value
    env: Vec<Value>,
    /// What it costs in the prompt, in UTF-16 code units
    prompt_chars: Option<usize>,
    explain: ExplanationRecord,
}

/// A file of a skill
#[derive(ToSchema)]
pub(crate) struct SkillFileReply {
    skill: String,
    file: String,
    path: String,
    text: String,
    /// SHA-256 of the file itself
    sha256: String,
    size: usize,
    /// The other files of the skill
    files: Vec<String>,
}

/// What validation found
#[derive(ToSchema)]
pub(crate) struct ValidationReply {
    rules: String,
    valid: usize,
    invalid: usize,
    total: usize,
    files: Vec<ValidatedFileRecord>,
}

/// One file's result
#[derive(ToSchema)]
pub(crate) struct ValidatedFileRecord {
    path: String,
    passed: bool,
    issues: Vec<IssueRecord>,
}

/// What a rule set says about a file
#[derive(ToSchema)]
pub(crate) struct IssueRecord {
    severity: String,
    code: String,
    message: String,
    line: Option<usize>,
}

/// The block that an agent's system prompt gets
#[derive(ToSchema)]
pub(crate) struct PromptReply {
    prompt: String,
    report: PromptBudgetRecord,
    reasons: Vec<ReasonRecord>,
}

/// How the budget was spent
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct PromptBudgetRecord {
    budget: usize,
    used: usize,
    total: usize,
    included: usize,
    omitted: Vec<Value>,
    shortened: Vec<Value>,
    per_skill_chars: Vec<usize>,
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
