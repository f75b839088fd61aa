//! The memory as a `cortex.json`.

use super::schema::{
    CandidatePart, CortexJson, CortexPart, ExtraFields, LastFailurePart, LessonPart, MotorPart,
    PatternPart, PrefrontalPart, RunsPart, SensoryPart, StatsPart,
};
use crate::lesson::{Lesson, RememberedLesson};
use crate::memory::{CortexMemory, RegionCandidate};
use crate::policy::CortexPolicy;
use crate::time::UtcInstant;

/// What the original tells its readers to do about a missing program.
const DEPENDENCY_ACTION: &str = "check_bin_before_install";

/// The memory in the original's schema. What the schema lacks is left out.
pub fn export(memory: &CortexMemory, now: UtcInstant, policy: &CortexPolicy) -> CortexJson {
    let extra = |place: &str| memory.extra.get(place).cloned().unwrap_or_default();
    let mut regions: Vec<_> = memory.motor.iter().collect();
    regions.sort_by_key(|(name, region)| (region.place, name.as_str()));
    let motor = regions.into_iter().map(|(name, region)| {
        let candidates =
            region.candidates.iter().map(|found| candidate(found, now, policy)).collect();
        let part =
            MotorPart { candidates, last_used: region.last_used, extra: region.extra.clone() };
        (name.clone(), part)
    });
    let patterns = memory.patterns.iter().map(|pattern| PatternPart {
        signal: pattern.signals.iter().map(|signal| signal.word.clone()).collect(),
        region: pattern.region.clone(),
        extra: pattern.extra.clone(),
    });
    CortexJson {
        version: 1,
        cortex: CortexPart {
            sensory: SensoryPart { patterns: patterns.collect(), extra: extra("sensory") },
            motor: motor.collect(),
            prefrontal: PrefrontalPart {
                lessons: memory.lessons.iter().map(lesson).collect(),
                extra: extra("prefrontal"),
            },
            extra: extra("cortex"),
        },
        blacklist: memory.blacklist.iter().map(|listed| listed.slug.clone()).collect(),
        stats: StatsPart {
            searches: memory.stats.searches,
            installs: memory.stats.installs,
            cache_hits: memory.stats.cache_hits,
            reflexes_fired: memory.stats.reflexes_fired,
            extra: extra("stats"),
        },
        extra: extra(""),
    }
}

fn candidate(candidate: &RegionCandidate, now: UtcInstant, policy: &CortexPolicy) -> CandidatePart {
    let extra = |place: &str| candidate.extra.get(place).cloned().unwrap_or_default();
    CandidatePart {
        slug: candidate.slug.clone(),
        source: candidate.source.clone(),
        version: candidate.version.clone(),
        weight: candidate.weight,
        runs: RunsPart {
            success: candidate.success,
            fail: candidate.fail,
            recent_successes_7d: candidate.recent.count(now, policy.fold_key().window_hours),
            extra: extra("runs"),
        },
        last_fail: candidate.last_fail.as_ref().map(|fail| LastFailurePart {
            kind: fail.kind,
            detail: fail.detail.clone(),
            date: fail.date,
            extra: extra("last_fail"),
        }),
        side_effects: candidate.side_effect_tags().into_iter().map(str::to_owned).collect(),
        skill_md_chars: candidate.skill_md_chars,
        reflex: candidate.reflex,
        extra: extra(""),
    }
}

fn lesson(remembered: &RememberedLesson) -> LessonPart {
    let mut part = LessonPart {
        kind: String::new(),
        region: None,
        slug: None,
        key: None,
        detail: None,
        action: None,
        confidence: f64::from(remembered.confidence) / 100.0,
        created: remembered.created,
        extra: ExtraFields::clone(&remembered.extra),
    };
    match &remembered.lesson {
        Lesson::DependencyWarning { region, key } => {
            part.kind = "dependency_warning".to_owned();
            part.region = Some(region.clone());
            part.key = Some(key.clone());
            part.action = Some(DEPENDENCY_ACTION.to_owned());
        }
        Lesson::SkillQualityWarning { slug, detail } => {
            part.kind = "skill_quality_warning".to_owned();
            part.slug = Some(slug.clone());
            part.detail = Some(detail.clone());
        }
        Lesson::EnvReady { region, key } => {
            part.kind = "env_ready".to_owned();
            part.region = Some(region.clone());
            part.key = Some(key.clone());
        }
    }
    part
}
