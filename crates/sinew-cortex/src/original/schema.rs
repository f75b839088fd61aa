//! The schema, field by field and in the order in which it is written.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::FailureKind;
use crate::time::UtcDay;

/// Unknown fields, written back unchanged.
pub(crate) type ExtraFields = Map<String, Value>;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CortexJson {
    /// Always 1.
    pub version: u32,
    /// The three areas.
    pub cortex: CortexPart,
    /// Skills that are never offered.
    pub blacklist: Vec<String>,
    /// The counters.
    pub stats: StatsPart,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

impl Default for CortexJson {
    fn default() -> Self {
        Self {
            version: 1,
            cortex: CortexPart::default(),
            blacklist: Vec::new(),
            stats: StatsPart::default(),
            extra: ExtraFields::new(),
        }
    }
}

impl CortexJson {
    /// The text of the file: indented by two blanks, with a final line end.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The three areas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CortexPart {
    /// Which words are learned for which region.
    pub sensory: SensoryPart,
    /// The regions.
    #[serde(with = "in_order")]
    pub motor: Vec<(String, MotorPart)>,
    /// The lessons.
    pub prefrontal: PrefrontalPart,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// Which words are learned for which region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SensoryPart {
    /// One per region.
    pub patterns: Vec<PatternPart>,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// The words of one region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatternPart {
    /// The words, oldest first.
    pub signal: Vec<String>,
    /// The region.
    pub region: String,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// One region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MotorPart {
    /// Its skills.
    pub candidates: Vec<CandidatePart>,
    /// When any of them was last used.
    pub last_used: UtcDay,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// One skill in a region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidatePart {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// The version that was learned.
    pub version: String,
    /// Its learned weight, 0 to 1.
    pub weight: f64,
    /// How often it was used.
    pub runs: RunsPart,
    /// Its last failure.
    pub last_fail: Option<LastFailurePart>,
    /// Its side effects.
    pub side_effects: Vec<String>,
    /// Characters of its SKILL.md.
    pub skill_md_chars: u64,
    /// Whether it earned a reflex.
    pub reflex: bool,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// How often a skill was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunsPart {
    /// Successes.
    pub success: u64,
    /// Failures.
    pub fail: u64,
    /// Successes of the last seven days.
    pub recent_successes_7d: u32,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// The last failure of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastFailurePart {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// What was observed.
    pub detail: String,
    /// When.
    pub date: UtcDay,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// The lessons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PrefrontalPart {
    /// The lessons.
    pub lessons: Vec<LessonPart>,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// One lesson; which fields it has depends on its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonPart {
    /// `dependency_warning`, `skill_quality_warning` or `env_ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The program or variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What misleads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// When it was learned.
    pub created: UtcDay,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// The counters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatsPart {
    /// Runs that searched.
    pub searches: u64,
    /// Skills that were installed.
    pub installs: u64,
    /// Runs that the memory answered.
    pub cache_hits: u64,
    /// Plans that the user was not asked about.
    pub reflexes_fired: u64,
    #[serde(flatten)]
    pub(crate) extra: ExtraFields,
}

/// A map that keeps its order: people read the file and expect their order.
mod in_order {
    use serde::de::{Deserializer, MapAccess, Visitor};
    use serde::ser::{SerializeMap as _, Serializer};

    use super::MotorPart;

    pub(super) fn serialize<S: Serializer>(
        items: &[(String, MotorPart)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(items.len()))?;
        for (name, value) in items {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, MotorPart)>, D::Error> {
        struct MotorVisitor;

        impl<'de> Visitor<'de> for MotorVisitor {
            type Value = Vec<(String, MotorPart)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("regions by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    items.push(entry);
                }
                Ok(items)
            }
        }

        deserializer.deserialize_map(MotorVisitor)
    }
}
