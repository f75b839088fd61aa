//! Shapes of what is written down: outcomes, approvals, proposals, installs, runs and settings.

use serde_json::Value;
use sinew_engine::RegionRow;
use sinew_guard::scan::Verdict;
use utoipa::ToSchema;

/// What was learned
#[derive(ToSchema)]
pub(crate) struct CortexReply {
    regions: Vec<RegionRow>,
    lessons: Vec<Value>,
    blacklist: Vec<String>,
    retained: Vec<String>,
    stats: Value,
    records: u64,
    decay: Vec<crate::api::cortex::DecayCurve>,
}

/// Whether a skill is offered
#[derive(ToSchema)]
pub(crate) struct BlacklistReply {
    slug: String,
    hidden: bool,
}

/// One recorded use
#[derive(ToSchema)]
pub(crate) struct OutcomeRecord {
    id: String,
    ts: String,
    region: String,
    slug: String,
    version: String,
    result: String,
    kind: Option<String>,
    detail: Option<String>,
}

/// What an outcome did to the memory; `run` and `state` where a run was reported
#[derive(ToSchema)]
pub(crate) struct OutcomeReply {
    run: Option<String>,
    state: Option<String>,
    id: Option<String>,
    region: Option<String>,
    skill: Option<String>,
    version: Option<String>,
    weight: Option<f64>,
    effective_weight: Option<f64>,
    reflex: Option<bool>,
    streak: Option<u32>,
    lower_bound: Option<f64>,
}

/// Something that waits for a person, or that a person decided
#[derive(ToSchema)]
pub(crate) struct ApprovalReply {
    id: String,
    kind: String,
    subject: Value,
    evidence: Value,
    asked_by: Value,
    asked_at: String,
    expires_at: Option<String>,
    state: ApprovalStateName,
    decided_by: Option<Value>,
    /// Whether this yes answers the same question about exactly the same content again
    remember: Option<bool>,
}

/// Where an approval stands
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum ApprovalStateName {
    Pending,
    Approved,
    Rejected,
    Expired,
    Withdrawn,
}

/// A change to a skill that waits for review
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ProposalRecord {
    id: String,
    created_at: u64,
    updated_at: u64,
    skill_name: String,
    title: String,
    reason: String,
    source: String,
    status: ProposalStatusName,
    change: Value,
    revision: u32,
    result_sha256: Option<String>,
    gates: Value,
    /// For people
    scan_findings: Option<Vec<Value>>,
    /// For programs
    findings: Option<Value>,
}

/// Where a proposal stands
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum ProposalStatusName {
    Pending,
    Quarantined,
    Applied,
    Rejected,
    Stale,
}

/// What became of a proposal
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ProposalReply {
    status: ProposalStatusName,
    /// The file that was written
    skill_path: Option<String>,
    proposal: ProposalRecord,
}

/// What a proposal would change now
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ProposalDiffReply {
    path: String,
    /// A unified diff
    diff: String,
    result_sha256: String,
    /// Why it cannot be written as it stands
    problem: Option<String>,
    gates: Value,
}

/// What was taken back
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ProposalUndoReply {
    status: String,
    skill_path: String,
    /// SHA-256 of what the file holds now, or `absent`
    restored: String,
}

/// What a scan comes to: findings for people, counts for programs
#[derive(ToSchema)]
pub(crate) struct ScanReply {
    verdict: Verdict,
    findings: Option<Vec<Value>>,
    counts: Option<Value>,
    next: Option<String>,
}

/// The program, and what it looks at
#[derive(ToSchema)]
pub(crate) struct VersionReply {
    version: String,
    profile: String,
    workspace: String,
    /// The version of the catalog
    catalog: u64,
}

/// What a search found
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SearchReply {
    /// Fitting ones first, and reviewed before unreviewed
    candidates: Vec<Value>,
    /// How many of the reviewed ones fit
    relevant: usize,
    /// Whether unreviewed sources were asked because too little fits
    supplemented: bool,
    /// What could not be asked
    diagnostics: Vec<String>,
    /// How old the answer is, where it is from the cache
    age_ms: Option<u64>,
}

/// What is installed
#[derive(ToSchema)]
pub(crate) struct InstalledReply {
    workspace: Vec<InstalledSkillRecord>,
    managed: Vec<InstalledSkillRecord>,
}

/// An installed skill, and how it stands to the lock
#[derive(ToSchema)]
pub(crate) struct InstalledSkillRecord {
    key: String,
    status: String,
    version: Option<String>,
    digest: Option<String>,
    pinned: bool,
    note: Option<String>,
    path: String,
}

/// What became of a request about a skill from elsewhere
#[derive(ToSchema)]
pub(crate) struct InstallReply {
    status: String,
}

/// A run that was learned from
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct TraceRecord {
    id: String,
    /// Later ones are newer
    number: u64,
    agent: Option<String>,
    session: Option<String>,
    /// What was asked for, without anything private
    task: Option<String>,
    /// How many steps are kept
    steps: u64,
    /// Whether it succeeded; absent where nothing tells
    ok: Option<bool>,
    /// By what
    evidence: String,
    behavior_fingerprint: String,
    skill: Option<String>,
    proposal: Option<String>,
}

/// A run with what was done in it
#[derive(ToSchema)]
pub(crate) struct TraceReply {
    run: TraceRecord,
    steps: Vec<Value>,
    /// How many of which kind were taken out
    redactions: Option<Value>,
}

/// What became of a run
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct DistillReply {
    agent: String,
    session: String,
    task: String,
    steps: u64,
    failed_steps: Vec<u64>,
    ok: Option<bool>,
    evidence: String,
    behavior_fingerprint: String,
    became: String,
    reason: Option<String>,
    draft: Option<Value>,
    redactions: Value,
    proposal: Option<Value>,
}

/// What was learned from a transcript
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct LearnReply {
    /// The first draft
    draft: Option<Value>,
    /// How many of which kind were taken out
    redactions: Value,
    /// What became of each run, as far as runs are told one by one
    runs: Vec<Value>,
    /// How many of the runs behind them became what
    more: Option<Value>,
    files: Vec<Value>,
}
