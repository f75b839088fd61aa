//! What a message demands beside its task: no network, no money, not this product.
//!
//! A vector hears "offline" as one word among ten, and an online service of the right kind stays first. So
//! the demand is read from the message, and what skills say about themselves counts for or against them.
//! A skill that goes against a demand is never offered with certainty.

use crate::index::RouteIndex;
use crate::lexical::DocumentField;
use crate::text::language::Language;
use crate::text::words::WordExtractor;

/// Ways to ask for a tool that needs no network.
const LOCAL: [&str; 38] = [
    "offline",
    "locally",
    "local only",
    "local tool",
    "local model",
    "on device",
    "on my machine",
    "on my own machine",
    "on my laptop only",
    "without internet",
    "without the internet",
    "no internet",
    "without network",
    "without a network",
    "no network",
    "no connection",
    "without a connection",
    "no cloud",
    "without the cloud",
    "without cloud",
    "not in the cloud",
    "air gapped",
    "airgapped",
    "no online service",
    "no uploads",
    "without uploading",
    "do not upload",
    "don't upload",
    "ohne internet",
    "ohne cloud",
    "lokal",
    "sans internet",
    "hors ligne",
    "sin internet",
    "sin conexión",
    "sem internet",
    "senza internet",
    "без интернета",
];

/// The same where words are not spaced.
const LOCAL_DENSE: [&str; 5] = ["离线", "離線", "オフライン", "本地", "오프라인"];

/// Ways to ask for one that costs nothing and wants no account.
const FREE: [&str; 22] = [
    "for free",
    "free of charge",
    "free tool",
    "free tools",
    "free alternative",
    "free version",
    "free one",
    "free option",
    "without paying",
    "no api key",
    "without an api key",
    "without api key",
    "no api keys",
    "no subscription",
    "without a subscription",
    "no account",
    "without an account",
    "costs nothing",
    "kostenlos",
    "gratuit",
    "gratuitement",
    "gratis",
];

/// Words before a thing that is refused.
const REFUSALS: [&[&str]; 24] = [
    &["without"],
    &["instead", "of"],
    &["rather", "than"],
    &["other", "than"],
    &["don't", "use"],
    &["dont", "use"],
    &["do", "not", "use"],
    &["not", "with"],
    &["not", "using"],
    &["not", "via"],
    &["not", "through"],
    &["anything", "but"],
    &["avoid"],
    &["avoiding"],
    &["ohne"],
    &["statt"],
    &["nicht", "mit"],
    &["sans"],
    &["au", "lieu", "de"],
    &["sin"],
    &["en", "vez", "de"],
    &["sem"],
    &["senza"],
    &["без"],
];

/// Words that may stand between a refusal and its thing.
const BETWEEN: [&str; 14] = [
    "the",
    "a",
    "an",
    "any",
    "my",
    "our",
    "using",
    "use",
    "having",
    "needing",
    "installing",
    "die",
    "le",
    "la",
];

/// Verbs before "not" that make it say something else: "does not render".
const AUXILIARIES: [&str; 20] = [
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "will", "would", "should",
    "has", "have", "had", "am", "be", "it", "i", "i'm",
];

/// Stems by which skills say that they work without a network, and that they need one.
const SAYS_LOCAL: [&str; 4] = ["offlin", "local", "selfhost", "ollama"];
const SAYS_ONLINE: [&str; 7] = ["api", "cloud", "onlin", "saas", "openai", "gemini", "subscript"];

/// The same for costs.
const SAYS_FREE: [&str; 3] = ["free", "gratis", "opensourc"];
const SAYS_PAID: [&str; 5] = ["paid", "subscript", "credit", "premium", "apikey"];

/// A word that one skill in twelve has is no product: "without errors", "no code".
const COMMON_NAME: f32 = 2.5;

/// What a refused name counts, in units of a demand that is not met.
const REFUSED_NAME: f64 = 10.0;

/// The demands of a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageConstraints {
    /// For each demand, the terms that speak for a skill and those that speak against it.
    demands: Vec<[Vec<usize>; 2]>,
    /// Terms of refused names.
    refused: Vec<usize>,
}

impl MessageConstraints {
    /// Those of a message over a catalog.
    pub(crate) fn of(text: &str, index: &RouteIndex) -> Self {
        let lower = text.to_lowercase();
        let words = words_and_stops(&lower);
        let spaced = format!(" {} ", words.join(" "));
        let says =
            |phrases: &[&str]| phrases.iter().any(|phrase| spaced.contains(&format!(" {phrase} ")));
        let terms =
            |stems: &[&str]| stems.iter().filter_map(|stem| index.find_term(stem)).collect();
        let mut demands = Vec::new();
        if says(&LOCAL) || LOCAL_DENSE.iter().any(|word| lower.contains(word)) {
            demands.push([terms(&SAYS_LOCAL), terms(&SAYS_ONLINE)]);
        }
        if says(&FREE) {
            demands.push([terms(&SAYS_FREE), terms(&SAYS_PAID)]);
        }
        let mut refused = Vec::new();
        let stems = WordExtractor::new(Language::En);
        for word in refused_words(&words) {
            stems.of_raw(word, &mut |stem| {
                let found = index.find_term(stem).filter(|&term| index.idf(term) >= COMMON_NAME);
                refused.extend(found);
            });
        }
        Self { demands, refused }
    }

    /// How well a document meets the demands: 1 for each that it meets in so many words, −1 for each that it
    /// goes against.
    pub(crate) fn fit(&self, at: usize, index: &RouteIndex) -> f64 {
        let holds = |terms: &[usize], fields: std::ops::Range<usize>| {
            terms.iter().any(|&term| {
                let counts = index.posting(term, at).map_or([0; 5], |posting| posting.counts);
                counts[fields.clone()].iter().any(|&count| count > 0)
            })
        };
        let name = DocumentField::Name as usize;
        let of = |[agree, oppose]: &[Vec<usize>; 2]| {
            if holds(agree, 0..3) {
                1.0
            } else if holds(oppose, 0..3) {
                -1.0
            } else if holds(agree, 3..5) {
                0.5
            } else {
                0.0
            }
        };
        let demanded: f64 = self.demands.iter().map(of).sum();
        demanded - if holds(&self.refused, name..name + 1) { REFUSED_NAME } else { 0.0 }
    }
}

/// The words of a text in lower case; `|` stands where a clause ends.
fn words_and_stops(lower: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for part in lower.split_whitespace() {
        let part = part.trim_start_matches(|c: char| !c.is_alphanumeric());
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        // "on-device" is two words here, as people write both.
        out.extend(word.split(['-', '/', '_']).filter(|piece| !piece.is_empty()));
        if part.len() > word.len() {
            out.push("|");
        }
    }
    out.push("|");
    out
}

/// The words that a message refuses: what stands behind "without" or "instead of", and what is denied
/// at the end of a clause ("a table, not excel").
fn refused_words<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut out = Vec::new();
    for at in 0..words.len() {
        let after = &words[at..];
        if let Some(refusal) = REFUSALS.iter().find(|refusal| after.starts_with(refusal)) {
            let rest = after[refusal.len()..].iter().skip_while(|word| BETWEEN.contains(word));
            out.extend(
                rest.take_while(|word| **word != "|" && !Language::En.is_stop(word)).take(2),
            );
        } else if let [denial @ ("not" | "no"), word, "|", ..] = after {
            let before = at.checked_sub(1).map_or("|", |before| words[before]);
            if *denial == "no" || !AUXILIARIES.contains(&before) {
                out.push(*word);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_things_are_read_and_plain_denials_are_not() {
        let refused = |text: &str| {
            let words = words_and_stops(text);
            refused_words(&words).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(refused("a sheet without excel, please"), ["excel"]);
        assert_eq!(refused("build it without using docker"), ["docker"]);
        assert_eq!(refused("post it to teams, not slack"), ["slack"]);
        assert_eq!(refused("notion instead of google docs"), ["google", "docs"]);
        assert_eq!(refused("the page does not render"), Vec::<String>::new());
        assert_eq!(refused("not sure what to do"), Vec::<String>::new());
    }
}
