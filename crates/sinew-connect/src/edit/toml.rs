//! TOML with its comments and order.

use serde_json::{Map, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

use super::{ConfigEditError, same_meaning, shape};

pub(crate) struct TomlConfig {
    document: DocumentMut,
    /// Whether lines end as on Windows, which the parser does not keep.
    crlf: bool,
}

impl TomlConfig {
    pub(super) fn read(text: &str) -> Result<Self, ConfigEditError> {
        let crlf = text.contains("\r\n");
        let plain = text.replace("\r\n", "\n");
        let document: DocumentMut = plain.parse().map_err(|error: toml_edit::TomlError| {
            let at = error.span().map_or(0, |span| span.start).min(plain.len());
            let before = plain.get(..at).unwrap_or_default();
            ConfigEditError::Syntax {
                line: before.matches('\n').count() + 1,
                column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
                what: error.message().lines().next().unwrap_or_default().to_owned(),
            }
        })?;
        Ok(Self { document, crlf })
    }

    pub(super) fn get(&self, at: &[&str]) -> Option<Value> {
        let first: &Item = self.document.as_item();
        at.iter().try_fold(first, |item, key| item.get(key)).and_then(value)
    }

    pub(super) fn put(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        let (Some((last, parents)), Value::Object(fields)) = (at.split_last(), value) else {
            return Err(shape(at));
        };
        let is_new_file = self.is_new_file();
        let parent = self.parent(parents)?;
        let inline = parent.iter().next().is_some_and(|(_, item)| item.is_inline_table());
        let entry = if inline {
            Item::Value(inline_table(fields).into())
        } else {
            let mut table = Table::new();
            for (name, field) in fields {
                table.insert(name, Item::Value(toml_value(field)));
            }
            if !is_new_file {
                table.decor_mut().set_prefix("\n");
            }
            Item::Table(table)
        };
        parent.insert(last, entry);
        Ok(())
    }

    pub(super) fn remove(&mut self, at: &[&str]) {
        let Some((last, parents)) = at.split_last() else { return };
        let mut parent: Option<&mut dyn TableLike> = Some(self.document.as_table_mut());
        for key in parents {
            parent = parent.and_then(|table| table.get_mut(key)?.as_table_like_mut());
        }
        if let Some(parent) = parent {
            parent.remove(last);
        }
    }

    fn is_new_file(&self) -> bool {
        self.document.is_empty() && self.document.trailing().as_str() == Some("")
    }

    /// The table at a place, created where it is missing.
    fn parent(&mut self, at: &[&str]) -> Result<&mut dyn TableLike, ConfigEditError> {
        let mut parent: &mut dyn TableLike = self.document.as_table_mut();
        for (depth, key) in at.iter().enumerate() {
            if parent.get(key).is_none() {
                let mut table = Table::new();
                table.set_implicit(true);
                parent.insert(key, Item::Table(table));
            }
            parent = parent
                .get_mut(key)
                .and_then(Item::as_table_like_mut)
                .ok_or_else(|| shape(&at[..=depth]))?;
        }
        Ok(parent)
    }

    /// Adds a table to a list of tables (`[[name]]`), or an inline table to a list in one line.
    pub(super) fn push(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        let (Some((last, parents)), Value::Object(fields)) = (at.split_last(), value) else {
            return Err(shape(at));
        };
        let is_new_file = self.is_new_file();
        let parent = self.parent(parents)?;
        if parent.get(last).is_none() {
            parent.insert(last, Item::ArrayOfTables(ArrayOfTables::new()));
        }
        match parent.get_mut(last) {
            Some(Item::ArrayOfTables(tables)) => {
                let mut table = Table::new();
                for (name, field) in fields {
                    table.insert(name, Item::Value(toml_value(field)));
                }
                if !(is_new_file && tables.is_empty()) {
                    table.decor_mut().set_prefix("\n");
                }
                tables.push(table);
                Ok(())
            }
            Some(Item::Value(toml_edit::Value::Array(items))) => {
                items.push(inline_table(fields));
                Ok(())
            }
            _ => Err(shape(at)),
        }
    }

    /// Removes a table of a list.
    pub(super) fn remove_item(&mut self, at: &[&str], wanted: &Value) {
        let Some((last, parents)) = at.split_last() else { return };
        let says = |there: Option<Value>| there.is_some_and(|there| same_meaning(&there, wanted));
        match self.parent(parents).ok().and_then(|parent| parent.get_mut(last)) {
            Some(Item::ArrayOfTables(tables)) => {
                let at = tables.iter().position(|table| says(value(&Item::Table(table.clone()))));
                if let Some(at) = at {
                    tables.remove(at);
                }
            }
            Some(Item::Value(toml_edit::Value::Array(items))) => {
                let at = items.iter().position(|item| says(plain(item)));
                if let Some(at) = at {
                    items.remove(at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn text(&self) -> String {
        let text = self.document.to_string();
        if self.crlf { text.replace('\n', "\r\n") } else { text }
    }
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(bool) => (*bool).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, number) => number.unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(toml_value).collect::<Array>().into(),
        Value::Object(fields) => inline_table(fields).into(),
        // TOML has no null.
        Value::Null => "".into(),
    }
}

fn inline_table(fields: &Map<String, Value>) -> InlineTable {
    fields.iter().map(|(name, field)| (name.as_str(), toml_value(field))).collect()
}

fn value(item: &Item) -> Option<Value> {
    let of = |value: &toml_edit::Value| -> Option<Value> { plain(value) };
    match item {
        Item::None => None,
        Item::Value(value) => of(value),
        Item::Table(table) => {
            let fields =
                table.iter().filter_map(|(name, item)| Some((name.to_owned(), value(item)?)));
            Some(Value::Object(fields.collect()))
        }
        Item::ArrayOfTables(tables) => {
            let tables = tables.iter().filter_map(|table| value(&Item::Table(table.clone())));
            Some(Value::Array(tables.collect()))
        }
    }
}

fn plain(value: &toml_edit::Value) -> Option<Value> {
    Some(match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(bool) => (*bool.value()).into(),
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().filter_map(plain).collect(),
        toml_edit::Value::InlineTable(table) => {
            let fields = table.iter().filter_map(|(name, v)| Some((name.to_owned(), plain(v)?)));
            Value::Object(fields.collect())
        }
    })
}
