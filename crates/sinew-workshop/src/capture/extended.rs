//! The extended profile: a small classifier reads a message with what was asked before it, and vetoes
//! keep out what no correction is, however much it sounds like one.
//!
//! Where a program was built without the static table, cues are weighed against counter-cues: a strong
//! cue is enough, and of weak ones it takes two of different families, one that says what to do and one
//! that says why it lasts (what went wrong, what follows from it, for what it holds).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::cues::{CUES, CaptureCue, CueFamily};
use super::{
    CaptureGuards, CaptureSkipReason, CaptureVerdict, CapturedCorrection, classifier, reference,
    topic, vetoes,
};
use crate::activity::is_dense;
use sinew_skill::ecmascript as text;
use sinew_traces::{CORRECTION_LENGTH, holds_secret, without_quotations};

/// The shortest correction in a script that needs no spaces between words, in UTF-16 code units.
const MIN_DENSE: usize = 8;
/// The shortest correction elsewhere: "no pie charts, ever" has twenty.
const MIN_SPACED: usize = 12;

/// The family of explicitly lasting instructions.
const LASTING: &str = CueFamily::Future.as_str();

struct CueTable {
    rows: Vec<&'static CaptureCue>,
    heard: RegexSet,
    unless: Vec<Option<Regex>>,
}

static TABLE: LazyLock<Option<CueTable>> = LazyLock::new(|| {
    let rows: Vec<&'static CaptureCue> = CUES.iter().flat_map(|rows| rows.iter()).collect();
    let heard = RegexSet::new(rows.iter().map(|row| row.heard)).ok()?;
    let unless = rows
        .iter()
        .map(|row| if row.unless.is_empty() { None } else { Regex::new(row.unless).ok() })
        .collect();
    Some(CueTable { rows, heard, unless })
});

pub(super) fn judge(
    message: &str,
    guards: CaptureGuards,
    previous: Option<&str>,
) -> CaptureVerdict {
    let line = text::collapse(message);
    let length = text::utf16_len(&line);
    let shortest = if line.chars().any(is_dense) { MIN_DENSE } else { MIN_SPACED };
    if !(shortest..=*CORRECTION_LENGTH.end()).contains(&length) {
        return CaptureVerdict::Nothing(Vec::new());
    }
    if guards == CaptureGuards::On && holds_secret(message) {
        // With a secret in it, whatever may be a correction is refused aloud.
        let (judged, weighed) = (assess(message, previous), weigh(message));
        return match judged.captured || weighed.captured {
            true => CaptureVerdict::Skipped(CaptureSkipReason::Secret),
            false => CaptureVerdict::Nothing(judged.cues),
        };
    }
    let whole = assess(message, previous);
    if !whole.captured {
        return CaptureVerdict::Nothing(whole.cues);
    }
    let own = match guards {
        CaptureGuards::On => assess_own(&without_quotations(message), previous),
        CaptureGuards::Off => whole,
    };
    if !own.captured {
        return CaptureVerdict::Skipped(CaptureSkipReason::Quoted);
    }
    CaptureVerdict::Captured(CapturedCorrection {
        topic: topic::of(&line, topic::WordBoundary::Unicode),
        instruction: instruction(&line),
        cues: own.cues,
        // A request with a secret in it is not kept, not even in part.
        request: previous
            .filter(|request| guards == CaptureGuards::Off || !holds_secret(request))
            .map(text::collapse)
            .filter(|request| !request.is_empty()),
        done: None,
        in_use: None,
    })
}

/// Judges a message: by the classifier where there is one, and never against a veto.
fn assess(message: &str, previous: Option<&str>) -> MessageAssessment {
    let Some(probability) = classifier::probability(message, previous) else {
        return weigh(message);
    };
    let MessageAssessment { captured: cued, mut cues } = weigh(message);
    // "From now on" says that it lasts, in whatever language the rest is.
    let lasts = cued && cues.iter().any(|cue| cue.strip_prefix('+') == Some(LASTING));
    cues.push(format!("classifier {probability:.2}"));
    let heard = classifier::is_correction(probability) || lasts;
    let veto = heard.then(|| vetoes::veto(message)).flatten();
    cues.extend(veto.map(|veto| format!("-{}", veto.as_str())));
    MessageAssessment { captured: heard && veto.is_none(), cues }
}

/// Judges what is left of a message without its quotations. A correction may name a phrase ("say
/// 'guests', not 'customers'"), so that it has to be less clear than the whole.
fn assess_own(own: &str, previous: Option<&str>) -> MessageAssessment {
    let mut assessment = assess(own, previous);
    if let Some(probability) = classifier::probability(own, previous)
        && text::collapse(own).split(' ').count() > 3
    {
        assessment.captured = probability >= OWN_WORDS;
    }
    assessment
}

/// The probability that the user's own words must keep without what they quote.
const OWN_WORDS: f32 = 0.4;

/// The message without its "ok" and without what it only asks.
fn instruction(line: &str) -> String {
    let line = text::trim(reference::without_ok(line));
    let kept: Vec<&str> = sentences(line)
        .filter(|sentence| SentenceCues::of(sentence).against() != Some(CueFamily::Question))
        .collect();
    let kept = text::collapse(&kept.concat());
    if kept.is_empty() { line.to_owned() } else { kept }
}

struct MessageAssessment {
    captured: bool,
    cues: Vec<String>,
}

/// Weighs a message.
fn weigh(message: &str) -> MessageAssessment {
    let line = text::collapse(message);
    let mut strong: BTreeSet<CueFamily> = BTreeSet::new();
    let mut counted: BTreeSet<CueFamily> = BTreeSet::new();
    let mut cues = Vec::new();
    let mut jokes = false;
    let mut countered = false;
    for sentence in sentences(&line) {
        let heard = SentenceCues::of(sentence);
        jokes |= heard.has(CueFamily::SmallTalk);
        countered |= heard.taken_back;
        if let Some(against) = heard.against() {
            countered = true;
            cues.push(format!("-{}", against.as_str()));
            // An explicitly lasting instruction is not cancelled by a "today" beside it.
            let lasts =
                matches!(against, CueFamily::Now | CueFamily::Own) && heard.has(CueFamily::Future);
            if !lasts {
                continue;
            }
        }
        for (family, is_strong) in heard.cues() {
            if counted.insert(family) {
                cues.push(format!("+{}", family.as_str()));
            }
            if is_strong {
                strong.insert(family);
            }
        }
    }
    if jokes {
        cues.push(format!("-{}", CueFamily::SmallTalk.as_str()));
    }
    // Skill Workshop's own patterns may span sentences; they count unless a counter-cue matched.
    if strong.is_empty()
        && !countered
        && !jokes
        && let Some(cue) = reference::cue(&line)
    {
        strong.insert(CueFamily::Standing);
        cues.push(cue);
    }
    // A joke cancels weak cues, and a lone strong cue unless it is explicitly lasting.
    let captured = match jokes {
        false => !strong.is_empty() || adds_up(&counted),
        true => strong.contains(&CueFamily::Future) || (!strong.is_empty() && counted.len() > 1),
    };
    MessageAssessment { captured, cues }
}

/// Whether weak cues together make a correction.
fn adds_up(counted: &BTreeSet<CueFamily>) -> bool {
    use CueFamily as F;
    let any = |families: &[F]| families.iter().any(|family| counted.contains(family));
    let count = counted.iter().filter(|&&family| family != F::Fix).count();
    let told_off = any(&[F::Blame, F::Worked]) && (count > 1 || any(&[F::Fix]));
    let why = any(&[F::Standing, F::Repeat, F::Consequence, F::Scope]);
    let what = any(&[F::Condition, F::Duty, F::Ban, F::Order, F::Wish]);
    told_off || (why && what) || (any(&[F::Condition]) && any(&[F::Ban, F::Wish]))
}

/// The rows that a sentence matches.
pub(super) struct SentenceCues {
    pub(super) rows: Vec<&'static CaptureCue>,
    /// A row that would have counted does not, because of another match.
    taken_back: bool,
    /// It is a polite request.
    is_request: bool,
}

/// How people phrase an instruction as a polite request.
const REQUESTS: &[&str] = &[
    "can you",
    "could you",
    "would you",
    "will you",
    "kannst du",
    "könntest du",
    "puedes",
    "podrías",
    "peux-tu",
    "tu peux",
    "pourrais-tu",
    "puoi",
    "potresti",
    "pode",
    "poderia",
    "podes",
];

impl SentenceCues {
    pub(super) fn of(sentence: &str) -> Self {
        let mut heard = Self { rows: Vec::new(), taken_back: false, is_request: false };
        let Some(table) = TABLE.as_ref() else { return heard };
        let plain = text::trim(sentence).to_lowercase().replace(['’', '‘', '`'], "'");
        for at in table.heard.matches(&plain) {
            if table.unless[at].as_ref().is_some_and(|unless| unless.is_match(&plain)) {
                heard.taken_back = true;
            } else {
                heard.rows.push(table.rows[at]);
            }
        }
        let start = plain.trim_start_matches("please ").trim_start_matches('¿');
        heard.is_request = REQUESTS.iter().any(|request| start.starts_with(request));
        heard
    }

    fn has(&self, family: CueFamily) -> bool {
        self.rows.iter().any(|row| row.family == family)
    }

    /// The strongest counter-cue against the whole sentence. A polite request for something that
    /// lasts is not a question.
    fn against(&self) -> Option<CueFamily> {
        let means_it = self.is_request && self.rows.iter().any(|row| row.strong);
        [CueFamily::Reported, CueFamily::Question, CueFamily::Now, CueFamily::Own]
            .into_iter()
            .find(|&family| self.has(family) && !(family == CueFamily::Question && means_it))
    }

    /// The families of its cues, each once, and whether strong.
    fn cues(&self) -> impl Iterator<Item = (CueFamily, bool)> {
        let mut families: Vec<(CueFamily, bool)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.family < CueFamily::Question) {
            match families.iter_mut().find(|(family, _)| *family == row.family) {
                Some((_, strong)) => *strong |= row.strong,
                None => families.push((row.family, row.strong)),
            }
        }
        families.into_iter()
    }
}

/// Sentences with what ends them. A full stop counts only before a space, so that `.xls` and `3.5`
/// stay whole.
pub(super) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut chars = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            let spaced = chars.peek().is_none_or(|&(_, next)| text::is_space(next));
            let ends = match c {
                '.' | '!' | '?' | ';' => spaced,
                '。' | '！' | '？' | '；' => true,
                _ => false,
            };
            if ends {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence)
    })
}
