//! How a use ended, what is recorded about it, and the report of a failed run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::run::{AcquireCandidate, AcquireRun, AttemptStage, CandidateAttempt, StagedCandidate};
use crate::failure::FailureKind;
use crate::memory::RegionCandidate;
use crate::record::{OutcomeReporter, SkillOutcome, UseResult};

/// Successes that a skill needs to be retained.
const RETAIN_SUCCESSES: u64 = 3;
/// The weight that it needs.
const RETAIN_WEIGHT: f64 = 0.8;
/// A SKILL.md of this many characters costs about 2,000 tokens in every prompt.
const RETAIN_CHARS: u64 = 8_000;

/// How a use ended, as it was reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UseReport {
    /// Whether it worked.
    pub result: UseResult,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// What was seen, cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What is said about the skill's description: misleading with a mismatch, right with a success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
    /// The missing program or variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The command that would install what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether the host was offline.
    #[serde(default)]
    pub shielded: bool,
    /// The skill's share of the responsibility.
    pub blame: f64,
    /// Who reports it.
    #[serde(default)]
    pub origin: OutcomeReporter,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Programs and variables that were checked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<String, bool>,
    /// Its side effects, in addition to those its files show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effects: Vec<String>,
}

impl UseReport {
    /// It worked.
    pub fn success() -> Self {
        Self {
            result: UseResult::Success,
            kind: None,
            detail: None,
            point: None,
            key: None,
            command: None,
            shielded: false,
            blame: 1.0,
            origin: OutcomeReporter::Engine,
            ms: None,
            tokens: None,
            probes: BTreeMap::new(),
            side_effects: Vec::new(),
        }
    }

    /// It failed.
    pub fn failure(kind: FailureKind) -> Self {
        Self { result: UseResult::Failure, kind: Some(kind), ..Self::success() }
    }

    /// The result is not known.
    pub fn unknown() -> Self {
        Self { result: UseResult::Unknown, ..Self::success() }
    }

    /// How it failed, if it did.
    pub fn failed(&self) -> Option<FailureKind> {
        (self.result == UseResult::Failure).then(|| self.kind.unwrap_or(FailureKind::RuntimeError))
    }
}

/// The one outcome recorded for a candidate of a run.
pub(super) fn outcome(
    run: &AcquireRun,
    offer: &AcquireCandidate,
    finish: &UseReport,
    attempts: u32,
) -> SkillOutcome {
    let staged = offer.staged.as_ref();
    let region = run.region_for(&offer.slug);
    SkillOutcome {
        run: Some(run.id.clone()),
        source: offer.source.clone(),
        digest: staged.map(|staged| staged.digest.clone()),
        kind: finish.failed(),
        detail: finish.detail.clone(),
        key: finish.key.clone(),
        blame: finish.blame,
        shielded: finish.shielded,
        side_effects: side_effects(staged, finish),
        observed: finish.side_effects.clone(),
        skill_md_chars: staged.map(|staged| staged.skill_md_chars),
        skill_md_bytes: staged.map(|staged| staged.skill_md_bytes),
        origin: finish.origin,
        ms: finish.ms,
        tokens: finish.tokens,
        attempts,
        probes: finish.probes.clone(),
        ..SkillOutcome::new(&region, &offer.slug, offer.version(), finish.result)
    }
}

/// Side effects from the files and from the run; `None` if neither is known.
fn side_effects(staged: Option<&StagedCandidate>, finish: &UseReport) -> Option<Vec<String>> {
    let mut known = staged.map(|staged| staged.side_effects.clone());
    for tag in &finish.side_effects {
        let known = known.get_or_insert_default();
        if !known.contains(tag) {
            known.push(tag.clone());
        }
    }
    known
}

/// Whether a skill is worth retaining. Characters count, not bytes: Skill Cortex specifies
/// characters, and its limit stands for tokens.
pub fn may_retain(candidate: &RegionCandidate) -> bool {
    candidate.success >= RETAIN_SUCCESSES
        && candidate.weight >= RETAIN_WEIGHT
        && candidate.skill_md_chars < RETAIN_CHARS
}

/// What a run tried, for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AcquireReport {
    /// The run.
    pub run: String,
    /// The task's words.
    pub task_signals: Vec<String>,
    /// Each candidate that failed.
    pub tried: Vec<FailedCandidate>,
    /// How often it switched to another candidate.
    pub switches: u8,
}

/// One candidate that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FailedCandidate {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// How far it got.
    pub stage: AttemptStage,
    /// How it failed.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// What was observed.
    pub detail: String,
    /// What to do about it.
    pub remedy: String,
}

impl AcquireReport {
    /// The report of a run.
    pub fn of(run: &AcquireRun) -> Self {
        let failed = run.attempts.iter().filter_map(|attempt| Some((attempt, attempt.kind?)));
        Self {
            run: run.id.clone(),
            task_signals: run.signals.clone(),
            tried: failed.map(|(attempt, kind)| tried(attempt, kind)).collect(),
            switches: run.switches,
        }
    }
}

fn tried(attempt: &CandidateAttempt, kind: FailureKind) -> FailedCandidate {
    let remedy = match attempt.stage {
        AttemptStage::Install => "it was not installed; see the detail, or choose another source",
        AttemptStage::Execute => kind.remedy(),
    };
    FailedCandidate {
        slug: attempt.slug.clone(),
        source: attempt.source.clone(),
        version: attempt.version.clone(),
        stage: attempt.stage,
        kind,
        detail: attempt.detail.clone(),
        remedy: remedy.to_owned(),
    }
}
