//! The search index: words and meaning of every visible skill, in memory, made from the documents.
//!
//! A query word counts in full where a skill has it, and half where a word of the skill only begins
//! with it. A skill that means nearly the same is found although its words differ. A skill whose name is
//! the query comes first.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use serde::Serialize;

use super::meaning_index::MeaningIndex;
use super::model::{SkillDoc, StatsDoc};
use super::words::{slugged, tokens, weights};

/// How quickly repetitions of a word stop adding to the score.
const SATURATION: f32 = 1.2;
/// The share of a word's weight where a word of the skill only begins with it.
const BEGINNING: f32 = 0.5;
/// Words that one prefix may match; `a` would match thousands.
const MAX_BEGINNINGS: usize = 64;
/// Words of a query; the rest is not read.
const MAX_WORDS: usize = 32;
/// The score for a name that equals the query: more than all words of a name can add up to.
const IS_NAME: f32 = 100.0;
/// The score for a slug that begins with the query.
const BEGINS_SLUG: f32 = 5.0;
/// Slugs that one prefix may match.
const MAX_SLUGS: usize = 1_000;

/// How a score is made, for requests with `explain`.
pub(crate) const FORMULA: &str = "words: sum over query words of idf * w / (w + 1.2), where w adds 4 for \
    each place in the slug, 3 in the name, 2 in the topics, 1 in the summary, and half of that for \
    words that only begin with the query word; plus meaning: 16 * the cosine of the query with name, \
    summary and topics by the router's token vectors, in steps of 0.05 from 0.35 on; plus name: 100 if the \
    slug or the name is the query, or 5 if the slug begins with it; plus popularity: \
    0.1 * ln(1 + stars) + 0.05 * ln(1 + downloads)";

/// What a search shows of a skill.
#[derive(Debug, Clone)]
pub(crate) struct IndexEntry {
    pub(crate) skill: SkillDoc,
    pub(crate) downloads: u64,
    pub(crate) installs: u64,
}

/// One hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexHit<'a> {
    pub(crate) entry: &'a IndexEntry,
    pub(crate) score: f32,
    pub(crate) parts: HitScoreParts,
}

/// What a score is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct HitScoreParts {
    pub(crate) words: f32,
    pub(crate) meaning: f32,
    pub(crate) name: f32,
    pub(crate) popularity: f32,
}

/// What a search has added up for one skill.
#[derive(Debug, Clone, Copy, Default)]
struct HitScoreSum {
    words: f32,
    meaning: f32,
    name: f32,
    /// Weights of the query word that is being looked at.
    word: f32,
    seen: bool,
}

thread_local! {
    /// A sum for each entry, all zero between two searches: a search touches hundreds of skills, and
    /// would need fresh zeros for all of them.
    static SUMS: RefCell<Vec<HitScoreSum>> = const { RefCell::new(Vec::new()) };
}

/// The index.
#[derive(Debug, Default)]
pub(crate) struct RegistryIndex {
    entries: Vec<Option<IndexEntry>>,
    /// What popularity adds to the score of each entry.
    popularity: Vec<f32>,
    free: Vec<u32>,
    by_key: BTreeMap<String, u32>,
    /// By display name, in lower case.
    by_name: HashMap<String, Vec<u32>>,
    words: BTreeMap<Box<str>, Vec<(u32, f32)>>,
    meaning: MeaningIndex,
}

impl RegistryIndex {
    /// Visible skills, in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &IndexEntry> {
        self.by_key.values().filter_map(|&at| self.entries[at as usize].as_ref())
    }

    /// The same, starting after a key.
    pub(crate) fn after(&self, key: &str) -> impl Iterator<Item = &IndexEntry> {
        let behind = self.by_key.range::<str, _>((Bound::Excluded(key), Bound::Unbounded));
        behind.filter_map(|(_, &at)| self.entries[at as usize].as_ref())
    }

    /// Counts fetches and installs of a skill.
    pub(crate) fn count(&mut self, key: &str, more: StatsDoc) {
        let Some(at) = self.by_key.get(key).map(|at| *at as usize) else { return };
        if let Some(entry) = &mut self.entries[at] {
            entry.downloads += more.downloads;
            entry.installs += more.installs;
            self.popularity[at] = popularity(entry);
        }
    }

    /// Takes a skill as it is now; a hidden one is left out.
    pub(crate) fn set(&mut self, skill: SkillDoc, downloads: u64, installs: u64) {
        let key = skill.key();
        self.remove(&key);
        if !skill.is_visible() {
            return;
        }
        let at = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.popularity.push(0.0);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        for (word, weight) in weights(&skill) {
            self.words.entry(word.into()).or_default().push((at, weight));
        }
        self.meaning.set(at, &skill);
        self.by_name.entry(skill.display_name.to_lowercase()).or_default().push(at);
        let entry = IndexEntry { skill, downloads, installs };
        self.popularity[at as usize] = popularity(&entry);
        self.entries[at as usize] = Some(entry);
        self.by_key.insert(key, at);
    }

    /// Removes a skill.
    pub(crate) fn remove(&mut self, key: &str) {
        let Some(at) = self.by_key.remove(key) else { return };
        self.meaning.clear(at);
        if let Some(entry) = self.entries[at as usize].take() {
            let name = entry.skill.display_name.to_lowercase();
            if let Some(places) = self.by_name.get_mut(&name) {
                places.retain(|place| *place != at);
                if places.is_empty() {
                    self.by_name.remove(&name);
                }
            }
            for (word, _) in weights(&entry.skill) {
                if let Some(places) = self.words.get_mut(word.as_str()) {
                    places.retain(|(place, _)| *place != at);
                    if places.is_empty() {
                        self.words.remove(word.as_str());
                    }
                }
            }
        }
        self.free.push(at);
    }

    /// The best `limit` skills for a query.
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<IndexHit<'_>> {
        // Taken, not borrowed: after a panic the sums are empty instead of wrong.
        let mut sums = SUMS.take();
        if sums.len() < self.entries.len() {
            sums.resize(self.entries.len(), HitScoreSum::default());
        }
        let mut touched: Vec<u32> = Vec::new();
        self.add_words(query, &mut sums, &mut touched);
        self.meaning.each(query, |at, worth| {
            sums[at as usize].meaning = worth;
            sums[at as usize].touch(at, &mut touched);
        });
        self.add_names(query, &mut sums, &mut touched);
        let score = |at: u32| {
            let sum = &sums[at as usize];
            sum.words + sum.meaning + sum.name + self.popularity[at as usize]
        };
        let mut best: Vec<(f32, u32)> = touched.iter().map(|&at| (score(at), at)).collect();
        if limit < best.len() {
            // By score alone first: names only decide between the few that are equal.
            let (_, &mut (least, _), _) =
                best.select_nth_unstable_by(limit, |one, two| two.0.total_cmp(&one.0));
            best.retain(|(score, _)| *score >= least);
        }
        let hit = |(score, at): (f32, u32)| {
            let (sum, popularity) = (&sums[at as usize], self.popularity[at as usize]);
            let parts = HitScoreParts {
                words: sum.words,
                meaning: sum.meaning,
                name: sum.name,
                popularity,
            };
            Some(IndexHit { entry: self.entries[at as usize].as_ref()?, score, parts })
        };
        let mut hits: Vec<IndexHit<'_>> = best.into_iter().filter_map(hit).collect();
        for at in touched {
            sums[at as usize] = HitScoreSum::default();
        }
        SUMS.set(sums);
        let order = |a: &IndexHit<'_>, b: &IndexHit<'_>| {
            let (one, two) = (&a.entry.skill, &b.entry.skill);
            let names = (&one.slug, &one.owner).cmp(&(&two.slug, &two.owner));
            b.score.total_cmp(&a.score).then(names)
        };
        if limit < hits.len() {
            hits.select_nth_unstable_by(limit, order);
            hits.truncate(limit);
        }
        hits.sort_by(order);
        hits
    }

    /// Adds the scores of the words of a query.
    fn add_words(&self, query: &str, sums: &mut [HitScoreSum], touched: &mut Vec<u32>) {
        let mut words = tokens(query);
        words.truncate(MAX_WORDS);
        words.sort_unstable();
        words.dedup();
        let mut here: Vec<u32> = Vec::new();
        for word in &words {
            let from =
                self.words.range::<str, _>((Bound::Included(word.as_str()), Bound::Unbounded));
            let beginning = from.take_while(|(known, _)| known.starts_with(word.as_str()));
            for (known, places) in beginning.take(MAX_BEGINNINGS) {
                let worth = if known.len() == word.len() { 1.0 } else { BEGINNING };
                for &(at, weight) in places {
                    let sum = &mut sums[at as usize];
                    if sum.word == 0.0 {
                        here.push(at);
                    }
                    sum.word += worth * weight;
                }
            }
            let (all, with) = (self.by_key.len() as f32, here.len() as f32);
            let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for at in here.drain(..) {
                let sum = &mut sums[at as usize];
                let weight = std::mem::take(&mut sum.word);
                sum.words += idf * weight / (weight + SATURATION);
                sum.touch(at, touched);
            }
        }
    }

    /// Adds the scores for names that equal or begin with the query.
    fn add_names(&self, query: &str, sums: &mut [HitScoreSum], touched: &mut Vec<u32>) {
        let mut add = |at: u32, worth: f32| {
            let sum = &mut sums[at as usize];
            sum.name = sum.name.max(worth);
            sum.touch(at, touched);
        };
        for &at in self.by_name.get(&query.trim().to_lowercase()).into_iter().flatten() {
            add(at, IS_NAME);
        }
        let asked = slugged(query);
        if asked.is_empty() {
            return;
        }
        let from = self.by_key.range::<str, _>((Bound::Included(asked.as_str()), Bound::Unbounded));
        for (key, &at) in from.take_while(|(key, _)| key.starts_with(&asked)).take(MAX_SLUGS) {
            let is_slug = key[asked.len()..].starts_with('/');
            add(at, if is_slug { IS_NAME } else { BEGINS_SLUG });
        }
    }

    /// Skills whose slug or name is exactly the query.
    pub(crate) fn exact(&self, query: &str, limit: usize) -> Vec<IndexHit<'_>> {
        let wanted = query.trim().trim_start_matches('@');
        let (owner, slug) = match wanted.split_once('/') {
            Some((owner, slug)) => (Some(owner.to_ascii_lowercase()), slug),
            None => (None, wanted),
        };
        // A key is the slug and the owner, so the owners of a slug are adjacent.
        let under = format!("{}/", slug.to_ascii_lowercase());
        let slugs = self.by_key.range(under.clone()..);
        let slugs = slugs.take_while(|(key, _)| key.starts_with(&under)).map(|(_, at)| *at);
        let called = self.by_name.get(&slug.to_lowercase()).into_iter().flatten().copied();
        let found: BTreeSet<u32> = slugs.chain(called).collect();
        let owned = |entry: &&IndexEntry| owner.as_ref().is_none_or(|o| *o == entry.skill.owner);
        let entries = found.into_iter().filter_map(|at| self.entries[at as usize].as_ref());
        let mut entries: Vec<&IndexEntry> = entries.filter(owned).collect();
        entries.sort_by_key(|entry| (&entry.skill.slug, &entry.skill.owner));
        let parts = HitScoreParts { name: IS_NAME, ..HitScoreParts::default() };
        let hit = |entry| IndexHit { entry, score: IS_NAME, parts };
        entries.into_iter().take(limit).map(hit).collect()
    }
}

impl HitScoreSum {
    /// Notes that the entry at `at` has a sum.
    fn touch(&mut self, at: u32, touched: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.seen, true) {
            touched.push(at);
        }
    }
}

fn popularity(entry: &IndexEntry) -> f32 {
    0.1 * (1.0 + entry.skill.stars as f32).ln() + 0.05 * (1.0 + entry.downloads as f32).ln()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn skill(slug: &str) -> SkillDoc {
        let version = serde_json::json!({
            "version": "1.0.0", "createdAt": 1, "changelog": "", "spdx": null, "fingerprints": [],
            "hasWarnings": false, "plain": { "sha256": "", "size": 0 },
        });
        let skill = serde_json::json!({
            "id": slug, "owner": "alice", "slug": slug, "displayName": slug, "summary": null,
            "topics": [], "tags": {}, "versions": [version], "setup": [], "os": [], "stars": 0,
            "createdAt": 1, "updatedAt": 1,
        });
        serde_json::from_value(skill).expect("a skill")
    }

    fn found(index: &RegistryIndex, query: &str, limit: usize) -> Vec<String> {
        index.search(query, limit).iter().map(|hit| hit.entry.skill.slug.clone()).collect()
    }

    fn many() -> RegistryIndex {
        let mut index = RegistryIndex { meaning: MeaningIndex::none(), ..RegistryIndex::default() };
        // Not in the order of their names.
        for number in (0..500).map(|number| number * 7 % 500) {
            index.set(skill(&format!("{}-{number:03}", ["mail", "photo"][number % 2])), 0, 0);
        }
        index
    }

    #[test]
    fn names_decide_between_equals_at_the_cut_too() {
        let index = many();
        let first: Vec<String> = (0..25).map(|number| format!("mail-{:03}", number * 2)).collect();
        assert_eq!(found(&index, "mail", 25), first);
        assert_eq!(found(&index, "mail", 500).len(), 250);
    }

    #[test]
    fn a_search_leaves_nothing_behind_for_the_next() {
        let index = many();
        let hits = |index: &RegistryIndex, query| -> Vec<f32> {
            index.search(query, 25).iter().map(|hit| hit.score).collect()
        };
        let (alone, other) = (hits(&index, "mail 004"), hits(&index, "photo"));
        for _ in 0..3 {
            assert_eq!(hits(&index, "photo"), other);
            assert_eq!(hits(&index, "mail 004"), alone);
            // An index of another size on the same thread.
            assert_eq!(found(&RegistryIndex::default(), "mail", 25), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_fetched_often_comes_first() {
        let mut index = many();
        index.count("mail-490/alice", StatsDoc { downloads: 9, installs: 1 });
        assert_eq!(found(&index, "mail", 2), ["mail-490", "mail-000"]);
        index.remove("mail-490/alice");
        index.set(skill("mail-491"), 0, 0);
        assert_eq!(found(&index, "mail", 2), ["mail-000", "mail-002"]);
    }
}
