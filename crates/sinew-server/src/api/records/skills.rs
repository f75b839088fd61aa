//! Shapes of what the catalog, the router and the prompt say of skills.

use serde_json::Value;
use utoipa::ToSchema;

/// The one word people see
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
pub(crate) enum SkillState {
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
pub(crate) enum Verdict {
    Allow,
    Warn,
    Block,
}

/// What a skill asks for, or what of it is missing: names only
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct Requirements {
    bins: Vec<String>,
    any_bins: Vec<String>,
    env: Vec<String>,
    any_env: Vec<String>,
    config: Vec<String>,
    os: Vec<String>,
}

/// Why something was left out, shortened, repaired or overridden
#[derive(ToSchema)]
pub(crate) struct Reason {
    /// A stable name, for programs
    code: String,
    /// What was the case
    detail: String,
    /// What to do about it
    remedy: Option<String>,
}

/// What the guard says of a loaded skill
#[derive(ToSchema)]
pub(crate) struct ScanSummary {
    verdict: Verdict,
    /// The digest of the skill's folder
    digest: String,
    /// Findings at warn and above
    findings: usize,
}

/// A skill that was found, and what became of it
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct Skill {
    /// The identifier
    name: String,
    /// The name for people
    display_name: String,
    /// What it is for
    description: String,
    state: SkillState,
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
    requirements: Requirements,
    missing: Requirements,
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

/// How a decision came about
#[derive(ToSchema)]
pub(crate) struct Explanation {
    subject: String,
    /// The answer in one sentence
    answer: String,
    usable: bool,
    steps: Vec<Step>,
}

/// One step of a decision
#[derive(ToSchema)]
pub(crate) struct Step {
    stage: String,
    mark: Mark,
    text: String,
    remedy: Option<String>,
}

/// How a step went
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Mark {
    Pass,
    Fail,
    Note,
}

/// One skill with what belongs to it
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SkillDetails {
    #[schema(inline)]
    name: String,
    description: String,
    state: SkillState,
    reasons: Vec<Reason>,
    /// Copies that lost to it
    shadowed: Vec<Skill>,
    /// Where each variable that it declares comes from; never its value
    env: Vec<Value>,
    /// What it costs in the prompt, in UTF-16 code units
    prompt_chars: Option<usize>,
    explain: Explanation,
}

/// A file of a skill
#[derive(ToSchema)]
pub(crate) struct SkillFile {
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
pub(crate) struct ValidationReport {
    rules: String,
    valid: usize,
    invalid: usize,
    total: usize,
    files: Vec<ValidatedFile>,
}

/// One file's result
#[derive(ToSchema)]
pub(crate) struct ValidatedFile {
    path: String,
    passed: bool,
    issues: Vec<Issue>,
}

/// What a rule set says about a file
#[derive(ToSchema)]
pub(crate) struct Issue {
    severity: String,
    code: String,
    message: String,
    line: Option<usize>,
}

/// The block that an agent's system prompt gets
#[derive(ToSchema)]
pub(crate) struct Prompt {
    prompt: String,
    report: PromptReport,
    reasons: Vec<Reason>,
}

/// How the budget was spent
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct PromptReport {
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
pub(crate) enum Decision {
    Match,
    Shortlist,
    None,
}

/// The right skills for a message, or none
#[derive(ToSchema)]
pub(crate) struct Routed {
    decision: Decision,
    /// Why there is none
    reason: Option<String>,
    /// How many of the matches are offered
    offered: usize,
    matches: Vec<Match>,
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
pub(crate) struct Match {
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
