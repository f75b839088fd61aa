//! The duplicate gate: a new skill with the content of another one should be a change to that one.
//!
//! Bodies are compared by the cosine of their TF-IDF vectors. Clauses that say what a skill is not
//! for are left out first: two skills that exclude each other are the opposite of copies.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};
use sinew_route::words;
use sinew_skill::content_hash;

use crate::capture::REMINDERS;
use sinew_skill::ecmascript as text;

/// From this cosine on a new skill should be an addition to the other one. A cautious value: on
/// 1,277 generated skills for 20 tasks the cut for one false merge in a thousand is 0.137, and it
/// depends on how many skills there are.
const TOO_CLOSE: f64 = 0.35;

/// Neighbours that are shown.
const SHOWN: usize = 3;

/// A skill with a lower cosine is not shown as a neighbour.
const WORTH_SHOWING: f64 = 0.05;

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum DuplicateVerdict {
    /// The body of another skill, word for word.
    Same,
    /// Close enough to belong to another skill.
    AppendTo,
    /// Something new.
    New,
}

/// A similar skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SimilarSkill {
    /// The skill.
    pub skill: String,
    /// Cosine of the bodies, 0 to 1.
    pub likeness: f64,
    /// Words that both names share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub name_words: Vec<String>,
}

/// Whether a new skill repeats another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DuplicateGateReport {
    /// The answer.
    pub verdict: DuplicateVerdict,
    /// The nearest skills, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<SimilarSkill>,
    /// The cosine from which on skills are too close.
    pub threshold: f64,
}

/// A skill's name and body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillBody<'a> {
    pub(crate) name: &'a str,
    pub(crate) body: &'a str,
}

/// The hash of a body by which "not a duplicate" is remembered.
pub(crate) fn body_hash(body: &str) -> String {
    content_hash(normalised(body).as_bytes())
}

/// The name of a pair of bodies, whichever comes first.
pub(crate) fn pair_key(a: &str, b: &str) -> String {
    let (a, b) = (body_hash(a), body_hash(b));
    if a < b { format!("{a}-{b}") } else { format!("{b}-{a}") }
}

/// Compares a new skill with all there are; `parted` says that a person marked a pair as distinct.
pub(crate) fn judge(
    new: SkillBody<'_>,
    skills: &[SkillBody<'_>],
    parted: &dyn Fn(&str) -> bool,
) -> DuplicateGateReport {
    let own = terms(new.body);
    let others: Vec<WordCounts> = skills.iter().map(|skill| terms(skill.body)).collect();
    // The same text has the same words; only where they agree is it compared letter by letter.
    let same = skills.iter().zip(&others).find(|(skill, words)| {
        skill.name != new.name && **words == own && normalised(skill.body) == normalised(new.body)
    });
    if let Some((same, _)) = same {
        let near = SimilarSkill {
            skill: same.name.to_owned(),
            likeness: 1.0,
            name_words: shared_words(new.name, same.name),
        };
        return DuplicateGateReport {
            verdict: DuplicateVerdict::Same,
            near: vec![near],
            threshold: TOO_CLOSE,
        };
    }
    let mut near = neighbours(new, own, skills, &others);
    let told_apart = |near: &SimilarSkill| {
        skills
            .iter()
            .find(|skill| skill.name == near.skill)
            .is_some_and(|skill| parted(&pair_key(new.body, skill.body)))
    };
    near.retain(|near| near.likeness < TOO_CLOSE || !told_apart(near));
    let verdict = match near.first() {
        Some(near) if near.likeness >= TOO_CLOSE => DuplicateVerdict::AppendTo,
        _ => DuplicateVerdict::New,
    };
    near.truncate(SHOWN);
    DuplicateGateReport { verdict, near, threshold: TOO_CLOSE }
}

/// Skills by the cosine of their bodies with the new one, nearest first.
fn neighbours(
    new: SkillBody<'_>,
    own: WordCounts,
    skills: &[SkillBody<'_>],
    others: &[WordCounts],
) -> Vec<SimilarSkill> {
    let mut documents: HashMap<u64, u32> = HashMap::new();
    for (term, _) in others.iter().chain([&own]).flatten() {
        *documents.entry(*term).or_default() += 1;
    }
    let total = (others.len() + 1) as f64;
    let weight = |term: u64, count: u32| {
        let frequency = f64::from(documents.get(&term).copied().unwrap_or(0));
        (1.0 + f64::from(count).ln()) * ((total + 1.0) / (frequency + 0.5)).ln()
    };
    let own: HashMap<u64, f64> =
        own.into_iter().map(|(term, count)| (term, weight(term, count))).collect();
    let own_length = own.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    let mut near: Vec<SimilarSkill> = skills
        .iter()
        .zip(others)
        .filter(|(skill, _)| skill.name != new.name)
        .map(|(skill, counts)| {
            let (mut dot, mut length) = (0.0, 0.0);
            for &(term, count) in counts {
                let weight = weight(term, count);
                length += weight * weight;
                dot += weight * own.get(&term).copied().unwrap_or(0.0);
            }
            let lengths = own_length * length.sqrt();
            let likeness = if lengths > 0.0 { dot / lengths } else { 0.0 };
            SimilarSkill {
                skill: skill.name.to_owned(),
                likeness: (likeness * 1e4).round() / 1e4,
                name_words: shared_words(new.name, skill.name),
            }
        })
        .filter(|near| near.likeness >= WORTH_SHOWING)
        .collect();
    near.sort_by(|a, b| {
        b.likeness
            .total_cmp(&a.likeness)
            .then(b.name_words.len().cmp(&a.name_words.len()))
            .then(a.skill.cmp(&b.skill))
    });
    near
}

/// Words by their hash, in order, with how often each occurs in a body. A thousand skills have
/// millions of words; their hashes are all that a comparison needs.
type WordCounts = Vec<(u64, u32)>;

/// Words of a body: `[a-z0-9]{2,}`, and the router's own words where a word has other letters.
fn terms(body: &str) -> WordCounts {
    let mut hashes: Vec<u64> = Vec::new();
    // The reminders that the workshop adds to every correction do not describe its purpose.
    let said = body.lines().filter(|line| {
        let line = line.trim_start_matches("- ").trim_end();
        !REMINDERS.contains(&line)
    });
    let said = said.collect::<Vec<_>>().join("\n");
    for raw in words::raw(&words::without_negatives(&said)) {
        if raw.is_ascii() {
            let lower = raw.to_ascii_lowercase();
            let parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
            hashes.extend(parts.filter(|part| part.len() >= 2).map(hash));
        } else {
            hashes.extend(words::search_words(raw).iter().map(|word| hash(word)));
        }
    }
    hashes.sort_unstable();
    let mut counts: WordCounts = Vec::new();
    for hash in hashes {
        match counts.last_mut() {
            Some((last, count)) if *last == hash => *count += 1,
            _ => counts.push((hash, 1)),
        }
    }
    counts
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

fn normalised(body: &str) -> String {
    text::collapse(body).to_lowercase()
}

fn shared_words(a: &str, b: &str) -> Vec<String> {
    let words = |name: &str| -> BTreeSet<String> {
        name.split(['-', '_']).filter(|word| word.len() > 1).map(str::to_owned).collect()
    };
    words(a).intersection(&words(b)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIF: &str = "Verify the source of an animated GIF, count its frames, and record attribution before it is posted to the channel.";

    fn verdict(body: &str, skills: &[SkillBody<'_>]) -> DuplicateGateReport {
        judge(SkillBody { name: "new-skill", body }, skills, &|_| false)
    }

    #[test]
    fn copies_near_copies_and_news_are_told_apart() {
        let skills = [
            SkillBody { name: "gif-checks", body: GIF },
            SkillBody { name: "ledger", body: "Book invoices in the ledger and close the month." },
            SkillBody { name: "soup", body: "Chop onions, simmer the stock, season at the end." },
        ];
        assert_eq!(
            verdict(&format!("  {}\n", GIF.to_uppercase()), &skills).verdict,
            DuplicateVerdict::Same
        );
        let near = "Before an animated GIF is posted, count its frames and record attribution for the source.";
        let found = verdict(near, &skills);
        assert_eq!(found.verdict, DuplicateVerdict::AppendTo);
        assert_eq!(found.near[0].skill, "gif-checks");
        let news = "Rotate the tyres of the car every spring and note the mileage.";
        assert_eq!(verdict(news, &skills).verdict, DuplicateVerdict::New);
        let parted = pair_key(near, GIF);
        let told = judge(SkillBody { name: "n", body: near }, &skills, &|key| key == parted);
        assert_eq!(told.verdict, DuplicateVerdict::New);
    }

    #[test]
    fn what_a_skill_is_not_for_does_not_make_it_alike() {
        let skills = [
            SkillBody {
                name: "video",
                body: "Cut and join video clips. Do not use for animated GIF frames, attribution or source checks.",
            },
            SkillBody { name: "soup", body: "Chop onions, simmer the stock." },
        ];
        assert_eq!(verdict(GIF, &skills).verdict, DuplicateVerdict::New);
        assert_eq!(verdict("検証 アニメーション", &skills).verdict, DuplicateVerdict::New);
    }
}
