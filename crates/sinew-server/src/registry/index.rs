//! The search index: words of every visible skill, in memory, made from the documents.
//!
//! A query word counts in full where a skill has it, and half where it only begins a word of the
//! skill. A slug that is the query, or begins with it, comes first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use serde::Serialize;

use super::model::SkillDoc;

/// Weights of the places in which a word can be found.
const IN_SLUG: f32 = 4.0;
const IN_NAME: f32 = 3.0;
const IN_TOPICS: f32 = 2.0;
const IN_SUMMARY: f32 = 1.0;
/// How quickly more of the same word stops helping.
const SATURATION: f32 = 1.2;
/// What a word is worth that only begins one of the skill's.
const BEGINNING: f32 = 0.5;
/// Words that one beginning may stand for; `a` would stand for thousands.
const MAX_BEGINNINGS: usize = 64;
/// Words of a query; the rest is not read.
const MAX_WORDS: usize = 32;
/// Words of a skill; a longer summary is cut.
const MAX_SKILL_WORDS: usize = 400;
/// What it is worth to be the slug that was asked for, or to begin with it.
const IS_SLUG: f32 = 20.0;
const BEGINS_SLUG: f32 = 5.0;
/// Slugs that one beginning may stand for.
const MAX_SLUGS: usize = 1_000;

/// How a score is made, for whoever asks.
pub(crate) const FORMULA: &str = "sum over query words of idf * w / (w + 1.2), where w adds 4 for \
    each place in the slug, 3 in the name, 2 in the topics, 1 in the summary, and half of that for \
    words that only begin with the query word; plus 20 if the slug is the query or 5 if it begins \
    with it; plus 0.1 * ln(1 + stars) + 0.05 * ln(1 + downloads)";

/// What a search shows of a skill.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) skill: SkillDoc,
    pub(crate) downloads: u64,
    pub(crate) installs: u64,
}

/// One hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) score: f32,
    pub(crate) parts: Parts,
}

/// What a score is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Parts {
    pub(crate) words: f32,
    pub(crate) slug: f32,
    pub(crate) popularity: f32,
}

/// The index.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    by_key: BTreeMap<String, u32>,
    /// By what people call them, in lower case.
    by_name: HashMap<String, Vec<u32>>,
    words: BTreeMap<Box<str>, Vec<(u32, f32)>>,
}

impl Index {
    /// Visible skills, in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.by_key.values().filter_map(|&at| self.entries[at as usize].as_ref())
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries[*self.by_key.get(key)? as usize].as_mut()
    }

    /// Takes a skill as it is now; one that nobody may see is left out.
    pub(crate) fn set(&mut self, skill: SkillDoc, downloads: u64, installs: u64) {
        let key = skill.key();
        self.remove(&key);
        if !skill.is_visible() {
            return;
        }
        let at = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        for (word, weight) in weights(&skill) {
            self.words.entry(word.into()).or_default().push((at, weight));
        }
        self.by_name.entry(skill.display_name.to_lowercase()).or_default().push(at);
        self.entries[at as usize] = Some(Entry { skill, downloads, installs });
        self.by_key.insert(key, at);
    }

    /// Forgets a skill.
    pub(crate) fn remove(&mut self, key: &str) {
        let Some(at) = self.by_key.remove(key) else { return };
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
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        let mut parts = vec![Parts::default(); self.entries.len()];
        let mut touched: Vec<u32> = Vec::new();
        let mut words = tokens(query);
        words.truncate(MAX_WORDS);
        words.sort_unstable();
        words.dedup();
        let mut weights = vec![0.0f32; self.entries.len()];
        let mut here: Vec<u32> = Vec::new();
        for word in &words {
            let from =
                self.words.range::<str, _>((Bound::Included(word.as_str()), Bound::Unbounded));
            let beginning = from.take_while(|(known, _)| known.starts_with(word.as_str()));
            for (known, places) in beginning.take(MAX_BEGINNINGS) {
                let worth = if known.len() == word.len() { 1.0 } else { BEGINNING };
                for &(at, weight) in places {
                    let sum = &mut weights[at as usize];
                    if *sum == 0.0 {
                        here.push(at);
                    }
                    *sum += worth * weight;
                }
            }
            let (all, with) = (self.by_key.len() as f32, here.len() as f32);
            let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for at in here.drain(..) {
                let weight = std::mem::take(&mut weights[at as usize]);
                parts[at as usize].words += idf * weight / (weight + SATURATION);
                touched.push(at);
            }
        }
        let asked = slugged(query);
        if !asked.is_empty() {
            let from = self.by_key.range(asked.clone()..);
            for (key, &at) in from.take_while(|(key, _)| key.starts_with(&asked)).take(MAX_SLUGS) {
                let is_slug = key[asked.len()..].starts_with('/');
                parts[at as usize].slug = if is_slug { IS_SLUG } else { BEGINS_SLUG };
                touched.push(at);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let hit = |at: u32| {
            let (entry, mut parts) = (self.entries[at as usize].as_ref()?, parts[at as usize]);
            parts.popularity = 0.1 * (1.0 + entry.skill.stars as f32).ln()
                + 0.05 * (1.0 + entry.downloads as f32).ln();
            Some(Hit { entry, score: parts.words + parts.slug + parts.popularity, parts })
        };
        let mut hits: Vec<Hit<'_>> = touched.into_iter().filter_map(hit).collect();
        let order = |a: &Hit<'_>, b: &Hit<'_>| {
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

    /// Skills whose slug or name is exactly the query.
    pub(crate) fn exact(&self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        let wanted = query.trim().trim_start_matches('@');
        let (owner, slug) = match wanted.split_once('/') {
            Some((owner, slug)) => (Some(owner.to_ascii_lowercase()), slug),
            None => (None, wanted),
        };
        // A key is the slug and the owner, so that the owners of a slug lie together.
        let under = format!("{}/", slug.to_ascii_lowercase());
        let slugs = self.by_key.range(under.clone()..);
        let slugs = slugs.take_while(|(key, _)| key.starts_with(&under)).map(|(_, at)| *at);
        let called = self.by_name.get(&slug.to_lowercase()).into_iter().flatten().copied();
        let found: BTreeSet<u32> = slugs.chain(called).collect();
        let owned = |entry: &&Entry| owner.as_ref().is_none_or(|o| *o == entry.skill.owner);
        let entries = found.into_iter().filter_map(|at| self.entries[at as usize].as_ref());
        let mut entries: Vec<&Entry> = entries.filter(owned).collect();
        entries.sort_by_key(|entry| (&entry.skill.slug, &entry.skill.owner));
        let parts = Parts { slug: IS_SLUG, ..Parts::default() };
        let hit = |entry| Hit { entry, score: IS_SLUG, parts };
        entries.into_iter().take(limit).map(hit).collect()
    }
}

/// The words of a skill, with what each is worth.
fn weights(skill: &SkillDoc) -> HashMap<String, f32> {
    let mut weights: HashMap<String, f32> = HashMap::new();
    let topics = skill.topics.join(" ");
    let fields: [(&str, f32); 4] = [
        (&skill.slug, IN_SLUG),
        (&skill.display_name, IN_NAME),
        (&topics, IN_TOPICS),
        (skill.summary.as_deref().unwrap_or_default(), IN_SUMMARY),
    ];
    for (text, worth) in fields {
        for word in tokens(text).into_iter().take(MAX_SKILL_WORDS) {
            *weights.entry(word).or_default() += worth;
        }
    }
    *weights.entry(skill.owner.clone()).or_default() += IN_SUMMARY;
    weights
}

/// Words in lower case, without a plural's `s`.
fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let plain = |word: &str| {
        let mut word = word.to_lowercase();
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
        word
    };
    words.map(plain).collect()
}

/// A query as the slug that it may be.
fn slugged(query: &str) -> String {
    let words: Vec<String> = query
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}
