//! What of a skill's text counts for routing: text that is hidden, repeated, listed without end or
//! about everything does not.
//!
//! An author who lists what users may say, or every topic there is, would be offered for everything.
//! The limits stand beyond what 7,000 published skills write, so honest skills are read as they are.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;

use crate::document::RouteDocument;

/// Line ends and blanks in a row; what follows them is out of sight. One of 7,000 skills has 60.
const MAX_BLANK_LINES: usize = 60;
/// Blanks inside a line; what follows them is out of sight.
const MAX_BLANKS: usize = 80;
/// Items of a list in one sentence that count; 999 of 1,000 skills have fewer in a description.
const MAX_ITEMS: usize = 30;
/// Triggers and tags that count; the most of any skill is 32.
const MAX_TRIGGERS: usize = 32;
/// Different words of all triggers; beyond them, the triggers are about everything. The most of any
/// skill is 124.
const MAX_TRIGGER_WORDS: usize = 150;
/// Different words of a description; the most of any skill is 208.
const MAX_DESCRIPTION_WORDS: usize = 240;
/// Words of a line from which on it is looked at for repetition.
const LONG_LINE: usize = 40;
/// Lines of the same text that count.
const MAX_SAME_LINES: usize = 2;
/// Short lines in a row, as lists of words have, that count.
const MAX_SHORT_LINES: usize = 60;
/// Sentences that have nothing to do with any other one: so many, and this share, make a text about
/// everything. Four of 7,000 skills have as many.
const MIN_ALONE: usize = 6;
const ALONE_PERCENT: usize = 60;

/// Why a part of a skill's text does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StuffingReason {
    /// Text in comments, in hidden elements, or behind blanks.
    HiddenText,
    /// The same words or lines again and again.
    Repetition,
    /// A list of more items than anyone reads.
    EndlessList,
    /// Text that is about everything.
    Breadth,
}

impl StuffingReason {
    /// What happened, for the author.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::HiddenText => {
                "hidden text does not count: comments, hidden elements, or what stands behind blanks"
            }
            Self::Repetition => "text that is repeated counts once",
            Self::EndlessList => "of a long list, only the first items count",
            Self::Breadth => {
                "text about everything counts for nothing: triggers or sentences that have nothing to do with each other"
            }
        }
    }
}

/// A document with only the text that counts, and why the rest does not.
pub(crate) fn counted(document: RouteDocument) -> (RouteDocument, Vec<StuffingReason>) {
    let mut reasons = Vec::new();
    let mut note = |reason: StuffingReason| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    let mut document = document;
    let seen = visible(&document.body);
    if let Cow::Owned(seen) = seen {
        note(StuffingReason::HiddenText);
        document.headings = crate::text::plain::headings(&seen);
        document.body = seen;
    }
    if let Cow::Owned(seen) = visible(&document.description) {
        note(StuffingReason::HiddenText);
        document.description = seen;
    }
    if let Cow::Owned(body) = without_repetition(&document.body, &mut note) {
        document.headings = crate::text::plain::headings(&body);
        document.body = body;
    }
    if let Cow::Owned(described) = without_repetition(&document.description, &mut note) {
        document.description = described;
    }
    count_description(&mut document, &mut note);
    count_triggers(&mut document, &mut note);
    (document, reasons)
}

fn count_description(document: &mut RouteDocument, note: &mut impl FnMut(StuffingReason)) {
    if let Cow::Owned(short) = short_lists(&document.description) {
        note(StuffingReason::EndlessList);
        document.description = short;
    }
    let too_many = distinct(document.description.as_str()) > MAX_DESCRIPTION_WORDS;
    if too_many || is_about_everything(&document.name, &sentences(&document.description)) {
        note(StuffingReason::Breadth);
        let first = sentences(&document.description).first().map(|first| (*first).to_owned());
        document.description = first.unwrap_or_default();
    }
}

fn count_triggers(document: &mut RouteDocument, note: &mut impl FnMut(StuffingReason)) {
    let mut seen = HashSet::new();
    let before = document.triggers.len();
    document.triggers.retain(|trigger| seen.insert(trigger.trim().to_lowercase()));
    if document.triggers.len() < before {
        note(StuffingReason::Repetition);
    }
    let words: usize = distinct(&document.triggers.join(" "));
    let phrases: Vec<&str> = document.triggers.iter().map(String::as_str).collect();
    if words > MAX_TRIGGER_WORDS || is_about_everything(&document.name, &phrases) {
        note(StuffingReason::Breadth);
        document.triggers.clear();
    } else if document.triggers.len() > MAX_TRIGGERS {
        note(StuffingReason::EndlessList);
        document.triggers.truncate(MAX_TRIGGERS);
    }
}

fn distinct(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect::<HashSet<_>>()
        .len()
}

fn sentences(text: &str) -> Vec<&str> {
    let ends = ['.', '!', '?', ';', '\n', '"', '“', '”', '。', '！', '？'];
    text.split(ends).map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

/// Words that every sentence has, whatever it is about.
const COMMON: &[&str] = &[
    "the", "and", "for", "with", "this", "that", "from", "you", "your", "when", "what", "how",
    "are", "can", "any", "all", "via", "not", "into", "use", "using", "user", "users", "asks",
    "want", "wants", "need", "needs", "please", "help", "make", "get", "our", "its", "their",
    "should", "will", "would", "could", "have", "has", "does", "also", "then", "than", "which",
    "skill", "about", "me", "my", "a", "to", "of", "in", "is", "or", "on", "it",
];

/// Words of a sentence that say what it is about, cut to their first letters.
fn topic(sentence: &str) -> HashSet<String> {
    sentence
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 2 && !COMMON.contains(&word.as_str()))
        .map(|word| word.chars().take(5).collect())
        .collect()
}

/// Whether most sentences have nothing to do with any other one, nor with the name.
fn is_about_everything(name: &str, sentences: &[&str]) -> bool {
    let name = topic(&name.replace(['-', '_'], " "));
    let topics: Vec<HashSet<String>> = sentences.iter().map(|sentence| topic(sentence)).collect();
    let topics: Vec<HashSet<String>> = topics.into_iter().filter(|topic| topic.len() > 1).collect();
    let mut counts: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for word in topics.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let is_alone = |topic: &&HashSet<String>| {
        topic.iter().all(|word| counts.get(word.as_str()) == Some(&1) && !name.contains(word))
    };
    // Two words say little: a list of tags is not a list of sentences.
    let long = topics.iter().filter(|topic| topic.len() > 2);
    let alone = long.filter(is_alone).count();
    alone >= MIN_ALONE && alone * 100 >= topics.len() * ALONE_PERCENT
}

/// The text without what no reader sees.
fn visible(text: &str) -> Cow<'_, str> {
    let mut seen = Cow::Borrowed(text);
    if let Some(end) = behind_blanks(&seen) {
        seen = Cow::Owned(seen[..end].to_owned());
    }
    if (seen.contains("<!--") || seen.contains("[//]:") || seen.contains("[comment]:"))
        && let Some(shown) = without_comments(&seen)
    {
        seen = Cow::Owned(shown);
    }
    let lower = if seen.contains('<') { seen.to_lowercase() } else { String::new() };
    if lower.len() == seen.len()
        && let Some(shown) = without_hidden_elements(&seen, &lower)
    {
        seen = Cow::Owned(shown);
    }
    let wide = |line: &str| line.contains(&" ".repeat(MAX_BLANKS)) && !line.trim().is_empty();
    if seen.contains(&" ".repeat(MAX_BLANKS)) && seen.lines().any(wide) {
        let cut = |line: &str| match line.find(&" ".repeat(MAX_BLANKS)) {
            Some(at) => line[..at].to_owned(),
            None => line.to_owned(),
        };
        seen = Cow::Owned(seen.lines().map(cut).collect::<Vec<_>>().join("\n"));
    }
    seen
}

/// Where text ends that has nothing but blanks behind it for longer than a page, if more follows.
fn behind_blanks(text: &str) -> Option<usize> {
    let (mut start, mut lines) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '\n' => lines += 1,
            c if c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2800}' | '\u{3164}') => {}
            _ if lines > MAX_BLANK_LINES => return Some(start),
            c => (start, lines) = (at + c.len_utf8(), 0),
        }
    }
    None
}

/// Without comments outside code; nothing if there are none.
fn without_comments(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut fenced, mut open, mut found) = (false, false, false);
    for line in text.split_inclusive('\n') {
        if !open && line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            out.push_str(line);
            continue;
        }
        let start = line.trim_start();
        if !open && (start.starts_with("[//]:") || start.starts_with("[comment]:")) {
            found = true;
            out.push('\n');
            continue;
        }
        let mut rest = line;
        loop {
            let mark = if open { "-->" } else { "<!--" };
            let Some(at) = rest.find(mark) else { break };
            if !open {
                out.push_str(&rest[..at]);
                found = true;
            }
            rest = &rest[at + mark.len()..];
            open = !open;
        }
        if open {
            out.push('\n');
        } else {
            out.push_str(rest);
        }
    }
    found.then_some(out)
}

/// Without elements that a page would not show; nothing if there are none.
fn without_hidden_elements(text: &str, lower: &str) -> Option<String> {
    const MARKS: &[&str] = &[
        "display:none",
        "display: none",
        "visibility:hidden",
        "font-size:0",
        " hidden>",
        " hidden ",
    ];
    let mut out = String::with_capacity(text.len());
    let (mut at, mut found) = (0, false);
    while let Some(open) = lower[at..].find('<').map(|found| at + found) {
        let Some(close) = lower[open..].find('>').map(|found| open + found + 1) else { break };
        let tag = &lower[open..close];
        let name: String = tag[1..].chars().take_while(char::is_ascii_alphanumeric).collect();
        let end = format!("</{name}>");
        let is_hidden = !name.is_empty() && MARKS.iter().any(|mark| tag.contains(mark));
        out.push_str(&text[at..open]);
        match lower[close..].find(&end).filter(|_| is_hidden) {
            Some(length) => (at, found) = (close + length + end.len(), true),
            None => {
                out.push_str(&text[open..close]);
                at = close;
            }
        }
    }
    out.push_str(&text[at..]);
    found.then_some(out)
}

/// The text with each line twice at most, and each word of a line of repetitions once.
fn without_repetition<'t>(text: &'t str, note: &mut impl FnMut(StuffingReason)) -> Cow<'t, str> {
    let mut counts: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    let (mut out, mut changed, mut short, mut fenced) = (String::new(), false, 0, false);
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        fenced ^= plain.starts_with("```");
        let words: Vec<&str> = plain.split_whitespace().collect();
        let is_short = (1..=3).contains(&words.len()) && !plain.starts_with(['#', '|', '`', '<']);
        short = if is_short && !fenced {
            short + 1
        } else if plain.is_empty() {
            short
        } else {
            0
        };
        let seen = counts.entry(plain).or_default();
        *seen += 1;
        if *seen > MAX_SAME_LINES && words.len() > 3 && !fenced {
            note(StuffingReason::Repetition);
            changed = true;
        } else if short > MAX_SHORT_LINES {
            note(StuffingReason::EndlessList);
            changed = true;
        } else if words.len() >= LONG_LINE && !fenced {
            match of_long_line(&words, note) {
                Some(kept) => {
                    changed = true;
                    out.push_str(&kept);
                    out.push('\n');
                }
                None => out.push_str(line),
            }
        } else {
            out.push_str(line);
        }
    }
    if changed { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// A long line that repeats itself, or is a list of words, cut; nothing if it is neither.
fn of_long_line(words: &[&str], note: &mut impl FnMut(StuffingReason)) -> Option<String> {
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut seen = HashSet::new();
    let first: Vec<&str> = words.iter().copied().filter(|word| seen.insert(clean(word))).collect();
    if first.len() * 5 < words.len() * 2 {
        note(StuffingReason::Repetition);
        return Some(first.join(" "));
    }
    let is_common = |word: &&&str| COMMON.contains(&clean(word).as_str());
    let is_plain =
        words.iter().all(|word| word.chars().all(|c| c.is_alphanumeric() || ",;-'".contains(c)));
    if is_plain
        && words.iter().all(|word| word.is_ascii())
        && words.iter().filter(is_common).count() * 8 < words.len()
    {
        note(StuffingReason::EndlessList);
        return Some(words[..MAX_ITEMS].join(" "));
    }
    let line = words.join(" ");
    match short_lists(&line) {
        Cow::Owned(short) => {
            note(StuffingReason::EndlessList);
            Some(short)
        }
        Cow::Borrowed(_) => None,
    }
}

/// The text with lists of short items cut.
fn short_lists(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut changed = false;
    for sentence in text.split_inclusive(['.', '\n', '。', '!', '?']) {
        let items: Vec<&str> =
            sentence.split_inclusive([',', ';', '|', '、', '，', '•', '·']).collect();
        let is_list = items.len() > MAX_ITEMS
            && items.iter().filter(|item| item.split_whitespace().count() <= 5).count() * 5
                >= items.len() * 4;
        if is_list {
            changed = true;
            out.extend(items[..MAX_ITEMS].iter().copied());
        } else {
            out.push_str(sentence);
        }
    }
    if changed { Cow::Owned(out) } else { Cow::Borrowed(text) }
}
