//! How a use ended, what is recorded of it, and the report of a run that failed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::run::{Attempt, Offer, Run, Stage, Staged};
use crate::failure::FailureKind;
use crate::memory::Candidate;
use crate::record::{Origin, Outcome, Verdict};

/// Successes from which on a skill may stay.
const RETAIN_SUCCESSES: u64 = 3;
/// The weight from which on it may.
const RETAIN_WEIGHT: f64 = 0.8;
/// A SKILL.md of this many characters costs about 2,000 tokens in every prompt.
const RETAIN_CHARS: u64 = 8_000;

/// How a use ended, as it was reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// Whether it worked.
    pub result: Verdict,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// What was seen, cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The missing program or variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The command that would install what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether the host had no way out.
    #[serde(default)]
    pub shielded: bool,
    /// The skill's share in it.
    pub blame: f64,
    /// Who says so.
    #[serde(default)]
    pub origin: Origin,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Programs and variables that were looked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<String, bool>,
    /// What it did besides thinking, beyond what its files show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effects: Vec<String>,
}

impl Finish {
    /// It worked.
    pub fn success() -> Self {
        Self {
            result: Verdict::Success,
            kind: None,
            detail: None,
            key: None,
            command: None,
            shielded: false,
            blame: 1.0,
            origin: Origin::Engine,
            ms: None,
            tokens: None,
            probes: BTreeMap::new(),
            side_effects: Vec::new(),
        }
    }

    /// It did not.
    pub fn failure(kind: FailureKind) -> Self {
        Self { result: Verdict::Failure, kind: Some(kind), ..Self::success() }
    }

    /// Nobody can say.
    pub fn unknown() -> Self {
        Self { result: Verdict::Unknown, ..Self::success() }
    }

    /// How it failed, if it did.
    pub fn failed(&self) -> Option<FailureKind> {
        (self.result == Verdict::Failure).then(|| self.kind.unwrap_or(FailureKind::RuntimeError))
    }
}

/// The one outcome that a candidate of a run gets.
pub(super) fn outcome(run: &Run, offer: &Offer, finish: &Finish, attempts: u32) -> Outcome {
    let staged = offer.staged.as_ref();
    let region = run.region_for(&offer.slug);
    Outcome {
        run: Some(run.id.clone()),
        source: offer.source.clone(),
        digest: staged.map(|staged| staged.digest.clone()),
        kind: finish.failed(),
        detail: finish.detail.clone(),
        key: finish.key.clone(),
        blame: finish.blame,
        shielded: finish.shielded,
        side_effects: side_effects(staged, finish),
        skill_md_chars: staged.map(|staged| staged.skill_md_chars),
        skill_md_bytes: staged.map(|staged| staged.skill_md_bytes),
        origin: finish.origin,
        ms: finish.ms,
        tokens: finish.tokens,
        attempts,
        probes: finish.probes.clone(),
        ..Outcome::new(&region, &offer.slug, offer.version(), finish.result)
    }
}

/// What the files show and what was seen; unknown where nobody looked.
fn side_effects(staged: Option<&Staged>, finish: &Finish) -> Option<Vec<String>> {
    let mut known = staged.map(|staged| staged.side_effects.clone());
    for tag in &finish.side_effects {
        let known = known.get_or_insert_default();
        if !known.contains(tag) {
            known.push(tag.clone());
        }
    }
    known
}

/// Whether a skill is worth keeping. Characters count, not bytes: the reference says characters, and
/// its bound stands for tokens.
pub fn may_retain(candidate: &Candidate) -> bool {
    candidate.success >= RETAIN_SUCCESSES
        && candidate.weight >= RETAIN_WEIGHT
        && candidate.skill_md_chars < RETAIN_CHARS
}

/// What a run tried, for the person whose task it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The run.
    pub run: String,
    /// The task's words.
    pub task_signals: Vec<String>,
    /// Each candidate that failed.
    pub tried: Vec<Tried>,
    /// How often another candidate was turned to.
    pub switches: u8,
}

/// One candidate that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// How far it came.
    pub stage: Stage,
    /// How it failed.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// What was seen.
    pub detail: String,
    /// What to do about it.
    pub remedy: String,
}

impl Report {
    /// The report of a run.
    pub fn of(run: &Run) -> Self {
        let failed = run.attempts.iter().filter_map(|attempt| Some((attempt, attempt.kind?)));
        Self {
            run: run.id.clone(),
            task_signals: run.signals.clone(),
            tried: failed.map(|(attempt, kind)| tried(attempt, kind)).collect(),
            switches: run.switches,
        }
    }
}

fn tried(attempt: &Attempt, kind: FailureKind) -> Tried {
    let remedy = match attempt.stage {
        Stage::Install => "it was not installed; see the detail, or choose another source",
        Stage::Execute => kind.remedy(),
    };
    Tried {
        slug: attempt.slug.clone(),
        source: attempt.source.clone(),
        version: attempt.version.clone(),
        stage: attempt.stage,
        kind,
        detail: attempt.detail.clone(),
        remedy: remedy.to_owned(),
    }
}
