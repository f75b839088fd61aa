//! The fold: from the log to the memory.
//!
//! [`fold`] sorts by time and id, so that the order of arrival plays no part. [`apply_all`] carries a
//! memory on with records that sort after its last; where that would not give what a whole fold
//! gives, it says so instead of being nearly right.

use std::collections::BTreeSet;

use crate::drift;
use crate::failure::FailureKind;
use crate::id::Id;
use crate::lesson::Held;
use crate::memory::{Blacklisted, Candidate, LastFail, Memory, Pattern, Region, Retained, Signal};
use crate::policy::{Policy, Shield};
use crate::prune;
use crate::record::{
    BlacklistOp, Body, Consent, ImportMode, LessonOp, Outcome, Place, Record, Scope, StatKey,
    Verdict,
};
use crate::shield;
use crate::time::Stamp;
use crate::{original, reflex, weight};

/// Side effects kept per candidate; those that forbid a reflex are kept first.
const MAX_TAGS: usize = 32;
/// Digests kept per candidate: a person who approves more versions than this has moved on.
const MAX_APPROVED: usize = 8;
/// Names of programs or variables followed per region.
const MAX_KEYS: usize = 32;
/// Outcomes kept per missing program.
const MAX_MISSING: usize = 8;

/// The memory that a log gives. Order and repetition of the records do not matter.
pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>, policy: &Policy) -> Memory {
    fold_split(&in_order(records), usize::MAX, policy).1
}

/// The memory after the first `at` records of a whole log, with what the later ones say about them,
/// and the memory after all.
pub(crate) fn fold_split(sorted: &[&Record], at: usize, policy: &Policy) -> (Memory, Memory) {
    let mut memory = Memory::new(policy);
    let skipped = skipped(sorted);
    // Nothing was folded before a whole log, so that nothing can be too late.
    let base = apply_sorted(&mut memory, sorted, at, &skipped, policy).unwrap_or(None);
    let base = base.unwrap_or_else(|| memory.clone());
    (base, memory)
}

/// The records in the order of the fold, each once.
pub(crate) fn in_order<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<&'a Record> {
    let mut sorted: Vec<&Record> = records.into_iter().collect();
    sorted.sort_by_key(|record| record.key());
    sorted.dedup_by_key(|record| record.key());
    sorted
}

/// The memory cannot be carried on with these records: a whole fold would give something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeedsFold;

/// Carries a memory on with records that were appended since.
pub fn apply_all<'a>(
    memory: &mut Memory,
    records: impl IntoIterator<Item = &'a Record>,
    policy: &Policy,
) -> Result<(), NeedsFold> {
    carry_on(memory, &in_order(records), usize::MAX, policy).map(drop)
}

/// Carries a memory on, and gives the one after the first `at` records where there are more.
pub(crate) fn carry_on(
    memory: &mut Memory,
    sorted: &[&Record],
    at: usize,
    policy: &Policy,
) -> Result<Option<Memory>, NeedsFold> {
    let first = sorted.first().map(|record| record.key());
    if memory.folded != policy.fold_key() || first.is_some_and(|key| Some(key) <= memory.last) {
        return Err(NeedsFold);
    }
    let skipped = memory.retracted.clone();
    // A retraction reaches back; it is only known where a whole fold has seen it.
    let is_news = |record: &&Record| match record.body {
        Body::Retract { target } => !skipped.contains(&record.id) && !skipped.contains(&target),
        _ => false,
    };
    if sorted.iter().any(is_news) {
        return Err(NeedsFold);
    }
    apply_sorted(memory, sorted, at, &skipped, policy)
}

fn apply_sorted(
    memory: &mut Memory,
    sorted: &[&Record],
    at: usize,
    skipped: &BTreeSet<Id>,
    policy: &Policy,
) -> Result<Option<Memory>, NeedsFold> {
    let kept: Vec<&Record> =
        sorted.iter().copied().filter(|record| !skipped.contains(&record.id)).collect();
    let spared = shield::shielded(&kept, &memory.outage, policy.shield).map_err(|_| NeedsFold)?;
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

/// The records that retractions take back. A later retraction may take back an earlier one.
fn skipped(sorted: &[&Record]) -> BTreeSet<Id> {
    let mut skipped = BTreeSet::new();
    for record in sorted.iter().rev() {
        if let Body::Retract { target } = record.body
            && !skipped.contains(&record.id)
        {
            skipped.insert(target);
        }
    }
    skipped
}

fn apply(memory: &mut Memory, record: &Record, spared: bool, policy: &Policy) {
    let at = record.ts;
    match &record.body {
        Body::Outcome(outcome) => apply_outcome(memory, record.id, at, outcome, spared, policy),
        Body::Signals { region, words, .. } => merge_signals(memory, region, words, at),
        Body::Lesson { op, lesson, evidence } => {
            match memory.lessons.iter_mut().find(|held| held.lesson == *lesson) {
                Some(held) => held.apply(*op, evidence, at),
                None if *op == LessonOp::Create => {
                    let mut held = Held::new(lesson.clone(), at);
                    held.apply(*op, evidence, at);
                    memory.lessons.push(held);
                }
                None => {}
            }
            if *op == LessonOp::Remove {
                memory.lessons.retain(|held| held.lesson != *lesson);
            }
        }
        Body::VersionSeen { slug, stored, found } => {
            for candidate in each_candidate(memory, slug) {
                if candidate.version == *stored && candidate.version != *found {
                    other_version(candidate, found);
                }
            }
        }
        Body::Retained(place) => retain(memory, place, at),
        Body::Released(place) => release(memory, place),
        Body::Blacklist { op, slug, reason } => {
            memory.blacklist.retain(|listed| listed.slug != *slug);
            if *op == BlacklistOp::Add {
                let reason = reason.clone();
                memory.blacklist.push(Blacklisted { slug: slug.clone(), reason, since: at });
            }
        }
        Body::Stat { key, by } => {
            let stats = &mut memory.stats;
            let counter = match key {
                StatKey::Searches => &mut stats.searches,
                StatKey::Installs => &mut stats.installs,
                StatKey::CacheHits => &mut stats.cache_hits,
                StatKey::ReflexesFired => &mut stats.reflexes_fired,
            };
            *counter = counter.saturating_add(*by);
        }
        Body::Import { mode, file } => {
            if *mode == ImportMode::Replace {
                forget_all(memory, policy);
            }
            original::take_in(memory, file, at, policy);
        }
        Body::Prune { removed } => {
            for removal in removed {
                prune::remove(memory, removal);
            }
        }
        Body::Retract { target } => drop(memory.retracted.insert(*target)),
        Body::Reset { scope } => reset(memory, scope, policy),
        Body::Consent(consent) => approve(memory, consent),
        Body::Offered(place) => {
            if let Some(candidate) = find_candidate(memory, &place.region, &place.slug) {
                candidate.offered = Some(at.day());
            }
        }
        Body::Unknown => {}
    }
}

fn apply_outcome(
    memory: &mut Memory,
    id: Id,
    at: Stamp,
    outcome: &Outcome,
    spared: bool,
    policy: &Policy,
) {
    let failed = match outcome.result {
        Verdict::Unknown => return,
        Verdict::Success => None,
        Verdict::Failure => Some(outcome.failure_kind()),
    };
    let shielded = failed.is_some() && policy.shield != Shield::Off && (spared || outcome.shielded);
    if failed == Some(FailureKind::ApiError) && policy.shield != Shield::Off {
        memory.outage.note(&outcome.slug, at, shielded);
    }
    let today = at.day();
    let is_kept = memory.kept(&outcome.region, &outcome.slug).is_some();
    if !is_kept {
        let region = region_mut(memory, &outcome.region, at);
        region.last_used = region.last_used.max(today);
        follow_names(region, id, outcome, failed, shielded);
        if !region.candidates.iter().any(|candidate| candidate.slug == outcome.slug) {
            let (slug, source) = (&outcome.slug, &outcome.source);
            region.candidates.push(Candidate::new(slug, source, &outcome.version, today));
        }
    }
    let Some(candidate) = find_candidate(memory, &outcome.region, &outcome.slug) else { return };
    if candidate.version != outcome.version {
        if candidate.announced.as_deref() != Some(&outcome.version) {
            other_version(candidate, &outcome.version);
        }
        candidate.version.clone_from(&outcome.version);
        candidate.announced = None;
    }
    candidate.source.clone_from(&outcome.source);
    candidate.last_used = candidate.last_used.max(today);
    learn_tags(candidate, outcome.side_effects.as_deref());
    if let Some(chars) = outcome.skill_md_chars {
        candidate.skill_md_chars = chars;
        candidate.skill_md_bytes = outcome.skill_md_bytes;
    }
    let blame = if outcome.blame > 0.0 && outcome.blame < 1.0 { outcome.blame } else { 1.0 };
    match failed {
        None => succeed(candidate, at, blame, policy),
        Some(kind) => fail(candidate, at, kind, outcome, blame, shielded, policy),
    }
}

pub(crate) fn succeed(candidate: &mut Candidate, at: Stamp, blame: f64, policy: &Policy) {
    let hours = policy.fold_key().window_hours;
    let recent = candidate.recent.count(at, hours);
    candidate.weight = weight::after_success(candidate.weight, recent, blame);
    candidate.recent.add(at, 1, hours);
    candidate.success += 1;
    candidate.streak = candidate.streak.saturating_add(1);
    candidate.counts = candidate.counts.success(blame);
    candidate.drift = drift::after(candidate.drift, None);
    candidate.push_ring('S');
    // Nothing but a failure or another version takes a reflex away, not even an import's tags.
    candidate.reflex |= reflex::is_earned(candidate);
}

pub(crate) fn fail(
    candidate: &mut Candidate,
    at: Stamp,
    kind: FailureKind,
    outcome: &Outcome,
    blame: f64,
    shielded: bool,
    policy: &Policy,
) {
    if shielded {
        candidate.env_fails = candidate.env_fails.saturating_add(1);
        candidate.push_ring('x');
        if policy.shield == Shield::All {
            return;
        }
    } else {
        candidate.counts = candidate.counts.failure(kind, blame);
        candidate.drift = drift::after(candidate.drift, Some(kind));
        candidate.push_ring(kind.as_str().chars().next().unwrap_or('r'));
        if drift::alarms(candidate.drift) {
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
    candidate.last_fail =
        Some(LastFail { kind, detail: outcome.detail.clone().unwrap_or_default(), date: at.day() });
}

/// Another version is another skill, a quarter of which is known.
fn other_version(candidate: &mut Candidate, found: &str) {
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

/// A tag that was seen once stays: whoever wrote once may write again.
fn learn_tags(candidate: &mut Candidate, tags: Option<&[String]>) {
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
    id: Id,
    outcome: &Outcome,
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

fn merge_signals(memory: &mut Memory, region: &str, words: &[String], at: Stamp) {
    if !memory.patterns.iter().any(|pattern| pattern.region == region) {
        let pattern = Pattern {
            region: region.to_owned(),
            signals: Vec::new(),
            extra: serde_json::Map::new(),
        };
        memory.patterns.push(pattern);
    }
    for pattern in memory.patterns.iter_mut().filter(|pattern| pattern.region == region) {
        for word in words {
            if !pattern.signals.iter().any(|signal| signal.word == *word) {
                pattern.signals.push(Signal { word: word.clone(), added: at });
            }
        }
        let over = pattern.signals.len().saturating_sub(prune::MAX_SIGNALS);
        pattern.signals.drain(..over);
    }
}

fn retain(memory: &mut Memory, place: &Place, at: Stamp) {
    let Some(region) = memory.motor.get_mut(&place.region) else { return };
    let Some(found) = region.candidates.iter().position(|c| c.slug == place.slug) else { return };
    let candidate = region.candidates.remove(found);
    let (slug, region) = (place.slug.clone(), place.region.clone());
    memory.retained.push(Retained { slug, region, since: at, candidate });
}

/// Uninstalling a skill that was kept gives its record back to its region.
fn release(memory: &mut Memory, place: &Place) {
    let kept = memory
        .retained
        .iter()
        .position(|kept| kept.slug == place.slug && kept.region == place.region);
    let Some(found) = kept else { return };
    let kept = memory.retained.remove(found);
    let region = region_mut(memory, &kept.region, kept.candidate.last_used.start());
    region.candidates.push(kept.candidate);
}

fn approve(memory: &mut Memory, consent: &Consent) {
    let (Some(region), Some(digest)) = (&consent.region, &consent.digest) else { return };
    if consent.act != crate::acquire::Act::Install {
        return;
    }
    let slugs = memory.approved.entry(region.clone()).or_default();
    let digests = slugs.entry(consent.subject.clone()).or_default();
    digests.retain(|known| known != digest);
    digests.push(digest.clone());
    let over = digests.len().saturating_sub(MAX_APPROVED);
    digests.drain(..over);
}

fn reset(memory: &mut Memory, scope: &Scope, policy: &Policy) {
    match scope {
        Scope::All => forget_all(memory, policy),
        Scope::Region(region) => {
            prune::remove_region(memory, region);
            memory.retained.retain(|kept| kept.region != *region);
        }
        // The blacklist is a person's word about the skill; only a person's word takes it back.
        Scope::Slug(slug) => {
            for region in memory.motor.values_mut() {
                region.candidates.retain(|candidate| candidate.slug != *slug);
            }
            memory.retained.retain(|kept| kept.slug != *slug);
            memory.lessons.retain(|held| held.lesson.slug() != Some(slug));
            memory.approved.values_mut().for_each(|slugs| drop(slugs.remove(slug)));
        }
    }
}

/// Forgets what was learned. Where the fold stands, and what the network did, is not learning.
fn forget_all(memory: &mut Memory, policy: &Policy) {
    let fresh = Memory::new(policy);
    let old = std::mem::replace(memory, fresh);
    memory.last = old.last;
    memory.records = old.records;
    memory.retracted = old.retracted;
    memory.outage = old.outage;
}

fn region_mut<'a>(memory: &'a mut Memory, name: &str, at: Stamp) -> &'a mut Region {
    let place = memory.motor.values().map(|region| region.place + 1).max().unwrap_or(0);
    memory.motor.entry(name.to_owned()).or_insert_with(|| Region::new(place, at.day()))
}

fn find_candidate<'a>(
    memory: &'a mut Memory,
    region: &str,
    slug: &str,
) -> Option<&'a mut Candidate> {
    let kept = memory.retained.iter_mut().filter(|kept| kept.region == region);
    let kept = kept.map(|kept| &mut kept.candidate);
    let live = memory.motor.get_mut(region).into_iter().flat_map(|found| &mut found.candidates);
    kept.chain(live).find(|candidate| candidate.slug == slug)
}

fn each_candidate<'a>(
    memory: &'a mut Memory,
    slug: &'a str,
) -> impl Iterator<Item = &'a mut Candidate> {
    let kept = memory.retained.iter_mut().map(|kept| &mut kept.candidate);
    let live = memory.motor.values_mut().flat_map(|region| &mut region.candidates);
    kept.chain(live).filter(move |candidate| candidate.slug == slug)
}
