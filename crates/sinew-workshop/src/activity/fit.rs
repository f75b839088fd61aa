//! How near a message is to each activity: by vectors of its wordings, and by words of other languages.

use std::sync::LazyLock;

use sinew_route::{Embedder, StaticModel, TextSide, encoder_input, static_vector};

use super::question::{is_fact_question, is_lookup};
use super::table::{ActivityGroup, TABLE};
use super::wording_vectors::WORDING_VECTORS;

/// The static table, which every message is read with.
pub(crate) static STATIC_TABLE: LazyLock<Option<StaticModel>> =
    LazyLock::new(|| StaticModel::embedded().and_then(Result::ok));

/// The vectors of all wordings by the static table, activity by activity.
static STATIC_WORDINGS: LazyLock<Vec<Vec<Vec<f32>>>> = LazyLock::new(|| {
    let Some(table) = STATIC_TABLE.as_ref() else { return Vec::new() };
    let of = |wordings: &[&str]| wordings.iter().map(|text| static_vector(table, text)).collect();
    TABLE.activities.iter().map(|activity| of(&activity.wordings)).collect()
});

/// The nearest wording counts this much, and the mean of the three nearest the rest.
const NEAREST_SHARE: f32 = 0.7;
/// What a word of another language adds at most.
const WORD_SHARE: f32 = 0.5;
/// Without the encoder the scores have half the range; they are stretched to the same scale.
pub(super) const WITHOUT_ENCODER: f32 = 1.5;

/// What of a message is compared.
#[derive(Debug, Clone)]
pub struct MessageMeaning {
    text: String,
    table: Vec<f32>,
    encoder: Option<Vec<f32>>,
    /// Whether it only wants to know something.
    pub is_lookup: bool,
    /// Whether that is a plain fact.
    pub is_fact_question: bool,
}

impl MessageMeaning {
    /// Reads a message. An encoder whose vectors are not those of the wordings is not used.
    pub fn of(message: &str, encoder: Option<&dyn Embedder>) -> Self {
        let table = STATIC_TABLE.as_ref().map(|table| static_vector(table, message));
        let encoder = encoder.filter(|encoder| WORDING_VECTORS.is_of(encoder.id()));
        let encoder = encoder.and_then(|encoder| {
            let input = encoder_input(message);
            encoder.embed(&[input.as_str()], TextSide::Message).ok()?.pop()
        });
        Self {
            text: message.to_lowercase(),
            table: table.unwrap_or_default(),
            encoder,
            is_lookup: is_lookup(message),
            is_fact_question: is_fact_question(message),
        }
    }
}

impl MessageMeaning {
    /// Its vector by the encoder, where there is one.
    pub(super) fn vector(&self) -> Option<&[f32]> {
        self.encoder.as_deref()
    }

    /// Its vector by the static table.
    pub(super) fn table_vector(&self) -> &[f32] {
        &self.table
    }
}

/// The nearest activity of a message.
#[derive(Debug, Clone, Copy)]
pub struct NearestActivity {
    /// Its group.
    pub group: &'static ActivityGroup,
    /// The activity itself.
    pub id: &'static str,
    /// What it is, after "when".
    pub when: &'static str,
    /// How near it is.
    pub score: f32,
    /// Whether asking a question is a way to give this task.
    pub answers: bool,
}

/// The score of every activity for a message, or for several texts about one task.
#[derive(Debug, Clone)]
pub struct ActivityFit(Vec<f32>);

impl ActivityFit {
    /// The scores for one message.
    pub fn of(meaning: &MessageMeaning) -> Self {
        let words = spaced(&meaning.text);
        let scores = TABLE.activities.iter().enumerate().map(|(at, activity)| {
            let by_table = STATIC_WORDINGS.get(at).map(|wordings| {
                wordings.iter().map(|wording| dot(wording, &meaning.table)).collect::<Vec<f32>>()
            });
            let mut cosines = by_table.unwrap_or_else(|| vec![0.0; activity.wordings.len()]);
            match &meaning.encoder {
                Some(vector) => {
                    for (index, cosine) in cosines.iter_mut().enumerate() {
                        *cosine += WORDING_VECTORS.cosine(at, index, vector);
                    }
                }
                None => cosines.iter_mut().for_each(|cosine| *cosine *= WITHOUT_ENCODER),
            }
            cosines.sort_by(|a, b| b.total_cmp(a));
            let nearest = cosines.first().copied().unwrap_or_default();
            let some = &cosines[..cosines.len().min(3)];
            let mean = some.iter().sum::<f32>() / some.len().max(1) as f32;
            let by_words = word_strength(&activity.words, &words, &meaning.text);
            NEAREST_SHARE * nearest + (1.0 - NEAREST_SHARE) * mean + WORD_SHARE * by_words
        });
        Self(scores.collect())
    }

    /// The score of each activity, in the order of the table.
    pub(super) fn scores(&self) -> &[f32] {
        &self.0
    }

    /// How many activities there are.
    pub(super) fn count() -> usize {
        TABLE.activities.len()
    }

    /// The scores of several texts about one task, with their weights.
    pub fn together(parts: &[(Self, f32)]) -> Self {
        let whole: f32 = parts.iter().map(|(_, weight)| weight).sum();
        let sum = |at: usize| -> f32 {
            parts.iter().map(|(fit, weight)| fit.0.get(at).copied().unwrap_or(0.0) * weight).sum()
        };
        Self((0..TABLE.activities.len()).map(|at| sum(at) / whole.max(f32::EPSILON)).collect())
    }

    /// The nearest activity.
    pub fn best(&self) -> Option<NearestActivity> {
        let best = self.0.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let (at, score) = best?;
        let activity = TABLE.activities.get(at)?;
        Some(NearestActivity {
            group: TABLE.groups.get(activity.group)?,
            id: activity.id,
            when: activity.when,
            score: *score,
            answers: activity.answers,
        })
    }

    /// Wordings of the nearest activity that are not near to a message, for the trigger gate.
    pub fn other_wordings(&self, count: usize) -> Vec<&'static str> {
        let best = self.best();
        let activity = best.and_then(|best| TABLE.activities.iter().find(|one| one.id == best.id));
        activity
            .map(|activity| activity.wordings.iter().take(count).copied().collect())
            .unwrap_or_default()
    }
}

pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The words of a text between single spaces, with one before the first.
fn spaced(text: &str) -> String {
    let mut out = String::from(" ");
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

/// How strongly the words of an activity are in a text: longer ones say more.
fn word_strength(words: &[&str], spaced: &str, raw: &str) -> f32 {
    let strength = |word: &&str| {
        let length = word.chars().count() as f32;
        let dense = word.chars().any(is_dense);
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || c == ' ');
        let found = match dense || !is_plain {
            true => raw.contains(*word),
            false => spaced.contains(&format!(" {word}")),
        };
        let each = if dense { 0.15 } else { 0.05 };
        if found { (0.6 + each * length).min(1.0) } else { 0.0 }
    };
    words.iter().map(strength).fold(0.0, f32::max)
}

/// Scripts that put no spaces between words.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}
