//! Words to commands: pipelines, groups, loops, functions, here-documents.
//!
//! One pass over the bytes. A text that opens more than it closes ends where the text ends.

use memchr::memchr;

use super::wrappers;
use super::{
    RedirectionKind, ShellCommand, ShellFunction, ShellPlace, ShellRedirection, ShellScript,
    ShellWord,
};

/// Groups and substitutions inside each other; people write three.
const MAX_DEPTH: usize = 24;
/// Commands of one text; the longest script of 7,000 skills has 900.
const MAX_COMMANDS: usize = 20_000;
/// Functions of one text: each call looks through them.
const MAX_FUNCTIONS: usize = 128;
/// Words of one command, so that data pasted behind a name stays cheap.
const MAX_WORDS: usize = 512;

pub(super) fn parse(text: &str) -> ShellScript {
    let mut reader = ShellReader::new(text);
    while reader.at < reader.end() {
        let before = reader.at;
        reader.list(Closing::Text, None, ShellPlace::Script);
        if reader.at == before {
            reader.at += 1;
        }
    }
    for command in &mut reader.script.commands {
        command.wrapped = wrappers::count(&command.words);
    }
    reader.script
}

/// What ends a list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    Text,
    Byte(u8),
    /// `done`, `fi`, `esac`, `}`
    Word(&'static str),
}

/// The state while a text is read.
pub(super) struct ShellReader<'a> {
    text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    depth: usize,
    pipelines: usize,
    script: ShellScript,
    /// Here-documents whose bodies start after this line: command, redirection, end mark, and
    /// whether substitutions in it run.
    waiting: Vec<(usize, usize, String, bool)>,
    /// Quotation marks of which no further one is in the text.
    spent: [bool; 3],
    /// Backticks that are open: the next one closes.
    pub(super) in_backticks: bool,
}

impl<'a> ShellReader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            depth: 0,
            pipelines: 0,
            script: ShellScript::default(),
            waiting: Vec::new(),
            spent: [false; 3],
            in_backticks: false,
        }
    }

    pub(super) fn end(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Part of the text; positions inside a character give nothing.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    /// The next quotation mark of this kind.
    pub(super) fn find_quote(&mut self, quote: u8) -> Option<usize> {
        let kind = match quote {
            b'\'' => 0,
            b'"' => 1,
            _ => 2,
        };
        if self.spent[kind] || quote == b'`' && self.in_backticks {
            return None;
        }
        let found = memchr(quote, self.bytes.get(self.at..)?).map(|length| self.at + length);
        self.spent[kind] = found.is_none();
        found
    }

    pub(super) fn may_nest(&self) -> bool {
        self.depth < MAX_DEPTH && self.script.commands.len() < MAX_COMMANDS
    }

    /// Reads commands up to a closing byte, and the byte.
    pub(super) fn nested(&mut self, close: u8, owner: usize, place: ShellPlace) {
        let outer = std::mem::replace(&mut self.in_backticks, close == b'`');
        self.depth += 1;
        self.list(Closing::Byte(close), Some(owner), place);
        self.depth -= 1;
        self.in_backticks = outer;
    }

    /// Reads pipelines until the closing, and the closing itself.
    fn list(&mut self, closing: Closing, parent: Option<usize>, place: ShellPlace) {
        while self.at < self.end() {
            self.skip_blanks();
            match self.peek() {
                None => return,
                Some(b'\n') => self.line_end(),
                Some(byte) if closing == Closing::Byte(byte) => {
                    self.at += 1;
                    return;
                }
                Some(b';' | b'&' | b'|' | b')') => self.at += 1,
                Some(b'`') if self.in_backticks => {
                    // The closing belongs to a list further out.
                    return;
                }
                Some(_) => {
                    if let Closing::Word(word) = closing
                        && self.starts_with_word(word)
                    {
                        self.at += word.len();
                        return;
                    }
                    let before = self.at;
                    self.pipeline(parent, place);
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
            if self.script.commands.len() >= MAX_COMMANDS {
                self.script.is_cut = true;
                self.at = self.end();
            }
        }
    }

    fn starts_with_word(&self, word: &str) -> bool {
        let rest = &self.bytes[self.at..];
        let next = rest.get(word.len());
        rest.starts_with(word.as_bytes())
            && next.is_none_or(|byte| byte.is_ascii_whitespace() || b";&|)<>".contains(byte))
    }

    /// One pipeline; `|&` is a pipe too.
    fn pipeline(&mut self, parent: Option<usize>, place: ShellPlace) {
        self.pipelines += 1;
        let number = self.pipelines;
        let mut stage = 0;
        loop {
            self.command(number, stage, parent, place);
            self.skip_blanks();
            let rest = &self.bytes[self.at..];
            if !rest.starts_with(b"|") || rest.starts_with(b"||") {
                return;
            }
            self.at += if rest.starts_with(b"|&") { 2 } else { 1 };
            stage += 1;
            // A pipe may end a line.
            loop {
                self.skip_blanks();
                if self.peek() != Some(b'\n') {
                    break;
                }
                self.line_end();
            }
            if self.at >= self.end() || self.script.commands.len() >= MAX_COMMANDS {
                return;
            }
        }
    }

    fn new_command(
        &mut self,
        pipeline: usize,
        stage: usize,
        parent: Option<usize>,
        place: ShellPlace,
    ) -> usize {
        self.script.commands.push(ShellCommand {
            span: self.at..self.at,
            words: Vec::new(),
            assignments: Vec::new(),
            redirections: Vec::new(),
            pipeline,
            stage,
            parent,
            place,
            is_group: false,
            wrapped: 0,
        });
        self.script.commands.len() - 1
    }

    fn command(&mut self, pipeline: usize, stage: usize, parent: Option<usize>, place: ShellPlace) {
        self.skip_reserved();
        let start = self.at;
        let own = self.new_command(pipeline, stage, parent, place);
        if !self.group(own) {
            self.simple(own);
        }
        self.redirections_after(own);
        let command = &mut self.script.commands[own];
        command.span = start..self.at.max(start);
        let is_empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirections.is_empty()
            && !command.is_group;
        if is_empty && own + 1 == self.script.commands.len() {
            self.script.commands.pop();
        }
    }

    /// Words that stand before a command and change nothing here.
    fn skip_reserved(&mut self) {
        loop {
            self.skip_blanks();
            let reserved = ["do", "then", "else", "elif", "!", "in"];
            match reserved.iter().find(|word| self.starts_with_word(word)) {
                Some(word) => self.at += word.len(),
                None => return,
            }
        }
    }

    /// Reads a group, a loop, a condition or a function as the body of `own`.
    fn group(&mut self, own: usize) -> bool {
        const COMPOUNDS: &[(&str, &str)] = &[
            ("while", "done"),
            ("until", "done"),
            ("for", "done"),
            ("select", "done"),
            ("if", "fi"),
            ("case", "esac"),
            ("{", "}"),
        ];
        if !self.may_nest() {
            return false;
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.script.commands[own].is_group = true;
            self.nested(b')', own, ShellPlace::Group);
            return true;
        }
        let compound = COMPOUNDS.iter().find(|(word, _)| self.starts_with_word(word));
        if let Some((open, close)) = compound {
            self.at += open.len();
            self.script.commands[own].is_group = true;
            self.depth += 1;
            self.list(Closing::Word(close), Some(own), ShellPlace::Group);
            self.depth -= 1;
            return true;
        }
        self.function(own)
    }

    /// `name() {` and `function name {`.
    fn function(&mut self, own: usize) -> bool {
        let keyword = self.starts_with_word("function");
        let mut at = if keyword { self.at + "function".len() } else { self.at };
        let skip = |at: &mut usize, bytes: &[u8]| {
            while matches!(bytes.get(*at), Some(b' ' | b'\t')) {
                *at += 1;
            }
        };
        skip(&mut at, self.bytes);
        let start = at;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte);
        // A longer name is not one, and the limit keeps the look ahead cheap.
        at += self.bytes[at..].iter().take(64).take_while(|byte| is_name(byte)).count();
        let name = self.slice(start, at);
        skip(&mut at, self.bytes);
        let brackets = self.bytes[at..].starts_with(b"()");
        if name.is_empty() || !brackets && !keyword {
            return false;
        }
        at += if brackets { 2 } else { 0 };
        while matches!(self.bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        if self.bytes.get(at) != Some(&b'{') {
            return false;
        }
        self.at = at + 1;
        self.script.commands[own].is_group = true;
        if self.script.functions.len() < MAX_FUNCTIONS {
            self.script.functions.push(ShellFunction { name: name.to_owned(), body: own });
        }
        self.depth += 1;
        self.list(Closing::Word("}"), Some(own), ShellPlace::Function);
        self.depth -= 1;
        true
    }

    fn simple(&mut self, own: usize) {
        loop {
            self.skip_blanks();
            if self.redirection(own) {
                continue;
            }
            if self.in_backticks && self.peek() == Some(b'`') {
                return;
            }
            let Some(word) = self.word(own) else { return };
            let command = &mut self.script.commands[own];
            if command.words.is_empty()
                && let Some((name, value)) = assignment(&word)
            {
                command.assignments.push((name, value));
            } else if command.words.len() < MAX_WORDS {
                command.words.push(word);
            }
        }
    }

    fn redirections_after(&mut self, own: usize) {
        loop {
            self.skip_blanks();
            if !self.redirection(own) {
                return;
            }
        }
    }

    /// Reads a redirection, with its descriptor, if one is here.
    fn redirection(&mut self, own: usize) -> bool {
        let rest = &self.bytes[self.at..];
        let digits = rest.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
        let both = usize::from(digits == 0 && rest.starts_with(b"&>"));
        let mark = &rest[digits + both..];
        const MARKS: &[(&[u8], RedirectionKind)] = &[
            (b"<<<", RedirectionKind::HereString),
            (b"<<-", RedirectionKind::HereDocument),
            (b"<<", RedirectionKind::HereDocument),
            (b"<&", RedirectionKind::Descriptor),
            (b">&", RedirectionKind::Descriptor),
            (b">>", RedirectionKind::Append),
            (b">|", RedirectionKind::Output),
            (b"<>", RedirectionKind::Output),
            (b">", RedirectionKind::Output),
            (b"<", RedirectionKind::Input),
        ];
        let Some((bytes, kind)) = MARKS.iter().find(|(bytes, _)| mark.starts_with(bytes)) else {
            return false;
        };
        if mark.len() > 1 && mark[1] == b'(' {
            return false;
        }
        self.at += digits + both + bytes.len();
        self.skip_blanks();
        if matches!(self.peek(), None | Some(b'\n')) {
            return true;
        }
        let Some(target) = self.word(own) else { return true };
        // `>&file` writes to the file.
        let number = target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let kind = match kind {
            RedirectionKind::Descriptor if !number => RedirectionKind::Output,
            kind => *kind,
        };
        let redirections = &mut self.script.commands[own].redirections;
        redirections.push(ShellRedirection { kind, target });
        if kind == RedirectionKind::HereDocument {
            let place = redirections.len() - 1;
            let target = &redirections[place].target;
            self.waiting.push((own, place, target.text.clone(), !target.is_quoted));
        }
        true
    }

    /// Passes a line end, and the here-documents that start behind it.
    fn line_end(&mut self) {
        self.at += 1;
        for (command, place, mark, expands) in std::mem::take(&mut self.waiting) {
            let start = self.at;
            let mut end = self.end();
            let mut at = self.at;
            while at < self.end() {
                let line_end =
                    memchr(b'\n', &self.bytes[at..]).map_or(self.end(), |length| at + length);
                if self.slice(at, line_end).trim() == mark {
                    end = at;
                    at = (line_end + 1).min(self.end());
                    break;
                }
                at = (line_end + 1).min(self.end());
                end = at;
            }
            let mut body = ShellWord {
                text: self.slice(start, end).to_owned(),
                span: start..end,
                is_quoted: !expands,
                has_substitution: false,
            };
            if expands {
                body.has_substitution = self.here_substitutions(start, end, command);
            }
            self.at = at;
            if let Some(redirection) = self.script.commands[command].redirections.get_mut(place) {
                redirection.target = body;
            }
        }
    }

    /// Reads the `$(…)` of a here-document.
    fn here_substitutions(&mut self, start: usize, end: usize, owner: usize) -> bool {
        let mut any = false;
        self.at = start;
        while self.at < end {
            let Some(length) = memchr(b'$', &self.bytes[self.at..end]) else { break };
            self.at += length + 1;
            if self.peek() == Some(b'(') && self.may_nest() && self.waiting.is_empty() {
                self.at += 1;
                self.nested(b')', owner, ShellPlace::Substitution);
                any = true;
            }
        }
        any
    }
}

/// `NAME=value`, as it stands before a command.
fn assignment(word: &ShellWord) -> Option<(String, ShellWord)> {
    let (name, value) = word.text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| (name.to_owned(), ShellWord { text: value.to_owned(), ..word.clone() }))
}
