//! Names of a program: what they are bound to here, and in the other files of the skill.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::flow::ProgramFlow;
use super::library;
use super::tree::{BindMode, ProgramExpr, ProgramImport, ProgramTarget};
use super::value::{FlowValue, concat};

impl ProgramFlow<'_> {
    pub(super) fn import(&mut self, import: &ProgramImport) {
        for (there, here) in &import.names {
            let value = self.imported(&import.module, there);
            if &**here == "*" {
                let fields = value.fields.clone();
                for (name, value) in fields.iter().flat_map(|fields| fields.iter()) {
                    self.scopes[self.scope].names.insert(name.clone(), value.clone());
                }
                continue;
            }
            self.scopes[self.scope].names.insert(here.clone(), value);
        }
    }

    /// A module of the skill, or a library, or a part of either.
    pub(crate) fn imported(&mut self, module: &str, part: &str) -> FlowValue {
        let module = module.strip_prefix("node:").unwrap_or(module);
        // `from . import wire`
        let is_folder = matches!(module, "." | "..");
        let sibling = if is_folder { part } else { module };
        if let Some(local) = self.local_module(sibling) {
            let whole = self.module_value(local);
            if part.is_empty() || part == "*" || is_folder {
                return whole;
            }
            let fields = whole.fields.clone().unwrap_or_default();
            let default = || fields.get("module.exports").filter(|_| part == "default");
            if let Some(value) = fields.get(part).or_else(default) {
                return value.clone();
            }
            return whole;
        }
        let module = module.replace('/', ".");
        match part {
            "" | "default" | "*" => FlowValue::of_path(&module),
            part => self.library_value(&format!("{module}.{part}")),
        }
    }

    pub(super) fn local_module(&self, module: &str) -> Option<usize> {
        let name = module.rsplit(['/', '.']).find(|part| {
            !part.is_empty() && !matches!(*part, "js" | "mjs" | "cjs" | "ts" | "py" | "json")
        })?;
        let is_relative = module.starts_with('.') || module.starts_with('/');
        // A library is not hidden by a file of the same name in a language that has no such rule.
        let known = library::role(&format!("{module}.get")).is_some() && !is_relative;
        if known {
            return None;
        }
        self.modules.iter().position(|other| &*other.name == name && !other.name.is_empty())
    }

    pub(super) fn module_value(&mut self, number: usize) -> FlowValue {
        let scope = self.module(number);
        let mut fields: BTreeMap<Rc<str>, FlowValue> = BTreeMap::new();
        let names = &self.scopes[scope].names;
        if let Some(whole) = names.get("module.exports") {
            for (name, value) in whole.fields.iter().flat_map(|fields| fields.iter()) {
                fields.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in names {
            let name = name.strip_prefix("exports.").map_or_else(|| name.clone(), Rc::from);
            fields.insert(name, value.clone());
        }
        let whole = names.get("module.exports").cloned().unwrap_or_default();
        FlowValue {
            fields: Some(Rc::new(fields)),
            function: whole.function,
            ..FlowValue::default()
        }
    }

    pub(super) fn look_up(&self, name: &str) -> Option<&FlowValue> {
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            if let Some(value) = self.scopes[at].names.get(name) {
                return Some(value);
            }
            scope = self.scopes[at].parent;
        }
        None
    }

    /// The scope of the class around this place.
    pub(super) fn class_scope(&self) -> usize {
        let mut scope = self.scope;
        loop {
            if self.scopes[scope].is_class {
                return scope;
            }
            match self.scopes[scope].parent {
                Some(parent) => scope = parent,
                None => return self.scope,
            }
        }
    }

    pub(crate) fn bind_name(&mut self, name: &Rc<str>, value: FlowValue, mode: BindMode) {
        let mut scope = self.scope;
        if self.scopes[scope].globals.contains(name) {
            while let Some(parent) = self.scopes[scope].parent {
                scope = parent;
            }
        } else if mode != BindMode::Declare {
            // An assignment without a declaration is to the nearest scope that has the name.
            let mut at = Some(scope);
            while let Some(number) = at {
                if self.scopes[number].names.contains_key(name) {
                    scope = number;
                    break;
                }
                at = self.scopes[number].parent;
            }
        }
        let old = self.scopes[scope].names.get(name);
        let value = match (old, mode) {
            (Some(old), BindMode::Add) => {
                let mut both = concat([old, &value], "");
                both.path = old.path.clone();
                both.place = old.place.clone().or(value.place);
                both.items = None;
                both
            }
            (Some(old), _) if self.in_block > 0 && self.scope == scope => {
                let mut value = value;
                value.tainted_by(old);
                value
            }
            _ => value,
        };
        self.scopes[scope].names.insert(name.clone(), value);
    }

    pub(crate) fn bind(&mut self, target: &ProgramTarget, value: FlowValue, mode: BindMode) {
        match target {
            ProgramTarget::Name(name) => self.bind_name(name, value, mode),
            ProgramTarget::Parts(parts) => {
                for (number, (field, target)) in parts.iter().enumerate() {
                    let part = match field {
                        Some(field) => self.member(&value, field),
                        None => match value.items.as_ref().and_then(|items| items.get(number)) {
                            Some(item) => item.clone(),
                            None => FlowValue { text: value.text.clone(), ..value.derived() },
                        },
                    };
                    self.bind(target, part, mode);
                }
            }
            ProgramTarget::Place(place) => self.bind_place(place, value, mode),
        }
    }

    pub(super) fn bind_place(&mut self, place: &ProgramExpr, value: FlowValue, mode: BindMode) {
        match place {
            ProgramExpr::Member(object, field) => {
                let key: Rc<str> = match &**object {
                    ProgramExpr::Name(name) if matches!(&**name, "self" | "this") => {
                        Rc::from(format!("self.{field}"))
                    }
                    ProgramExpr::Name(name) => {
                        if !matches!(&**name, "exports" | "module") {
                            self.taint_name(name, &value);
                        }
                        Rc::from(format!("{name}.{field}"))
                    }
                    // `module.exports.read = …`
                    ProgramExpr::Member(_, inner) if &**inner == "exports" => {
                        Rc::from(format!("exports.{field}"))
                    }
                    other => {
                        self.value(other);
                        return;
                    }
                };
                let scope = if key.starts_with("self.") { self.class_scope() } else { self.scope };
                let outer = std::mem::replace(&mut self.scope, scope);
                self.bind_name(&key, value, mode);
                self.scope = outer;
            }
            ProgramExpr::Index(object, key) => {
                let key = self.value(key);
                if let ProgramExpr::Name(name) = &**object {
                    self.taint_name(name, &value);
                    if let (Some(old), Some(key)) = (self.look_up(name).cloned(), key.text) {
                        let mut fields =
                            old.fields.as_ref().map_or_else(BTreeMap::new, |f| (**f).clone());
                        if fields.len() < 256 {
                            fields.insert(key, value);
                        }
                        let new = FlowValue { fields: Some(Rc::new(fields)), ..old };
                        self.bind_name(name, new, BindMode::Replace);
                    }
                } else {
                    self.value(object);
                }
            }
            other => {
                self.value(other);
            }
        }
    }

    /// What is put into a thing is in it.
    pub(crate) fn taint_name(&mut self, name: &str, value: &FlowValue) {
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            if let Some(old) = self.scopes[at].names.get_mut(name) {
                old.tainted_by(value);
                return;
            }
            scope = self.scopes[at].parent;
        }
    }
}
