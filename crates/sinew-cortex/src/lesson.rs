//! Lessons: structured warnings learned from outcomes. Free text is not a lesson.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::Ulid;
use crate::policy::CortexPolicy;
use crate::record::LessonOp;
use crate::time::{UtcDay, UtcInstant};

/// Confidence in hundredths: sums of tenths must not drift.
pub type Hundredths = u8;

/// The initial confidence.
pub const START: Hundredths = 60;
/// What a confirmation adds.
pub const VALIDATED: Hundredths = 10;
/// What a contradiction subtracts.
pub const CONTRADICTED: Hundredths = 20;
/// The highest confidence.
pub const CERTAIN: Hundredths = 100;
/// A lesson with less confidence is forgotten.
pub const KEEP_MIN: Hundredths = 30;
/// What each period without a confirmation subtracts, at pruning.
pub const FADES_BY: Hundredths = 10;
/// The period of the two warnings, in days.
const WARNING_PERIOD: u32 = 14;
/// The period of `env_ready`, in days: a variable that is set stays set.
const READY_PERIOD: u32 = 90;
/// How often the same program must be missing, or the same variable set, before it becomes a
/// lesson.
pub const SEEN_TWICE: u32 = 2;
/// Outcomes stored as evidence; the latest ones are enough.
const MAX_EVIDENCE: usize = 8;

/// What was learned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Lesson {
    /// Tasks of this region need a program that is often missing.
    DependencyWarning {
        /// The region.
        region: String,
        /// The program.
        key: String,
    },
    /// This skill's description promises something it does not do.
    SkillQualityWarning {
        /// The skill.
        slug: String,
        /// The misleading point.
        detail: String,
    },
    /// This region's variable is set here, so the user need not be asked for it.
    EnvReady {
        /// The region.
        region: String,
        /// The variable's name, never its value.
        key: String,
    },
}

impl Lesson {
    /// The region it belongs to.
    pub fn region(&self) -> Option<&str> {
        match self {
            Self::DependencyWarning { region, .. } | Self::EnvReady { region, .. } => Some(region),
            Self::SkillQualityWarning { .. } => None,
        }
    }

    /// The skill it belongs to.
    pub fn slug(&self) -> Option<&str> {
        match self {
            Self::SkillQualityWarning { slug, .. } => Some(slug),
            _ => None,
        }
    }

    /// The program or variable, as probes name it.
    pub fn probe(&self) -> Option<String> {
        match self {
            Self::DependencyWarning { key, .. } => Some(format!("bin:{key}")),
            Self::EnvReady { key, .. } => Some(format!("env:{key}")),
            Self::SkillQualityWarning { .. } => None,
        }
    }

    fn period(&self) -> u32 {
        match self {
            Self::EnvReady { .. } => READY_PERIOD,
            _ => WARNING_PERIOD,
        }
    }
}

/// A lesson with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RememberedLesson {
    /// What was learned.
    pub lesson: Lesson,
    /// How sure it is, in hundredths.
    pub confidence: Hundredths,
    /// When it was learned.
    pub created: UtcDay,
    /// When it was last confirmed.
    pub last_validated: UtcInstant,
    /// The latest outcomes that support it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Ulid>,
    /// How often it was contradicted.
    pub contradicted: u32,
    /// Fields that another program added.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl RememberedLesson {
    /// A new lesson.
    pub fn new(lesson: Lesson, at: UtcInstant) -> Self {
        Self {
            lesson,
            confidence: START,
            created: at.day(),
            last_validated: at,
            evidence: Vec::new(),
            contradicted: 0,
            extra: Map::new(),
        }
    }

    /// Applies an operation; `Create` of an existing lesson changes nothing.
    pub(crate) fn apply(&mut self, op: LessonOp, evidence: &[Ulid], at: UtcInstant) {
        match op {
            LessonOp::Create => {}
            LessonOp::Validate => {
                self.confidence = self.confidence.saturating_add(VALIDATED).min(CERTAIN);
                self.last_validated = at;
            }
            LessonOp::Contradict => {
                self.confidence = self.confidence.saturating_sub(CONTRADICTED);
                self.contradicted = self.contradicted.saturating_add(1);
            }
            LessonOp::Remove => self.confidence = 0,
        }
        for id in evidence {
            if !self.evidence.contains(id) {
                self.evidence.push(*id);
            }
        }
        let over = self.evidence.len().saturating_sub(MAX_EVIDENCE);
        self.evidence.drain(..over);
    }

    /// The confidence that counts at pruning.
    pub fn faded_confidence(&self, today: UtcDay, policy: &CortexPolicy) -> Hundredths {
        if !policy.lesson_decay {
            return self.confidence;
        }
        let periods = today.days_since(self.last_validated.day()) / self.lesson.period();
        let loss = periods.saturating_mul(u32::from(FADES_BY)).min(u32::from(CERTAIN));
        self.confidence.saturating_sub(u8::try_from(loss).unwrap_or(CERTAIN))
    }

    /// Whether it must be checked again before it is shown: a warning that was not confirmed for a
    /// period.
    pub fn is_stale(&self, today: UtcDay) -> bool {
        today.days_since(self.last_validated.day()) >= self.lesson.period()
    }
}
