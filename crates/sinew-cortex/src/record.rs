//! The log: append-only, and the only source of truth. Everything else is a fold over it.
//!
//! A record is written once and never changed; a mistake is corrected by a later record
//! ([`RecordBody::Retract`]). Fields with their default value are not written, so that a year of
//! outcomes stays small.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::acquire::{ConsentAct, ConsentChannel};
use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::lesson::Lesson;
use crate::original::CortexJson;
use crate::prune::PruneRemoval;
use crate::time::UtcInstant;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CortexRecord {
    /// Its id.
    pub id: Ulid,
    /// When it happened.
    pub ts: UtcInstant,
    /// What happened.
    #[serde(flatten)]
    pub body: RecordBody,
}

/// A record's position in the order of the fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordKey {
    /// When it happened.
    pub ts: UtcInstant,
    /// Its id, which orders records of the same time.
    pub id: Ulid,
}

impl CortexRecord {
    /// Its position in the order of the fold.
    pub fn key(&self) -> RecordKey {
        RecordKey { ts: self.ts, id: self.id }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RecordBody {
    /// A skill was used.
    Outcome(Box<SkillOutcome>),
    /// Words were learned for a region.
    Signals {
        /// The region.
        region: String,
        /// The words, in order of appearance.
        words: Vec<String>,
        /// The version of the vocabulary that accepted them.
        vocabulary: u32,
    },
    /// A lesson was created, confirmed, contradicted or removed.
    Lesson {
        /// Which operation.
        op: LessonOp,
        /// The lesson.
        lesson: Lesson,
        /// The outcomes that support it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Ulid>,
    },
    /// A registry offers another version than the learned one.
    VersionSeen {
        /// The skill.
        slug: String,
        /// The learned version.
        stored: String,
        /// The version found.
        found: String,
    },
    /// A person retained a skill: it is long-term now.
    Retained(RegionSkill),
    /// A skill was uninstalled.
    Released(RegionSkill),
    /// A skill was blacklisted, or removed from the blacklist.
    Blacklist {
        /// Which operation.
        op: BlacklistOp,
        /// The skill.
        slug: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A counter changed.
    Stat {
        /// Which counter.
        key: StatKey,
        /// By how much.
        by: u64,
    },
    /// A `cortex.json` was imported, in its normal form.
    Import {
        /// Whether it adds to the memory or replaces it.
        mode: CortexImportMode,
        /// The file.
        file: Box<CortexJson>,
    },
    /// Something was pruned.
    Prune {
        /// What was removed, and by which rule.
        removed: Vec<PruneRemoval>,
    },
    /// A record was wrong; the fold skips it.
    Retract {
        /// The record.
        target: Ulid,
    },
    /// Earlier records are forgotten.
    Reset {
        /// How much is forgotten.
        scope: ForgetScope,
    },
    /// A person approved something.
    Consent(ConsentRecord),
    /// A candidate of last resort was shown.
    Offered(RegionSkill),
    /// A person was asked whether to keep a skill, and said no.
    KeepDeclined(RegionSkill),
    /// A remembered skill is gone from where it came from.
    Vanished(RegionSkill),
    /// A person says that exactly these files only read on this machine, or takes it back.
    ReadOnly(ReadOnlyDeclaration),
    /// A record of a later version; it is preserved and skipped.
    #[serde(other)]
    Unknown,
}

impl RecordBody {
    /// Its type, as records name it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Outcome(_) => "outcome",
            Self::Signals { .. } => "signals",
            Self::Lesson { .. } => "lesson",
            Self::VersionSeen { .. } => "version_seen",
            Self::Retained(_) => "retained",
            Self::Released(_) => "released",
            Self::Blacklist { .. } => "blacklist",
            Self::Stat { .. } => "stat",
            Self::Import { .. } => "import",
            Self::Prune { .. } => "prune",
            Self::Retract { .. } => "retract",
            Self::Reset { .. } => "reset",
            Self::Consent(_) => "consent",
            Self::Offered(_) => "offered",
            Self::KeepDeclined(_) => "keep_declined",
            Self::Vanished(_) => "vanished",
            Self::ReadOnly(_) => "read_only",
            Self::Unknown => "unknown",
        }
    }
}

/// One use of a skill and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillOutcome {
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The task area.
    pub region: String,
    /// The skill.
    pub slug: String,
    /// Where the skill comes from.
    #[serde(default = "clawhub", skip_serializing_if = "is_clawhub")]
    pub source: String,
    /// Its version.
    pub version: String,
    /// The digest of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How it ended.
    pub result: UseResult,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// What was observed: short, without entities and secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The missing program or variable, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The skill's share of the responsibility, in (0, 1].
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub blame: f64,
    /// Whether the host was offline when it failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shielded: bool,
    /// The skill's side effects; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<Vec<String>>,
    /// Of these, what this use was seen to do, whatever its files say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
    /// Characters of its SKILL.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_md_chars: Option<u64>,
    /// Bytes of its SKILL.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_md_bytes: Option<u64>,
    /// The agent that used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who reported it.
    #[serde(default, skip_serializing_if = "OutcomeReporter::is_engine")]
    pub origin: OutcomeReporter,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How often it was tried.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub attempts: u32,
    /// Programs and variables that were checked, and whether they were present: `bin:ffmpeg`,
    /// `env:TODOIST_API_KEY`. Names only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<String, bool>,
}

impl SkillOutcome {
    /// An outcome with only the essential fields.
    pub fn new(region: &str, slug: &str, version: &str, result: UseResult) -> Self {
        Self {
            run: None,
            region: region.to_owned(),
            slug: slug.to_owned(),
            source: clawhub(),
            version: version.to_owned(),
            digest: None,
            result,
            kind: None,
            detail: None,
            key: None,
            blame: 1.0,
            shielded: false,
            side_effects: None,
            observed: Vec::new(),
            skill_md_chars: None,
            skill_md_bytes: None,
            agent: None,
            model: None,
            origin: OutcomeReporter::Engine,
            ms: None,
            tokens: None,
            attempts: 1,
            probes: BTreeMap::new(),
        }
    }

    /// A success of a skill that only reads.
    pub fn success(region: &str, slug: &str, version: &str) -> Self {
        let side_effects = Some(Vec::new());
        Self { side_effects, ..Self::new(region, slug, version, UseResult::Success) }
    }

    /// A failure of a skill that only reads.
    pub fn failure(region: &str, slug: &str, version: &str, kind: FailureKind) -> Self {
        let side_effects = Some(Vec::new());
        let kind = Some(kind);
        Self { kind, side_effects, ..Self::new(region, slug, version, UseResult::Failure) }
    }

    /// The kind of failure; an unspecified one counts as the skill's own.
    pub fn failure_kind(&self) -> FailureKind {
        self.kind.unwrap_or(FailureKind::RuntimeError)
    }
}

/// How a use ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum UseResult {
    /// It worked.
    Success,
    /// It failed.
    Failure,
    /// Not known.
    Unknown,
}

/// Who reported an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum OutcomeReporter {
    /// sinew observed it.
    #[default]
    Engine,
    /// An agent reported it.
    Agent,
    /// A person reported it.
    User,
}

impl OutcomeReporter {
    fn is_engine(&self) -> bool {
        *self == Self::Engine
    }
}

/// A skill in a region, in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionSkill {
    /// The skill.
    pub slug: String,
    /// The region.
    pub region: String,
    /// The run, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// An operation on a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LessonOp {
    /// It is learned.
    Create,
    /// It was confirmed.
    Validate,
    /// It was contradicted.
    Contradict,
    /// It is forgotten.
    Remove,
}

/// An operation on the blacklist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlacklistOp {
    /// Never offer it.
    Add,
    /// It may be offered again.
    Remove,
}

/// A counter of the original's `stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatKey {
    /// Runs that searched.
    Searches,
    /// Skills that were installed.
    Installs,
    /// Runs that the memory answered.
    CacheHits,
    /// Plans that the user was not asked about.
    ReflexesFired,
}

/// How an import affects the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CortexImportMode {
    /// Adds to it; the candidate with more runs wins.
    #[default]
    Merge,
    /// Replaces it.
    Replace,
}

/// How much is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgetScope {
    /// Everything.
    All,
    /// One region, with its pattern and its lessons.
    Region(String),
    /// One skill, wherever it was used.
    Slug(String),
}

/// A person's word that a skill only reads on this machine, bound to exactly its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOnlyDeclaration {
    /// Whether it is given or taken back.
    pub op: ReadOnlyOp,
    /// The skill.
    pub slug: String,
    /// The digest of its files.
    pub digest: String,
    /// Who says so.
    pub who: String,
}

/// An operation on a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadOnlyOp {
    /// It only reads.
    Declare,
    /// That is taken back.
    Revoke,
}

/// A person's approval, bound to the approved content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentRecord {
    /// The run it was given in.
    pub run: String,
    /// What it allows.
    pub act: ConsentAct,
    /// The region of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The skill, or the command of a system dependency.
    pub subject: String,
    /// The digest of what may be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Who approved.
    pub who: String,
    /// The channel.
    pub channel: ConsentChannel,
    /// When.
    pub at: UtcInstant,
}

fn clawhub() -> String {
    "clawhub".to_owned()
}

fn is_clawhub(source: &str) -> bool {
    source == "clawhub"
}

fn whole() -> f64 {
    1.0
}

#[allow(clippy::float_cmp, reason = "the value that is left out, exactly")]
fn is_whole(blame: &f64) -> bool {
    *blame == 1.0
}

fn once() -> u32 {
    1
}

fn is_once(attempts: &u32) -> bool {
    *attempts == 1
}

fn is_false(value: &bool) -> bool {
    !*value
}
