//! What is known of a value while a program is followed: where it came from, what it spells, and
//! what may be done over it.

use std::collections::BTreeMap;
use std::ops::BitOr;
use std::rc::Rc;

use super::super::hosts::HostClass;
use super::tree::ProgramFunction;

/// Where a value came from; several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ValueOrigin(u16);

impl ValueOrigin {
    pub(crate) const NONE: Self = Self(0);
    /// The content of a key file, a password store, a wallet or a clipboard.
    pub(crate) const SECRET: Self = Self(1);
    /// All variables of the environment.
    pub(crate) const ENVIRONMENT: Self = Self(2);
    /// Conversations and memories of an agent.
    pub(crate) const AGENT: Self = Self(4);
    /// The content of a `.env` file.
    pub(crate) const DOTENV: Self = Self(8);
    /// One variable that is a well-known vendor's key.
    pub(crate) const KEY: Self = Self(16);
    /// Came over the network.
    pub(crate) const FETCHED: Self = Self(32);
    /// Was decoded, decrypted or put together from numbers.
    pub(crate) const DECODED: Self = Self(64);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for ValueOrigin {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Stands for what is not known within a text.
pub(crate) const UNKNOWN: &str = "\u{1}";
/// The longest text that is put together.
pub(crate) const MAX_VALUE: usize = 16 * 1024;

/// A function and the scope that it was made in.
#[derive(Debug)]
pub(crate) struct FlowClosure {
    pub(crate) number: usize,
    pub(crate) function: Rc<ProgramFunction>,
    pub(crate) scope: usize,
    pub(crate) file: usize,
    pub(crate) is_method: bool,
}

/// A value, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowValue {
    pub(crate) origin: ValueOrigin,
    /// The origin of its beginning: what a command line starts with is what runs.
    pub(crate) head: ValueOrigin,
    /// The worst host that it came from.
    pub(crate) class: Option<HostClass>,
    /// What it spells, with [`UNKNOWN`] for the parts that are not known.
    pub(crate) text: Option<Rc<str>>,
    pub(crate) number: Option<i64>,
    /// The name of a library's part: `os.environ`, `requests.post`.
    pub(crate) path: Option<Rc<str>>,
    /// The address that it sends to.
    pub(crate) place: Option<Rc<str>>,
    /// The file that it reads or writes.
    pub(crate) file: Option<Rc<str>>,
    pub(crate) function: Option<Rc<FlowClosure>>,
    pub(crate) fields: Option<Rc<BTreeMap<Rc<str>, FlowValue>>>,
    pub(crate) items: Option<Rc<Vec<FlowValue>>>,
    /// Whose key it is.
    pub(crate) vendor: Option<Rc<str>>,
}

impl FlowValue {
    pub(crate) fn of_text(text: impl Into<Rc<str>>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub(crate) fn of_path(path: &str) -> Self {
        Self { path: Some(Rc::from(path)), ..Self::default() }
    }

    pub(crate) fn of_origin(origin: ValueOrigin) -> Self {
        Self { origin, head: origin, ..Self::default() }
    }

    /// The text, or the mark for what is not known.
    pub(crate) fn spelled(&self) -> &str {
        self.text.as_deref().unwrap_or(UNKNOWN)
    }

    /// What is left of a value that something unknown was done to.
    pub(crate) fn derived(&self) -> Self {
        Self {
            origin: self.all_origins(),
            head: self.head | self.all_origins(),
            class: self.class,
            place: self.place.clone(),
            vendor: self.vendor.clone(),
            ..Self::default()
        }
    }

    /// Its origins and those of its parts.
    pub(crate) fn all_origins(&self) -> ValueOrigin {
        let mut origin = self.origin;
        for item in self.items.iter().flat_map(|items| items.iter()) {
            origin = origin | item.origin;
        }
        for value in self.fields.iter().flat_map(|fields| fields.values()) {
            if value.function.is_none() {
                origin = origin | value.origin;
            }
        }
        origin
    }

    /// Both at once.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        Self {
            origin: self.origin | other.origin,
            head: self.head | other.head,
            class: self.class.max(other.class),
            text: self.text.clone().or_else(|| other.text.clone()),
            number: None,
            path: self.path.clone().or_else(|| other.path.clone()),
            place: self.place.clone().or_else(|| other.place.clone()),
            file: self.file.clone().or_else(|| other.file.clone()),
            function: self.function.clone().or_else(|| other.function.clone()),
            fields: self.fields.clone().or_else(|| other.fields.clone()),
            items: self.items.clone().or_else(|| other.items.clone()),
            vendor: self.vendor.clone().or_else(|| other.vendor.clone()),
        }
    }

    /// Takes the origins of another value over.
    pub(crate) fn tainted_by(&mut self, other: &Self) {
        self.origin = self.origin | other.all_origins();
        self.class = self.class.max(other.class);
        if self.vendor.is_none() {
            self.vendor = other.vendor.clone();
        }
    }
}

/// Texts one behind the other.
pub(crate) fn concat<'a>(
    parts: impl IntoIterator<Item = &'a FlowValue>,
    between: &str,
) -> FlowValue {
    let mut text = String::new();
    let mut result = FlowValue::default();
    let mut is_known = false;
    for (number, part) in parts.into_iter().enumerate() {
        if number > 0 && !text.ends_with(between) {
            text.push_str(between);
        }
        if text.is_empty() || text == UNKNOWN {
            result.head = result.head | part.all_origins();
        }
        is_known |= part.text.is_some() || part.number.is_some();
        match (&part.text, part.number) {
            (Some(known), _) => text.push_str(known),
            (None, Some(number)) => text.push_str(&number.to_string()),
            (None, None) => text.push_str(UNKNOWN),
        }
        result.tainted_by(part);
        if text.len() > MAX_VALUE {
            return FlowValue { text: None, ..result };
        }
    }
    if is_known {
        result.text = Some(Rc::from(text));
    }
    result
}
