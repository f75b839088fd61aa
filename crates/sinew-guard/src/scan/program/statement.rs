//! Statements of both languages. Whatever may or may not run is a block; order is kept, so that a
//! value that is replaced is gone.

use std::rc::Rc;

use super::expression::ProgramParser;
use super::literal::target_of;
use super::token::TokenKind;
use super::tree::{
    BindMode, ELEMENT, ProgramExpr, ProgramFunction, ProgramImport, ProgramLanguage,
    ProgramStatement, ProgramTarget,
};

/// Blocks within blocks that are read.
pub(super) const MAX_BLOCKS: usize = 64;
/// Statements of one program; a longer one was generated.
pub(super) const MAX_STATEMENTS: usize = 20_000;

/// Reads a whole program.
pub(crate) fn parse(text: &str, language: ProgramLanguage) -> Vec<ProgramStatement> {
    let mut parser = ProgramParser::new(text, language);
    let mut all = Vec::new();
    while !parser.is_end() && all.len() < MAX_STATEMENTS {
        let before = parser.at;
        match language {
            ProgramLanguage::Python => parser.python_statement(&mut all),
            ProgramLanguage::JavaScript => parser.js_statement(&mut all),
        }
        if parser.at == before {
            parser.at += 1;
        }
    }
    all
}

pub(super) fn assign(
    target: ProgramTarget,
    value: ProgramExpr,
    mode: BindMode,
) -> ProgramStatement {
    ProgramStatement::Expr(ProgramExpr::Bind(Box::new(target), Box::new(value), mode))
}

impl ProgramParser {
    pub(super) fn is_line_end(&self) -> bool {
        matches!(self.kind(), Some(TokenKind::Newline) | None) || self.is(";")
    }

    pub(super) fn skip_line(&mut self) {
        while !self.is_line_end() {
            self.at += 1;
        }
    }

    /// The block behind a colon: indented lines, or the rest of the line.
    pub(super) fn python_block(&mut self) -> Vec<ProgramStatement> {
        let mut body = Vec::new();
        // Annotations of a result stand before the colon.
        let mut guard = 0;
        while !self.is(":") && !matches!(self.kind(), Some(TokenKind::Newline) | None) {
            self.at += 1;
            guard += 1;
            if guard > 4096 {
                break;
            }
        }
        self.take(":");
        if !matches!(self.kind(), Some(TokenKind::Newline)) {
            while !matches!(self.kind(), Some(TokenKind::Newline) | None) {
                let before = self.at;
                if self.depth <= MAX_BLOCKS {
                    self.depth += 1;
                    self.python_statement(&mut body);
                    self.depth -= 1;
                }
                if self.at == before {
                    self.at += 1;
                }
                if self.at > 0 && matches!(self.kind(), Some(TokenKind::Newline)) {
                    break;
                }
            }
            return body;
        }
        self.at += 1;
        if !matches!(self.kind(), Some(TokenKind::Indent)) {
            return body;
        }
        self.at += 1;
        self.depth += 1;
        while !self.is_end() && !matches!(self.kind(), Some(TokenKind::Dedent)) {
            let before = self.at;
            if self.depth > MAX_BLOCKS {
                self.at += 1;
            } else {
                self.python_statement(&mut body);
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.depth -= 1;
        self.at += 1;
        body
    }

    pub(super) fn python_statement(&mut self, out: &mut Vec<ProgramStatement>) {
        let word = match self.kind() {
            Some(TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent) | None => {
                self.at += 1;
                return;
            }
            Some(TokenKind::Mark(";")) => {
                self.at += 1;
                return;
            }
            Some(TokenKind::Mark("@")) => {
                self.skip_line();
                return;
            }
            Some(TokenKind::Name(name)) => name.clone(),
            _ => String::new(),
        };
        match word.as_str() {
            "async" => {
                self.at += 1;
            }
            "def" => {
                self.at += 1;
                let name = self.name().unwrap_or_else(|| Rc::from(""));
                let parameters = if self.is("(") { self.parameters() } else { Vec::new() };
                let body = self.python_block();
                let function = Rc::new(ProgramFunction { parameters, body });
                out.push(ProgramStatement::Function(name, function));
            }
            "class" => {
                self.at += 1;
                let name = self.name().unwrap_or_else(|| Rc::from(""));
                if self.is("(") {
                    self.arguments();
                }
                let body = self.python_block();
                out.push(ProgramStatement::Class(name, body));
            }
            "if" | "elif" | "while" => {
                self.at += 1;
                let test = self.expression();
                let mut body = vec![ProgramStatement::Expr(test)];
                body.extend(self.python_block());
                out.push(ProgramStatement::Block(body));
            }
            "else" | "try" | "finally" => {
                self.at += 1;
                let body = self.python_block();
                out.push(ProgramStatement::Block(body));
            }
            "except" | "match" | "case" if self.leads_block() => {
                let body = self.python_block();
                out.push(ProgramStatement::Block(body));
            }
            "for" => {
                self.at += 1;
                let target = self.loop_target();
                self.take_word("in");
                let value = self.expression_list();
                let mut body = vec![assign(target, element_of(value), BindMode::Replace)];
                body.extend(self.python_block());
                out.push(ProgramStatement::Block(body));
            }
            "with" => {
                self.at += 1;
                let mut body = Vec::new();
                let bracket = self.is("(");
                if bracket {
                    self.at += 1;
                }
                for _ in 0..16 {
                    let value = self.expression();
                    if self.take_word("as") {
                        let target = target_of(self.expression());
                        body.push(assign(target, value, BindMode::Replace));
                    } else {
                        body.push(ProgramStatement::Expr(value));
                    }
                    if !self.take(",") {
                        break;
                    }
                }
                if bracket {
                    self.take(")");
                }
                body.extend(self.python_block());
                // What a `with` holds always runs.
                out.extend(body);
            }
            "import" => {
                self.at += 1;
                while let Some(module) = self.dotted() {
                    let first = Rc::from(module.split('.').next().unwrap_or(""));
                    let (there, here) = match self.take_word("as") {
                        true => (module.clone(), self.name().unwrap_or_else(|| Rc::from(""))),
                        false => (first, Rc::from(module.split('.').next().unwrap_or(""))),
                    };
                    out.push(ProgramStatement::Import(ProgramImport {
                        module: there,
                        names: vec![(Rc::from(""), here)],
                    }));
                    if !self.take(",") {
                        break;
                    }
                }
            }
            "from" => self.python_from(out),
            "return" => {
                self.at += 1;
                let value =
                    if self.is_line_end() { ProgramExpr::Nothing } else { self.expression_list() };
                out.push(ProgramStatement::Return(value));
            }
            "global" | "nonlocal" => {
                self.at += 1;
                let mut names = Vec::new();
                while let Some(name) = self.name() {
                    names.push(name);
                    if !self.take(",") {
                        break;
                    }
                }
                out.push(ProgramStatement::Global(names));
            }
            "pass" | "break" | "continue" => self.at += 1,
            "raise" | "assert" | "del" => {
                self.at += 1;
                if !self.is_line_end() {
                    let value = self.expression_list();
                    out.push(ProgramStatement::Expr(ProgramExpr::Test(vec![value])));
                }
                self.skip_line();
            }
            _ => self.python_assignment(out),
        }
    }

    /// `except X as e:`, `match x:` and `case y:`; the last two are also plain names.
    pub(super) fn leads_block(&mut self) -> bool {
        if self.is_word("except") {
            return true;
        }
        let plain = ["=", ".", "(", ",", ")"].iter().any(|mark| self.is_after(1, mark));
        !plain
    }

    pub(super) fn expression_list(&mut self) -> ProgramExpr {
        let first = self.expression();
        if !self.is(",") {
            return first;
        }
        let mut all = vec![first];
        while self.take(",") && !self.is_line_end() && !self.is("=") && !self.is(":") {
            all.push(self.expression());
        }
        ProgramExpr::List(all)
    }

    pub(super) fn python_assignment(&mut self, out: &mut Vec<ProgramStatement>) {
        let first = self.expression_list();
        if self.take(":") {
            // An annotation.
            self.expression();
        }
        if self.is("=") {
            let mut targets = vec![first];
            while self.take("=") {
                targets.push(self.expression_list());
            }
            let value = targets.pop().unwrap_or(ProgramExpr::Nothing);
            let mut value = Some(value);
            let count = targets.len();
            for (number, target) in targets.into_iter().enumerate() {
                let value = if number + 1 == count { value.take() } else { value.clone() };
                let value = value.unwrap_or(ProgramExpr::Nothing);
                out.push(assign(target_of(target), value, BindMode::Replace));
            }
        } else if ["+=", "-=", "*=", "/=", "|=", "%=", "^=", "&="].iter().any(|m| self.is(m)) {
            self.at += 1;
            let value = self.expression_list();
            out.push(assign(target_of(first), value, BindMode::Add));
        } else {
            out.push(ProgramStatement::Expr(first));
        }
    }

    pub(super) fn dotted(&mut self) -> Option<Rc<str>> {
        let mut path = String::new();
        while self.is(".") || self.is("...") {
            path.push('.');
            self.at += 1;
        }
        path.push_str(&self.name()?);
        while self.take(".") {
            path.push('.');
            path.push_str(&self.name()?);
        }
        Some(Rc::from(path))
    }

    pub(super) fn python_from(&mut self, out: &mut Vec<ProgramStatement>) {
        self.at += 1;
        let module = match self.dotted() {
            Some(module) => module,
            None => Rc::from("."),
        };
        self.take_word("import");
        self.take("(");
        let mut names = Vec::new();
        for _ in 0..256 {
            if self.take("*") {
                names.push((Rc::from("*"), Rc::from("*")));
            } else if let Some(name) = self.name() {
                let here = match self.take_word("as") {
                    true => self.name().unwrap_or_else(|| name.clone()),
                    false => name.clone(),
                };
                names.push((name, here));
            } else {
                break;
            }
            self.take(",");
        }
        self.take(")");
        out.push(ProgramStatement::Import(ProgramImport { module, names }));
    }
}

/// One of the elements of a value.
pub(super) fn element_of(value: ProgramExpr) -> ProgramExpr {
    ProgramExpr::Member(Box::new(value), Rc::from(ELEMENT))
}
