//! Values that stand for themselves: names, strings, lists, objects.

use std::rc::Rc;

use super::expression::{MAX_DEPTH, MAX_ITEMS, ProgramParser};
use super::token::{TemplatePart, TokenKind};
use super::tree::{ProgramExpr, ProgramStatement, ProgramTarget};

impl ProgramParser {
    pub(super) fn primary(&mut self) -> ProgramExpr {
        let Some(kind) = self.kind().cloned() else { return ProgramExpr::Nothing };
        match kind {
            TokenKind::Number(value) => {
                self.at += 1;
                ProgramExpr::Number(value)
            }
            TokenKind::Text(_) | TokenKind::Template(_) => self.strings(),
            TokenKind::Name(name) => self.named(&name),
            TokenKind::Mark("(") => {
                let close = self.close();
                let mut items = self.items();
                self.at = close.saturating_add(1);
                if items.len() == 1 { items.remove(0) } else { ProgramExpr::List(items) }
            }
            TokenKind::Mark("[") => {
                let close = self.close();
                let items = self.items();
                self.at = close.saturating_add(1);
                match items.as_slice() {
                    [ProgramExpr::Comprehension { .. }] => {
                        items.into_iter().next().unwrap_or(ProgramExpr::Nothing)
                    }
                    _ => ProgramExpr::List(items),
                }
            }
            TokenKind::Mark("{") => self.object(),
            _ => ProgramExpr::Nothing,
        }
    }

    pub(super) fn items(&mut self) -> Vec<ProgramExpr> {
        let close = self.close();
        self.at += 1;
        let mut items = Vec::new();
        while self.at < close && !self.is_end() && items.len() < MAX_ITEMS {
            if self.take(",") {
                continue;
            }
            let before = self.at;
            let value = self.expression();
            let value = self.comprehension(value);
            items.push(value);
            if self.at == before {
                self.at += 1;
                items.pop();
            }
        }
        items
    }

    pub(super) fn strings(&mut self) -> ProgramExpr {
        let mut parts = Vec::new();
        while parts.len() < MAX_ITEMS {
            match self.kind().cloned() {
                Some(TokenKind::Text(text)) => parts.push(ProgramExpr::Text(Rc::from(text))),
                Some(TokenKind::Template(list)) => {
                    let line = self.line();
                    for part in list {
                        parts.push(match part {
                            TemplatePart::Text(text) => ProgramExpr::Text(Rc::from(text)),
                            TemplatePart::Source(source) => self.inner(&source, line),
                        });
                    }
                }
                _ => break,
            }
            self.at += 1;
            if !self.is_python() {
                break;
            }
        }
        if parts.len() == 1 { parts.remove(0) } else { ProgramExpr::Template(parts) }
    }

    /// A value within a string.
    pub(super) fn inner(&self, source: &str, line: usize) -> ProgramExpr {
        if self.depth >= MAX_DEPTH / 4 || source.len() > 4096 {
            return ProgramExpr::Nothing;
        }
        let mut parser = Self::new(source, self.language);
        parser.depth = self.depth + 8;
        for token in &mut parser.tokens {
            token.line += line;
        }
        parser.expression()
    }

    pub(super) fn named(&mut self, name: &str) -> ProgramExpr {
        self.at += 1;
        if self.is_python() {
            return ProgramExpr::Name(Rc::from(name));
        }
        match name {
            "async" if self.is_word("function") => self.expression(),
            "function" => {
                self.take("*");
                self.name();
                ProgramExpr::Function(self.function())
            }
            "class" => {
                self.name();
                let body = self.class_body();
                // A class that is a value is reached by its methods.
                let methods = body.into_iter().filter_map(|statement| match statement {
                    ProgramStatement::Function(name, function) => {
                        Some((Some(ProgramExpr::Text(name)), ProgramExpr::Function(function)))
                    }
                    _ => None,
                });
                ProgramExpr::Object(methods.collect())
            }
            _ => ProgramExpr::Name(Rc::from(name)),
        }
    }

    pub(super) fn object(&mut self) -> ProgramExpr {
        let close = self.close();
        self.at += 1;
        let mut fields: Vec<(Option<ProgramExpr>, ProgramExpr)> = Vec::new();
        while self.at < close && !self.is_end() && fields.len() < MAX_ITEMS {
            if self.take(",") {
                continue;
            }
            let before = self.at;
            if self.is("...") || self.is("**") {
                self.at += 1;
                fields.push((None, self.expression()));
            } else if !self.is_python() {
                fields.extend(self.js_field());
            } else {
                let key = self.expression();
                if self.take(":") {
                    let value = self.expression();
                    if self.is_word("for") || self.is_word("async") {
                        let both = ProgramExpr::List(vec![key, value]);
                        let all = self.comprehension(both);
                        self.at = close.saturating_add(1);
                        return all;
                    }
                    fields.push((Some(key), value));
                } else {
                    let value = self.comprehension(key);
                    fields.push((None, value));
                }
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = close.saturating_add(1);
        ProgramExpr::Object(fields)
    }

    /// `key: value`, `key`, `key() {}`, `[key]: value`, `async key() {}`, `get key() {}`.
    pub(super) fn js_field(&mut self) -> Option<(Option<ProgramExpr>, ProgramExpr)> {
        for word in ["async", "get", "set", "static"] {
            if self.is_word(word)
                && !self.is_after(1, ":")
                && !self.is_after(1, "(")
                && !self.is_after(1, ",")
                && !self.is_after(1, "}")
            {
                self.at += 1;
            }
        }
        self.take("*");
        let key = match self.kind().cloned() {
            Some(TokenKind::Name(name)) => {
                self.at += 1;
                if self.is(",") || self.is("}") {
                    let name: Rc<str> = Rc::from(name);
                    return Some((Some(ProgramExpr::Text(name.clone())), ProgramExpr::Name(name)));
                }
                ProgramExpr::Text(Rc::from(name))
            }
            Some(TokenKind::Text(text)) => {
                self.at += 1;
                ProgramExpr::Text(Rc::from(text))
            }
            Some(TokenKind::Number(_)) => {
                self.at += 1;
                ProgramExpr::Nothing
            }
            Some(TokenKind::Mark("[")) => {
                let close = self.close();
                let mut items = self.items();
                self.at = close.saturating_add(1);
                items.pop()?
            }
            _ => return None,
        };
        if self.is("(") {
            return Some((Some(key), ProgramExpr::Function(self.function())));
        }
        if self.take(":") {
            return Some((Some(key), self.expression()));
        }
        if self.take("=") {
            self.expression();
        }
        None
    }
}

/// What an expression on the left of an assignment binds.
pub(crate) fn target_of(target: ProgramExpr) -> ProgramTarget {
    match target {
        ProgramExpr::Name(name) => ProgramTarget::Name(name),
        ProgramExpr::List(items) => {
            ProgramTarget::Parts(items.into_iter().map(|item| (None, target_of(item))).collect())
        }
        ProgramExpr::Object(fields) => {
            let part = |(key, value): (Option<ProgramExpr>, ProgramExpr)| {
                let field = match key {
                    Some(ProgramExpr::Text(text)) => Some(text),
                    _ => None,
                };
                (field, target_of(value))
            };
            ProgramTarget::Parts(fields.into_iter().map(part).collect())
        }
        place => ProgramTarget::Place(place),
    }
}
