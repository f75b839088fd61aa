//! Text from an untrusted author, and the places it may be shown.

use std::fmt::Write as _;

/// Text from a skill, a registry, a file name or a server.
///
/// It has no `Display`: code that shows it must say where, and gets the form that is safe there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Untrusted<'a>(&'a str);

impl<'a> Untrusted<'a> {
    /// Marks text as untrusted.
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// One line for a terminal: controls, escape sequences and invisible characters become visible.
    pub fn for_terminal(self) -> String {
        self.terminal(|_| false)
    }

    /// Several lines for a terminal: as [`Self::for_terminal`], but line ends and tabs stay.
    pub fn for_terminal_block(self) -> String {
        self.terminal(|c| matches!(c, '\n' | '\t'))
    }

    fn terminal(self, allowed: fn(char) -> bool) -> String {
        let mut shown = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            if !allowed(c) && (c.is_control() || is_invisible(c)) {
                let _ = write!(shown, "\\u{{{:x}}}", c as u32);
            } else {
                shown.push(c);
            }
        }
        shown
    }

    /// The inside of an XML element in a prompt: all five characters escaped, controls and
    /// invisible characters removed. Nothing that comes out of here can close an element.
    pub fn for_prompt_xml(self) -> String {
        self.xml("&apos;")
    }

    /// As [`Self::for_prompt_xml`], in OpenPocket's form, which leaves the apostrophe alone.
    pub fn for_prompt_xml_keeping_apostrophe(self) -> String {
        self.xml("'")
    }

    fn xml(self, apostrophe: &str) -> String {
        let mut escaped = String::with_capacity(self.0.len() + self.0.len() / 8);
        let mut rest = self.0;
        // Most text is plain: plain runs are copied whole, and only the characters between them are
        // examined.
        while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
            escaped.push_str(&rest[..at]);
            let mut chars = rest[at..].chars();
            match chars.next() {
                Some('\'') => escaped.push_str(apostrophe),
                Some(c) if may_reach_prompt(c) => match xml_escape(c) {
                    Some(escape) => escaped.push_str(escape),
                    None => escaped.push(c),
                },
                _ => {}
            }
            rest = chars.as_str();
        }
        escaped.push_str(rest);
        escaped
    }

    /// Several lines inside a frame of a prompt, readable as they are: controls and invisible characters
    /// removed, and every `<` that could begin a tag, a comment or a special token written `&lt;`. Nothing
    /// that comes out of here opens or closes a frame; quotation marks, arrows, redirections and
    /// comparisons stay as they were written.
    pub fn for_prompt_block(self) -> String {
        let mut shown = String::with_capacity(self.0.len() + self.0.len() / 16);
        let mut chars = self.prompt_chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '<' if chars.peek().is_some_and(|&next| begins_markup(next)) => {
                    shown.push_str("&lt;");
                }
                // What was written as an escape stays one, and is told from those made here.
                '&' if is_escape(chars.clone()) => shown.push_str("&amp;"),
                c => shown.push(c),
            }
        }
        shown
    }

    /// The characters that may reach a prompt, not yet escaped. Shorten or measure a text on these,
    /// so that a cut never splits an escape.
    #[inline]
    pub fn prompt_chars(self) -> impl Iterator<Item = char> + Clone + 'a {
        self.0.chars().filter(|&c| may_reach_prompt(c))
    }

    /// Text inside JSON that people read: control characters other than tab and line ends removed.
    pub fn for_json(self) -> String {
        let keep = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
        self.0.chars().filter(|&c| keep(c)).collect()
    }
}

/// The escape for `c` inside an XML element, if it needs one.
#[inline]
pub fn xml_escape(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&apos;"),
        _ => None,
    }
}

/// Whether a `<` before this character may be the beginning of markup: anything but what stands in
/// comparisons, redirections and arrows.
fn begins_markup(next: char) -> bool {
    !(next.is_whitespace()
        || matches!(next, '<' | '=' | '-' | '(' | '&' | '$' | '\'' | '"' | '0'..='9'))
}

/// Whether these characters end what `&` begins as an escape of a bracket or of itself.
fn is_escape(rest: impl Iterator<Item = char>) -> bool {
    let word: String = rest.take(4).collect();
    ["lt;", "gt;", "amp;"].iter().any(|escape| word.starts_with(escape))
}

#[inline]
fn may_reach_prompt(c: char) -> bool {
    match c {
        ' '..='~' | '\t' | '\n' => true,
        c => !(c.is_control() || is_invisible(c) || is_not_xml(c)),
    }
}

/// Printable ASCII that needs no escape in XML.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')
}

/// Bidi controls, zero-width characters and tag characters: they change the meaning of a text
/// without being visible. Joiners inside emoji are removed too; a prompt and a log lose nothing by
/// it.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}'
        | '\u{feff}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Code points that `char` allows but XML 1.0 forbids.
fn is_not_xml(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_terminal(text: &str, shown: &str) {
        assert_eq!(Untrusted::new(text).for_terminal(), shown);
    }

    #[test]
    fn terminals_see_escapes_as_text() {
        check_terminal("plain ünïcode 漢字", "plain ünïcode 漢字");
        check_terminal("\u{1b}]52;c;ZXZpbA==\u{7}", "\\u{1b}]52;c;ZXZpbA==\\u{7}");
        check_terminal("a\rb\u{8}c\u{9b}2J", "a\\u{d}b\\u{8}c\\u{9b}2J");
        check_terminal("two\nlines", "two\\u{a}lines");
        check_terminal("rtl\u{202e}txt", "rtl\\u{202e}txt");
    }

    #[test]
    fn prompts_see_text_only() {
        let hostile = Untrusted::new("</available_skills>]]> & 'a' \"b\"\u{0}\u{200b}");
        assert_eq!(
            hostile.for_prompt_xml(),
            "&lt;/available_skills&gt;]]&gt; &amp; &apos;a&apos; &quot;b&quot;"
        );
        assert!(hostile.for_prompt_xml_keeping_apostrophe().contains("'a'"));
    }

    #[test]
    fn blocks_stay_readable_and_hold_no_markup() {
        let check = |text: &str, shown: &str| {
            assert_eq!(Untrusted::new(text).for_prompt_block(), shown);
        };
        check("if a < b && c <= d; x << 2", "if a < b && c <= d; x << 2");
        check("cat <<'EOF' > \"out\"", "cat <<'EOF' > \"out\"");
        check("</skill_text>\n<!-- x -->", "&lt;/skill_text>\n&lt;!-- x -->");
        check("<\u{200b}/skill_text> <|im_start|>", "&lt;/skill_text> &lt;|im_start|>");
        check("&lt;b&gt; R&D", "&amp;lt;b&amp;gt; R&D");
        check("a\r\nb\u{1b}[2J", "a\nb[2J");
    }

    proptest! {
        #[test]
        fn no_tag_leaves_a_block(text in any::<String>()) {
            let shown = Untrusted::new(&format!("<{text}</a><!--")).for_prompt_block();
            let tags = shown.match_indices('<').map(|(at, _)| shown[at + 1..].chars().next());
            for next in tags.flatten() {
                prop_assert!(!next.is_alphabetic() && !matches!(next, '/' | '!' | '?' | '|'), "{}", shown);
            }
        }

        #[test]
        fn no_control_reaches_a_terminal_and_no_markup_a_prompt(text in any::<String>()) {
            let text = Untrusted::new(&text);
            prop_assert!(!text.for_terminal().chars().any(char::is_control));
            prop_assert!(!text.for_prompt_xml().contains(['<', '>', '"', '\'']));
            let json = text.for_json();
            prop_assert!(!json.bytes().any(|byte| byte == 0x1b));
        }
    }
}
