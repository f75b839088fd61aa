//! How the values of keys are read and written down, by their types.

use std::collections::BTreeMap;

use serde_json::Value;

use super::key::{KeyKind, LEFT_OUT, ValueRange};
use super::reader::ConfigReader;

/// A type that a key can have.
pub(super) trait SettingValue: Sized {
    /// What may stand in the file.
    const KIND: KeyKind;

    /// What of a value can be used, with a reason for what cannot.
    fn read(value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self>;

    /// As it would stand in the file; null where it would not, and never a secret.
    fn json(&self) -> Value;
}

/// A type whose values can be used as a whole or not at all.
pub(super) trait WholeValue: Sized {
    /// What may stand in the file.
    const KIND: KeyKind;

    /// The value, where it is usable.
    fn from_value(value: &Value, range: Option<ValueRange>) -> Option<Self>;

    /// As it would stand in the file; null where it would not, and never a secret.
    fn json(&self) -> Value;
}

impl<T: WholeValue> SettingValue for T {
    const KIND: KeyKind = T::KIND;

    fn read(value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self> {
        let read = T::from_value(value, place.range);
        if read.is_none() {
            reader.unusable(value, T::KIND, place);
        }
        read
    }

    fn json(&self) -> Value {
        T::json(self)
    }
}

/// Where a value stands.
#[derive(Clone, Copy)]
pub(super) struct KeyPlace<'a> {
    /// The path as the file spells it.
    pub(super) path: &'a str,
    /// The path as the table spells it.
    pub(super) key: &'static str,
    /// The numbers that are allowed.
    pub(super) range: Option<ValueRange>,
    /// What happens where the value cannot be used; the key's default holds where absent.
    pub(super) otherwise: Option<&'a str>,
}

impl KeyPlace<'_> {
    /// A part of the value, which is left out where it cannot be used.
    pub(super) fn part<'p>(&self, path: &'p str) -> KeyPlace<'p> {
        KeyPlace { path, key: self.key, range: self.range, otherwise: Some(LEFT_OUT) }
    }
}

impl WholeValue for bool {
    const KIND: KeyKind = KeyKind::Switch;

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        value.as_bool()
    }

    fn json(&self) -> Value {
        Value::from(*self)
    }
}

/// Whole numbers of a size.
macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl WholeValue for $type {
            const KIND: KeyKind = KeyKind::WholeNumber;

            fn from_value(value: &Value, range: Option<ValueRange>) -> Option<Self> {
                let number = whole_number(value)?;
                let allowed = range.is_none_or(|range| range.contains(number as f64));
                <$type>::try_from(number).ok().filter(|_| allowed)
            }

            fn json(&self) -> Value {
                Value::from(*self)
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

impl WholeValue for f64 {
    const KIND: KeyKind = KeyKind::Number;

    fn from_value(value: &Value, range: Option<ValueRange>) -> Option<Self> {
        value.as_f64().filter(|number| range.is_none_or(|range| range.contains(*number)))
    }

    fn json(&self) -> Value {
        Value::from(*self)
    }
}

impl WholeValue for String {
    const KIND: KeyKind = KeyKind::Text;

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }

    fn json(&self) -> Value {
        Value::from(self.as_str())
    }
}

/// Passed through as it is.
impl WholeValue for Value {
    const KIND: KeyKind = KeyKind::Any;

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        Some(value.clone())
    }

    fn json(&self) -> Value {
        self.clone()
    }
}

/// Arguments of a program, as they are: blanks at their ends may matter, and with one of them missing
/// it is another command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandArguments(pub Vec<String>);

impl WholeValue for CommandArguments {
    const KIND: KeyKind = KeyKind::List(&KeyKind::Text);

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        let text = |item: &Value| item.as_str().map(str::to_owned);
        value.as_array()?.iter().map(text).collect::<Option<_>>().map(Self)
    }

    fn json(&self) -> Value {
        self.0.json()
    }
}

/// A key without a default of its own.
impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: KeyKind = T::KIND;

    fn read(value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self> {
        T::read(value, place, reader).map(Some)
    }

    fn json(&self) -> Value {
        self.as_ref().map(T::json).unwrap_or_default()
    }
}

/// One item that cannot be used does not take the others away. Blanks around texts mean nothing.
impl<T: SettingValue> SettingValue for Vec<T> {
    const KIND: KeyKind = KeyKind::List(&T::KIND);

    fn read(value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self> {
        let Value::Array(items) = value else {
            reader.unusable(value, Self::KIND, place);
            return None;
        };
        let mut read = Self::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", place.path);
            let trimmed = item.as_str().map(|text| Value::from(text.trim()));
            read.extend(T::read(trimmed.as_ref().unwrap_or(item), &place.part(&path), reader));
        }
        Some(read)
    }

    fn json(&self) -> Value {
        self.iter().map(T::json).collect()
    }
}

/// One value that cannot be used does not take the others away.
impl<T: SettingValue> SettingValue for BTreeMap<String, T> {
    const KIND: KeyKind = KeyKind::Map(&T::KIND);

    fn read(value: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self> {
        let Value::Object(map) = value else {
            reader.unusable(value, Self::KIND, place);
            return None;
        };
        let mut read = Self::new();
        for (name, value) in map {
            let path = format!("{}.{name}", place.path);
            if let Some(value) = T::read(value, &place.part(&path), reader) {
                read.insert(name.clone(), value);
            }
        }
        Some(read)
    }

    fn json(&self) -> Value {
        self.iter().map(|(name, value)| (name.clone(), value.json())).collect()
    }
}
