//! Reflexes: when a candidate earns one, and when it may fire.

use serde::Serialize;
use sinew_settings::config::ReflexGate;

use crate::memory::{CortexMemory, RegionCandidate};
use crate::policy::CortexPolicy;
use crate::weight;

/// Successes that a reflex needs. At this weight there are always more; Skill Cortex requires both.
pub const MIN_SUCCESSES: u64 = 5;
/// The weight that earns a reflex, and the effective weight that fires it.
pub const MIN_WEIGHT: f64 = 0.90;
/// Successes in a row that fire it.
pub const MIN_STREAK: u32 = 5;
/// Idle days after which the bound requires one confirmed use.
pub const MAX_IDLE: u32 = 90;

/// Side effects that a skill with a reflex must not have.
const FORBIDDEN: [&str; 3] = ["write:", "delete:", "shell:"];

/// Whether a side effect rules out reflexes for ever.
pub fn is_forbidden(tag: &str) -> bool {
    let tag = tag.trim_start().to_ascii_lowercase();
    FORBIDDEN.iter().any(|prefix| tag.starts_with(prefix))
}

/// Whether a candidate earns its reflex.
pub fn is_earned(candidate: &RegionCandidate) -> bool {
    is_earned_but_for_effects(candidate)
        && !candidate.side_effect_tags().into_iter().any(is_forbidden)
}

/// Whether it would earn one if it only read: as it does where a person declared that of its files.
pub fn is_earned_but_for_effects(candidate: &RegionCandidate) -> bool {
    candidate.success >= MIN_SUCCESSES && candidate.weight >= MIN_WEIGHT
}

/// What is known when a reflex might fire.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReflexContext<'a> {
    /// Days since the last use.
    pub idle: u32,
    /// The version that would be installed, if it was checked.
    pub found: Option<&'a str>,
    /// Side effects found in the files to be installed.
    pub shown: &'a [String],
    /// What a person said about exactly these files.
    pub declared: ReadOnlyWord<'a>,
}

/// A person's word about a skill's files, and what was seen of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadOnlyWord<'a> {
    /// Nothing was said: the files speak for themselves.
    #[default]
    Unsaid,
    /// They only read on this machine.
    ReadOnly,
    /// That was said, and uses were seen to change this.
    Contradicted(&'a [String]),
}

impl<'a> ReadOnlyWord<'a> {
    /// What the memory holds of a digest.
    pub fn of(memory: &'a CortexMemory, digest: Option<&str>) -> Self {
        let Some(digest) = digest.filter(|digest| memory.read_only.contains_key(*digest)) else {
            return Self::Unsaid;
        };
        match memory.contradictions(digest) {
            [] => Self::ReadOnly,
            seen => Self::Contradicted(seen),
        }
    }
}

/// Whether a reflex fires, and what it lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReflexStatus {
    /// Whether the candidate earned one.
    pub flag: bool,
    /// Whether it fires now.
    pub fires: bool,
    /// Each unmet condition, with its number.
    pub missing: Vec<String>,
}

/// Whether a candidate's reflex fires now.
pub fn decide(
    candidate: &RegionCandidate,
    moment: &ReflexContext<'_>,
    policy: &CortexPolicy,
) -> ReflexStatus {
    let gate = policy.gate();
    let mut missing = Vec::new();
    if gate == ReflexGate::Off {
        missing.push("reflexes are switched off (cortex.reflex.gate)".to_owned());
    }
    if matches!(gate, ReflexGate::Reference | ReflexGate::ReferenceAndBound) {
        if !candidate.reflex {
            missing.extend(unearned(candidate));
        }
        let effective = weight::effective(candidate.weight, moment.idle);
        if effective < MIN_WEIGHT {
            missing.push(format!("effective_weight {effective:.4} < {MIN_WEIGHT:.2}"));
        }
    }
    if matches!(gate, ReflexGate::Bound | ReflexGate::ReferenceAndBound) {
        let bound = candidate.counts.lower_bound();
        if bound < policy.min_lb {
            missing.push(format!("lower_bound {bound:.4} < {:.2}", policy.min_lb));
        }
        if moment.idle > MAX_IDLE {
            missing.push(format!(
                "idle {} days > {MAX_IDLE}: one confirmed use re-arms it",
                moment.idle
            ));
        }
    }
    if gate != ReflexGate::Off {
        if candidate.streak < MIN_STREAK {
            missing.push(format!("streak {} < {MIN_STREAK}", candidate.streak));
        }
        let shown = moment.shown.iter().map(String::as_str);
        let mut tags: Vec<&str> = candidate.side_effect_tags().into_iter().chain(shown).collect();
        tags.retain(|tag| is_forbidden(tag));
        tags.sort_unstable();
        tags.dedup();
        match moment.declared {
            // A person's word counts for more than what files may do, and less than what they did.
            ReadOnlyWord::ReadOnly => {}
            ReadOnlyWord::Unsaid => {
                missing.extend(tags.iter().map(|tag| format!("side_effect {tag}")));
            }
            ReadOnlyWord::Contradicted(seen) => {
                missing
                    .extend(seen.iter().map(|tag| format!("declared read-only, but seen: {tag}")));
            }
        }
        let found = moment.found.or(candidate.announced.as_deref());
        if let Some(found) = found.filter(|found| *found != candidate.version) {
            missing.push(format!("version {found} found, {} learned", candidate.version));
        }
    }
    ReflexStatus { flag: candidate.reflex, fires: missing.is_empty(), missing }
}

/// Why a candidate has no reflex.
fn unearned(candidate: &RegionCandidate) -> Vec<String> {
    let mut missing = Vec::new();
    if candidate.success < MIN_SUCCESSES {
        missing.push(format!("success {} < {MIN_SUCCESSES}", candidate.success));
    }
    if candidate.weight < MIN_WEIGHT {
        missing.push(format!("weight {:.4} < {MIN_WEIGHT:.2}", candidate.weight));
    }
    if missing.is_empty() && is_earned(candidate) {
        // It was earned once and taken away by a failure or another version; the next success
        // restores it.
        missing.push("reflex false: the next success earns it again".to_owned());
    }
    missing
}

/// The notice of a skill that only reads because a person said so.
pub fn declared_notice(candidate: &RegionCandidate, signals: &[String]) -> String {
    notice(candidate, signals).replacen("(read-only)", "(declared read-only)", 1)
}

/// The two lines shown before a reflex installs anything.
pub fn notice(candidate: &RegionCandidate, signals: &[String]) -> String {
    let what = if signals.is_empty() { candidate.slug.clone() } else { signals.join(" ") };
    format!(
        "⚡ Skill Cortex reflex: {} v{} ({}% success rate)\n   \
         Task: {what} (read-only) | Will install and execute. Say cancel to abort.",
        candidate.slug,
        candidate.version,
        candidate.success_percent()
    )
}
