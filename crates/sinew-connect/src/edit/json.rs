//! JSON, JSONC and JSON5 as a concrete syntax tree.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::{ConfigEditError, ConfigFormat, same_meaning, shape};

/// The byte order mark that some editors put first; it is not part of the text.
const MARK: char = '\u{feff}';

pub(crate) struct JsonConfig {
    root: CstRootNode,
    marked: bool,
}

impl JsonConfig {
    pub(super) fn read(format: ConfigFormat, text: &str) -> Result<Self, ConfigEditError> {
        let plain = text.strip_prefix(MARK);
        let json5 = format == ConfigFormat::Json5;
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            // No reader accepts a missing comma; a file without one is damaged.
            allow_missing_commas: false,
            allow_loose_object_property_names: json5,
            allow_single_quoted_strings: json5,
            allow_hexadecimal_numbers: json5,
            allow_unary_plus_numbers: json5,
            allow_bare_decimal_point_numbers: json5,
            allow_non_finite_numbers: json5,
            allow_extended_string_escapes: json5,
        };
        let root = CstRootNode::parse(plain.unwrap_or(text), &options).map_err(|error| {
            ConfigEditError::Syntax {
                line: error.line_display(),
                column: error.column_display(),
                what: error.kind().to_string(),
            }
        })?;
        match root.value() {
            Some(value) if value.as_object().is_none() => Err(shape(&["the top level"])),
            _ => Ok(Self { root, marked: plain.is_some() }),
        }
    }

    fn object(&self, at: &[&str]) -> Option<CstObject> {
        at.iter().try_fold(self.root.object_value()?, |object, key| object.object_value(key))
    }

    fn object_or_create(&self, at: &[&str]) -> Result<CstObject, ConfigEditError> {
        let mut object =
            self.root.object_value_or_create().ok_or_else(|| shape(&["the top level"]))?;
        for (depth, key) in at.iter().enumerate() {
            object = object.object_value_or_create(key).ok_or_else(|| shape(&at[..=depth]))?;
        }
        Ok(object)
    }

    pub(super) fn get(&self, at: &[&str]) -> Option<Value> {
        let (last, parents) = at.split_last()?;
        self.object(parents)?.get(last)?.value()?.to_serde_value()
    }

    pub(super) fn put(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        let Some((last, parents)) = at.split_last() else { return Err(shape(at)) };
        let object = self.object_or_create(parents)?;
        match object.get(last) {
            Some(entry) => entry.set_value(input(value)),
            None => drop(object.append(last, input(value))),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, at: &[&str]) {
        let Some((last, parents)) = at.split_last() else { return };
        if let Some(entry) = self.object(parents).and_then(|object| object.get(last)) {
            entry.remove();
        }
    }

    fn array(&self, at: &[&str]) -> Option<CstArray> {
        let (last, parents) = at.split_last()?;
        self.object(parents)?.array_value(last)
    }

    pub(super) fn push(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        let Some((last, parents)) = at.split_last() else { return Err(shape(at)) };
        let object = self.object_or_create(parents)?;
        let array = object.array_value_or_create(last).ok_or_else(|| shape(at))?;
        array.ensure_multiline();
        array.append(input(value));
        Ok(())
    }

    pub(super) fn remove_item(&mut self, at: &[&str], value: &Value) {
        let items = self.array(at).map(|array| array.elements()).unwrap_or_default();
        let says =
            |item: &CstNode| item.to_serde_value().is_some_and(|item| same_meaning(&item, value));
        let ours = items.into_iter().find(says);
        if let Some(item) = ours {
            item.remove();
        }
    }

    pub(super) fn text(&self) -> String {
        let text = self.root.to_string();
        if self.marked { format!("{MARK}{text}") } else { text }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}
