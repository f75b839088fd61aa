//! The clauses of a message: what stands between "and", "then", commas and full stops.

use std::ops::Range;

use super::language::is_dense;

/// Words that join two requests; longer ones first, because they begin with others.
const JOINTS: [&[&str]; 40] = [
    &["and", "then"],
    &["and", "afterwards"],
    &["and", "after", "that"],
    &["and", "also"],
    &["after", "that"],
    &["then"],
    &["afterwards"],
    &["and"],
    &["plus"],
    &["und", "dann"],
    &["und", "danach"],
    &["und", "anschließend"],
    &["danach"],
    &["dann"],
    &["anschließend"],
    &["und"],
    &["et", "puis"],
    &["et", "ensuite"],
    &["puis"],
    &["ensuite"],
    &["et"],
    &["y", "luego"],
    &["y", "después"],
    &["luego"],
    &["después"],
    &["y"],
    &["e", "poi"],
    &["e", "depois"],
    &["e", "em", "seguida"],
    &["poi"],
    &["depois"],
    &["e"],
    &["и", "потом"],
    &["а", "потом"],
    &["потом"],
    &["затем"],
    &["и"],
    &["그리고"],
    &["그런", "다음"],
    &["다음"],
];

/// The same inside text that is not spaced.
const DENSE_JOINTS: [&str; 10] =
    ["然后", "接着", "之后", "並且", "并且", "それから", "そして", "その後", "，", "、"];

/// Words that put one thing after another.
const ORDER: [&[&str]; 16] = [
    &["then"],
    &["afterwards"],
    &["after", "that"],
    &["dann"],
    &["danach"],
    &["anschließend"],
    &["puis"],
    &["ensuite"],
    &["luego"],
    &["después"],
    &["poi"],
    &["depois"],
    &["em", "seguida"],
    &["потом"],
    &["затем"],
    &["다음"],
];

/// The same inside text that is not spaced.
const DENSE_ORDER: [&str; 5] = ["然后", "接着", "之后", "それから", "その後"];

/// Whether a message puts one thing after another.
pub(crate) fn tells_an_order(message: &str) -> bool {
    let words: Vec<String> = message
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .collect();
    let has = |order: &&[&str]| words.windows(order.len()).any(|words| words == *order);
    ORDER.iter().any(has) || DENSE_ORDER.iter().any(|word| message.contains(word))
}

/// A clause of fewer words is part of the one before it: "leeks, potatoes and eggs".
const FEWEST_WORDS: usize = 3;

/// The same in characters, where words are not spaced.
const FEWEST_DENSE: usize = 4;

/// A longer message is a story, which is read in windows.
const MOST_WORDS: usize = 70;

/// The places of the clauses of a message, in order; the words that join them are left out.
pub(crate) fn clauses(message: &str) -> Vec<Range<usize>> {
    let words = spaced_words(message);
    if words.len() > MOST_WORDS {
        return Vec::new();
    }
    let lower: Vec<String> =
        words.iter().map(|place| message[place.clone()].to_lowercase()).collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start: Option<usize> = None;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let joins = |joint: &&&[&str]| {
            let following = lower[at..].iter().map(|word| word.trim_end_matches([',', ':']));
            joint.len() <= lower.len() - at
                && joint.iter().copied().zip(following).all(|(a, b)| a == b)
        };
        if let Some(joint) = JOINTS.iter().find(joins) {
            start.take().into_iter().for_each(|start| add(message, &mut found, start..word.start));
            at += joint.len();
            continue;
        }
        let first = *start.get_or_insert(word.start);
        if message[word.clone()].ends_with([',', ';', '.', '?', '!', ':']) {
            add(message, &mut found, first..word.end);
            start = None;
        }
        at += 1;
    }
    start.into_iter().for_each(|start| add(message, &mut found, start..message.len()));
    found.into_iter().map(|place| trimmed(message, place)).collect()
}

/// The places of what is between white space.
fn spaced_words(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                out.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    out.extend(start.map(|from| from..text.len()));
    out
}

/// Adds a clause, or several where it holds words that are not spaced.
fn add(message: &str, found: &mut Vec<Range<usize>>, place: Range<usize>) {
    let (mut from, mut at) = (place.start, place.start);
    let dense = message[place.clone()].chars().any(is_dense);
    while dense && at < place.end {
        let rest = &message[at..place.end];
        let joint = DENSE_JOINTS.iter().find(|joint| rest.starts_with(**joint));
        if let Some(joint) = joint {
            push(message, found, from..at);
            from = at + joint.len();
        }
        let step = rest.chars().next().map_or(1, char::len_utf8);
        at += joint.map_or(step, |joint| joint.len());
    }
    push(message, found, from..place.end);
}

/// Adds one clause; a short one extends the one before it.
fn push(message: &str, found: &mut Vec<Range<usize>>, place: Range<usize>) {
    let place = trimmed(message, place);
    let text = &message[place.clone()];
    let dense = text.chars().filter(|&c| is_dense(c)).count();
    let long = text.split_whitespace().count() >= FEWEST_WORDS || dense >= FEWEST_DENSE;
    match found.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if !long => last.end = place.end,
        _ => found.push(place),
    }
}

/// A place without the marks and the space around it.
fn trimmed(message: &str, place: Range<usize>) -> Range<usize> {
    let edge =
        |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | ':' | '，' | '。' | '、');
    let text = &message[place.clone()];
    let start = place.start + (text.len() - text.trim_start_matches(edge).len());
    start..start + text.trim_matches(edge).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_what_joints_join() {
        for (text, wanted) in [
            (
                "transcribe the board call, condense it to one page, and post that on Slack",
                &["transcribe the board call", "condense it to one page", "post that on Slack"][..],
            ),
            (
                "suggest a dinner from leeks, potatoes and eggs, then order what's missing",
                &["suggest a dinner from leeks, potatoes and eggs", "order what's missing"],
            ),
            ("把录音转成文字，然后翻译成英文", &["把录音转成文字", "翻译成英文"]),
            ("merge two pdf files", &["merge two pdf files"]),
            ("", &[]),
        ] {
            let found: Vec<&str> = clauses(text).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }
}
