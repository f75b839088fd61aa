//! Lessons: structured warnings that outcomes teach. Free text is no lesson.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::Ulid;
use crate::policy::CortexPolicy;
use crate::record::LessonOp;
use crate::time::{UtcDay, UtcInstant};

/// Confidence in hundredths: sums of tenths must not drift.
pub type Hundredths = u8;

/// What a lesson starts with.
pub const START: Hundredths = 60;
/// What being right again adds.
pub const VALIDATED: Hundredths = 10;
/// What being wrong takes.
pub const CONTRADICTED: Hundredths = 20;
/// No lesson is surer than this.
pub const CERTAIN: Hundredths = 100;
/// Below this a lesson is forgotten.
pub const KEEP_MIN: Hundredths = 30;
/// What each period without being right takes, at pruning.
pub const FADES_BY: Hundredths = 10;
/// The period of the two warnings, in days.
const WARNING_PERIOD: u32 = 14;
/// The period of `env_ready`, in days: a variable that is set stays set.
const READY_PERIOD: u32 = 90;
/// How often the same program must be missing, or the same variable set, before it is a lesson.
pub const SEEN_TWICE: u32 = 2;
/// Outcomes kept as evidence; the latest ones say enough.
const MAX_EVIDENCE: usize = 8;

/// What was learned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Lesson {
    /// Tasks of this region need a program that is often missing.
    DependencyWarning {
        /// The region.
        region: String,
        /// The program.
        key: String,
    },
    /// This skill's description promises what it does not do.
    SkillQualityWarning {
        /// The skill.
        slug: String,
        /// The point that misleads.
        detail: String,
    },
    /// This region's variable is set here: nobody needs to be asked for it.
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

/// A lesson with what speaks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RememberedLesson {
    /// What was learned.
    pub lesson: Lesson,
    /// How sure it is, in hundredths.
    pub confidence: Hundredths,
    /// When it was learned.
    pub created: UtcDay,
    /// When it was last right.
    pub last_validated: UtcInstant,
    /// The latest outcomes that speak for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Ulid>,
    /// How often it was wrong.
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

    /// Applies what happened to it; `Create` of one that is there changes nothing.
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
        let taken = periods.saturating_mul(u32::from(FADES_BY)).min(u32::from(CERTAIN));
        self.confidence.saturating_sub(u8::try_from(taken).unwrap_or(CERTAIN))
    }

    /// Whether it must be probed again before it is shown: a warning that was not right for a period.
    pub fn is_stale(&self, today: UtcDay) -> bool {
        today.days_since(self.last_validated.day()) >= self.lesson.period()
    }
}
