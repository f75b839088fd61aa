//! How the values of keys are read and written down, by their types.

use std::collections::BTreeMap;

use serde_json::Value;

use super::key::{KeyKind, KeyRange};
use super::reader::ConfigReader;

/// A type that a key can have.
pub(super) trait SettingValue: Sized {
    /// What may stand in the file.
    const KIND: KeyKind;

    /// The value, where it is usable.
    fn from_value(value: &Value, range: Option<KeyRange>) -> Option<Self>;

    /// As the reference page writes it.
    fn text(&self) -> String;

    /// Takes the value over, or says why not.
    fn take(&mut self, value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) {
        match Self::from_value(value, place.range) {
            Some(value) => *self = value,
            None => reader.unusable(place, &Self::KIND.expected(place.range)),
        }
    }
}

/// Where a value stands.
pub(super) struct KeyPlace<'a> {
    /// The path as the file spells it.
    pub(super) path: &'a str,
    /// The path as the table spells it.
    pub(super) key: &'static str,
    /// The numbers that are allowed.
    pub(super) range: Option<KeyRange>,
}

impl SettingValue for bool {
    const KIND: KeyKind = KeyKind::Switch;

    fn from_value(value: &Value, _: Option<KeyRange>) -> Option<Self> {
        value.as_bool()
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// Whole numbers of a size.
macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl SettingValue for $type {
            const KIND: KeyKind = KeyKind::WholeNumber;

            fn from_value(value: &Value, range: Option<KeyRange>) -> Option<Self> {
                let number = whole_number(value)?;
                let allowed = range.is_none_or(|range| range.contains(number as f64));
                <$type>::try_from(number).ok().filter(|_| allowed)
            }

            fn text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

whole_numbers! { u32 u64 usize }

fn whole_number(value: &Value) -> Option<u64> {
    // JSON5 reads `250.0` and `2.5e2` as floats; both are whole numbers to their author.
    value.as_u64().or_else(|| {
        value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n)).map(|n| n as u64)
    })
}

impl SettingValue for f64 {
    const KIND: KeyKind = KeyKind::Number;

    fn from_value(value: &Value, range: Option<KeyRange>) -> Option<Self> {
        value.as_f64().filter(|number| range.is_none_or(|range| range.contains(*number)))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for String {
    const KIND: KeyKind = KeyKind::Text;

    fn from_value(value: &Value, _: Option<KeyRange>) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }

    fn text(&self) -> String {
        self.clone()
    }
}

/// Blanks around the texts of a list mean nothing.
impl SettingValue for Vec<String> {
    const KIND: KeyKind = KeyKind::TextList;

    fn from_value(value: &Value, _: Option<KeyRange>) -> Option<Self> {
        let text = |item: &Value| item.as_str().map(|text| text.trim().to_owned());
        value.as_array()?.iter().map(text).collect()
    }

    fn text(&self) -> String {
        format!("[{}]", self.join(", "))
    }
}

impl SettingValue for BTreeMap<String, String> {
    const KIND: KeyKind = KeyKind::Map;

    fn from_value(value: &Value, _: Option<KeyRange>) -> Option<Self> {
        let pair =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        value.as_object()?.iter().map(pair).collect()
    }

    fn text(&self) -> String {
        "{}".to_owned()
    }
}

/// Passed through as it is.
impl SettingValue for Value {
    const KIND: KeyKind = KeyKind::Any;

    fn from_value(value: &Value, _: Option<KeyRange>) -> Option<Self> {
        Some(value.clone())
    }

    fn text(&self) -> String {
        "{}".to_owned()
    }
}

/// A key without a default of its own.
impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: KeyKind = T::KIND;

    fn from_value(value: &Value, range: Option<KeyRange>) -> Option<Self> {
        T::from_value(value, range).map(Some)
    }

    fn text(&self) -> String {
        self.as_ref().map(T::text).unwrap_or_default()
    }
}

/// Arguments of a program, as they are: blanks at their ends may matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandArguments(pub Vec<String>);

impl SettingValue for CommandArguments {
    const KIND: KeyKind = KeyKind::TextList;

    fn from_value(value: &Value, _: Option<KeyRange>) -> Option<Self> {
        let text = |item: &Value| item.as_str().map(str::to_owned);
        value.as_array()?.iter().map(text).collect::<Option<_>>().map(Self)
    }

    fn text(&self) -> String {
        self.0.text()
    }
}
