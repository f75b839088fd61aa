//! Lines that go on below: at words, and under where their text began.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A label at the start of a line is no wider than this; two spaces further right are part of a text.
const MAX_LABEL: usize = 30;
/// What is broken at all is broken where a path or an address has a joint.
const JOINTS: &[char] = &['/', '\\', '-', '_', '.', ',', ';', '=', '&', '?', ':'];
/// Signs that end a phrase in texts without spaces; none of them may begin a line.
const CLOSING: &[char] =
    &['，', '。', '、', '；', '：', '！', '？', '）', '」', '』', '】', '》', '”', '’'];
/// Labels of messages: what follows one hangs under its own start.
const MESSAGE_LABELS: &[&str] = &["error: ", "warning: ", "hint: "];

/// The text with every line fitted into a width. Styles are passed through.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    if width == usize::MAX {
        return text.to_owned();
    }
    let mut laid = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        match visible_width(line) <= width {
            true => laid.push_str(line),
            false => wrap(&mut laid, line, width),
        }
        laid.push_str(end);
    }
    laid
}

/// The columns that a line takes, its styles not counted.
fn visible_width(line: &str) -> usize {
    match line.contains('\u{1b}') {
        true => anstream::adapter::strip_str(line).to_string().width(),
        false => line.width(),
    }
}

fn wrap(laid: &mut String, line: &str, width: usize) {
    let hang = hang_of(&anstream::adapter::strip_str(line).to_string(), width);
    let mut column = 0;
    let mut spaces = String::new();
    for atom in atoms(line) {
        if atom.starts_with(' ') {
            spaces.push_str(atom);
            continue;
        }
        let wide = visible_width(atom);
        if column + spaces.len() + wide <= width {
            laid.push_str(&spaces);
            laid.push_str(atom);
            column += spaces.len() + wide;
        } else if wide <= width - hang {
            begin_line(laid, hang);
            laid.push_str(atom);
            column = hang + wide;
        } else {
            if column > 0 && column >= hang {
                begin_line(laid, hang);
                column = hang;
            } else {
                let lead = spaces.len().min(hang - column);
                laid.push_str(&spaces[..lead]);
                column += lead;
            }
            column = break_word(laid, atom, column, hang, width);
        }
        spaces.clear();
    }
}

fn begin_line(laid: &mut String, hang: usize) {
    laid.truncate(laid.trim_end_matches(' ').len());
    laid.push('\n');
    laid.push_str(&" ".repeat(hang));
}

/// A word that no line holds, such as a path or a digest, in pieces; gives the column after it.
fn break_word(
    laid: &mut String,
    word: &str,
    mut column: usize,
    hang: usize,
    width: usize,
) -> usize {
    let word = anstream::adapter::strip_str(word).to_string();
    let mut rest = word.as_str();
    loop {
        let room = width.saturating_sub(column).max(1);
        if rest.width() <= room {
            laid.push_str(rest);
            return column + rest.width();
        }
        let (mut used, mut end, mut joint) = (0, 0, None);
        for (at, c) in rest.char_indices() {
            used += c.width().unwrap_or(0);
            if used > room && end > 0 {
                break;
            }
            end = at + c.len_utf8();
            if JOINTS.contains(&c) {
                joint = Some(end);
            }
        }
        let end = joint.unwrap_or(end);
        laid.push_str(&rest[..end]);
        rest = &rest[end..];
        if rest.is_empty() {
            return column + used;
        }
        begin_line(laid, hang);
        column = hang;
    }
}

/// The column under which a line goes on: behind its indent, its mark and its label.
fn hang_of(line: &str, width: usize) -> usize {
    let text = line.trim_start_matches(' ');
    let mut hang = line.len() - text.len();
    let mut rest = text;
    if let Some(label) = MESSAGE_LABELS.iter().find(|label| text.starts_with(**label)) {
        return label.len();
    }
    let mut chars = text.chars();
    if let (Some(mark), Some(' ')) = (chars.next(), chars.next())
        && !mark.is_alphanumeric()
        && mark != '“'
    {
        hang += mark.width().unwrap_or(1) + 1;
        rest = chars.as_str();
    }
    if let Some(at) = rest.find("  ") {
        let label = rest[..at].width();
        let gap = rest[at..].len() - rest[at..].trim_start_matches(' ').len();
        if hang + label <= MAX_LABEL {
            hang += label + gap;
        }
    }
    // Two thirds of the screen stay for the text.
    hang.min(width / 3)
}

/// A line as words and the spaces between them; where a script has no spaces, each of its signs is a
/// word.
fn atoms(line: &str) -> Vec<&str> {
    let mut atoms = Vec::new();
    let mut start = 0;
    let mut previous: Option<char> = None;
    for (at, c) in line.char_indices() {
        if let Some(before) = previous
            && at > start
            && breaks_between(before, c)
        {
            atoms.push(&line[start..at]);
            start = at;
        }
        previous = Some(c);
    }
    if start < line.len() {
        atoms.push(&line[start..]);
    }
    atoms
}

fn breaks_between(before: char, after: char) -> bool {
    if (before == ' ') != (after == ' ') {
        return true;
    }
    let is_wide = |c: char| c.width() == Some(2);
    is_wide(before) && is_wide(after) && !CLOSING.contains(&after)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::{fitted, visible_width};

    fn check(text: &str, width: usize, expected: &str) {
        assert_eq!(fitted(text, width), expected);
    }

    #[test]
    fn lines_go_on_below_at_words() {
        check("short\n", 20, "short\n");
        check("one two three four five\n", 12, "one two\nthree four\nfive\n");
        check("a line that is long", usize::MAX, "a line that is long");
    }

    #[test]
    fn what_goes_on_stands_under_where_it_began() {
        check("  ✗ one two three four\n", 14, "  ✗ one two\n    three four\n");
        check(
            "  file     one two three four five six\n",
            34,
            "  file     one two three four five\n           six\n",
        );
        check("hint: one two three four\n", 16, "hint: one two\n      three four\n");
    }

    #[test]
    fn texts_without_spaces_break_between_signs_and_never_before_a_full_stop() {
        check("复检收敛时触发。\n", 14, "复检收敛时触\n发。\n");
    }

    #[test]
    fn a_path_breaks_at_its_joints_and_a_digest_where_it_must() {
        check("/home/someone/skills/tide-tables\n", 14, "/home/someone/\nskills/tide-\ntables\n");
        check("0123456789abcdef\n", 10, "0123456789\nabcdef\n");
    }

    #[test]
    fn styles_take_no_room() {
        let styled = "\u{1b}[31mone two\u{1b}[39m three";
        assert_eq!(visible_width(styled), 13);
        check(styled, 13, styled);
        check(styled, 9, "\u{1b}[31mone two\u{1b}[39m\nthree");
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(text in "[ -~复检。\n]{0,200}", width in 8_usize..80) {
            for line in fitted(&text, width).lines() {
                proptest::prop_assert!(line.width() <= width, "{line:?}");
            }
        }

        #[test]
        fn nothing_but_spaces_is_added_or_lost(text in "[ -~复检\n]{0,200}", width in 8_usize..80) {
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(solid(&fitted(&text, width)), solid(&text));
        }
    }
}
