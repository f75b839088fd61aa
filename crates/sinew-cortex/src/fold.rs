//! The fold: from the log to the memory.
//!
//! [`fold`] sorts by time and id, so that the order of arrival does not matter. [`apply_all`]
//! updates a memory with records that sort after its last; if that would give another result than a
//! full fold, it returns an error instead of an approximation.

use std::collections::BTreeSet;

use sinew_settings::config::ShieldScope;

use crate::drift;
use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::lesson::RememberedLesson;
use crate::memory::{
    BlacklistedSkill, CortexMemory, DeclaredReadOnly, LastFailure, Region, RegionCandidate,
    RegionPattern, RegionSignal, RetainedSkill, used_on,
};
use crate::policy::CortexPolicy;
use crate::prune;
use crate::record::{
    BlacklistOp, ConsentRecord, CortexImportMode, CortexRecord, ForgetScope, LessonOp,
    ReadOnlyDeclaration, ReadOnlyOp, RecordBody, RegionSkill, SkillOutcome, StatKey, UseResult,
};
use crate::shield;
use crate::time::UtcInstant;
use crate::{original, reflex, weight};

/// Side effects stored per candidate; those that rule out a reflex come first.
const MAX_TAGS: usize = 32;
/// Digests stored per candidate: a person who approves more versions than this has moved on.
const MAX_APPROVED: usize = 8;
/// Names of programs or variables tracked per region.
const MAX_KEYS: usize = 32;
/// Outcomes stored per missing program.
const MAX_MISSING: usize = 8;
/// Digests of which is remembered what their uses changed: more than a person declares.
const MAX_OBSERVED: usize = 500;

/// The memory of a log. Order and repetition of the records do not matter.
pub fn fold<'a>(
    records: impl IntoIterator<Item = &'a CortexRecord>,
    policy: &CortexPolicy,
) -> CortexMemory {
    fold_split(&in_order(records), usize::MAX, policy).1
}

/// The memory after the first `at` records of a full log, including what later ones say about them,
/// and the memory after all records.
pub(crate) fn fold_split(
    sorted: &[&CortexRecord],
    at: usize,
    policy: &CortexPolicy,
) -> (CortexMemory, CortexMemory) {
    let mut memory = CortexMemory::new(policy);
    let skipped = skipped(sorted);
    // Nothing was folded before, so no record can be too late.
    let base = apply_sorted(&mut memory, sorted, at, &skipped, policy).unwrap_or(None);
    let base = base.unwrap_or_else(|| memory.clone());
    (base, memory)
}

/// The records in fold order, each once.
pub(crate) fn in_order<'a>(
    records: impl IntoIterator<Item = &'a CortexRecord>,
) -> Vec<&'a CortexRecord> {
    let mut sorted: Vec<&CortexRecord> = records.into_iter().collect();
    sorted.sort_by_key(|record| record.key());
    sorted.dedup_by_key(|record| record.key());
    sorted
}

/// The memory cannot be updated with these records: a full fold would give another result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeedsFold;

/// Updates a memory with records that were appended since.
pub fn apply_all<'a>(
    memory: &mut CortexMemory,
    records: impl IntoIterator<Item = &'a CortexRecord>,
    policy: &CortexPolicy,
) -> Result<(), NeedsFold> {
    continue_fold(memory, &in_order(records), usize::MAX, policy).map(drop)
}

/// Updates a memory, and returns the one after the first `at` records if there are more.
pub(crate) fn continue_fold(
    memory: &mut CortexMemory,
    sorted: &[&CortexRecord],
    at: usize,
    policy: &CortexPolicy,
) -> Result<Option<CortexMemory>, NeedsFold> {
    let first = sorted.first().map(|record| record.key());
    if memory.folded != policy.fold_key() || first.is_some_and(|key| Some(key) <= memory.last) {
        return Err(NeedsFold);
    }
    let skipped = memory.retracted.clone();
    // A retraction affects earlier records; only a full fold can apply it.
    let is_news = |record: &&CortexRecord| match record.body {
        RecordBody::Retract { target } => {
            !skipped.contains(&record.id) && !skipped.contains(&target)
        }
        _ => false,
    };
    if sorted.iter().any(is_news) {
        return Err(NeedsFold);
    }
    apply_sorted(memory, sorted, at, &skipped, policy)
}

fn apply_sorted(
    memory: &mut CortexMemory,
    sorted: &[&CortexRecord],
    at: usize,
    skipped: &BTreeSet<Ulid>,
    policy: &CortexPolicy,
) -> Result<Option<CortexMemory>, NeedsFold> {
    let effective: Vec<&CortexRecord> =
        sorted.iter().copied().filter(|record| !skipped.contains(&record.id)).collect();
    let spared =
        shield::shielded(&effective, &memory.outage, policy.shield).map_err(|_| NeedsFold)?;
    let mut base = None;
    for (place, record) in sorted.iter().enumerate() {
        if place == at {
            let mut memory = memory.clone();
            memory.retracted.extend(skipped);
            base = Some(memory);
        }
        if !skipped.contains(&record.id) {
            apply(memory, record, spared.contains(&record.id), policy);
        }
        memory.records += 1;
        memory.last = Some(record.key());
    }
    Ok(base)
}

/// The records that are retracted. A later retraction may retract an earlier one.
fn skipped(sorted: &[&CortexRecord]) -> BTreeSet<Ulid> {
    let mut skipped = BTreeSet::new();
    for record in sorted.iter().rev() {
        if let RecordBody::Retract { target } = record.body
            && !skipped.contains(&record.id)
        {
            skipped.insert(target);
        }
    }
    skipped
}

fn apply(memory: &mut CortexMemory, record: &CortexRecord, spared: bool, policy: &CortexPolicy) {
    let at = record.ts;
    match &record.body {
        RecordBody::Outcome(outcome) => {
            apply_outcome(memory, record.id, at, outcome, spared, policy);
        }
        RecordBody::Signals { region, words, .. } => merge_signals(memory, region, words, at),
        RecordBody::Lesson { op, lesson, evidence } => {
            match memory.lessons.iter_mut().find(|held| held.lesson == *lesson) {
                Some(held) => held.apply(*op, evidence, at),
                None if *op == LessonOp::Create => {
                    let mut held = RememberedLesson::new(lesson.clone(), at);
                    held.apply(*op, evidence, at);
                    memory.lessons.push(held);
                }
                None => {}
            }
            if *op == LessonOp::Remove {
                memory.lessons.retain(|held| held.lesson != *lesson);
            }
        }
        RecordBody::VersionSeen { slug, stored, found } => {
            for candidate in each_candidate(memory, slug) {
                if candidate.version == *stored && candidate.version != *found {
                    other_version(candidate, found);
                }
            }
        }
        RecordBody::Retained(place) => retain(memory, place, at),
        RecordBody::Released(place) => release(memory, place),
        RecordBody::Blacklist { op, slug, reason } => {
            memory.blacklist.retain(|listed| listed.slug != *slug);
            if *op == BlacklistOp::Add {
                let reason = reason.clone();
                memory.blacklist.push(BlacklistedSkill { slug: slug.clone(), reason, since: at });
            }
        }
        RecordBody::Stat { key, by } => {
            let stats = &mut memory.stats;
            let counter = match key {
                StatKey::Searches => &mut stats.searches,
                StatKey::Installs => &mut stats.installs,
                StatKey::CacheHits => &mut stats.cache_hits,
                StatKey::ReflexesFired => &mut stats.reflexes_fired,
            };
            *counter = counter.saturating_add(*by);
        }
        RecordBody::Import { mode, file } => {
            if *mode == CortexImportMode::Replace {
                forget_all(memory, policy);
            }
            original::import_into(memory, file, at, policy);
        }
        RecordBody::Prune { removed } => {
            for removal in removed {
                prune::remove(memory, removal);
            }
        }
        RecordBody::Retract { target } => drop(memory.retracted.insert(*target)),
        RecordBody::Reset { scope } => reset(memory, scope, policy),
        RecordBody::Consent(consent) => approve(memory, consent),
        RecordBody::Offered(place) => {
            if let Some(candidate) = find_candidate(memory, &place.region, &place.slug) {
                candidate.offered = Some(at.day());
            }
        }
        RecordBody::KeepDeclined(place) => {
            *memory.keep_declined.entry(place.slug.clone()).or_default() += 1;
        }
        RecordBody::Vanished(place) => {
            memory.vanished.entry(place.slug.clone()).or_insert(at);
        }
        RecordBody::ReadOnly(declared) => declare(memory, declared, at),
        RecordBody::Unknown => {}
    }
}

/// A person's word counts from now on; what earned a reflex but for its side effects has it at once.
fn declare(memory: &mut CortexMemory, declared: &ReadOnlyDeclaration, at: UtcInstant) {
    let ReadOnlyDeclaration { op, slug, digest, who } = declared;
    if *op == ReadOnlyOp::Revoke {
        memory.read_only.remove(digest);
        return;
    }
    let entry = DeclaredReadOnly { slug: slug.clone(), who: who.clone(), since: at };
    memory.read_only.insert(digest.clone(), entry);
    if memory.is_declared_read_only(digest) {
        for candidate in each_candidate(memory, slug) {
            let is_it = candidate.digest.as_ref() == Some(digest) && candidate.streak > 0;
            candidate.reflex |= is_it && reflex::is_earned_but_for_effects(candidate);
        }
    }
}

/// Remembers what uses of these files were seen to change.
fn observe(memory: &mut CortexMemory, outcome: &SkillOutcome) {
    let Some(digest) = &outcome.digest else { return };
    let seen: Vec<&String> =
        outcome.observed.iter().filter(|tag| reflex::is_forbidden(tag)).collect();
    let has_room = memory.observed.len() < MAX_OBSERVED
        || memory.observed.contains_key(digest)
        || memory.read_only.contains_key(digest);
    if seen.is_empty() || !has_room {
        return;
    }
    let known = memory.observed.entry(digest.clone()).or_default();
    for tag in seen {
        if !known.contains(tag) && known.len() < MAX_TAGS {
            known.push(tag.clone());
        }
    }
}

fn apply_outcome(
    memory: &mut CortexMemory,
    id: Ulid,
    at: UtcInstant,
    outcome: &SkillOutcome,
    spared: bool,
    policy: &CortexPolicy,
) {
    // What is used is there again.
    memory.vanished.remove(&outcome.slug);
    // What was seen counts, however the use ended.
    observe(memory, outcome);
    let failed = match outcome.result {
        UseResult::Unknown => return,
        UseResult::Success => None,
        UseResult::Failure => Some(outcome.failure_kind()),
    };
    let shielded =
        failed.is_some() && policy.shield != ShieldScope::Off && (spared || outcome.shielded);
    if failed == Some(FailureKind::ApiError) && policy.shield != ShieldScope::Off {
        memory.outage.note(&outcome.slug, at, shielded);
    }
    let today = at.day();
    let is_kept = memory.retained_candidate(&outcome.region, &outcome.slug).is_some();
    if !is_kept {
        let region = region_mut(memory, &outcome.region, at);
        used_on(&mut region.last_used, &mut region.used_before_gap, today);
        follow_names(region, id, outcome, failed, shielded);
        if !region.candidates.iter().any(|candidate| candidate.slug == outcome.slug) {
            let (slug, source) = (&outcome.slug, &outcome.source);
            region.candidates.push(RegionCandidate::new(slug, source, &outcome.version, today));
        }
    }
    let excused =
        outcome.digest.as_deref().is_some_and(|digest| memory.is_declared_read_only(digest));
    let Some(candidate) = find_candidate(memory, &outcome.region, &outcome.slug) else { return };
    if outcome.digest.is_some() {
        candidate.digest.clone_from(&outcome.digest);
    }
    if candidate.version != outcome.version {
        if candidate.announced.as_deref() != Some(&outcome.version) {
            other_version(candidate, &outcome.version);
        }
        candidate.version.clone_from(&outcome.version);
        candidate.announced = None;
    }
    candidate.source.clone_from(&outcome.source);
    used_on(&mut candidate.last_used, &mut candidate.used_before_gap, today);
    learn_tags(candidate, outcome.side_effects.as_deref());
    if let Some(chars) = outcome.skill_md_chars {
        candidate.skill_md_chars = chars;
        candidate.skill_md_bytes = outcome.skill_md_bytes;
    }
    let blame = if outcome.blame > 0.0 && outcome.blame < 1.0 { outcome.blame } else { 1.0 };
    match failed {
        None => {
            succeed(candidate, at, blame, policy);
            candidate.reflex |= excused && reflex::is_earned_but_for_effects(candidate);
        }
        Some(kind) => fail(candidate, at, kind, outcome, blame, shielded, policy),
    }
}

pub(crate) fn succeed(
    candidate: &mut RegionCandidate,
    at: UtcInstant,
    blame: f64,
    policy: &CortexPolicy,
) {
    let hours = policy.fold_key().window_hours;
    let recent = candidate.recent.count(at, hours);
    candidate.weight = weight::after_success(candidate.weight, recent, blame);
    candidate.recent.add(at, 1, hours);
    candidate.success += 1;
    candidate.streak = candidate.streak.saturating_add(1);
    candidate.counts = candidate.counts.success(blame);
    candidate.drift = drift::sum_after(candidate.drift, None);
    candidate.push_ring('S');
    // Only a failure or another version takes a reflex away, not even the tags of an import do.
    candidate.reflex |= reflex::is_earned(candidate);
}

pub(crate) fn fail(
    candidate: &mut RegionCandidate,
    at: UtcInstant,
    kind: FailureKind,
    outcome: &SkillOutcome,
    blame: f64,
    shielded: bool,
    policy: &CortexPolicy,
) {
    if shielded {
        candidate.env_fails = candidate.env_fails.saturating_add(1);
        candidate.push_ring('x');
        if policy.shield == ShieldScope::All {
            return;
        }
    } else {
        candidate.counts = candidate.counts.failure(kind, blame);
        candidate.drift = drift::sum_after(candidate.drift, Some(kind));
        candidate.push_ring(kind.as_str().chars().next().unwrap_or('r'));
        if drift::raises_alarm(candidate.drift) {
            candidate.counts = candidate.counts.quartered();
            candidate.drift = 0.0;
            candidate.alarm = Some(at);
        }
    }
    candidate.weight = weight::after_failure(candidate.weight, kind, blame);
    candidate.fail += 1;
    candidate.streak = 0;
    candidate.reflex = false;
    candidate.extra.remove("last_fail");
    candidate.last_fail = Some(LastFailure {
        kind,
        detail: outcome.detail.clone().unwrap_or_default(),
        date: at.day(),
    });
}

/// Another version counts as another skill, of which a quarter is known.
fn other_version(candidate: &mut RegionCandidate, found: &str) {
    if candidate.announced.as_deref() == Some(found) {
        return;
    }
    candidate.announced = Some(found.to_owned());
    candidate.reflex = false;
    candidate.streak = 0;
    candidate.counts = candidate.counts.quartered();
    candidate.drift = 0.0;
    candidate.env_fails = 0;
    candidate.ring.clear();
}

/// A tag that was seen once stays: a skill that wrote once may write again.
fn learn_tags(candidate: &mut RegionCandidate, tags: Option<&[String]>) {
    let Some(tags) = tags else { return };
    let known = candidate.side_effects.get_or_insert_default();
    for tag in tags {
        if !known.contains(tag) {
            known.push(tag.clone());
        }
    }
    if known.len() > MAX_TAGS {
        known.sort_by_key(|tag| !reflex::is_forbidden(tag));
        known.truncate(MAX_TAGS);
    }
}

/// Counts missing programs, and uses in a row with a variable set.
fn follow_names(
    region: &mut Region,
    id: Ulid,
    outcome: &SkillOutcome,
    failed: Option<FailureKind>,
    shielded: bool,
) {
    if let Some(key) = &outcome.key
        && failed == Some(FailureKind::DependencyMissing)
        && !shielded
        && (region.missing.len() < MAX_KEYS || region.missing.contains_key(key))
    {
        let seen = region.missing.entry(key.clone()).or_default();
        seen.push(id);
        let over = seen.len().saturating_sub(MAX_MISSING);
        seen.drain(..over);
    }
    for (probe, is_set) in &outcome.probes {
        let Some(name) = probe.strip_prefix("env:") else { continue };
        if region.env_set.len() < MAX_KEYS || region.env_set.contains_key(name) {
            let count = region.env_set.entry(name.to_owned()).or_default();
            *count = if *is_set { count.saturating_add(1) } else { 0 };
        }
    }
}

fn merge_signals(memory: &mut CortexMemory, region: &str, words: &[String], at: UtcInstant) {
    if !memory.patterns.iter().any(|pattern| pattern.region == region) {
        let pattern = RegionPattern {
            region: region.to_owned(),
            signals: Vec::new(),
            extra: serde_json::Map::new(),
        };
        memory.patterns.push(pattern);
    }
    for pattern in memory.patterns.iter_mut().filter(|pattern| pattern.region == region) {
        for word in words {
            if !pattern.signals.iter().any(|signal| signal.word == *word) {
                pattern.signals.push(RegionSignal { word: word.clone(), added: at });
            }
        }
        let over = pattern.signals.len().saturating_sub(prune::MAX_SIGNALS);
        pattern.signals.drain(..over);
    }
}

fn retain(memory: &mut CortexMemory, place: &RegionSkill, at: UtcInstant) {
    let Some(region) = memory.motor.get_mut(&place.region) else { return };
    let Some(found) = region.candidates.iter().position(|c| c.slug == place.slug) else { return };
    let candidate = region.candidates.remove(found);
    let (slug, region) = (place.slug.clone(), place.region.clone());
    memory.retained.push(RetainedSkill { slug, region, since: at, candidate });
}

/// Uninstalling a retained skill returns its record to its region.
fn release(memory: &mut CortexMemory, place: &RegionSkill) {
    let kept = memory
        .retained
        .iter()
        .position(|kept| kept.slug == place.slug && kept.region == place.region);
    let Some(found) = kept else { return };
    let kept = memory.retained.remove(found);
    let region = region_mut(memory, &kept.region, kept.candidate.last_used.start());
    region.candidates.push(kept.candidate);
}

fn approve(memory: &mut CortexMemory, consent: &ConsentRecord) {
    let (Some(region), Some(digest)) = (&consent.region, &consent.digest) else { return };
    if consent.act != crate::acquire::ConsentAct::Install {
        return;
    }
    let slugs = memory.approved.entry(region.clone()).or_default();
    let digests = slugs.entry(consent.subject.clone()).or_default();
    digests.retain(|known| known != digest);
    digests.push(digest.clone());
    let over = digests.len().saturating_sub(MAX_APPROVED);
    digests.drain(..over);
}

fn reset(memory: &mut CortexMemory, scope: &ForgetScope, policy: &CortexPolicy) {
    match scope {
        ForgetScope::All => forget_all(memory, policy),
        ForgetScope::Region(region) => {
            prune::remove_region(memory, region);
            memory.retained.retain(|kept| kept.region != *region);
        }
        // The blacklist is a person's decision about the skill; only a person can revoke it.
        ForgetScope::Slug(slug) => {
            for region in memory.motor.values_mut() {
                region.candidates.retain(|candidate| candidate.slug != *slug);
            }
            memory.retained.retain(|kept| kept.slug != *slug);
            memory.lessons.retain(|held| held.lesson.slug() != Some(slug));
            memory.approved.values_mut().for_each(|slugs| drop(slugs.remove(slug)));
        }
    }
}

/// Forgets what was learned. The position of the fold and the state of the network are not
/// learning.
fn forget_all(memory: &mut CortexMemory, policy: &CortexPolicy) {
    let fresh = CortexMemory::new(policy);
    let old = std::mem::replace(memory, fresh);
    memory.last = old.last;
    memory.records = old.records;
    memory.retracted = old.retracted;
    memory.outage = old.outage;
}

fn region_mut<'a>(memory: &'a mut CortexMemory, name: &str, at: UtcInstant) -> &'a mut Region {
    let place = memory.motor.values().map(|region| region.place + 1).max().unwrap_or(0);
    memory.motor.entry(name.to_owned()).or_insert_with(|| Region::new(place, at.day()))
}

fn find_candidate<'a>(
    memory: &'a mut CortexMemory,
    region: &str,
    slug: &str,
) -> Option<&'a mut RegionCandidate> {
    let kept = memory.retained.iter_mut().filter(|kept| kept.region == region);
    let kept = kept.map(|kept| &mut kept.candidate);
    let live = memory.motor.get_mut(region).into_iter().flat_map(|found| &mut found.candidates);
    kept.chain(live).find(|candidate| candidate.slug == slug)
}

fn each_candidate<'a>(
    memory: &'a mut CortexMemory,
    slug: &'a str,
) -> impl Iterator<Item = &'a mut RegionCandidate> {
    let kept = memory.retained.iter_mut().map(|kept| &mut kept.candidate);
    let live = memory.motor.values_mut().flat_map(|region| &mut region.candidates);
    kept.chain(live).filter(move |candidate| candidate.slug == slug)
}
