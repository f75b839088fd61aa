//! One file, several writers: what each of them added survives.

use super::import::lesson;
use super::schema::{CandidatePart, CortexJson, LessonPart, MotorPart, PatternPart, StatsPart};

/// Merges `ours` and `theirs`, the file as it is on disk now. `before` is what we wrote last: an
/// unchanged entry of it that is missing in `ours` was removed by us; everything else in the file
/// belongs to other writers and stays.
pub fn merge(before: &CortexJson, ours: &CortexJson, theirs: &CortexJson) -> CortexJson {
    let mut merged = ours.clone();
    let (was, file) = (&before.cortex, &theirs.cortex);
    let patterns = &mut merged.cortex.sensory.patterns;
    for pattern in &file.sensory.patterns {
        let known = was.sensory.patterns.iter().find(|known| known.region == pattern.region);
        match patterns.iter_mut().find(|found| found.region == pattern.region) {
            Some(found) => merge_words(known, found, pattern),
            None if known == Some(pattern) => {}
            None => patterns.push(pattern.clone()),
        }
    }
    for (name, region) in &file.motor {
        let known = was.motor.iter().find(|(known, _)| known == name).map(|(_, region)| region);
        match merged.cortex.motor.iter_mut().find(|(found, _)| found == name) {
            Some((_, found)) => merge_region(known, found, region),
            None if known == Some(region) => {}
            None => merged.cortex.motor.push((name.clone(), region.clone())),
        }
    }
    let lessons = &mut merged.cortex.prefrontal.lessons;
    for theirs in &file.prefrontal.lessons {
        let same = |part: &&LessonPart| lesson(part) == lesson(theirs);
        let was_there = was.prefrontal.lessons.iter().find(same) == Some(theirs);
        if lessons.iter().find(same).is_none() && !was_there {
            lessons.push(theirs.clone());
        }
    }
    for slug in &theirs.blacklist {
        if !merged.blacklist.contains(slug) && !before.blacklist.contains(slug) {
            merged.blacklist.push(slug.clone());
        }
    }
    merge_stats(&mut merged.stats, &theirs.stats);
    for (key, value) in &theirs.extra {
        merged.extra.insert(key.clone(), value.clone());
    }
    merged
}

fn merge_words(before: Option<&PatternPart>, ours: &mut PatternPart, theirs: &PatternPart) {
    for word in &theirs.signal {
        let was_there = before.is_some_and(|before| before.signal.contains(word));
        if !ours.signal.contains(word) && !was_there {
            ours.signal.push(word.clone());
        }
    }
    let over = ours.signal.len().saturating_sub(crate::prune::MAX_SIGNALS);
    ours.signal.drain(..over);
}

fn merge_region(before: Option<&MotorPart>, ours: &mut MotorPart, theirs: &MotorPart) {
    ours.last_used = ours.last_used.max(theirs.last_used);
    for candidate in &theirs.candidates {
        let same = |part: &&CandidatePart| part.slug == candidate.slug;
        let was = before.and_then(|before| before.candidates.iter().find(same));
        match ours.candidates.iter_mut().find(|part| part.slug == candidate.slug) {
            // Entries that no other writer changed are ours to update, even if a retraction lowered
            // the count.
            Some(_) if was == Some(candidate) => {}
            Some(found) if runs(found) > runs(candidate) => {}
            Some(found) => *found = candidate.clone(),
            None if was == Some(candidate) => {}
            None => ours.candidates.push(candidate.clone()),
        }
    }
    for (key, value) in &theirs.extra {
        ours.extra.insert(key.clone(), value.clone());
    }
}

fn runs(part: &CandidatePart) -> u64 {
    part.runs.success.saturating_add(part.runs.fail)
}

fn merge_stats(ours: &mut StatsPart, theirs: &StatsPart) {
    ours.searches = ours.searches.max(theirs.searches);
    ours.installs = ours.installs.max(theirs.installs);
    ours.cache_hits = ours.cache_hits.max(theirs.cache_hits);
    ours.reflexes_fired = ours.reflexes_fired.max(theirs.reflexes_fired);
    for (key, value) in &theirs.extra {
        ours.extra.insert(key.clone(), value.clone());
    }
}
