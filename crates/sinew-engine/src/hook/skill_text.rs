//! A skill's text as it comes along with a message: whole where there is room for it, its beginning and a
//! table of contents where there is not.
//!
//! What must never happen here: text that leaves its frame, or a cut that is not told.

use std::fmt::Write as _;

use sinew_guard::Untrusted;
use sinew_skill::sections;

/// With less room than this, a beginning says less than the description.
const LEAST_ROOM: usize = 300;
/// The share of the room that a table of contents takes at most.
const CONTENTS_SHARE: usize = 4;
/// Characters of a heading that are shown.
const MAX_HEADING: usize = 80;

/// A skill's text, ready for its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillText {
    pub(super) text: String,
    /// What was left out, where something was.
    pub(super) cut: Option<TextCut>,
}

/// What a text that was too long consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextCut {
    /// Characters of the whole text.
    pub(super) of: usize,
    /// Its headings, one per line.
    pub(super) contents: String,
}

/// The body of a skill's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillFileBody {
    pub(super) text: String,
    /// The line of the file that it begins with, from 1.
    pub(super) first_line: usize,
}

impl SkillFileBody {
    /// The body of a file; `None` where there is nothing in it.
    pub(super) fn of_file(bytes: &[u8]) -> Option<Self> {
        let file = String::from_utf8_lossy(bytes);
        let body = sinew_skill::split_front_matter(&file).ok()?.body;
        let before = file.len().saturating_sub(body.len());
        let first_line = 1 + file.get(..before).map_or(0, |head| head.matches('\n').count());
        let text = body.to_owned();
        (!text.trim().is_empty()).then_some(Self { text, first_line })
    }
}

impl SkillText {
    /// A body in at most `room` characters; `None` where that is too little to say anything.
    pub(super) fn of(body: &SkillFileBody, room: usize) -> Option<Self> {
        let clean = Untrusted::new(&body.text).for_prompt_block();
        let whole = clean.trim();
        let of = whole.chars().count();
        if of <= room {
            return Some(Self { text: whole.to_owned(), cut: None });
        }
        if room < LEAST_ROOM {
            return None;
        }
        let contents = contents(body, room / CONTENTS_SHARE);
        let text = beginning(whole, room - contents.chars().count());
        Some(Self { text, cut: Some(TextCut { of, contents }) })
    }
}

/// The headings with their lines in the file; those that do not fit are counted.
fn contents(body: &SkillFileBody, room: usize) -> String {
    let (mut shown, mut used) = (String::new(), 0);
    let all = sections(&body.text);
    for (at, section) in all.iter().enumerate() {
        let title: String = section.title.chars().take(MAX_HEADING).collect();
        let title = Untrusted::new(&title).for_prompt_block().replace('\n', " ");
        let depth = 2 * section.level.saturating_sub(1);
        let line =
            format!("{:depth$}- {title} (line {})\n", "", section.line + body.first_line - 1);
        // Room for the line that counts the rest.
        if used + line.chars().count() + 30 > room {
            let _ = writeln!(shown, "- {} more", all.len() - at);
            break;
        }
        used += line.chars().count();
        shown.push_str(&line);
    }
    shown
}

/// The beginning of a clean text, up to the end of a line where a line ends in time.
fn beginning(text: &str, room: usize) -> String {
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let cut = match head.rfind('\n') {
        Some(line_end) if line_end > end / 2 => line_end,
        // A line without end is cut anywhere but inside an escape.
        _ => match head.rfind('&') {
            Some(escape) if end - escape < 5 && !head[escape..].contains(';') => escape,
            _ => end,
        },
    };
    head[..cut].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> SkillFileBody {
        SkillFileBody { text: text.to_owned(), first_line: 5 }
    }

    #[test]
    fn a_text_that_fits_comes_whole() {
        let text = SkillText::of(&body("\n# Tea\n\nBoil <b>water</b>.\n"), 100).expect("room");
        assert_eq!(text.text, "# Tea\n\nBoil &lt;b>water&lt;/b>.");
        assert_eq!(text.cut, None);
    }

    #[test]
    fn of_a_long_text_the_beginning_comes_with_a_table_of_contents() {
        let long = format!("# Tea\n{}## Green\nx\n## Black\ny\n", "Boil water.\n".repeat(90));
        let text = SkillText::of(&body(&long), 500).expect("room");
        let cut = text.cut.expect("it is cut");
        assert_eq!(cut.contents, "- Tea (line 5)\n  - Green (line 96)\n  - Black (line 98)\n");
        assert_eq!(cut.of, long.trim().chars().count());
        assert!(text.text.ends_with("Boil water."), "{}", text.text);
        assert!(text.text.chars().count() + cut.contents.chars().count() <= 500);
    }

    #[test]
    fn a_line_without_end_and_many_headings_are_bounded() {
        let line = SkillText::of(&body(&"<b>".repeat(2_000)), 1_000).expect("room");
        assert!(line.text.chars().count() <= 1_000 && !line.text.contains("&l&"));
        assert!(
            line.text.ends_with("b>")
                || line.text.ends_with("&lt;b")
                || line.text.ends_with("&lt;")
        );
        let many: String = (0..500).map(|at| format!("# Heading {at}\ntext\n")).collect();
        let text = SkillText::of(&body(&many), 1_000).expect("room");
        let cut = text.cut.expect("it is cut");
        assert!(cut.contents.contains(" more\n"), "{}", cut.contents);
        assert!(text.text.chars().count() + cut.contents.chars().count() <= 1_000);
        assert_eq!(SkillText::of(&body(&many), 100), None);
    }

    #[test]
    fn a_file_is_read_from_below_its_front_matter() {
        let body = SkillFileBody::of_file(b"---\nname: a\n---\n# A\n").expect("a body");
        assert_eq!((body.text.trim(), body.first_line), ("# A", 4));
        assert_eq!(SkillFileBody::of_file(b"---\nname: a\n---\n\n"), None);
    }
}
