//! Expressions of both languages: one reader, because a flow of values needs no ranks of operators.
//!
//! It never fails: what it cannot read is [`ProgramExpr::Nothing`], and reading goes on behind it.

use std::cell::Cell;
use std::rc::Rc;

use super::literal::target_of;
use super::token::{ProgramToken, TokenKind, tokens};
use super::tree::{
    BindMode, ProgramArgument, ProgramCall, ProgramExpr, ProgramLanguage, REVERSED, YieldMode,
};

/// Brackets within brackets that are read; people stop long before.
pub(super) const MAX_DEPTH: usize = 96;
/// Elements of a list; a longer one is data.
pub(super) const MAX_ITEMS: usize = 4096;

/// Reads tokens.
pub(crate) struct ProgramParser {
    pub(crate) language: ProgramLanguage,
    pub(super) tokens: Vec<ProgramToken>,
    pub(crate) at: usize,
    /// For each opening bracket, where it closes.
    pub(super) closing: Vec<usize>,
    pub(crate) depth: usize,
    /// Looks that are left: however a text is broken, reading it ends, and in linear time.
    pub(super) fuel: Cell<usize>,
}

/// Looks at each token; an honest program takes about thirty.
const FUEL: usize = 256;

impl ProgramParser {
    pub(crate) fn new(text: &str, language: ProgramLanguage) -> Self {
        let tokens = tokens(text, language);
        let mut closing = vec![usize::MAX; tokens.len()];
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Mark("(" | "[" | "{") => open.push(at),
                TokenKind::Mark(")" | "]" | "}") => {
                    if let Some(start) = open.pop() {
                        closing[start] = at;
                    }
                }
                _ => {}
            }
        }
        let fuel = Cell::new(FUEL * (tokens.len() + 16));
        Self { language, tokens, at: 0, closing, depth: 0, fuel }
    }

    pub(crate) fn kind(&self) -> Option<&TokenKind> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    pub(super) fn kind_after(&self, ahead: usize) -> Option<&TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    pub(crate) fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |token| token.line)
    }

    pub(crate) fn starts_line(&self) -> bool {
        self.tokens.get(self.at).is_none_or(|token| token.is_first)
    }

    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(self.kind(), Some(TokenKind::Mark(found)) if *found == mark)
    }

    pub(crate) fn is_after(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.kind_after(ahead), Some(TokenKind::Mark(found)) if *found == mark)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Some(TokenKind::Name(name)) if name == word)
    }

    pub(crate) fn is_word_after(&self, ahead: usize, word: &str) -> bool {
        matches!(self.kind_after(ahead), Some(TokenKind::Name(name)) if name == word)
    }

    pub(crate) fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn name(&mut self) -> Option<Rc<str>> {
        match self.kind() {
            Some(TokenKind::Name(name)) => {
                let name = Rc::from(name.as_str());
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    pub(crate) fn text(&mut self) -> Option<Rc<str>> {
        match self.kind() {
            Some(TokenKind::Text(text)) => {
                let text = Rc::from(text.as_str());
                self.at += 1;
                Some(text)
            }
            _ => None,
        }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.at >= self.tokens.len() || self.fuel.get() == 0
    }

    pub(super) fn is_python(&self) -> bool {
        self.language == ProgramLanguage::Python
    }

    /// Where the bracket at the current token closes.
    pub(crate) fn close(&self) -> usize {
        self.closing.get(self.at).copied().unwrap_or(usize::MAX).min(self.tokens.len())
    }

    /// One value, with conditionals, functions and assignments within it.
    pub(crate) fn expression(&mut self) -> ProgramExpr {
        if self.depth > MAX_DEPTH {
            // Too deep: the rest of this bracket is not read.
            self.at += 1;
            return ProgramExpr::Nothing;
        }
        self.depth += 1;
        let value = self.whole_expression();
        self.depth -= 1;
        value
    }

    pub(super) fn whole_expression(&mut self) -> ProgramExpr {
        if self.is_python() {
            if self.take_word("lambda") {
                return self.lambda();
            }
        } else if let Some(function) = self.arrow() {
            return function;
        }
        let value = self.choice();
        if self.is_python() {
            if self.is_word("if") {
                self.at += 1;
                self.choice();
                if self.take_word("else") {
                    let other = self.expression();
                    return ProgramExpr::Either(vec![value, other]);
                }
                return value;
            }
            if self.take(":=") {
                let right = self.expression();
                return self.bind(value, right, BindMode::Replace);
            }
            return value;
        }
        if self.take("?") {
            let yes = self.expression();
            self.take(":");
            let no = self.expression();
            return ProgramExpr::Either(vec![yes, no]);
        }
        if self.take("=") {
            let right = self.expression();
            return self.bind(value, right, BindMode::Replace);
        }
        if self.take("+=") {
            let right = self.expression();
            return self.bind(value, right, BindMode::Add);
        }
        if self.take("??=") || self.take("||=") || self.take("&&=") {
            let right = self.expression();
            return self.bind(value, right, BindMode::Add);
        }
        value
    }

    pub(super) fn bind(
        &self,
        target: ProgramExpr,
        value: ProgramExpr,
        mode: BindMode,
    ) -> ProgramExpr {
        ProgramExpr::Bind(Box::new(target_of(target)), Box::new(value), mode)
    }

    /// `a or b`, `a && b`, comparisons.
    pub(super) fn choice(&mut self) -> ProgramExpr {
        // Loops within values come here without an expression around them.
        if self.depth > MAX_DEPTH {
            self.at += 1;
            return ProgramExpr::Nothing;
        }
        self.depth += 1;
        let value = self.whole_choice();
        self.depth -= 1;
        value
    }

    fn whole_choice(&mut self) -> ProgramExpr {
        let first = self.comparison();
        let mut all = vec![first];
        loop {
            let joins = match self.kind() {
                Some(TokenKind::Mark("&&" | "||" | "??")) => true,
                Some(TokenKind::Name(name)) => {
                    self.is_python() && matches!(name.as_str(), "and" | "or")
                }
                _ => false,
            };
            if !joins || all.len() >= MAX_ITEMS {
                break;
            }
            self.at += 1;
            all.push(self.comparison());
        }
        if all.len() == 1 { all.swap_remove(0) } else { ProgramExpr::Either(all) }
    }

    pub(super) fn comparison(&mut self) -> ProgramExpr {
        let first = self.sum();
        let mut all = vec![first];
        loop {
            match self.kind() {
                Some(TokenKind::Mark("==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=")) => {
                    self.at += 1;
                }
                Some(TokenKind::Name(name))
                    if matches!(name.as_str(), "in" | "is" | "instanceof") =>
                {
                    self.at += 1;
                    self.take_word("not");
                }
                Some(TokenKind::Name(name)) if name == "not" && self.is_word_after(1, "in") => {
                    self.at += 2;
                }
                _ => break,
            }
            if all.len() >= MAX_ITEMS {
                break;
            }
            all.push(self.sum());
        }
        if all.len() == 1 { all.swap_remove(0) } else { ProgramExpr::Test(all) }
    }

    pub(super) fn sum(&mut self) -> ProgramExpr {
        let mut value = self.unary();
        for _ in 0..MAX_ITEMS {
            let operator = match self.kind() {
                Some(TokenKind::Mark("+")) => '+',
                Some(TokenKind::Mark("/")) => '/',
                Some(TokenKind::Mark("%")) => '%',
                Some(TokenKind::Mark("^")) => '^',
                Some(TokenKind::Mark("-")) => '-',
                Some(TokenKind::Mark("*")) => '*',
                Some(TokenKind::Mark("|" | "&" | "<<" | ">>" | ">>>" | "**" | "//")) => '.',
                Some(TokenKind::Mark("@")) if self.is_python() => '.',
                _ => break,
            };
            if !self.is_python() && self.starts_line() && matches!(operator, '/' | '*') {
                break;
            }
            self.at += 1;
            let right = self.unary();
            value = ProgramExpr::Binary(operator, Box::new(value), Box::new(right));
        }
        value
    }

    pub(super) fn unary(&mut self) -> ProgramExpr {
        let mut tests = false;
        let mut guard = 0;
        loop {
            guard += 1;
            match self.kind() {
                Some(TokenKind::Mark("!")) => {
                    self.at += 1;
                    tests = true;
                }
                Some(TokenKind::Mark("-" | "+" | "~" | "..." | "*" | "**" | "++" | "--")) => {
                    self.at += 1;
                }
                Some(TokenKind::Name(name)) => match name.as_str() {
                    "not" if self.is_python() => {
                        self.at += 1;
                        tests = true;
                    }
                    "await" => self.at += 1,
                    "typeof" | "delete" | "void" | "new" if !self.is_python() => {
                        tests |= name == "typeof";
                        self.at += 1;
                    }
                    "yield" => {
                        self.at += 1;
                        let each = self.take_word("from") || self.take("*");
                        let mode = if each { YieldMode::Each } else { YieldMode::One };
                        let value = self.generated();
                        return ProgramExpr::Yield(Box::new(value), mode);
                    }
                    _ => break,
                },
                _ => break,
            }
            if guard > 64 {
                break;
            }
        }
        let value = self.postfix();
        if tests { ProgramExpr::Test(vec![value]) } else { value }
    }

    /// What a generator gives: several values at once are one.
    pub(super) fn generated(&mut self) -> ProgramExpr {
        if self.starts_line() || self.is_end() || self.is(")") || self.is(";") {
            return ProgramExpr::Nothing;
        }
        let first = self.expression();
        if !self.is_python() || !self.is(",") {
            return first;
        }
        let mut items = vec![first];
        while self.take(",") && !self.is_end() {
            items.push(self.expression());
        }
        ProgramExpr::List(items)
    }

    pub(super) fn postfix(&mut self) -> ProgramExpr {
        let mut value = self.primary();
        for _ in 0..MAX_ITEMS {
            let line = self.line();
            if self.take(".") || self.take("?.") {
                if self.is("(") || self.is("[") {
                    continue;
                }
                self.take("#");
                let Some(name) = self.name() else { break };
                value = ProgramExpr::Member(Box::new(value), name);
            } else if self.is("(") {
                let arguments = self.arguments();
                value =
                    ProgramExpr::Call(Box::new(ProgramCall { function: value, arguments, line }));
            } else if self.is("[") {
                value = self.index(value);
            } else if !self.is_python()
                && matches!(self.kind(), Some(TokenKind::Template(_)))
                && !self.starts_line()
            {
                let argument = self.primary();
                value = ProgramExpr::Template(vec![value, argument]);
            } else if !self.is_python()
                && !self.starts_line()
                && ((self.is("!") && !self.is_after(1, "=")) || self.is("++") || self.is("--"))
            {
                self.at += 1;
            } else if !self.is_python()
                && (self.is_word("as") || self.is_word("satisfies"))
                && !self.starts_line()
            {
                self.at += 1;
                self.skip_type();
            } else {
                break;
            }
        }
        value
    }

    /// Skips a type: names, members, lists of types, unions.
    pub(crate) fn skip_type(&mut self) {
        let mut guard = 0;
        loop {
            guard += 1;
            match self.kind() {
                Some(TokenKind::Name(_) | TokenKind::Text(_) | TokenKind::Number(_)) => {
                    self.at += 1;
                }
                Some(TokenKind::Mark("{" | "[" | "(")) => {
                    self.at = self.close().saturating_add(1);
                }
                Some(TokenKind::Mark("<")) => self.skip_angles(),
                _ => break,
            }
            let goes_on = matches!(
                self.kind(),
                Some(TokenKind::Mark("." | "|" | "&" | "<" | "[" | "=>" | "-"))
            );
            if !goes_on || guard > 256 {
                break;
            }
            if !matches!(self.kind(), Some(TokenKind::Mark("<" | "["))) {
                self.at += 1;
            }
        }
    }

    pub(super) fn skip_angles(&mut self) {
        let mut open = 0i32;
        for _ in 0..256 {
            match self.kind() {
                Some(TokenKind::Mark("<")) => open += 1,
                Some(TokenKind::Mark(">")) => open -= 1,
                Some(TokenKind::Mark(">>")) => open -= 2,
                Some(TokenKind::Mark(";")) | None => return,
                _ => {}
            }
            self.at += 1;
            if open <= 0 {
                return;
            }
        }
    }

    pub(super) fn index(&mut self, value: ProgramExpr) -> ProgramExpr {
        let close = self.close();
        self.at += 1;
        let mut parts = Vec::new();
        let mut colons = 0;
        while self.at < close && !self.is_end() {
            if self.take(":") {
                colons += 1;
            } else if !self.take(",") {
                let before = self.at;
                parts.push(self.expression());
                if self.at == before {
                    self.at += 1;
                }
            }
        }
        self.at = close.saturating_add(1);
        let reversed = colons == 2 && matches!(parts.as_slice(), [ProgramExpr::Number(1)]);
        match parts.len() {
            _ if reversed => ProgramExpr::Member(Box::new(value), Rc::from(REVERSED)),
            1 if colons == 0 => ProgramExpr::Index(Box::new(value), Box::new(parts.remove(0))),
            _ => value,
        }
    }

    /// The arguments of a call; the current token is its bracket.
    pub(crate) fn arguments(&mut self) -> Vec<ProgramArgument> {
        let close = self.close();
        self.at += 1;
        let mut arguments = Vec::new();
        while self.at < close && !self.is_end() && arguments.len() < MAX_ITEMS {
            if self.take(",") {
                continue;
            }
            // A bracket that is not closed ends with its line.
            if matches!(self.kind(), Some(TokenKind::Newline | TokenKind::Dedent)) {
                self.at += 1;
                continue;
            }
            let before = self.at;
            let name = match (self.kind(), self.is_after(1, "=")) {
                (Some(TokenKind::Name(name)), true) if self.is_python() => {
                    Some(Rc::from(name.as_str()))
                }
                _ => None,
            };
            if name.is_some() {
                self.at += 2;
            }
            let value = self.expression();
            let value = self.comprehension(value);
            arguments.push(ProgramArgument { name, value });
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = close.saturating_add(1);
        arguments
    }
}
