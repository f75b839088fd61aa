//! The best documents by words and vectors, found in one pass.

use std::cmp::Ordering;

use crate::calibrate::SignalWeights;
use crate::index::RouteIndex;
use crate::signal_scale::SignalScale;
use crate::signals::DocumentSignals;

/// Documents that are scored before they are compared.
const BLOCK: usize = 256;

/// Best score first; ties by name, then by id.
pub(crate) fn by_score(index: &RouteIndex, a: (usize, f64), b: (usize, f64)) -> Ordering {
    b.1.total_cmp(&a.1)
        .then_with(|| index.name(a.0).cmp(index.name(b.0)))
        .then_with(|| index.id(a.0).cmp(index.id(b.0)))
        .then_with(|| a.0.cmp(&b.0))
}

/// The `count` (at least one) best documents, in any order. Excluded are those in `excluded`
/// (ascending), and those without an encoder vector if the encoder is used.
///
/// Means do not change the order, so each document's score here is the sum of its signals, each
/// times its slope. Few blocks contain anything better than the best so far.
pub(crate) fn best(
    index: &RouteIndex,
    signals: &DocumentSignals,
    scales: &[SignalScale; 3],
    weights: SignalWeights,
    excluded: &[usize],
    count: usize,
) -> Vec<usize> {
    let slopes = [
        scales[0].slope(weights.lexical),
        scales[1].slope(weights.table),
        scales[2].slope(weights.encoder),
    ];
    let with_encoder = !signals.encoder.is_empty();
    let mut top = TopDocuments { index, count, found: Vec::new(), bar: f32::NEG_INFINITY };
    let mut scores = [0.0_f32; BLOCK];
    for start in (0..index.len()).step_by(BLOCK) {
        let end = (start + BLOCK).min(index.len());
        let scores = &mut scores[..end - start];
        let (lexical, table) = (&signals.lexical[start..end], &signals.table[start..end]);
        for ((score, word), cosine) in scores.iter_mut().zip(lexical).zip(table) {
            *score = slopes[0] * word + slopes[1] * cosine;
        }
        if with_encoder {
            for (score, cosine) in scores.iter_mut().zip(&signals.encoder[start..end]) {
                *score += slopes[2] * cosine;
            }
        }
        if !scores.iter().fold(false, |any, &score| any | (score >= top.bar)) {
            continue;
        }
        for (at, &score) in (start..end).zip(scores.iter()) {
            if score >= top.bar
                && (!with_encoder || index.has_vector(at))
                && excluded.binary_search(&at).is_err()
            {
                top.add(at, score);
            }
        }
    }
    top.trim();
    top.found.into_iter().map(|(at, _)| at).collect()
}

/// The best so far, and up to as many again that have not been compared with each other yet.
struct TopDocuments<'a> {
    index: &'a RouteIndex,
    count: usize,
    found: Vec<(usize, f64)>,
    /// The score a document must reach to be considered.
    bar: f32,
}

impl TopDocuments<'_> {
    fn add(&mut self, at: usize, score: f32) {
        self.found.push((at, f64::from(score)));
        if self.found.len() >= 2 * self.count {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let (index, count) = (self.index, self.count);
        if self.found.len() > count {
            self.found.select_nth_unstable_by(count - 1, |a, b| by_score(index, *a, *b));
            self.found.truncate(count);
            self.bar = self.found[count - 1].1 as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RouteDocument;
    use crate::router_models::RouterModels;

    #[test]
    fn one_pass_finds_what_sorting_everything_finds() {
        let documents: Vec<RouteDocument> = (0..2_000)
            .map(|at| {
                RouteDocument::from_description(&format!("{at}"), &format!("n{}", at % 700), "x")
            })
            .collect();
        let index = RouteIndex::build(&documents, &RouterModels::none());
        let noise = |at: usize, salt: usize| ((at * salt) % 97) as f32 / 97.0;
        let signals = DocumentSignals {
            lexical: (0..2_000).map(|at| noise(at, 31)).collect(),
            table: (0..2_000).map(|at| noise(at, 53)).collect(),
            ..DocumentSignals::default()
        };
        let scales = [SignalScale::of(&signals.lexical, [0.1, 0.2]); 3];
        let weights = SignalWeights { lexical: 1.0, table: 1.5, encoder: 0.0 };
        let excluded = [3, 4, 5, 1_999];
        for count in [1, 50, 333, 5_000] {
            let mut found = best(&index, &signals, &scales, weights, &excluded, count);
            let score = |at: usize| {
                scales[0].slope(1.0) * signals.lexical[at]
                    + scales[1].slope(1.5) * signals.table[at]
            };
            let mut all: Vec<usize> = (0..2_000).filter(|at| !excluded.contains(at)).collect();
            all.sort_by(|&a, &b| {
                by_score(&index, (a, f64::from(score(a))), (b, f64::from(score(b))))
            });
            all.truncate(count);
            all.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, all, "{count}");
        }
    }
}
