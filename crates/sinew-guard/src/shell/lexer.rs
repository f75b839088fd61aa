//! Characters to words: quotes, escapes, substitutions.

use memchr::memchr;

use super::parser::ShellReader;
use super::{ShellPlace, ShellWord};

/// Bytes that end a word outside quotes.
fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

impl ShellReader<'_> {
    /// Skips blanks, continued lines and a comment; stays at a line end.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if matches!(self.bytes.get(self.at + 1), Some(b'\n')) => self.at += 2,
                Some(b'\\') if self.bytes[self.at..].starts_with(b"\\\r\n") => self.at += 3,
                Some(b'#') if self.at == 0 || ends_word(self.bytes[self.at - 1]) => {
                    self.at =
                        memchr(b'\n', &self.bytes[self.at..]).map_or(self.end(), |n| self.at + n);
                }
                _ => return,
            }
        }
    }

    /// Reads one word, or nothing where none starts.
    pub(super) fn word(&mut self, owner: usize) -> Option<ShellWord> {
        let start = self.at;
        let mut word = ShellWord::default();
        let mut run = self.at;
        while let Some(byte) = self.peek() {
            let process = matches!(byte, b'<' | b'>') && self.bytes.get(self.at + 1) == Some(&b'(');
            if process && self.at == start && self.may_nest() {
                self.at += 2;
                self.nested(b')', owner, ShellPlace::Substitution);
                word.text.push_str("<()");
                word.has_substitution = true;
                run = self.at;
                continue;
            }
            if ends_word(byte) || byte == b'`' && self.in_backticks {
                break;
            }
            if !matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$') {
                self.at += 1;
                continue;
            }
            word.text.push_str(self.slice(run, self.at));
            self.special(byte, owner, &mut word);
            run = self.at;
        }
        word.text.push_str(self.slice(run, self.at));
        word.span = start..self.at;
        (self.at > start).then_some(word)
    }

    /// An escape, a quotation or a substitution; always moves on.
    fn special(&mut self, byte: u8, owner: usize, word: &mut ShellWord) {
        match byte {
            b'\\' => self.escape(word),
            b'\'' => self.single_quotes(word),
            b'"' => self.double_quotes(owner, word),
            b'`' => self.backticks(owner, word),
            _ => self.dollar(owner, word),
        }
    }

    fn escape(&mut self, word: &mut ShellWord) {
        self.at += 1;
        let rest = self.slice(self.at, self.end());
        let Some(next) = rest.chars().next() else { return };
        self.at += next.len_utf8();
        if next != '\n' {
            word.text.push(next);
            word.is_quoted = true;
        }
    }

    fn single_quotes(&mut self, word: &mut ShellWord) {
        self.at += 1;
        match self.find_quote(b'\'') {
            Some(end) => {
                word.text.push_str(self.slice(self.at, end));
                word.is_quoted = true;
                self.at = end + 1;
            }
            // An apostrophe.
            None => word.text.push('\''),
        }
    }

    fn double_quotes(&mut self, owner: usize, word: &mut ShellWord) {
        self.at += 1;
        if self.find_quote(b'"').is_none() {
            word.text.push('"');
            return;
        }
        word.is_quoted = true;
        let mut run = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    word.text.push_str(self.slice(run, self.at));
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    word.text.push_str(self.slice(run, self.at));
                    self.at += 1;
                    let taken = matches!(self.peek(), Some(b'"' | b'\\' | b'$' | b'`'));
                    if taken {
                        word.text.push_str(self.slice(self.at, self.at + 1));
                        self.at += 1;
                    } else if self.peek() == Some(b'\n') {
                        self.at += 1;
                    } else {
                        word.text.push('\\');
                    }
                    run = self.at;
                }
                b'`' | b'$' => {
                    word.text.push_str(self.slice(run, self.at));
                    self.special(byte, owner, word);
                    run = self.at;
                }
                _ => self.at += 1,
            }
        }
        word.text.push_str(self.slice(run, self.at));
    }

    fn backticks(&mut self, owner: usize, word: &mut ShellWord) {
        self.at += 1;
        if self.find_quote(b'`').is_none() || !self.may_nest() {
            word.text.push('`');
            return;
        }
        self.nested(b'`', owner, ShellPlace::Substitution);
        word.text.push_str("$()");
        word.has_substitution = true;
    }

    fn dollar(&mut self, owner: usize, word: &mut ShellWord) {
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.bytes.get(self.at + 1) != Some(&b'(') && self.may_nest() => {
                self.at += 1;
                self.nested(b')', owner, ShellPlace::Substitution);
                word.text.push_str("$()");
                word.has_substitution = true;
            }
            Some(b'\'') if self.bytes[self.at + 1..].contains(&b'\'') => self.ansi_quotes(word),
            Some(b'{') => {
                let start = self.at - 1;
                let rest = &self.bytes[self.at..];
                // A parameter's name is short; a longer one is read as plain text.
                let close = memchr(b'}', &rest[..rest.len().min(200)]);
                self.at = close.map_or(self.at + 1, |length| self.at + length + 1);
                let name = self.slice(start, self.at);
                let text =
                    if name.starts_with("${IFS") || name.starts_with("${ifs") { " " } else { name };
                word.text.push_str(text);
            }
            _ => word.text.push('$'),
        }
    }

    /// `$'…'`
    fn ansi_quotes(&mut self, word: &mut ShellWord) {
        self.at += 1;
        word.is_quoted = true;
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    let (char, length) = ansi_escape(&self.bytes[self.at + 1..]);
                    word.text.push(char);
                    self.at = (self.at + 1 + length).min(self.end());
                }
                _ => {
                    let Some(next) = self.slice(self.at, self.end()).chars().next() else { return };
                    word.text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
    }
}

/// What an escape in `$'…'` stands for, and how many bytes follow its backslash.
fn ansi_escape(rest: &[u8]) -> (char, usize) {
    let digits = |from: usize, most: usize, base: u32| {
        let count = rest[from.min(rest.len())..]
            .iter()
            .take(most)
            .take_while(|byte| (**byte as char).is_digit(base))
            .count();
        let text = std::str::from_utf8(&rest[from.min(rest.len())..][..count]).unwrap_or("");
        let value = u32::from_str_radix(text, base).unwrap_or(u32::from(b'?'));
        (char::from_u32(value).unwrap_or('?'), from + count)
    };
    match rest.first() {
        Some(b'n') => ('\n', 1),
        Some(b't') => ('\t', 1),
        Some(b'x') => digits(1, 2, 16),
        Some(b'u') => digits(1, 4, 16),
        Some(b'0'..=b'7') => digits(0, 3, 8),
        Some(byte) if byte.is_ascii() => (*byte as char, 1),
        _ => ('\\', 0),
    }
}
