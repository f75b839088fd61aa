//! Slips of the fingers: the word of the catalog that a misspelt word of a message stands for.
//!
//! Only words that no vocabulary has are looked at, so that an ordinary word which the catalog happens not
//! to contain ("lunch") is not taken for one that it contains ("launch").

use crate::index::RouteIndex;
use crate::text::words::is_generic;

/// A shorter word is no name of anything: file types have three letters.
const SHORTEST_NAME: usize = 3;

/// A shorter word has too many neighbours to be one of them.
const SHORTEST: usize = 5;

/// A longer word is a key or a path.
const LONGEST: usize = 24;

/// From this length on a word may have two slips.
const TWO_SLIPS: usize = 9;

/// What a corrected word counts of one that was written as it is in a skill.
pub(crate) const CORRECTED_WEIGHT: f32 = 0.8;

/// Whether a word of a message is none that a vocabulary has.
pub(crate) fn is_odd(raw: &str) -> bool {
    (SHORTEST_NAME..=LONGEST).contains(&raw.len())
        && raw.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && raw.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !sinew_models::text::is_whole_word(raw)
}

/// Whether an odd word may be a misspelt one.
pub(crate) fn may_be_misspelt(raw: &str) -> bool {
    raw.len() >= SHORTEST && raw.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The term that a stem stands for: one with the same first letter in the name, the triggers or the
/// description of a skill, at most one slip away, or two for a long word. The closest one, the first in
/// order where two are.
pub(crate) fn corrected(stem: &str, index: &RouteIndex) -> Option<usize> {
    if stem.len() < SHORTEST {
        return None;
    }
    let most = if stem.len() >= TWO_SLIPS { 2 } else { 1 };
    let mut best: Option<(usize, usize)> = None;
    for (at, term) in index.terms_from(stem.get(..1)?) {
        let allowed = best.map_or(most, |(slips, _)| slips - 1);
        let Some(slips) = slips(stem.as_bytes(), term.as_bytes(), allowed) else { continue };
        let in_head = |counts: [u8; 5]| counts[..3].iter().any(|&count| count > 0);
        if !is_generic(term) && index.postings(at).any(|posting| in_head(posting.counts)) {
            best = Some((slips, at));
            if slips <= 1 {
                break;
            }
        }
    }
    best.map(|(_, at)| at)
}

/// The slips between two words, if they are at most `most`: a letter more, one less, another one, or two
/// that changed places.
fn slips(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most || b.len() > LONGEST {
        return None;
    }
    let mut rows = [[0_usize; LONGEST + 1]; 3];
    for (column, cell) in rows[1].iter_mut().enumerate().take(b.len() + 1) {
        *cell = column;
    }
    for row in 1..=a.len() {
        let (old, last, now) = ((row - 1) % 3, row % 3, (row + 1) % 3);
        rows[now][0] = row;
        let mut least = row;
        for column in 1..=b.len() {
            let same = a[row - 1] == b[column - 1];
            let mut cost = (rows[last][column] + 1)
                .min(rows[now][column - 1] + 1)
                .min(rows[last][column - 1] + usize::from(!same));
            let turned =
                row > 1 && column > 1 && a[row - 1] == b[column - 2] && a[row - 2] == b[column - 1];
            if turned {
                cost = cost.min(rows[old][column - 2] + 1);
            }
            rows[now][column] = cost;
            least = least.min(cost);
        }
        if least > most {
            return None;
        }
    }
    let found = rows[(a.len() + 1) % 3][b.len()];
    (found <= most).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RouteDocument;
    use crate::router_models::RouterModels;

    #[test]
    fn slips_are_counted() {
        let count = |a: &str, b: &str| slips(a.as_bytes(), b.as_bytes(), 2);
        assert_eq!(count("kubernet", "kubernet"), Some(0));
        assert_eq!(count("kuberent", "kubernet"), Some(1));
        assert_eq!(count("kubernt", "kubernet"), Some(1));
        assert_eq!(count("kkubernt", "kubernet"), Some(2));
        assert_eq!(count("docker", "kubernet"), None);
        assert_eq!(slips(b"lanch", b"lunch", 0), None);
    }

    #[test]
    fn a_slip_finds_its_word_and_a_far_word_none() {
        let skills = [
            RouteDocument::from_description("k8s", "kubernetes-deploy", "Roll out to Kubernetes"),
            RouteDocument::from_description("tf", "terraform-plan", "Plan infrastructure"),
        ];
        let index = RouteIndex::build(&skills, &RouterModels::none());
        let found = |stem: &str| corrected(stem, &index).map(|at| index.term(at));
        assert_eq!(found("kuberent"), Some("kubernet"));
        assert_eq!(found("terrafrom"), Some("terraform"));
        assert_eq!(found("kubernetesque"), None);
        assert_eq!(found("plam"), None);
    }
}
