//! Functions, their parameters, and loops within values.

use std::rc::Rc;

use super::expression::{MAX_DEPTH, MAX_ITEMS, ProgramParser};
use super::token::TokenKind;
use super::tree::{ProgramExpr, ProgramFunction, ProgramStatement, ProgramTarget};

impl ProgramParser {
    /// `element for x in y if z`, if there is more behind the element.
    pub(super) fn comprehension(&mut self, element: ProgramExpr) -> ProgramExpr {
        if !self.is_python() || !(self.is_word("for") || self.is_word("async")) {
            return element;
        }
        let (mut loops, mut tests) = (Vec::new(), Vec::new());
        for _ in 0..16 {
            self.take_word("async");
            if self.take_word("for") {
                let target = self.loop_target();
                self.take_word("in");
                loops.push((target, self.choice()));
            } else if self.take_word("if") {
                tests.push(self.choice());
            } else {
                break;
            }
        }
        ProgramExpr::Comprehension { element: Box::new(element), loops, tests }
    }

    /// `x`, `x, y`, `(x, y)` before `in`.
    pub(crate) fn loop_target(&mut self) -> ProgramTarget {
        let mut parts = Vec::new();
        for _ in 0..32 {
            if self.is_word("in") || self.is_word("of") || self.is_end() {
                break;
            }
            if self.take(",") || self.take("(") || self.take(")") || self.take("*") {
                continue;
            }
            match self.name() {
                Some(name) => parts.push((None, ProgramTarget::Name(name))),
                None => self.at += 1,
            }
        }
        match parts.len() {
            1 => parts.remove(0).1,
            _ => ProgramTarget::Parts(parts),
        }
    }

    pub(super) fn lambda(&mut self) -> ProgramExpr {
        let mut parameters = Vec::new();
        for _ in 0..64 {
            if self.take(":") || self.is_end() {
                break;
            }
            match self.name() {
                Some(name) => {
                    let default = if self.take("=") { Some(self.expression()) } else { None };
                    parameters.push((ProgramTarget::Name(name), default));
                }
                None => self.at += 1,
            }
        }
        let value = self.expression();
        let body = vec![ProgramStatement::Return(value)];
        ProgramExpr::Function(Rc::new(ProgramFunction { parameters, body }))
    }

    /// `x => …`, `(a, b) => …`, `async x => …`.
    pub(super) fn arrow(&mut self) -> Option<ProgramExpr> {
        let start = self.at;
        if self.is_word("async") && !self.is_after(1, ".") {
            self.at += 1;
        }
        let parameters =
            if matches!(self.kind(), Some(TokenKind::Name(_))) && self.is_after(1, "=>") {
                let name = self.name()?;
                vec![(ProgramTarget::Name(name), None)]
            } else if self.is("(") && self.is_arrow_head() {
                self.parameters()
            } else {
                self.at = start;
                return None;
            };
        if self.take(":") {
            while !self.is("=>") && !self.is_end() {
                match self.close() {
                    close if self.is("{") || self.is("(") || self.is("[") => {
                        self.at = close.saturating_add(1);
                    }
                    _ => self.at += 1,
                }
            }
        }
        self.take("=>");
        let body = if self.is("{") {
            self.braces()
        } else {
            vec![ProgramStatement::Return(self.expression())]
        };
        Some(ProgramExpr::Function(Rc::new(ProgramFunction { parameters, body })))
    }

    /// Whether the bracket here is followed by `=>`, perhaps behind a type.
    pub(super) fn is_arrow_head(&self) -> bool {
        let close = self.close();
        let kind = |at: usize| self.tokens.get(at).map(|token| &token.kind);
        let is = |at: usize, mark: &str| matches!(kind(at), Some(TokenKind::Mark(m)) if *m == mark);
        if close == usize::MAX || is(close.saturating_add(1), "=>") {
            return close != usize::MAX;
        }
        // `(a): Promise<string> =>`
        is(close + 1, ":")
            && (close + 2..close + 14)
                .take_while(|at| !is(*at, ";") && !is(*at, "{"))
                .any(|at| is(at, "=>"))
    }

    /// The parameters of a function; the current token is their bracket.
    pub(crate) fn parameters(&mut self) -> Vec<(ProgramTarget, Option<ProgramExpr>)> {
        let close = self.close();
        self.at += 1;
        let mut parameters = Vec::new();
        while self.at < close && !self.is_end() && parameters.len() < 64 {
            if self.take(",") || self.take("...") || self.take("*") || self.take("**") {
                continue;
            }
            let before = self.at;
            let target = self.pattern();
            self.take("?");
            if self.take(":") {
                self.skip_until(&[",", "="], close);
            }
            let default = if self.take("=") { Some(self.expression()) } else { None };
            if let Some(target) = target {
                parameters.push((target, default));
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = close.saturating_add(1);
        parameters
    }

    /// Goes on to one of the marks outside brackets, or to `end`.
    pub(crate) fn skip_until(&mut self, marks: &[&str], end: usize) {
        while self.at < end && !self.is_end() && !marks.iter().any(|mark| self.is(mark)) {
            if self.is("(") || self.is("[") || self.is("{") {
                self.at = self.close().saturating_add(1);
            } else {
                self.at += 1;
            }
        }
    }

    /// A name, or names in brackets.
    pub(crate) fn pattern(&mut self) -> Option<ProgramTarget> {
        if !(self.is("{") || self.is("[")) {
            return self.name().map(ProgramTarget::Name);
        }
        if self.depth > MAX_DEPTH {
            self.at = self.close().saturating_add(1);
            return None;
        }
        self.depth += 1;
        let is_object = self.is("{");
        let close = self.close();
        self.at += 1;
        let mut parts = Vec::new();
        while self.at < close && !self.is_end() && parts.len() < MAX_ITEMS {
            if self.take(",") || self.take("...") {
                continue;
            }
            let before = self.at;
            let field = if is_object { self.name().or_else(|| self.text()) } else { None };
            let target = if !is_object || self.take(":") {
                self.pattern()
            } else {
                field.clone().map(ProgramTarget::Name)
            };
            if self.take("=") {
                self.expression();
            }
            parts.extend(target.map(|target| (field, target)));
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = close.saturating_add(1);
        self.depth -= 1;
        Some(ProgramTarget::Parts(parts))
    }
}
