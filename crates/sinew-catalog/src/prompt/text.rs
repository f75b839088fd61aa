//! A description as the planner sees it: the cost at each cap, without rendering it.
//!
//! **Invariant:** [`DescriptionText::cost`] equals the length of what [`DescriptionText::cut`]
//! returns, after escaping, and never falls as the cap grows.

use std::borrow::Cow;
use std::cell::OnceCell;

use sinew_guard::{Untrusted, xml_escape};

use super::request::{MAX_HINTS, PromptEscapes, PromptSkill};

/// The cap of a text that is shown in full.
pub(super) const FULL: usize = usize::MAX;
/// The cap of a text that is not shown.
pub(super) const OMITTED: usize = 0;
/// With a smaller cap nothing but dots would be left.
pub(super) const SHORTEST: usize = 4;

const DOTS: &str = "...";

/// Length in UTF-16 code units, the unit of all prompt limits.
pub(super) fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Length of a field in UTF-16 code units once it is cleaned and escaped.
pub(super) fn escaped_units(text: &str, escapes: PromptEscapes) -> usize {
    measure(text, escapes).1
}

/// Units of a cleaned field, before and after escaping.
fn measure(text: &str, escapes: PromptEscapes) -> (usize, usize) {
    let (mut units, mut added) = (0, 0);
    if is_printable_ascii(text) {
        units = text.len();
        added = text.bytes().map(|byte| extra(char::from(byte), escapes)).sum();
    } else {
        for c in Untrusted::new(text).prompt_chars() {
            units += c.len_utf16();
            added += extra(c, escapes);
        }
    }
    (units, units + added)
}

fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// How many more units a character takes when it is escaped.
fn extra(c: char, escapes: PromptEscapes) -> usize {
    match xml_escape(c) {
        // Nearly every character: all that are escaped come before `?`.
        _ if c > '>' => 0,
        Some(_) if c == '\'' && escapes == PromptEscapes::KeepApostrophe => 0,
        Some(escape) => escape.len() - 1,
        None => 0,
    }
}

/// A skill's description and hints.
pub(super) struct DescriptionText<'a> {
    whole: Cow<'a, str>,
    description: &'a str,
    escapes: PromptEscapes,
    /// Length of the full text, before escaping.
    pub(super) units: usize,
    cost: usize,
    body: OnceCell<DescriptionBody<'a>>,
}

impl<'a> DescriptionText<'a> {
    pub(super) fn of(skill: &PromptSkill<'a>, escapes: PromptEscapes) -> Self {
        let whole = with_hints(skill);
        let (units, cost) = measure(&whole, escapes);
        let description = skill.description;
        Self { whole, description, escapes, units, cost, body: OnceCell::new() }
    }

    /// Units of the text at this cap, escaped.
    pub(super) fn cost(&self, cap: usize) -> usize {
        match self.piece(cap) {
            DescriptionCut::Nothing => 0,
            DescriptionCut::Whole => self.cost,
            DescriptionCut::Body(body) => body.cost,
            DescriptionCut::Start(body, end) => body.start_cost(end) + DOTS.len(),
        }
    }

    /// Units of the text at this cap, before escaping.
    pub(super) fn cut_units(&self, cap: usize) -> usize {
        match self.piece(cap) {
            DescriptionCut::Nothing => 0,
            DescriptionCut::Whole => self.units,
            DescriptionCut::Body(body) => body.units,
            DescriptionCut::Start(_, end) => end + DOTS.len(),
        }
    }

    /// The text at this cap, not yet escaped.
    pub(super) fn cut(&self, cap: usize) -> Cow<'_, str> {
        match self.piece(cap) {
            DescriptionCut::Nothing => Cow::Borrowed(""),
            DescriptionCut::Whole => Cow::Borrowed(&self.whole),
            DescriptionCut::Body(body) => Cow::Borrowed(&body.text),
            DescriptionCut::Start(body, end) => Cow::Owned(format!("{}{DOTS}", body.start(end))),
        }
    }

    fn piece(&self, cap: usize) -> DescriptionCut<'_, 'a> {
        if cap < SHORTEST {
            return DescriptionCut::Nothing;
        }
        if cap >= self.units {
            return DescriptionCut::Whole;
        }
        let body = self.body.get_or_init(|| DescriptionBody::of(self.description, self.escapes));
        if cap >= body.units {
            return DescriptionCut::Body(body);
        }
        DescriptionCut::Start(body, body.whole_characters(cap - DOTS.len()))
    }

    /// Whether this cap shows less than the full text.
    pub(super) fn is_cut(&self, cap: usize) -> bool {
        self.units > 0 && (cap < SHORTEST || cap < self.units)
    }
}

/// The part of a text that a cap leaves.
enum DescriptionCut<'t, 'a> {
    Nothing,
    Whole,
    /// The description without its hints, on one line.
    Body(&'t DescriptionBody<'a>),
    /// As much of it as fits into these units, before the dots.
    Start(&'t DescriptionBody<'a>, usize),
}

fn with_hints<'a>(skill: &PromptSkill<'a>) -> Cow<'a, str> {
    if skill.hints.is_empty() {
        return Cow::Borrowed(skill.description);
    }
    let hints = skill.hints[..skill.hints.len().min(MAX_HINTS)].join("; ");
    let blank = if skill.description.is_empty() { "" } else { " " };
    Cow::Owned(format!("{}{blank}Trigger hints: {hints}", skill.description))
}

/// A description without its hints, on one line: the part that is cut.
struct DescriptionBody<'a> {
    text: Cow<'a, str>,
    units: usize,
    cost: usize,
    /// The end of each escaped character, and the total that escapes add up to there.
    escapes: Vec<(usize, usize)>,
    /// The units at which a cut would split a character.
    splits: Vec<usize>,
}

impl<'a> DescriptionBody<'a> {
    fn of(description: &'a str, escapes: PromptEscapes) -> Self {
        let mut body = DescriptionBody {
            text: on_one_line(description),
            units: 0,
            cost: 0,
            escapes: Vec::new(),
            splits: Vec::new(),
        };
        let mut added = 0;
        for c in body.text.chars() {
            if c.len_utf16() == 2 {
                body.splits.push(body.units + 1);
            }
            body.units += c.len_utf16();
            let extra = extra(c, escapes);
            if extra > 0 {
                added += extra;
                body.escapes.push((body.units, added));
            }
        }
        body.cost = body.units + added;
        body
    }

    /// The last position at or before `end` that splits no character.
    fn whole_characters(&self, end: usize) -> usize {
        if self.splits.binary_search(&end).is_ok() { end - 1 } else { end }
    }

    /// Units of the text up to `end`, escaped.
    fn start_cost(&self, end: usize) -> usize {
        let escapes = self.escapes.partition_point(|&(at, _)| at <= end);
        end + escapes.checked_sub(1).map_or(0, |last| self.escapes[last].1)
    }

    fn start(&self, end: usize) -> &str {
        if self.text.is_ascii() {
            return &self.text[..end];
        }
        let mut units = 0;
        let cut = self.text.char_indices().find(|(_, c)| {
            let past = units >= end;
            units += c.len_utf16();
            past
        });
        &self.text[..cut.map_or(self.text.len(), |(at, _)| at)]
    }
}

/// Cleaned, with each run of blanks as one space and none at the ends.
fn on_one_line(text: &str) -> Cow<'_, str> {
    if is_on_one_line(text) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut blank = false;
    for c in Untrusted::new(text).prompt_chars() {
        if c.is_whitespace() {
            blank = !line.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            line.push(' ');
        }
        line.push(c);
    }
    Cow::Owned(line)
}

/// The common case, checked on bytes: printable ASCII with single blanks between words.
fn is_on_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends_bare = bytes.first() != Some(&b' ') && bytes.last() != Some(&b' ');
    ends_bare
        && bytes.iter().all(|byte| (b' '..=b'~').contains(byte))
        && !bytes.windows(2).any(|pair| pair == b"  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(description: &str, hints: &[&str], cap: usize, expected: &str) {
        let skill = PromptSkill { description, hints: hints.to_vec(), ..PromptSkill::default() };
        assert_eq!(DescriptionText::of(&skill, PromptEscapes::All).cut(cap), expected);
    }

    #[test]
    fn a_cut_text_ends_in_dots_and_never_inside_a_character() {
        check("Reads mail & sends it", &[], 10, "Reads m...");
        check("Reads mail", &[], 10, "Reads mail");
        check("two  blanks\n here", &[], FULL, "two  blanks\n here");
        check("two  blanks\n here", &[], 15, "two blanks here");
        check("two  blanks\n here", &[], 12, "two blank...");
        check("ab🙂cd", &[], 5, "ab...");
        check("abcdef", &[], 3, "");
    }

    #[test]
    fn hints_go_before_the_description_does() {
        check("Mail", &["send", "read"], FULL, "Mail Trigger hints: send; read");
        check("Mail", &["send", "read"], 29, "Mail");
    }

    proptest! {
        #[test]
        fn the_cost_is_the_length_of_the_cut(
            description in "[ a<&'🙂é\u{200b}\n]{0,24}",
            hint in "[a']{0,3}",
            cap in 0_usize..40,
        ) {
            let hints = if hint.is_empty() { vec![] } else { vec![hint.as_str()] };
            let skill = PromptSkill { description: &description, hints, ..PromptSkill::default() };
            let text = DescriptionText::of(&skill, PromptEscapes::All);
            let clean: String = Untrusted::new(&text.cut(cap)).prompt_chars().collect();
            prop_assert_eq!(units(&clean), text.cut_units(cap));
            let rendered = Untrusted::new(&text.cut(cap)).for_prompt_xml();
            prop_assert_eq!(units(&rendered), text.cost(cap));
            prop_assert!(text.cost(cap) <= text.cost(cap + 1));
        }
    }
}
