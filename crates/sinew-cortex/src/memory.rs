//! The memory: the result of the fold.
//!
//! A [`CortexMemory`] contains the original's schema and what the schema lacks. It is plain data
//! with one serialised form, so that two folds of one log can be compared byte by byte.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sinew_settings::config::DecayScope;

use crate::bayes::BayesCounts;
use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::lesson::RememberedLesson;
use crate::policy::{CortexPolicy, FoldKey};
use crate::record::RecordKey;
use crate::shield::OutageState;
use crate::time::{UtcDay, UtcInstant};
use crate::weight::{self, RecentSuccesses};

/// The version of the serialised form. A snapshot of another version is folded again.
pub const FORMAT: u32 = 2;

/// Everything that is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CortexMemory {
    /// The version of this form.
    pub format: u32,
    /// The settings it was folded with.
    pub folded: FoldKey,
    /// The last record that was folded.
    pub last: Option<RecordKey>,
    /// How many records were folded.
    pub records: u64,
    /// Which words are learned for which region, in order of creation.
    pub patterns: Vec<RegionPattern>,
    /// The regions by name.
    pub motor: BTreeMap<String, Region>,
    /// The lessons, in order of creation.
    pub lessons: Vec<RememberedLesson>,
    /// Skills that are never offered, in order of addition.
    pub blacklist: Vec<BlacklistedSkill>,
    /// The counters.
    pub stats: CortexStats,
    /// Skills that a person retained, with their records.
    pub retained: Vec<RetainedSkill>,
    /// Digests that a person approved for installation, by region and slug.
    pub approved: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Digests of which a person said that they only read on this machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read_only: BTreeMap<String, DeclaredReadOnly>,
    /// What uses of a digest were seen to change, by digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observed: BTreeMap<String, Vec<String>>,
    /// How often a person declined to keep a skill, by slug.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keep_declined: BTreeMap<String, u32>,
    /// Skills that are gone from where they came from, and since when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vanished: BTreeMap<String, UtcInstant>,
    /// Records that are skipped.
    pub retracted: BTreeSet<Ulid>,
    /// Service failures of the last minutes.
    pub outage: OutageState,
    /// Unknown keys of an imported file, by their location.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Map<String, Value>>,
}

impl CortexMemory {
    /// An empty memory.
    pub fn new(policy: &CortexPolicy) -> Self {
        Self {
            format: FORMAT,
            folded: policy.fold_key(),
            last: None,
            records: 0,
            patterns: Vec::new(),
            motor: BTreeMap::new(),
            lessons: Vec::new(),
            blacklist: Vec::new(),
            stats: CortexStats::default(),
            retained: Vec::new(),
            approved: BTreeMap::new(),
            read_only: BTreeMap::new(),
            observed: BTreeMap::new(),
            keep_declined: BTreeMap::new(),
            vanished: BTreeMap::new(),
            retracted: BTreeSet::new(),
            outage: OutageState::default(),
            extra: BTreeMap::new(),
        }
    }

    /// The only serialised form.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// A candidate's record.
    pub fn candidate(&self, region: &str, slug: &str) -> Option<&RegionCandidate> {
        self.motor.get(region)?.candidates.iter().find(|candidate| candidate.slug == slug)
    }

    /// The record of a retained skill.
    pub fn retained_candidate(&self, region: &str, slug: &str) -> Option<&RegionCandidate> {
        let found = self.retained.iter().find(|skill| skill.region == region && skill.slug == slug);
        found.map(|skill| &skill.candidate)
    }

    /// Whether a skill is never offered.
    pub fn is_blacklisted(&self, slug: &str) -> bool {
        self.blacklist.iter().any(|listed| listed.slug == slug)
    }

    /// Whether a person approved the installation of exactly this content for this region.
    pub fn is_approved(&self, region: &str, slug: &str, digest: &str) -> bool {
        let digests = self.approved.get(region).and_then(|slugs| slugs.get(slug));
        digests.is_some_and(|digests| digests.iter().any(|known| known == digest))
    }

    /// Whether a person declared exactly these files read-only, and nothing that was seen says otherwise.
    pub fn is_declared_read_only(&self, digest: &str) -> bool {
        self.read_only.contains_key(digest) && self.contradictions(digest).is_empty()
    }

    /// What uses of these files were seen to change.
    pub fn contradictions(&self, digest: &str) -> &[String] {
        self.observed.get(digest).map_or(&[], Vec::as_slice)
    }

    /// Whether a skill is gone from where it came from, and was not found again.
    pub fn is_vanished(&self, slug: &str) -> bool {
        self.vanished.contains_key(slug)
    }

    /// Whether keeping a skill may still be offered: twice declined is an answer.
    pub fn may_offer_keeping(&self, slug: &str) -> bool {
        self.keep_declined.get(slug).is_none_or(|times| *times < MAX_DECLINED)
    }

    /// The words learned for a region.
    pub fn pattern(&self, region: &str) -> Option<&RegionPattern> {
        self.patterns.iter().find(|pattern| pattern.region == region)
    }

    /// The day on which each skill was last used and worked, in whatever region.
    ///
    /// A skill whose last use failed is not among them.
    pub fn last_successes(&self) -> BTreeMap<&str, UtcDay> {
        let mut days = BTreeMap::new();
        for candidate in self.motor.values().flat_map(|region| &region.candidates) {
            if candidate.ring.ends_with('S') {
                let day = days.entry(candidate.slug.as_str()).or_insert(candidate.last_used);
                *day = candidate.last_used.max(*day);
            }
        }
        days
    }

    /// The number of outcomes in the weights.
    pub fn outcomes(&self) -> u64 {
        let candidates = self.motor.values().flat_map(|region| &region.candidates);
        candidates.map(|candidate| candidate.success + candidate.fail).sum()
    }
}

/// A person's word that a skill only reads on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredReadOnly {
    /// The skill.
    pub slug: String,
    /// Who said so.
    pub who: String,
    /// Since when.
    pub since: UtcInstant,
}

/// The words learned for a region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegionPattern {
    /// The region.
    pub region: String,
    /// The words, oldest first.
    pub signals: Vec<RegionSignal>,
    /// Fields that another program added.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A word, and when it was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionSignal {
    /// The word.
    pub word: String,
    /// When it was added.
    pub added: UtcInstant,
}

/// A task area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Its position among the regions, for exports.
    pub place: u32,
    /// Skills that did tasks of this area, in order of creation.
    pub candidates: Vec<RegionCandidate>,
    /// When any of them was last used.
    pub last_used: UtcDay,
    /// When it was used before the last gap of more than [`CLOCK_GAP`] days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_before_gap: Option<UtcDay>,
    /// Outcomes in which a program was missing, by program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, Vec<Ulid>>,
    /// How many uses in a row a variable was set in, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_set: BTreeMap<String, u32>,
    /// Fields that another program added.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Region {
    /// A region without candidates.
    pub(crate) fn new(place: u32, last_used: UtcDay) -> Self {
        Self {
            place,
            candidates: Vec::new(),
            last_used,
            used_before_gap: None,
            missing: BTreeMap::new(),
            env_set: BTreeMap::new(),
            extra: Map::new(),
        }
    }

    /// The idle days that count for a candidate.
    pub fn idle_days(
        &self,
        candidate: &RegionCandidate,
        today: UtcDay,
        policy: &CortexPolicy,
    ) -> u32 {
        let (last_used, before) = match policy.decay {
            DecayScope::Region => (self.last_used, self.used_before_gap),
            DecayScope::Candidate => (candidate.last_used, candidate.used_before_gap),
        };
        let is_plausible = |day: UtcDay| day.days_since(today) <= CLOCK_GAP;
        if is_plausible(last_used) {
            return today.days_since(last_used);
        }
        // A clock that was far ahead wrote that day. What was before it counts, or how far away it is:
        // a day that has not been must not keep a weight for ever.
        let before = before.filter(|day| is_plausible(*day));
        before.map_or_else(|| last_used.days_since(today), |day| today.days_since(day))
    }

    /// A candidate's weight after decay.
    pub fn effective_weight(
        &self,
        candidate: &RegionCandidate,
        today: UtcDay,
        policy: &CortexPolicy,
    ) -> f64 {
        weight::effective(candidate.weight, self.idle_days(candidate, today, policy))
    }
}

/// A skill in a region: the original's record, and what that lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegionCandidate {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// The version that was learned.
    pub version: String,
    /// Its learned weight, 0 to 1.
    pub weight: f64,
    /// How often it worked.
    pub success: u64,
    /// How often it failed.
    pub fail: u64,
    /// The digest of the files that were used last, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The last failure.
    pub last_fail: Option<LastFailure>,
    /// Its side effects; `None` if unknown.
    pub side_effects: Option<Vec<String>>,
    /// Characters of its SKILL.md.
    pub skill_md_chars: u64,
    /// Bytes of its SKILL.md, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_md_bytes: Option<u64>,
    /// Whether it earned a reflex.
    pub reflex: bool,
    /// Successes within the window.
    pub recent: RecentSuccesses,
    /// Successes in a row.
    pub streak: u32,
    /// When this candidate itself was last used.
    pub last_used: UtcDay,
    /// When it was used before the last gap of more than [`CLOCK_GAP`] days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_before_gap: Option<UtcDay>,
    /// Discounted successes and failures.
    pub counts: BayesCounts,
    /// The last outcomes, oldest first, as letters: `S` for success, the first letter of the kind
    /// of failure, `x` for an outage.
    pub ring: String,
    /// The sum of the drift alarm.
    pub drift: f64,
    /// When the drift alarm was last raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarm: Option<UtcInstant>,
    /// Failures caused by an outage.
    pub env_fails: u32,
    /// Another version that a registry offers; the discount is already applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<String>,
    /// When it was last offered as a last resort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<UtcDay>,
    /// Fields that another program added, to the record, to `runs` and to `last_fail`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Map<String, Value>>,
}

/// How often a person is asked whether to keep a skill that they do not want to keep.
const MAX_DECLINED: u32 = 2;

/// Days without a use that may as well be a clock that was set wrong.
pub const CLOCK_GAP: u32 = 365;

/// The day of the last use, and of the one before a long gap, after a use on this day.
pub(crate) fn used_on(last: &mut UtcDay, before_gap: &mut Option<UtcDay>, day: UtcDay) {
    if day.days_since(*last) > CLOCK_GAP {
        *before_gap = Some(*last);
    } else if last.days_since(day) > CLOCK_GAP {
        *before_gap = (*before_gap).max(Some(day));
    }
    *last = (*last).max(day);
}

/// Outcomes in a candidate's ring: enough to see a change, few enough to read.
pub const RING: usize = 32;

impl RegionCandidate {
    /// A skill without history.
    pub fn new(slug: &str, source: &str, version: &str, day: UtcDay) -> Self {
        Self {
            slug: slug.to_owned(),
            source: source.to_owned(),
            version: version.to_owned(),
            weight: weight::NEW_WEIGHT,
            success: 0,
            fail: 0,
            digest: None,
            last_fail: None,
            side_effects: None,
            skill_md_chars: 0,
            skill_md_bytes: None,
            reflex: false,
            recent: RecentSuccesses::default(),
            streak: 0,
            last_used: day,
            used_before_gap: None,
            counts: BayesCounts::default(),
            ring: String::new(),
            drift: 0.0,
            alarm: None,
            env_fails: 0,
            announced: None,
            offered: None,
            extra: BTreeMap::new(),
        }
    }

    /// How often it was used.
    pub fn runs(&self) -> u64 {
        self.success + self.fail
    }

    /// The share of successes in percent, as the notice shows it.
    pub fn success_percent(&self) -> u64 {
        match self.runs() {
            0 => 0,
            runs => (200 * self.success + runs) / (2 * runs),
        }
    }

    /// Its side effects; unknown ones count as a shell.
    pub fn side_effect_tags(&self) -> Vec<&str> {
        match &self.side_effects {
            Some(tags) => tags.iter().map(String::as_str).collect(),
            None => vec![UNKNOWN_TAG],
        }
    }

    pub(crate) fn push_ring(&mut self, letter: char) {
        self.ring.push(letter);
        let over = self.ring.chars().count().saturating_sub(RING);
        self.ring.drain(..over);
    }
}

/// What an unknown side effect counts as.
pub const UNKNOWN_TAG: &str = "shell:unknown";

/// A failure as the original keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LastFailure {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// What was observed.
    pub detail: String,
    /// When.
    pub date: UtcDay,
}

/// A skill that is never offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlacklistedSkill {
    /// The skill.
    pub slug: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when.
    pub since: UtcInstant,
}

/// The original's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CortexStats {
    /// Runs that searched.
    pub searches: u64,
    /// Skills that were installed.
    pub installs: u64,
    /// Runs that the memory answered.
    pub cache_hits: u64,
    /// Plans that the user was not asked about.
    pub reflexes_fired: u64,
}

/// A skill that a person retained. It is no longer in its region; its record stays here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetainedSkill {
    /// The skill.
    pub slug: String,
    /// The region it was learned in.
    pub region: String,
    /// Since when.
    pub since: UtcInstant,
    /// Its record.
    pub candidate: RegionCandidate,
}
