//! The tasks of several runs as one: the words that they share, and holes where they differ.

use crate::simhash::common_subsequence;

/// Tasks that share less than this of the longer one are worded differently, not about another value.
const SHARED: f64 = 0.5;

/// Words of a hole: a longer one is another wording.
const MAX_HOLE: usize = 6;

/// Words of a task that are compared: a longer one is a document, not a task said again with another value.
const MAX_WORDS: usize = 200;

/// Words that say nothing about what was different.
const PLAIN_WORDS: &[&str] = &[
    "a", "again", "all", "an", "and", "at", "by", "for", "from", "in", "into", "it", "me", "my",
    "now", "of", "on", "our", "please", "some", "that", "the", "them", "these", "this", "those",
    "to", "too", "us", "with", "your",
];

/// A part of a task that differs between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskHole {
    /// Where it stands in the newest run's task, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A word of a task, or one character of a script without spaces, and where it stands.
#[derive(Debug, Clone, Copy)]
struct TaskWord<'t> {
    text: &'t str,
    start: usize,
}

impl TaskWord<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn key(&self) -> Option<String> {
        Some(self.text.to_lowercase())
    }

    fn is_single(&self) -> bool {
        self.text.chars().all(is_cjk)
    }
}

/// Whether a character is written without spaces between words.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

fn words(task: &str) -> Vec<TaskWord<'_>> {
    let mut words = Vec::new();
    let mut start: Option<usize> = None;
    let is_inner =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '\'' | '@' | '+');
    for (at, c) in task.char_indices() {
        if is_cjk(c) || !is_inner(c) {
            if let Some(from) = start.take() {
                words.push(TaskWord { text: &task[from..at], start: from });
            }
            if is_cjk(c) {
                words.push(TaskWord { text: &task[at..at + c.len_utf8()], start: at });
            }
        } else {
            start.get_or_insert(at);
        }
    }
    if let Some(from) = start {
        words.push(TaskWord { text: &task[from..], start: from });
    }
    for word in &mut words {
        // The full stop of a sentence is no part of its last word.
        word.text = word.text.trim_end_matches(['.', '-', '\'']);
    }
    words.retain(|word| !word.text.is_empty());
    words
}

/// Where the newest task differs from the others that are worded like it; nothing where none is.
pub(crate) fn task_holes(newest: &str, others: &[&str]) -> Vec<TaskHole> {
    let own = words(newest);
    if own.len() > MAX_WORDS {
        return Vec::new();
    }
    let keys: Vec<Option<String>> = own.iter().map(TaskWord::key).collect();
    let mut shared = vec![true; own.len()];
    let mut alike = 0;
    for other in others {
        let mut there = words(other);
        there.truncate(2 * MAX_WORDS);
        let theirs: Vec<Option<String>> = there.iter().map(TaskWord::key).collect();
        let pairs = common_subsequence(&keys, &theirs);
        let longer = keys.len().max(theirs.len());
        if (pairs.len() as f64) < SHARED * longer as f64 {
            continue;
        }
        alike += 1;
        let mut common = vec![false; own.len()];
        for (at, _) in pairs {
            common[at] = true;
        }
        for (kept, common) in shared.iter_mut().zip(common) {
            *kept &= common;
        }
    }
    if alike == 0 {
        return Vec::new();
    }
    // One character between two that differ is a part of the same name.
    for at in 1..own.len().saturating_sub(1) {
        if own[at].is_single() && !shared[at - 1] && !shared[at + 1] {
            shared[at] = false;
        }
    }
    let mut holes = Vec::new();
    let mut at = 0;
    while at < own.len() {
        if shared[at] {
            at += 1;
            continue;
        }
        let from = at;
        while at < own.len() && !shared[at] {
            at += 1;
        }
        let hole = &own[from..at];
        // The first word is what to do, and a placeholder is told by its name already.
        let is_verb = from == 0 && !own[0].is_single();
        let is_placeholder = newest[..own[from].start].ends_with(['{', ':', '[']);
        let is_plain = hole
            .iter()
            .all(|word| word.key().is_some_and(|key| PLAIN_WORDS.contains(&key.as_str())));
        if at - from <= MAX_HOLE && !is_verb && !is_placeholder && !is_plain {
            holes.push(TaskHole { start: own[from].start, end: own[at - 1].end() });
        }
    }
    holes
}

/// A text with `value` replaced wherever it stands as a whole word.
pub(crate) fn replace_word(text: &str, value: &str, by: &str) -> String {
    if value.is_empty() {
        return text.to_owned();
    }
    let part = |c: char| c.is_alphanumeric() && !is_cjk(c);
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(at) = rest.find(value) {
        let (head, tail) = rest.split_at(at);
        let last = head.chars().next_back().or(before);
        let after = tail[value.len()..].chars().next();
        let cuts = |inner: Option<char>, outer: Option<char>| {
            inner.is_some_and(part) && outer.is_some_and(part)
        };
        let inside = cuts(value.chars().next(), last) || cuts(value.chars().next_back(), after);
        told.push_str(head);
        told.push_str(if inside { value } else { by });
        before = value.chars().next_back();
        rest = &tail[value.len()..];
    }
    told.push_str(rest);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'t>(newest: &'t str, others: &[&str]) -> Vec<&'t str> {
        task_holes(newest, others).into_iter().map(|hole| &newest[hole.start..hole.end]).collect()
    }

    #[test]
    fn what_differs_between_tasks_is_a_hole() {
        let others = ["Send the photo to Bob.", "Send the photo to Cleo Marsh."];
        assert_eq!(found("Send the photo to Ann.", &others), ["Ann"]);
        assert_eq!(found("把照片发给王明", &["把照片发给李华"]), ["王明"]);
        assert_eq!(found("把照片发给王小明", &["把照片发给李小华"]), ["王小明"]);
        assert_eq!(found("Fix the bug in x", &["Fix a bug in x"]), Vec::<&str>::new());
        assert_eq!(found("Send it", &["Water the plants on the roof"]), Vec::<&str>::new());
    }

    #[test]
    fn only_whole_words_are_replaced() {
        assert_eq!(
            replace_word("Ann and Anna, Ann", "Ann", "{{name}}"),
            "{{name}} and Anna, {{name}}"
        );
        assert_eq!(replace_word("发给王明了", "王明", "{{name}}"), "发给{{name}}了");
    }
}
