//! The macros in which keys are declared: once each, with all that is known about them.

use serde_json::{Map, Value};

use super::key::ConfigKey;
use super::reader::ConfigReader;

/// A part of the configuration with its keys.
pub(super) trait Section {
    /// Where it stands; `<…>` stands for any name.
    const PATH: &'static str;

    /// Its keys, with what holds for each.
    fn declared(&self) -> Vec<(ConfigKey, Value)>;

    /// Takes over what a map of the file says, which stands at `at`.
    fn fill(&mut self, map: &Map<String, Value>, at: &str, reader: &mut ConfigReader);
}

/// Declares a section: a struct with a field for each key.
///
/// `"key" or "older_spelling" => field: Type = default, in low to high, shown "default in words";`
/// where everything after the default can be left out. The doc comment of a field is what the
/// reference page says about the key. Fields below `also` are no keys.
macro_rules! section {
    (
        $(#[$meta:meta])*
        pub struct $name:ident at $path:literal {
            $(
                $(#[doc = $doc:literal])+
                $key:literal $(or $alias:literal)? => $field:ident: $type:ty = $default:expr
                $(, in $low:literal to $high:expr)? $(, shown $shown:expr)?;
            )*
            $(also {
                $($(#[$also_meta:meta])+ $also:ident: $also_type:ty = $also_default:expr;)*
            })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[$also_meta])+ pub $also: $also_type,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($($also: $also_default,)*)? }
            }
        }

        impl $crate::config::section::Section for $name {
            const PATH: &'static str = $path;

            fn declared(&self) -> Vec<($crate::config::key::ConfigKey, serde_json::Value)> {
                #[allow(unused_variables, reason = "every default may have words of its own")]
                let defaults = Self::default();
                vec![$(($crate::config::key::ConfigKey {
                    path: concat!($path, ".", $key),
                    alias: $crate::config::section::optional!($($alias)?),
                    kind: <$type as $crate::config::value::SettingValue>::KIND,
                    range: $crate::config::section::range!($($low, $high)?),
                    default: $crate::config::section::shown!(defaults.$field $(, $shown)?),
                    doc: concat!($($doc),+).trim(),
                }, $crate::config::value::SettingValue::json(&self.$field)),)*]
            }

            fn fill(
                &mut self,
                map: &serde_json::Map<String, serde_json::Value>,
                at: &str,
                reader: &mut $crate::config::reader::ConfigReader,
            ) {
                $(
                    let range = $crate::config::section::range!($($low, $high)?);
                    let alias = $crate::config::section::optional!($($alias)?);
                    let key = concat!($path, ".", $key);
                    let spelling = $crate::config::reader::Spelling { key, name: $key, alias };
                    reader.set(&mut self.$field, map, at, &spelling, range);
                )*
            }
        }
    };
}

/// A literal or nothing.
macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

/// The allowed numbers or any.
macro_rules! range {
    () => {
        None
    };
    ($low:expr, $high:expr) => {
        Some($crate::config::key::ValueRange { low: $low as f64, high: $high as f64 })
    };
}

/// A default in its own words or as it is.
macro_rules! shown {
    ($default:expr) => {
        $crate::config::key::plain_text(&$crate::config::value::SettingValue::json(&$default))
    };
    ($default:expr, $shown:expr) => {
        $shown.to_owned()
    };
}

/// Declares what a key may choose from: an enum with the word of each variant, and an older one
/// where there is one.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])+ $variant:ident = $word:literal $(or $synonym:literal)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_meta])+ $variant,)+
        }

        impl $name {
            /// Every choice.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word that stands for it in a configuration.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The choice that a word means; case and surrounding blanks do not matter.
            pub fn parse(text: &str) -> Option<Self> {
                match text.trim().to_ascii_lowercase().as_str() {
                    $($word $(| $synonym)? => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::config::value::WholeValue for $name {
            const KIND: $crate::config::key::KeyKind =
                $crate::config::key::KeyKind::Words(&[$($word),+]);

            fn from_value(
                value: &serde_json::Value,
                _: Option<$crate::config::key::ValueRange>,
            ) -> Option<Self> {
                Self::parse(value.as_str()?)
            }

            fn json(&self) -> serde_json::Value {
                self.as_str().into()
            }
        }
    };
}

pub(super) use {choices, optional, range, section, shown};
