//! Parts of values: members, elements, variables of the environment, and what operators make of them.

use std::rc::Rc;

use super::flow::{MAX_ELEMENTS, ProgramFlow};
use super::library;
use super::tree::{ELEMENT, ProgramExpr, REVERSED};
use super::value::{FlowValue, ValueOrigin, concat};

impl ProgramFlow<'_> {
    pub(super) fn member_of(&mut self, object: &ProgramExpr, field: &Rc<str>) -> FlowValue {
        if let ProgramExpr::Name(name) = object {
            let key = match &**name {
                "self" | "this" => format!("self.{field}"),
                name => format!("{name}.{field}"),
            };
            if let Some(value) = self.look_up(&key) {
                return value.clone();
            }
            if matches!(&**name, "self" | "this") {
                let scope = self.class_scope();
                if let Some(value) = self.scopes[scope].names.get(field) {
                    return value.clone();
                }
                return FlowValue::default();
            }
        }
        let object = self.value(object);
        self.member(&object, field)
    }

    /// A member of a value.
    pub(crate) fn member(&mut self, object: &FlowValue, field: &str) -> FlowValue {
        if let Some(value) = object.fields.as_ref().and_then(|fields| fields.get(field)) {
            return value.clone();
        }
        match field {
            ELEMENT => {
                let mut one = object.derived();
                one.text = object.text.clone();
                one.file = object.file.clone();
                if let Some(items) = &object.items {
                    one.text = items.iter().find_map(|item| item.text.clone());
                    one.items = items.iter().find_map(|item| item.items.clone());
                }
                return one;
            }
            REVERSED => {
                let text = object.text.as_ref().map(|t| t.chars().rev().collect::<String>());
                let origin = if text.is_some() { ValueOrigin::DECODED } else { ValueOrigin::NONE };
                let mut value = FlowValue { text: text.map(Rc::from), ..object.derived() };
                value.origin = value.origin | origin;
                return value;
            }
            _ => {}
        }
        if library::measures(field) {
            return FlowValue::default();
        }
        if let Some(path) = &object.path {
            if is_environment(path) {
                return self.variable(object, field);
            }
            let mut value = self.library_value(&format!("{path}.{field}"));
            value.tainted_by(object);
            value.place = object.place.clone();
            return value;
        }
        let mut value = object.derived();
        value.file = object.file.clone();
        // The name of a file is its path, and a path's parts are spelled like it.
        value.text = match field {
            "name" | "path" => object.file.clone().or_else(|| object.text.clone()),
            _ => None,
        };
        value
    }

    pub(crate) fn indexed(&mut self, object: &FlowValue, key: &FlowValue) -> FlowValue {
        if let (Some(items), Some(number)) = (&object.items, key.number)
            && let Some(item) = usize::try_from(number).ok().and_then(|at| items.get(at))
        {
            return item.clone();
        }
        if object.path.as_deref().is_some_and(is_environment) {
            return match &key.text {
                Some(name) if !key.origin.has(ValueOrigin::ENVIRONMENT) => {
                    self.variable(object, &name.clone())
                }
                _ => key.derived(),
            };
        }
        match &key.text {
            Some(name) => self.member(object, &name.clone()),
            None => object.derived(),
        }
    }

    /// One variable of the environment, or what its methods give.
    pub(crate) fn variable(&mut self, environment: &FlowValue, name: &str) -> FlowValue {
        match name {
            "items" | "values" | "copy" | "keys" | "toObject" | "entries" | "get" | "pop"
            | "setdefault" | "update" => FlowValue {
                path: environment.path.as_ref().map(|path| Rc::from(format!("{path}.{name}"))),
                ..FlowValue::of_origin(ValueOrigin::ENVIRONMENT)
            },
            "HOME" | "USERPROFILE" | "HOMEPATH" => FlowValue::of_text("~"),
            name => match library::vendor_of(name) {
                Some(vendor) => FlowValue {
                    vendor: Some(Rc::from(vendor)),
                    ..FlowValue::of_origin(ValueOrigin::KEY)
                },
                None => FlowValue::default(),
            },
        }
    }

    /// A name of a library, with what it is by itself.
    pub(crate) fn library_value(&self, path: &str) -> FlowValue {
        let mut value = FlowValue::of_path(path);
        if is_environment(path) {
            value.origin = ValueOrigin::ENVIRONMENT;
            value.head = ValueOrigin::ENVIRONMENT;
        }
        if path == "document.cookie" || path == "localStorage" || path == "sessionStorage" {
            value.origin = ValueOrigin::SECRET;
        }
        if path == "__file__" || path == "__dirname" {
            value.text = Some(Rc::from("skill"));
        }
        value
    }
}

/// Whether it is the environment as a whole.
pub(crate) fn is_environment(path: &str) -> bool {
    matches!(
        path,
        "os.environ" | "process.env" | "os.environb" | "Bun.env" | "Deno.env" | "environ"
    ) || path.ends_with(".process.env")
}

/// The elements of a value, where each is known.
pub(super) fn elements(value: &FlowValue) -> Option<Vec<FlowValue>> {
    if let Some(items) = &value.items {
        return (items.len() <= MAX_ELEMENTS).then(|| (**items).clone());
    }
    let text = value.text.as_deref()?;
    let is_whole = !text.contains('\u{1}') && text.len() <= MAX_ELEMENTS && value.file.is_none();
    (is_whole && !text.is_empty())
        .then(|| text.chars().map(|c| FlowValue::of_text(c.to_string())).collect())
}

pub(super) fn binary(operator: char, left: &FlowValue, right: &FlowValue) -> FlowValue {
    if let (Some(a), Some(b)) = (left.number, right.number) {
        let number = match operator {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '^' => Some(a ^ b),
            '%' => a.checked_rem(b),
            '/' => a.checked_div(b),
            _ => None,
        };
        return FlowValue { number, ..FlowValue::default() };
    }
    match operator {
        '+' => {
            if let (Some(a), Some(b)) = (&left.items, &right.items)
                && a.len() + b.len() <= MAX_ELEMENTS
            {
                let mut list = left.joined(right);
                list.items = Some(Rc::new(a.iter().chain(b.iter()).cloned().collect()));
                return list;
            }
            concat([left, right], "")
        }
        '/' => {
            let mut path = concat([left, right], "/");
            path.path = None;
            path
        }
        '%' => filled(left, right),
        _ => {
            let mut value = left.derived();
            value.tainted_by(right);
            value
        }
    }
}

/// `"…%s…" % values`
fn filled(left: &FlowValue, right: &FlowValue) -> FlowValue {
    let mut value = left.derived();
    value.tainted_by(right);
    if let Some(text) = &left.text {
        let mut out = String::new();
        let mut rest: &str = text;
        let mut number = 0;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if rest.starts_with('(') {
                rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
            }
            if rest.starts_with(['s', 'd', 'r']) {
                rest = &rest[1..];
                let item = match &right.items {
                    Some(items) => items.get(number),
                    None => Some(right),
                };
                out.push_str(item.map_or("\u{1}", |item| item.spelled()));
                number += 1;
            } else {
                out.push('%');
            }
        }
        out.push_str(rest);
        value.text = Some(Rc::from(out));
    }
    value
}
