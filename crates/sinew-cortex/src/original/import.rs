//! What an imported file adds to the memory.

use super::schema::{CandidatePart, CortexJson, LessonPart, MotorPart};
use crate::bayes::BayesCounts;
use crate::lesson::{Hundredths, Lesson, RememberedLesson};
use crate::memory::{
    BlacklistedSkill, CortexMemory, LastFailure, Region, RegionCandidate, RegionPattern,
    RegionSignal,
};
use crate::policy::CortexPolicy;
use crate::prune::MAX_SIGNALS;
use crate::time::{UtcDay, UtcInstant};
use crate::weight::RecentSuccesses;

/// Imports a file. Conflicts are decided per candidate: more runs win, ties go to the file.
pub(crate) fn import_into(
    memory: &mut CortexMemory,
    file: &CortexJson,
    at: UtcInstant,
    policy: &CortexPolicy,
) {
    for (place, extra) in [
        ("", &file.extra),
        ("cortex", &file.cortex.extra),
        ("sensory", &file.cortex.sensory.extra),
        ("prefrontal", &file.cortex.prefrontal.extra),
        ("stats", &file.stats.extra),
    ] {
        if !extra.is_empty() {
            memory.extra.entry(place.to_owned()).or_default().extend(extra.clone());
        }
    }
    for pattern in &file.cortex.sensory.patterns {
        let known = memory.patterns.iter().position(|known| known.region == pattern.region);
        let at_place = known.unwrap_or_else(|| {
            memory.patterns.push(RegionPattern {
                region: pattern.region.clone(),
                signals: Vec::new(),
                extra: pattern.extra.clone(),
            });
            memory.patterns.len() - 1
        });
        let known = &mut memory.patterns[at_place];
        for word in &pattern.signal {
            if !known.signals.iter().any(|signal| signal.word == *word) {
                known.signals.push(RegionSignal { word: word.clone(), added: at });
            }
        }
        let over = known.signals.len().saturating_sub(MAX_SIGNALS);
        known.signals.drain(..over);
    }
    for (name, region) in &file.cortex.motor {
        take_region(memory, name, region, policy);
    }
    for lesson in &file.cortex.prefrontal.lessons {
        take_lesson(memory, lesson);
    }
    for slug in &file.blacklist {
        if !memory.is_blacklisted(slug) {
            memory.blacklist.push(BlacklistedSkill { slug: slug.clone(), reason: None, since: at });
        }
    }
    let (stats, theirs) = (&mut memory.stats, &file.stats);
    stats.searches = stats.searches.max(theirs.searches);
    stats.installs = stats.installs.max(theirs.installs);
    stats.cache_hits = stats.cache_hits.max(theirs.cache_hits);
    stats.reflexes_fired = stats.reflexes_fired.max(theirs.reflexes_fired);
}

fn take_region(memory: &mut CortexMemory, name: &str, theirs: &MotorPart, policy: &CortexPolicy) {
    let place = memory.motor.values().map(|region| region.place + 1).max().unwrap_or(0);
    let region =
        memory.motor.entry(name.to_owned()).or_insert_with(|| Region::new(place, theirs.last_used));
    region.last_used = region.last_used.max(theirs.last_used);
    region.extra.extend(theirs.extra.clone());
    for part in &theirs.candidates {
        let candidate = candidate(part, theirs.last_used, policy);
        match region.candidates.iter_mut().find(|known| known.slug == part.slug) {
            None => region.candidates.push(candidate),
            // The same record: only fields unknown to the schema are worth taking over.
            Some(known) if is_same(known, &candidate) => known.extra = candidate.extra,
            Some(known) if known.runs() > candidate.runs() => {}
            Some(known) => *known = candidate,
        }
    }
}

/// Whether an imported record says what is already known.
fn is_same(known: &RegionCandidate, theirs: &RegionCandidate) -> bool {
    known.weight.to_bits() == theirs.weight.to_bits()
        && (known.success, known.fail) == (theirs.success, theirs.fail)
        && known.version == theirs.version
        && known.source == theirs.source
        && known.reflex == theirs.reflex
        && known.last_fail == theirs.last_fail
        && known.side_effect_tags() == theirs.side_effect_tags()
        && known.skill_md_chars == theirs.skill_md_chars
}

/// A record of the original. Values that its schema lacks get their most likely value.
fn candidate(part: &CandidatePart, last_used: UtcDay, policy: &CortexPolicy) -> RegionCandidate {
    let mut candidate = RegionCandidate::new(&part.slug, &part.source, &part.version, last_used);
    candidate.weight = part.weight;
    candidate.success = part.runs.success;
    candidate.fail = part.runs.fail;
    candidate.last_fail = part.last_fail.as_ref().map(|fail| LastFailure {
        kind: fail.kind,
        detail: fail.detail.clone(),
        date: fail.date,
    });
    candidate.side_effects = Some(part.side_effects.clone());
    candidate.skill_md_chars = part.skill_md_chars;
    candidate.reflex = part.reflex;
    let mut recent = RecentSuccesses::default();
    recent.add(last_used.start(), part.runs.recent_successes_7d, policy.fold_key().window_hours);
    candidate.recent = recent;
    candidate.streak = match part.runs.fail {
        0 => u32::try_from(part.runs.success).unwrap_or(u32::MAX),
        _ => 0,
    };
    candidate.counts = BayesCounts::default();
    let fail = part.last_fail.as_ref().map(|fail| &fail.extra);
    let extras = [("", Some(&part.extra)), ("runs", Some(&part.runs.extra)), ("last_fail", fail)];
    for (place, extra) in extras {
        if let Some(extra) = extra.filter(|extra| !extra.is_empty()) {
            candidate.extra.insert(place.to_owned(), extra.clone());
        }
    }
    candidate
}

fn take_lesson(memory: &mut CortexMemory, part: &LessonPart) {
    let Some(lesson) = lesson(part) else { return };
    let confidence = (part.confidence * 100.0).round().clamp(0.0, 100.0) as Hundredths;
    match memory.lessons.iter_mut().find(|remembered| remembered.lesson == lesson) {
        Some(remembered) => remembered.confidence = remembered.confidence.max(confidence),
        None => {
            let mut remembered = RememberedLesson::new(lesson, part.created.start());
            remembered.confidence = confidence;
            remembered.extra = part.extra.clone();
            memory.lessons.push(remembered);
        }
    }
}

pub(super) fn lesson(part: &LessonPart) -> Option<Lesson> {
    let (region, key) = (part.region.clone(), part.key.clone());
    match part.kind.as_str() {
        "dependency_warning" => Some(Lesson::DependencyWarning { region: region?, key: key? }),
        "env_ready" => Some(Lesson::EnvReady { region: region?, key: key? }),
        "skill_quality_warning" => Some(Lesson::SkillQualityWarning {
            slug: part.slug.clone()?,
            detail: part.detail.clone()?,
        }),
        _ => None,
    }
}
