//! Statements of JavaScript and TypeScript.

use std::rc::Rc;

use super::expression::ProgramParser;
use super::statement::{MAX_BLOCKS, assign, element_of};
use super::token::TokenKind;
use super::tree::{
    BindMode, ProgramExpr, ProgramFunction, ProgramImport, ProgramStatement, ProgramTarget,
};

impl ProgramParser {
    /// A block in braces; the current token is the opening one.
    pub(crate) fn braces(&mut self) -> Vec<ProgramStatement> {
        let close = self.close();
        self.at += 1;
        let mut body = Vec::new();
        self.depth += 1;
        while self.at < close && !self.is_end() {
            let before = self.at;
            if self.depth > MAX_BLOCKS {
                break;
            }
            self.js_statement(&mut body);
            if self.at == before {
                self.at += 1;
            }
        }
        self.depth -= 1;
        self.at = close.saturating_add(1);
        body
    }

    /// Parameters and body of a function; the current token is the bracket of its parameters.
    pub(crate) fn function(&mut self) -> Rc<ProgramFunction> {
        if self.is("<") {
            self.skip_type();
        }
        let parameters = if self.is("(") { self.parameters() } else { Vec::new() };
        if self.take(":") {
            self.skip_result_type();
        }
        let body = if self.is("{") { self.braces() } else { Vec::new() };
        Rc::new(ProgramFunction { parameters, body })
    }

    pub(super) fn skip_result_type(&mut self) {
        // `: { a: b } {` has a brace of its own.
        if self.is("{") {
            let close = self.close();
            self.at = close.saturating_add(1);
            return;
        }
        self.skip_type();
    }

    pub(super) fn js_block_or_statement(&mut self) -> ProgramStatement {
        if self.is("{") {
            return ProgramStatement::Block(self.braces());
        }
        let mut body = Vec::new();
        if self.depth <= MAX_BLOCKS {
            self.depth += 1;
            self.js_statement(&mut body);
            self.depth -= 1;
        } else {
            self.at += 1;
        }
        ProgramStatement::Block(body)
    }

    /// The head of a loop or condition, as an expression.
    pub(super) fn js_head(&mut self) -> Vec<ProgramStatement> {
        let mut head = Vec::new();
        if !self.is("(") {
            return head;
        }
        let close = self.close();
        self.at += 1;
        while self.at < close && !self.is_end() {
            let before = self.at;
            if self.is_word("const") || self.is_word("let") || self.is_word("var") {
                self.at += 1;
                let target = self.pattern();
                if self.take_word("of") || self.take_word("in") {
                    let value = self.expression();
                    head.extend(target.map(|t| assign(t, element_of(value), BindMode::Declare)));
                } else if self.take("=") {
                    let value = self.expression();
                    head.extend(target.map(|t| assign(t, value, BindMode::Declare)));
                }
            } else if !self.take(";") && !self.take(",") && !self.take_word("of") {
                head.push(ProgramStatement::Expr(self.expression()));
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = close.saturating_add(1);
        head
    }

    pub(super) fn js_statement(&mut self, out: &mut Vec<ProgramStatement>) {
        let word = match self.kind() {
            None => return,
            Some(TokenKind::Mark(";" | "}" | ")" | "]" | ",")) => {
                self.at += 1;
                return;
            }
            Some(TokenKind::Mark("{")) => {
                out.push(ProgramStatement::Block(self.braces()));
                return;
            }
            Some(TokenKind::Mark("@")) => {
                self.at += 1;
                self.expression();
                return;
            }
            Some(TokenKind::Name(name)) => name.clone(),
            _ => String::new(),
        };
        match word.as_str() {
            "const" | "let" | "var" => {
                self.at += 1;
                self.js_declarations(out);
            }
            "async" if self.is_word_after(1, "function") => self.at += 1,
            "function" => {
                self.at += 1;
                self.take("*");
                let name = self.name().unwrap_or_else(|| Rc::from("default"));
                out.push(ProgramStatement::Function(name, self.function()));
            }
            "class" | "abstract" if !self.is_after(1, ".") && !self.is_after(1, "=") => {
                self.at += 1;
                self.take_word("class");
                let name = self.name().unwrap_or_else(|| Rc::from("default"));
                let body = self.class_body();
                out.push(ProgramStatement::Class(name, body));
            }
            "if" | "for" | "while" | "switch" | "catch" => {
                self.at += 1;
                self.take_word("await");
                let mut body = self.js_head();
                body.push(self.js_block_or_statement());
                out.push(ProgramStatement::Block(body));
            }
            "else" | "try" | "finally" | "do" => {
                self.at += 1;
                let block = self.js_block_or_statement();
                // What is tried runs.
                match block {
                    ProgramStatement::Block(body) if word == "try" => out.extend(body),
                    block => out.push(block),
                }
            }
            "case" | "default" if !self.is_after(1, "=") => {
                self.at += 1;
                if !self.is(":") {
                    self.expression();
                }
                self.take(":");
            }
            "return" | "throw" => {
                self.at += 1;
                let bare = self.starts_line() || self.is(";") || self.is("}");
                let value = if bare { ProgramExpr::Nothing } else { self.sequence() };
                out.push(match word.as_str() {
                    "return" => ProgramStatement::Return(value),
                    _ => ProgramStatement::Expr(ProgramExpr::Test(vec![value])),
                });
            }
            "break" | "continue" | "debugger" => self.at += 1,
            "import" if !self.is_after(1, "(") && !self.is_after(1, ".") => self.js_import(out),
            "export" => self.js_export(out),
            "interface" | "declare" | "enum" | "namespace"
                if matches!(self.kind(), Some(TokenKind::Name(_)))
                    && !self.is_after(1, "=")
                    && !self.is_after(1, ".")
                    && !self.is_after(1, "(") =>
            {
                self.at += 1;
                self.skip_until(&["{", ";"], usize::MAX);
            }
            "type" if self.is_after(2, "=") || self.is_after(2, "<") => {
                self.at += 2;
                self.skip_until(&["=", ";"], usize::MAX);
                self.take("=");
                self.skip_type();
            }
            _ => {
                let value = self.sequence();
                out.push(ProgramStatement::Expr(value));
            }
        }
    }

    /// `a, b`
    pub(super) fn sequence(&mut self) -> ProgramExpr {
        let first = self.expression();
        if !self.is(",") {
            return first;
        }
        let mut all = vec![first];
        while self.take(",") && all.len() < 4096 {
            all.push(self.expression());
        }
        ProgramExpr::Either(all)
    }

    pub(super) fn js_declarations(&mut self, out: &mut Vec<ProgramStatement>) {
        for _ in 0..4096 {
            let Some(target) = self.pattern() else { break };
            self.take("!");
            if self.take(":") {
                self.skip_type();
            }
            if self.take("=") {
                let value = self.expression();
                out.push(assign(target, value, BindMode::Declare));
            } else {
                out.push(assign(target, ProgramExpr::Nothing, BindMode::Declare));
            }
            if !self.take(",") {
                break;
            }
        }
    }

    /// The members of a class, from what it extends on.
    pub(crate) fn class_body(&mut self) -> Vec<ProgramStatement> {
        self.skip_until(&["{", ";"], usize::MAX);
        let mut body = Vec::new();
        if !self.is("{") {
            return body;
        }
        let close = self.close();
        self.at += 1;
        while self.at < close && !self.is_end() {
            let before = self.at;
            for word in
                ["static", "async", "public", "private", "protected", "readonly", "get", "set"]
            {
                if self.is_word(word) && !self.is_after(1, "(") && !self.is_after(1, "=") {
                    self.at += 1;
                }
            }
            self.take("*");
            self.take("#");
            let name = self.name().or_else(|| self.text());
            if let Some(name) = name {
                if self.is("(") || self.is("<") {
                    let function = self.function();
                    body.push(ProgramStatement::Function(name, function));
                } else {
                    self.take("?");
                    if self.take(":") {
                        self.skip_type();
                    }
                    if self.take("=") {
                        let value = self.expression();
                        let this = ProgramExpr::Name(Rc::from("this"));
                        let place = ProgramExpr::Member(Box::new(this), name);
                        body.push(assign(ProgramTarget::Place(place), value, BindMode::Replace));
                    }
                }
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = close.saturating_add(1);
        body
    }

    pub(super) fn js_import(&mut self, out: &mut Vec<ProgramStatement>) {
        self.at += 1;
        let mut names: Vec<(Rc<str>, Rc<str>)> = Vec::new();
        self.take_word("type");
        for _ in 0..256 {
            if let Some(module) = self.text() {
                out.push(ProgramStatement::Import(ProgramImport { module, names }));
                return;
            }
            if self.take_word("from") || self.take(",") {
                continue;
            }
            if self.take("*") {
                self.take_word("as");
                names.extend(self.name().map(|name| (Rc::from(""), name)));
            } else if self.is("{") {
                let close = self.close();
                self.at += 1;
                while self.at < close && !self.is_end() {
                    self.take_word("type");
                    let Some(name) = self.name() else {
                        self.at += 1;
                        continue;
                    };
                    let here = match self.take_word("as") {
                        true => self.name().unwrap_or_else(|| name.clone()),
                        false => name.clone(),
                    };
                    names.push((name, here));
                }
                self.at = close.saturating_add(1);
            } else if let Some(name) = self.name() {
                names.push((Rc::from("default"), name));
            } else {
                return;
            }
        }
    }

    pub(super) fn js_export(&mut self, out: &mut Vec<ProgramStatement>) {
        self.at += 1;
        if self.take_word("default") {
            if self.depth > MAX_BLOCKS {
                return;
            }
            if self.is_word("function") || self.is_word("async") || self.is_word("class") {
                let before = out.len();
                self.depth += 1;
                self.js_statement(out);
                self.js_statement_if_async(out, before);
                self.depth -= 1;
                let named = match out.last() {
                    Some(
                        ProgramStatement::Function(name, _) | ProgramStatement::Class(name, _),
                    ) => Some(name.clone()),
                    _ => None,
                };
                out.extend(named.map(|name| {
                    assign(
                        ProgramTarget::Name(Rc::from("default")),
                        ProgramExpr::Name(name),
                        BindMode::Declare,
                    )
                }));
                return;
            }
            let value = self.expression();
            out.push(assign(ProgramTarget::Name(Rc::from("default")), value, BindMode::Declare));
        } else if self.is("{") {
            self.at = self.close().saturating_add(1);
            if self.take_word("from") {
                self.text();
            }
        } else if self.take("*") {
            self.skip_until(&[";"], self.at + 4);
        }
    }

    /// `async` alone is a statement of its own here.
    pub(super) fn js_statement_if_async(&mut self, out: &mut Vec<ProgramStatement>, before: usize) {
        if out.len() == before && !self.is_end() {
            self.js_statement(out);
        }
    }
}
