//! Text that is JSON by construction.

use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::StoreError;

/// JSON as text, preserved byte for byte.
///
/// The store never looks inside. It is text instead of a tree, because a fold over a hundred
/// thousand records parses each of them straight into its own type.
///
/// ```
/// use sinew_store::JsonText;
///
/// let json = JsonText::of(&("weather", 3))?;
/// assert_eq!(json.as_str(), r#"["weather",3]"#);
/// assert_eq!(json.read::<(String, u32)>()?, ("weather".to_owned(), 3));
/// # Ok::<(), sinew_store::StoreError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Box<str>);

impl JsonText {
    /// The JSON of a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, StoreError> {
        match serde_json::to_string(value) {
            Ok(text) => Ok(Self(text.into())),
            Err(error) => Err(StoreError::NotJson { detail: error.to_string() }),
        }
    }

    /// Text from elsewhere, if it is valid JSON.
    pub fn parse(text: impl Into<Box<str>>) -> Result<Self, StoreError> {
        let text = text.into();
        match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(StoreError::NotJson { detail: error.to_string() }),
        }
    }

    /// Text from a row that was written as [`JsonText`].
    pub(crate) fn from_row(text: String) -> Self {
        Self(text.into())
    }

    /// Reads the value.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        serde_json::from_str(&self.0)
            .map_err(|error| StoreError::NotJson { detail: error.to_string() })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
