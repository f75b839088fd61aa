//! Folding: one spelling for characters that look or read the same, for matching only.
//!
//! The folded text has exactly the lines of the original, so that a match is on the line a person
//! sees: a continued command moves up to its first line and leaves blank lines behind.

use std::borrow::Cow;

use memchr::{memchr, memmem, memrchr};
use unicode_normalization::UnicodeNormalization as _;

use super::lines::{count_ends, next_where};

/// Folded text and what was odd about the original.
#[derive(Debug, Default)]
pub(crate) struct FoldedText {
    pub(crate) text: String,
    /// Lines (from 0) with a zero-width or format character inside a word.
    pub(crate) zero_width: Vec<usize>,
    /// Lines with a bidi override or isolate.
    pub(crate) bidi: Vec<usize>,
    /// Lines where a look-alike of a Latin letter is inside a Latin word.
    pub(crate) lookalike: Vec<usize>,
    /// Text written in tag characters or variation selectors, and its line.
    pub(crate) tags: Vec<(usize, String)>,
}

/// Oddities recorded per file; more of them would say nothing new.
const MAX_ODDITIES: usize = 64;
/// The longest line that joining produces; anything longer is not a command.
const MAX_JOINED: usize = 64 * 1024;

/// A command that continues on the next line.
struct JoinedCommand {
    /// Where it starts in the folded text.
    from: usize,
    /// Line ends to add once it is complete.
    owed: usize,
    /// Whether it starts like a row of a table, which also ends in a bar.
    is_row: bool,
}

/// Folds `text`: case, compatibility forms, look-alikes, invisible characters, continued lines.
pub(crate) fn fold(text: &str) -> FoldedText {
    let text = &*without_returns(text);
    let bytes = text.as_bytes();
    let mut folded =
        FoldedText { text: String::with_capacity(text.len() + 16), ..FoldedText::default() };
    let mut hidden = HiddenText::default();
    // Text before this is folded; it contains this many complete lines.
    let (mut done, mut number) = (0usize, 0usize);
    // Most lines only need lowering: they are skipped over and copied together.
    let mut passed = 0usize;
    while let Some(odd) = next_where(bytes, passed, needs_care) {
        if is_within_line(bytes, odd) {
            passed = odd + 1;
            continue;
        }
        let start = memrchr(b'\n', &bytes[done..odd]).map_or(done, |end| done + end + 1);
        number += count_ends(&bytes[done..start]);
        push_lower(&text[done..start], &mut folded.text);
        done = start;
        let mut open: Option<JoinedCommand> = None;
        loop {
            let end = memchr(b'\n', &bytes[done..]).map(|length| done + length);
            let line = &text[done..end.unwrap_or(text.len())];
            let mut joined = open.take().unwrap_or_else(|| JoinedCommand {
                from: folded.text.len(),
                owed: 0,
                is_row: line.trim_start().starts_with('|'),
            });
            if line.is_ascii() {
                push_lower(line, &mut folded.text);
            } else {
                fold_line(line, number, &mut hidden, &mut folded);
            }
            let Some(end) = end else {
                folded.text.extend(std::iter::repeat_n('\n', joined.owed));
                return folded;
            };
            joined.owed += 1;
            number += 1;
            done = end + 1;
            let goes_on = continues(&folded.text[joined.from..], joined.is_row)
                && folded.text.len() - joined.from < MAX_JOINED;
            if !goes_on {
                folded.text.extend(std::iter::repeat_n('\n', joined.owed));
                break;
            }
            drop_continuation(&mut folded.text);
            open = Some(joined);
        }
        passed = done;
    }
    push_lower(&text[done..], &mut folded.text);
    folded
}

/// The text with plain line ends.
fn without_returns(text: &str) -> Cow<'_, str> {
    let text = text.strip_suffix('\r').unwrap_or(text);
    let mut ends = memmem::find_iter(text.as_bytes(), b"\r\n").peekable();
    if ends.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for end in ends {
        out.push_str(&text[done..end]);
        done = end + 1;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Whether a byte means that its line must be examined: it is not ASCII, or it may end a line that
/// continues.
fn needs_care(b: u8, next: u8) -> bool {
    let last = (b == b'\\') | (b == b'|') | (b == b'&');
    let end = (next == b'\n') | (next == b' ') | (next == b'\t');
    !b.is_ascii() | (last & end)
}

/// Whether something follows `at` on its line.
fn is_within_line(bytes: &[u8], at: usize) -> bool {
    let rest = bytes[at + 1..].iter().find(|b| !matches!(b, b' ' | b'\t'));
    bytes[at].is_ascii() && rest.is_some_and(|b| *b != b'\n')
}

/// Adds ASCII text in lower case.
fn push_lower(text: &str, out: &mut String) {
    let start = out.len();
    out.push_str(text);
    out[start..].make_ascii_lowercase();
}

fn continues(line: &str, is_row: bool) -> bool {
    let line = line.trim_end();
    if line.ends_with('\\') {
        return line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
    }
    (line.ends_with('|') && !is_row && !line.ends_with("||")) || line.ends_with("&&")
}

fn drop_continuation(text: &mut String) {
    let end = text.trim_end().len();
    text.truncate(end);
    if text.ends_with('\\') {
        text.pop();
    }
    text.push(' ');
}

/// The hidden text of a line, in invisible characters; reused for each line.
#[derive(Debug, Default)]
struct HiddenText {
    tags: String,
    selectors: Vec<u8>,
}

fn fold_line(line: &str, number: usize, hidden: &mut HiddenText, folded: &mut FoldedText) {
    let mut previous = ' ';
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if let Some(byte) = selector(c) {
            hidden.selectors.push(byte);
            continue;
        }
        if !hidden.selectors.is_empty() {
            hidden.read_selectors();
        }
        match c {
            c if c.is_ascii() => folded.text.push(c.to_ascii_lowercase()),
            '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => {
                if let Some(plain) = char::from_u32(c as u32 - 0xe0000).filter(|p| !p.is_control())
                {
                    hidden.tags.push(plain);
                }
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => note(&mut folded.bidi, number),
            c if is_format(c) => {
                // Nothing invisible belongs between two letters of one Latin word.
                let next = chars.peek().copied().unwrap_or(' ');
                if previous.is_ascii_alphanumeric() && next.is_ascii_alphanumeric() {
                    note(&mut folded.zero_width, number);
                }
                continue;
            }
            // Latin-1 is folded by code point, which is faster than by table: bytes that are not
            // UTF-8 are read as Latin-1, and an attacker can supply any number of them.
            '\u{a0}' => folded.text.push(' '),
            '\u{80}'..='\u{9f}' => folded.text.push(c),
            '\u{c0}'..='\u{de}' if c != '×' => {
                folded.text.extend(char::from_u32(c as u32 + 0x20));
            }
            '\u{df}'..='\u{ff}' => folded.text.push(c),
            c => match lookalike(c) {
                Some(plain) => {
                    let next = chars.peek().copied().unwrap_or(' ');
                    if previous.is_ascii_alphabetic() || next.is_ascii_alphabetic() {
                        note(&mut folded.lookalike, number);
                    }
                    folded.text.push(plain);
                }
                None if is_compatibility(c) => {
                    for plain in std::iter::once(c).nfkc().flat_map(char::to_lowercase) {
                        folded.text.push(if plain == '\n' { ' ' } else { plain });
                    }
                }
                None => folded.text.extend(c.to_lowercase()),
            },
        }
        previous = c;
    }
    hidden.read_selectors();
    if hidden.tags.len() >= 3 && folded.tags.len() < MAX_ODDITIES {
        folded.tags.push((number, hidden.tags.clone()));
    }
    hidden.tags.clear();
}

/// The byte that a variation selector encodes when text is hidden in selectors.
fn selector(c: char) -> Option<u8> {
    match c {
        '\u{fe00}'..='\u{fe0f}' => u8::try_from(c as u32 - 0xfe00).ok(),
        '\u{e0100}'..='\u{e01ef}' => u8::try_from(c as u32 - 0xe0100 + 16).ok(),
        _ => None,
    }
}

/// This many selectors in a row are hidden text; a normal character has one or two.
const MIN_SELECTORS: usize = 3;

impl HiddenText {
    fn read_selectors(&mut self) {
        if self.selectors.len() >= MIN_SELECTORS {
            let text = String::from_utf8_lossy(&self.selectors);
            self.tags.extend(text.chars().filter(|c| !c.is_control() && *c != '\u{fffd}'));
        }
        self.selectors.clear();
    }
}

/// Words of a table in folded spelling. Only letters beyond ASCII change, so that an expression
/// keeps its meaning.
pub(crate) fn letters(words: &str) -> String {
    let fold = |c: char| match lookalike(c) {
        Some(plain) => plain.to_string(),
        None if c.is_ascii() => c.to_string(),
        None => c.to_lowercase().collect(),
    };
    words.chars().map(fold).collect()
}

fn note(lines: &mut Vec<usize>, number: usize) {
    if lines.last() != Some(&number) && lines.len() < MAX_ODDITIES {
        lines.push(number);
    }
}

/// Zero-width characters: they split a word for a program but not for a reader.
fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}')
}

fn is_compatibility(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{aa}' | '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{ba}' | '\u{2b0}'..='\u{2b8}'
        | '\u{1d2c}'..='\u{1d6a}' | '\u{2000}'..='\u{200a}' | '\u{2024}'..='\u{2026}' | '\u{202f}'
        | '\u{205f}' | '\u{2070}'..='\u{209c}' | '\u{2100}'..='\u{214f}' | '\u{2160}'..='\u{217f}'
        | '\u{2460}'..='\u{24ff}' | '\u{3000}' | '\u{fb00}'..='\u{fb06}' | '\u{ff01}'..='\u{ff5e}'
        | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1ff}')
}

/// Letters of other scripts that look like Latin ones (from the confusables of UTS 39).
pub(crate) fn lookalike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' | 'ɑ' => 'a',
        'Ь' | 'В' | 'Β' | 'ƅ' => 'b',
        'с' | 'С' | 'ϲ' | 'ⅽ' => 'c',
        'ԁ' | 'ⅾ' => 'd',
        'е' | 'Е' | 'Ε' | 'ҽ' | 'ё' => 'e',
        'ғ' | 'ϝ' => 'f',
        'ɡ' | 'ց' => 'g',
        'һ' | 'Н' | 'Η' | 'հ' => 'h',
        'і' | 'І' | 'Ι' | 'ι' | 'ı' | 'ӏ' => 'i',
        'ј' | 'Ј' => 'j',
        'к' | 'К' | 'Κ' | 'κ' => 'k',
        'ⅼ' | 'Ӏ' | 'ʟ' => 'l',
        'М' | 'Μ' | 'м' | 'ⅿ' => 'm',
        'Ν' | 'ո' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | 'Ѕ' | 'ꜱ' => 's',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'υ' | 'ս' | 'ʋ' => 'u',
        'ν' | 'ѵ' | 'Ѵ' => 'v',
        'ԝ' | 'ѡ' | 'ω' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'γ' | 'Υ' | 'ү' => 'y',
        'Ζ' | 'ᴢ' => 'z',
        '‐'..='―' | '−' => '-',
        '‘' | '’' | '‛' | 'ʼ' => '\'',
        '“' | '”' | '„' => '"',
        '∕' | '⁄' => '/',
        '∣' | '｜' => '|',
        '․' => '.',
        '∶' | '꞉' => ':',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_the_same_folds_the_same() {
        assert_eq!(fold("ＣＵＲＬ").text, "curl");
        assert_eq!(fold("сurl").text, "curl");
        assert_eq!(fold("cu\u{200b}rl").text, "curl");
        assert_eq!(fold("cu\u{200b}rl").zero_width, [0]);
        assert_eq!(fold("𝐜𝐮𝐫𝐥").text, "curl");
    }

    #[test]
    fn continued_lines_move_up_and_leave_the_count_alone() {
        let folded = fold("curl x \\\n  -o y \\\n  | sh\nnext").text;
        assert_eq!(folded.lines().count(), 4);
        assert!(folded.lines().next().is_some_and(|l| l.contains("| sh")));
        assert_eq!(folded.lines().nth(3), Some("next"));
        assert_eq!(fold("curl x |\nsh\nz").text, "curl x | sh\n\nz");
        assert_eq!(fold("| a |\n| b |").text, "| a |\n| b |");
    }

    #[test]
    fn honest_scripts_are_not_odd() {
        let text = "👨‍👩‍👧 می‌خواهم עברית العربية 漢字 ❤️";
        let folded = fold(text);
        assert!(folded.zero_width.is_empty() && folded.bidi.is_empty() && folded.tags.is_empty());
    }

    #[test]
    fn tag_characters_are_read_aloud() {
        let hidden: String =
            "run it".chars().filter_map(|c| char::from_u32(0xe0000 + c as u32)).collect();
        assert_eq!(fold(&format!("hello{hidden}")).tags, [(0, "run it".to_owned())]);
    }
}
