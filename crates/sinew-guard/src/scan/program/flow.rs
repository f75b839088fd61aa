//! Following values through a program: names, members, functions of this and of other files.
//!
//! Every function is followed with the values it is called with, and once more alone if it is never
//! called. Conditions are not decided: both sides run, and what one of them leaves is added.

use std::collections::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::hosts::HostClass;
use super::super::hosts::OwnHosts;
use super::super::table::RuleTable;
use super::members::{binary, elements};
use super::tree::{
    BindMode, ELEMENT, ProgramExpr, ProgramFunction, ProgramStatement, ProgramTarget, YieldMode,
};
use super::value::{FlowClosure, FlowValue, concat};

/// Steps for all programs of one skill; an honest one takes a few thousand.
const MAX_STEPS: usize = 150_000;
/// Calls within calls.
const MAX_CALLS: usize = 10;
/// Expressions within expressions, over all calls.
const MAX_NESTING: usize = 120;
/// How often one function is followed.
const MAX_VISITS: usize = 12;
/// Elements of a list that are computed one by one.
pub(super) const MAX_ELEMENTS: usize = 1024;

/// Something that a program does with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlowFact {
    pub(crate) file: usize,
    pub(crate) line: usize,
    pub(crate) kind: &'static str,
    pub(crate) class: Option<HostClass>,
}

/// One program of the skill.
pub(crate) struct FlowModule {
    /// The number of its file.
    pub(crate) file: usize,
    /// The line that it starts on.
    pub(crate) line: usize,
    /// Its name for imports: the file's without its ending.
    pub(crate) name: Rc<str>,
    pub(crate) body: Rc<Vec<ProgramStatement>>,
}

#[derive(Default)]
pub(super) struct FlowScope {
    pub(super) names: HashMap<Rc<str>, FlowValue>,
    pub(super) parent: Option<usize>,
    pub(super) globals: Vec<Rc<str>>,
    pub(super) is_class: bool,
}

/// The programs of a skill, while they are followed.
pub(crate) struct ProgramFlow<'a> {
    pub(crate) table: &'a RuleTable,
    pub(crate) declared: &'a OwnHosts,
    pub(super) modules: &'a [FlowModule],
    /// For each module, its scope once it was begun.
    pub(super) scopes_of: Vec<Option<usize>>,
    pub(super) scopes: Vec<FlowScope>,
    pub(super) closures: Vec<(Rc<FlowClosure>, usize)>,
    /// What was written to each file.
    pub(crate) files: BTreeMap<String, FlowValue>,
    pub(crate) facts: Vec<FlowFact>,
    /// Texts that a program puts together and runs or decodes: file, line, text, whether decoded.
    pub(crate) texts: Vec<(usize, usize, String, bool)>,
    pub(crate) steps: usize,
    pub(crate) calls: usize,
    pub(super) nesting: usize,
    pub(crate) scope: usize,
    pub(crate) file: usize,
    /// Line of the module's first line in its file.
    pub(crate) first_line: usize,
    pub(super) in_block: usize,
    pub(super) returned: Vec<FlowValue>,
    /// Steps at which the program that is followed now has had its share.
    limit: usize,
    /// The files of programs that were not followed to their end.
    pub(crate) cut: BTreeSet<usize>,
    /// Files with expressions that are nested too deep, as packed libraries have them.
    pub(crate) too_deep: BTreeSet<usize>,
}

impl<'a> ProgramFlow<'a> {
    pub(crate) fn new(
        table: &'a RuleTable,
        declared: &'a OwnHosts,
        modules: &'a [FlowModule],
    ) -> Self {
        Self {
            table,
            declared,
            modules,
            scopes_of: vec![None; modules.len()],
            scopes: Vec::new(),
            closures: Vec::new(),
            files: BTreeMap::new(),
            facts: Vec::new(),
            texts: Vec::new(),
            steps: 0,
            calls: 0,
            nesting: 0,
            scope: 0,
            file: 0,
            first_line: 0,
            in_block: 0,
            returned: Vec::new(),
            limit: MAX_STEPS,
            cut: BTreeSet::new(),
            too_deep: BTreeSet::new(),
        }
    }

    /// Whether there was more to follow than is followed.
    pub(crate) fn is_cut(&self) -> bool {
        self.steps >= self.limit
    }

    /// Does `work`, which may take its share of the steps that are left; what it leaves goes to the
    /// others. So one large program does not keep the rest of the skill from being followed.
    fn within_share(&mut self, shares: usize, file: usize, work: impl FnOnce(&mut Self)) {
        self.limit = self.steps + MAX_STEPS.saturating_sub(self.steps) / shares.max(1);
        work(self);
        if self.is_cut() {
            self.cut.insert(file);
        }
        self.limit = MAX_STEPS;
    }

    /// Follows all modules, and then every function that none of them called.
    pub(crate) fn run(&mut self) {
        let count = self.modules.len();
        for number in 0..count {
            // As much again is left for functions that no module calls.
            let shares = 2 * (count - number);
            let file = self.modules[number].file;
            self.within_share(shares, file, |flow| {
                flow.module(number);
            });
        }
        let files: BTreeSet<usize> = self.modules.iter().map(|module| module.file).collect();
        for (number, file) in files.iter().enumerate() {
            self.within_share(files.len() - number, *file, |flow| flow.uncalled(*file));
        }
        // What one program wrote to a file, another may have read before.
        if !self.files.is_empty() && self.modules.len() > 1 && !self.is_cut() {
            self.scopes_of.fill(None);
            for number in 0..count {
                self.module(number);
            }
            if self.is_cut() {
                self.cut.insert(self.file);
            }
        }
    }

    /// Follows every function of a file that was never called.
    fn uncalled(&mut self, file: usize) {
        let mut at = 0;
        while at < self.closures.len() && !self.is_cut() {
            let (closure, visits) = &self.closures[at];
            if *visits == 0 && closure.file == file {
                let closure = closure.clone();
                self.call_closure(&closure, &[], &[]);
            }
            at += 1;
        }
    }

    /// Runs a module once, and gives its scope.
    pub(super) fn module(&mut self, number: usize) -> usize {
        if let Some(scope) = self.scopes_of[number] {
            return scope;
        }
        let scope = self.new_scope(None);
        self.scopes_of[number] = Some(scope);
        let module = &self.modules[number];
        let before = (self.scope, self.file, self.first_line, self.in_block);
        (self.scope, self.file, self.first_line, self.in_block) =
            (scope, module.file, module.line, 0);
        let body = module.body.clone();
        let returned = std::mem::take(&mut self.returned);
        self.statements(&body);
        self.returned = returned;
        (self.scope, self.file, self.first_line, self.in_block) = before;
        if self.is_cut() {
            // Another program's share ended here; it is followed anew within its own.
            self.scopes_of[number] = None;
        }
        scope
    }

    pub(super) fn new_scope(&mut self, parent: Option<usize>) -> usize {
        self.scopes.push(FlowScope { parent, ..FlowScope::default() });
        self.scopes.len() - 1
    }

    pub(crate) fn statements(&mut self, body: &[ProgramStatement]) {
        for statement in body {
            if self.is_cut() {
                return;
            }
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &ProgramStatement) {
        match statement {
            ProgramStatement::Expr(value) => {
                self.value(value);
            }
            ProgramStatement::Function(name, function) => {
                let is_method = self.scopes[self.scope].is_class;
                let value = self.closure(function, is_method);
                self.scopes[self.scope].names.insert(name.clone(), value);
            }
            ProgramStatement::Class(name, body) => {
                let scope = self.new_scope(Some(self.scope));
                self.scopes[scope].is_class = true;
                let outer = std::mem::replace(&mut self.scope, scope);
                self.statements(body);
                self.scope = outer;
                let methods: BTreeMap<Rc<str>, FlowValue> =
                    self.scopes[scope].names.iter().map(|(n, v)| (n.clone(), v.clone())).collect();
                let value = FlowValue {
                    path: Some(Rc::from("class")),
                    fields: Some(Rc::new(methods)),
                    ..FlowValue::default()
                };
                self.scopes[self.scope].names.insert(name.clone(), value);
            }
            ProgramStatement::Block(body) => {
                self.in_block += 1;
                self.statements(body);
                self.in_block -= 1;
            }
            ProgramStatement::Return(value) => {
                let value = self.value(value);
                self.returned.push(value);
            }
            ProgramStatement::Import(import) => self.import(import),
            ProgramStatement::Global(names) => {
                self.scopes[self.scope].globals.extend(names.iter().cloned());
            }
        }
    }

    pub(super) fn closure(&mut self, function: &Rc<ProgramFunction>, is_method: bool) -> FlowValue {
        let closure = Rc::new(FlowClosure {
            number: self.closures.len(),
            function: function.clone(),
            scope: self.scope,
            file: self.file,
            is_method,
        });
        self.closures.push((closure.clone(), 0));
        FlowValue { function: Some(closure), ..FlowValue::default() }
    }

    pub(crate) fn value(&mut self, expr: &ProgramExpr) -> FlowValue {
        self.steps += 1;
        if self.nesting >= MAX_NESTING {
            self.too_deep.insert(self.file);
            return FlowValue::default();
        }
        if self.is_cut() {
            return FlowValue::default();
        }
        self.nesting += 1;
        let value = self.any_value(expr);
        self.nesting -= 1;
        // Long texts and lists cost what copying them costs.
        let size = value.text.as_ref().map_or(0, |text| text.len() / 256);
        self.steps += size + value.items.as_ref().map_or(0, |items| items.len() / 16);
        value
    }

    pub(super) fn any_value(&mut self, expr: &ProgramExpr) -> FlowValue {
        match expr {
            ProgramExpr::Nothing => FlowValue::default(),
            ProgramExpr::Text(text) => FlowValue::of_text(text.clone()),
            ProgramExpr::Number(number) => {
                FlowValue { number: Some(*number), ..FlowValue::default() }
            }
            ProgramExpr::Name(name) => match self.look_up(name) {
                Some(value) => value.clone(),
                None => self.library_value(name),
            },
            ProgramExpr::Member(object, field) => self.member_of(object, field),
            ProgramExpr::Index(object, key) => {
                let key = self.value(key);
                let object = self.value(object);
                self.indexed(&object, &key)
            }
            ProgramExpr::Call(call) => self.call(call),
            ProgramExpr::Binary(operator, left, right) => {
                let left = self.value(left);
                let right = self.value(right);
                binary(*operator, &left, &right)
            }
            ProgramExpr::Template(parts) => {
                let parts: Vec<FlowValue> = parts.iter().map(|part| self.value(part)).collect();
                concat(&parts, "")
            }
            ProgramExpr::Either(parts) => {
                let mut all: Option<FlowValue> = None;
                for part in parts {
                    let value = self.value(part);
                    all = Some(match all {
                        Some(other) if other.text.is_none() && value.text.is_some() => {
                            value.joined(&other)
                        }
                        Some(other) => other.joined(&value),
                        None => value,
                    });
                }
                all.unwrap_or_default()
            }
            ProgramExpr::List(items) => {
                let items: Vec<FlowValue> = items.iter().map(|item| self.value(item)).collect();
                let mut list = FlowValue::default();
                for item in &items {
                    list.tainted_by(item);
                }
                list.items = Some(Rc::new(items));
                list
            }
            ProgramExpr::Object(fields) => self.object(fields),
            ProgramExpr::Test(parts) => {
                for part in parts {
                    self.value(part);
                }
                FlowValue::default()
            }
            ProgramExpr::Function(function) => self.closure(function, false),
            ProgramExpr::Comprehension { element, loops, tests } => {
                self.comprehension(element, loops, tests)
            }
            ProgramExpr::Yield(value, mode) => {
                let value = self.value(value);
                let mut given = value.clone();
                if *mode == YieldMode::One {
                    given = value.derived();
                    given.text = value.text.clone();
                    given.items = Some(Rc::new(vec![value]));
                }
                self.returned.push(given);
                FlowValue::default()
            }
            ProgramExpr::Bind(target, value, mode) => {
                let value = self.value(value);
                self.bind(target, value.clone(), *mode);
                value
            }
        }
    }

    pub(super) fn object(&mut self, fields: &[(Option<ProgramExpr>, ProgramExpr)]) -> FlowValue {
        let mut object = FlowValue::default();
        let mut known: BTreeMap<Rc<str>, FlowValue> = BTreeMap::new();
        for (key, value) in fields {
            let value = self.value(value);
            let key = match key {
                Some(ProgramExpr::Text(text)) => Some(text.clone()),
                Some(key) => self.value(key).text,
                None => None,
            };
            // Headers are looked at by themselves.
            if value.function.is_none() {
                object.tainted_by(&value);
            }
            match key {
                Some(key) => {
                    known.insert(key, value);
                }
                None => {
                    for (name, value) in value.fields.iter().flat_map(|fields| fields.iter()) {
                        known.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        object.fields = Some(Rc::new(known));
        object
    }

    pub(super) fn comprehension(
        &mut self,
        element: &ProgramExpr,
        loops: &[(ProgramTarget, ProgramExpr)],
        tests: &[ProgramExpr],
    ) -> FlowValue {
        let scope = self.new_scope(Some(self.scope));
        let outer = std::mem::replace(&mut self.scope, scope);
        let mut all = FlowValue::default();
        if let [(target, source)] = loops {
            let source = self.value(source);
            let items = elements(&source);
            if let (Some(items), true) = (items, tests.is_empty()) {
                let mut results = Vec::with_capacity(items.len());
                for item in items {
                    self.bind(target, item, BindMode::Declare);
                    let value = self.value(element);
                    all.tainted_by(&value);
                    results.push(value);
                }
                all.items = Some(Rc::new(results));
                self.scope = outer;
                return all;
            }
            let one = self.member(&source, ELEMENT);
            self.bind(target, one, BindMode::Declare);
        } else {
            for (target, source) in loops {
                let source = self.value(source);
                let one = self.member(&source, ELEMENT);
                self.bind(target, one, BindMode::Declare);
            }
        }
        for test in tests {
            self.value(test);
        }
        let value = self.value(element);
        self.scope = outer;
        all.tainted_by(&value);
        all.text = value.text;
        all
    }

    /// Follows a function with its arguments.
    pub(crate) fn call_closure(
        &mut self,
        closure: &Rc<FlowClosure>,
        arguments: &[FlowValue],
        named: &[(Rc<str>, FlowValue)],
    ) -> FlowValue {
        let visits = &mut self.closures[closure.number].1;
        *visits += 1;
        if *visits > MAX_VISITS || self.calls >= MAX_CALLS || self.is_cut() {
            let mut all = FlowValue::default();
            for argument in arguments.iter().chain(named.iter().map(|(_, value)| value)) {
                all.tainted_by(argument);
            }
            return all;
        }
        let scope = self.new_scope(Some(closure.scope));
        let before = (self.scope, self.file, self.first_line, self.in_block);
        self.calls += 1;
        self.scope = scope;
        if closure.file != self.file {
            self.file = closure.file;
            let module = self.modules.iter().find(|module| module.file == closure.file);
            self.first_line = module.map_or(0, |module| module.line);
        }
        self.in_block = 0;
        let function = closure.function.clone();
        let parameters = &function.parameters;
        let is_self = |target: &ProgramTarget| matches!(target, ProgramTarget::Name(name) if matches!(&**name, "self" | "cls"));
        let skip = usize::from(
            closure.is_method && parameters.first().is_some_and(|(target, _)| is_self(target)),
        );
        for (number, (target, default)) in parameters.iter().skip(skip).enumerate() {
            let by_name = match target {
                ProgramTarget::Name(name) => named.iter().find(|(other, _)| other == name),
                _ => None,
            };
            let value = match (by_name, arguments.get(number), default) {
                (Some((_, value)), ..) => value.clone(),
                (None, Some(value), _) => value.clone(),
                (None, None, Some(default)) => self.value(default),
                (None, None, None) => FlowValue::default(),
            };
            self.bind(target, value, BindMode::Declare);
        }
        let returned = std::mem::take(&mut self.returned);
        self.statements(&function.body);
        let mut results = std::mem::replace(&mut self.returned, returned).into_iter();
        self.calls -= 1;
        (self.scope, self.file, self.first_line, self.in_block) = before;
        let first = results.next().unwrap_or_default();
        results.fold(first, |all, one| all.joined(&one))
    }
}
