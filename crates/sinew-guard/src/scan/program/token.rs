//! Tokens of Python and JavaScript. Any text gives tokens; what is not a token is left out.

use super::tree::ProgramLanguage;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    Name(String),
    Number(i64),
    /// A string without values in it, unescaped.
    Text(String),
    /// A string with values: text, or the source of an expression.
    Template(Vec<TemplatePart>),
    Mark(&'static str),
    /// The end of a logical line, in Python.
    Newline,
    Indent,
    Dedent,
}

/// A part of a string with values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TemplatePart {
    Text(String),
    Source(String),
}

/// A token and where it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProgramToken {
    pub(crate) kind: TokenKind,
    /// From 0.
    pub(crate) line: usize,
    /// Whether a line ends before it.
    pub(crate) is_first: bool,
}

/// Marks, the longest first.
const MARKS: &[&str] = &[
    ">>>=", "...", "===", "!==", "**=", "//=", "<<=", ">>=", "&&=", "||=", "??=", ">>>", "=>",
    "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ":=", "->", "&&", "||",
    "??", "?.", "++", "--", "**", "//", "<<", ">>", "(", ")", "[", "]", "{", "}", ",", ":", ";",
    ".", "=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">", "!", "?", "@", "#",
];

/// Splits a program.
pub(crate) fn tokens(text: &str, language: ProgramLanguage) -> Vec<ProgramToken> {
    let mut reader = TokenReader {
        text,
        at: 0,
        line: 0,
        depth: 0,
        indents: vec![0],
        is_first: true,
        found: Vec::new(),
    };
    match language {
        ProgramLanguage::Python => reader.python(),
        ProgramLanguage::JavaScript => reader.javascript(),
    }
    reader.found
}

struct TokenReader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    depth: usize,
    indents: Vec<usize>,
    is_first: bool,
    found: Vec<ProgramToken>,
}

impl TokenReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: TokenKind, line: usize) {
        self.found.push(ProgramToken { kind, line, is_first: self.is_first });
        self.is_first = false;
    }

    fn advance(&mut self, length: usize) {
        let end = (self.at + length).min(self.text.len());
        self.line += super::super::lines::count_ends(&self.text.as_bytes()[self.at..end]);
        self.at = end;
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        let length = rest.find('\n').unwrap_or(rest.len());
        self.at += length;
    }

    fn python(&mut self) {
        let mut at_line_start = true;
        while self.at < self.text.len() {
            if at_line_start && self.depth == 0 {
                at_line_start = false;
                if !self.indentation() {
                    continue;
                }
            }
            match self.byte(0) {
                b'\n' => {
                    if self.depth == 0 {
                        if self.found.last().is_some_and(|t| t.kind != TokenKind::Newline) {
                            self.push(TokenKind::Newline, self.line);
                        }
                        at_line_start = true;
                    }
                    self.is_first = true;
                    self.advance(1);
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' => self.advance(if self.byte(1) == b'\r' { 3 } else { 2 }),
                b'#' => self.skip_line(),
                b'"' | b'\'' => self.python_text(""),
                _ => self.word_or_mark(ProgramLanguage::Python),
            }
        }
        self.push(TokenKind::Newline, self.line);
        for _ in 1..self.indents.len() {
            self.push(TokenKind::Dedent, self.line);
        }
    }

    /// Reads the blanks at the start of a line; false for a line without code.
    fn indentation(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.find(|c: char| c != ' ' && c != '\t').unwrap_or(rest.len());
        let width: usize =
            rest[..length].bytes().map(|byte| if byte == b'\t' { 8 } else { 1 }).sum();
        self.at += length;
        if matches!(self.byte(0), b'\n' | b'#' | b'\r' | 0) {
            return self.byte(0) != b'#' || {
                self.skip_line();
                false
            };
        }
        let last = self.indents.last().copied().unwrap_or(0);
        if width > last && self.indents.len() < 100 {
            self.indents.push(width);
            self.push(TokenKind::Indent, self.line);
            self.is_first = true;
        }
        while self.indents.last().is_some_and(|last| width < *last) {
            self.indents.pop();
            self.push(TokenKind::Dedent, self.line);
            self.is_first = true;
        }
        true
    }

    fn javascript(&mut self) {
        while self.at < self.text.len() {
            match (self.byte(0), self.byte(1)) {
                (b'\n', _) => {
                    self.is_first = true;
                    self.advance(1);
                }
                (b' ' | b'\t' | b'\r', _) => self.at += 1,
                (b'/', b'/') => self.skip_line(),
                (b'#', b'!') if self.at == 0 => self.skip_line(),
                (b'/', b'*') => {
                    let length = self.rest().find("*/").map_or(self.rest().len(), |at| at + 2);
                    self.advance(length);
                }
                (b'/', _) if self.starts_value() => self.regex(),
                (quote @ (b'"' | b'\''), _) => {
                    let line = self.line;
                    let text = self.quoted(quote, 1, false, Unescape::Yes);
                    self.push(TokenKind::Text(text), line);
                }
                (b'`', _) => self.template(),
                _ => self.word_or_mark(ProgramLanguage::JavaScript),
            }
        }
    }

    /// Whether a value can start here, so that a slash is no division.
    fn starts_value(&self) -> bool {
        match self.found.last().map(|token| &token.kind) {
            None => true,
            Some(TokenKind::Mark(mark)) => !matches!(*mark, ")" | "]" | "}" | "++" | "--"),
            Some(TokenKind::Name(name)) => {
                matches!(name.as_str(), "return" | "typeof" | "case" | "in" | "of" | "await")
            }
            Some(_) => false,
        }
    }

    fn regex(&mut self) {
        let bytes = self.text.as_bytes();
        let (mut at, mut in_class) = (self.at + 1, false);
        while at < bytes.len() && bytes[at] != b'\n' {
            match bytes[at] {
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                _ => {}
            }
            at += 1;
        }
        let line = self.line;
        let mut at = (at + 1).min(bytes.len());
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        while bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
        }
        self.at = at;
        self.push(TokenKind::Number(0), line);
    }

    /// The text of a string that starts with `quotes` quote bytes; the reader is behind it then.
    fn quoted(&mut self, quote: u8, quotes: usize, lines: bool, unescape: Unescape) -> String {
        self.at += quotes;
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start;
        let closes = |at: usize| (0..quotes).all(|n| bytes.get(at + n) == Some(&quote));
        while at < bytes.len() && !closes(at) && (lines || bytes[at] != b'\n') {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let mut at = at.min(bytes.len());
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        let raw = &self.text[start..at];
        let text = match unescape {
            Unescape::Yes => unescaped(raw),
            Unescape::No => raw.to_owned(),
        };
        self.advance(at - start);
        if closes(at) {
            self.at += quotes;
        }
        text
    }

    /// A Python string whose prefix was read already.
    fn python_text(&mut self, prefix: &str) {
        let quote = self.byte(0);
        let line = self.line;
        let triple = self.byte(1) == quote && self.byte(2) == quote;
        let (quotes, lines) = if triple { (3, true) } else { (1, false) };
        let is_raw = prefix.contains('r');
        let unescape = if is_raw { Unescape::No } else { Unescape::Yes };
        let text = self.quoted(quote, quotes, lines, unescape);
        let kind = if prefix.contains('f') {
            TokenKind::Template(format_parts(&text, "{"))
        } else {
            TokenKind::Text(text)
        };
        self.push(kind, line);
    }

    fn template(&mut self) {
        let line = self.line;
        self.at += 1;
        let bytes = self.text.as_bytes();
        let (start, mut at, mut open) = (self.at, self.at, 0usize);
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'$' if bytes.get(at + 1) == Some(&b'{') && open == 0 => {
                    open = 1;
                    at += 1;
                }
                b'{' if open > 0 => open += 1,
                b'}' if open > 0 => open -= 1,
                b'`' if open == 0 => break,
                _ => {}
            }
            at += 1;
        }
        let mut at = at.min(bytes.len());
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        let parts = format_parts(&self.text[start..at], "${");
        self.advance(at - start);
        self.at = (self.at + 1).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.push(TokenKind::Template(parts), line);
    }

    fn word_or_mark(&mut self, language: ProgramLanguage) {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        let line = self.line;
        if first.is_alphabetic() || matches!(first, '_' | '$') {
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
                .unwrap_or(rest.len());
            let word = &rest[..end];
            let is_prefix = language == ProgramLanguage::Python
                && end <= 2
                && word.chars().all(|c| "rRbBfFuU".contains(c))
                && matches!(rest.as_bytes().get(end), Some(b'"' | b'\''));
            let word =
                if word.is_ascii() { word.to_owned() } else { super::super::fold::fold(word).text };
            self.at += end;
            if is_prefix {
                self.python_text(&word.to_ascii_lowercase());
            } else {
                self.push(TokenKind::Name(word), line);
            }
        } else if first.is_ascii_digit() {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
                .unwrap_or(rest.len());
            let value = number(&rest[..end]);
            self.at += end;
            self.push(TokenKind::Number(value), line);
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            // `>>` also closes two lists of types, and `//` is a comment in JavaScript.
            match *mark {
                "(" | "[" | "{" => self.depth += 1,
                ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += mark.len();
            self.push(TokenKind::Mark(mark), line);
        } else {
            self.at += first.len_utf8();
        }
    }
}

/// Whether escapes of a string are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unescape {
    Yes,
    No,
}

fn number(text: &str) -> i64 {
    let text = text.replace('_', "").to_ascii_lowercase();
    let radix = |prefix: &str, radix: u32| {
        text.strip_prefix(prefix).map(|rest| i64::from_str_radix(rest, radix).unwrap_or(0))
    };
    radix("0x", 16)
        .or_else(|| radix("0o", 8))
        .or_else(|| radix("0b", 2))
        .unwrap_or_else(|| text.parse().unwrap_or(0))
}

/// The character whose number is the next `digits` digits.
fn coded(rest: &mut &str, digits: usize) -> Option<char> {
    let value = u32::from_str_radix(rest.get(..digits)?, 16).ok().and_then(char::from_u32)?;
    *rest = &rest[digits..];
    Some(value)
}

/// Resolves the escapes of a string.
fn unescaped(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else { break };
        rest = &rest[c.len_utf8()..];
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '\n' => {}
            'x' => out.extend(coded(&mut rest, 2)),
            'u' if rest.starts_with('{') => {
                let end = rest.find('}').unwrap_or(0);
                let hex = rest.get(1..end).unwrap_or("");
                out.extend(u32::from_str_radix(hex, 16).ok().and_then(char::from_u32));
                rest = rest.get(end + 1..).unwrap_or("");
            }
            'u' => out.extend(coded(&mut rest, 4)),
            'U' => out.extend(coded(&mut rest, 8)),
            '0'..='7' => {
                let more = rest.bytes().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let digits = format!("{c}{}", &rest[..more]);
                rest = &rest[more..];
                out.extend(u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32));
            }
            c => out.push(c),
        }
    }
    out.push_str(rest);
    out
}

/// The parts of a string with values; `open` starts a value.
fn format_parts(text: &str, open: &str) -> Vec<TemplatePart> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        plain.push_str(&rest[..at]);
        rest = &rest[at + open.len()..];
        if open == "{" && rest.starts_with('{') {
            plain.push('{');
            rest = &rest[1..];
            continue;
        }
        let end = closing(rest);
        let source = &rest[..end];
        // `{value!r:>10}`: what follows the value is its form.
        let source = if open == "{" { without_form(source) } else { source };
        parts.push(TemplatePart::Text(unescaped(&std::mem::take(&mut plain))));
        parts.push(TemplatePart::Source(source.to_owned()));
        rest = rest.get(end + 1..).unwrap_or("");
    }
    plain.push_str(rest);
    parts.push(TemplatePart::Text(unescaped(&plain)));
    parts
}

/// Where the bracket that was opened before `text` closes.
fn closing(text: &str) -> usize {
    let mut open = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => return at,
            b'}' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

fn without_form(source: &str) -> &str {
    let mut open = 0usize;
    let mut quote = None;
    for (at, byte) in source.bytes().enumerate() {
        match (quote, byte) {
            (Some(mark), byte) if byte == mark => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => open += 1,
            (None, b')' | b']' | b'}') => open = open.saturating_sub(1),
            (None, b':') if open == 0 => return &source[..at],
            (None, b'!') if open == 0 && source.as_bytes().get(at + 1) != Some(&b'=') => {
                return &source[..at];
            }
            _ => {}
        }
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_gives_tokens() {
        for text in ["", "\"", "'''", "`${", "f'{", "/", "\\", "\u{1}", "if x:\n\ty\n z", "é'\\"] {
            for language in [ProgramLanguage::Python, ProgramLanguage::JavaScript] {
                tokens(text, language);
            }
        }
    }

    #[test]
    fn strings_lose_their_escapes_and_keep_their_values() {
        let all = tokens("f\"https://{h!r}/x\\x41\"", ProgramLanguage::Python);
        let TokenKind::Template(parts) = &all[0].kind else { panic!("{all:?}") };
        assert_eq!(parts[1], TemplatePart::Source("h".to_owned()));
        assert_eq!(parts[2], TemplatePart::Text("/xA".to_owned()));
    }
}
