//! Values that may be secrets, and a masker that removes them from text.

use std::fmt;

use sinew_guard::secrets;

/// A variable's value. `Debug` never shows it; code that needs it must call [`EnvValue::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct EnvValue(String);

impl EnvValue {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the child that is being started.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EnvValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Value(set)")
    }
}

/// Shorter values are words such as `on` or `eu`: masking them would mask everything.
const SHORTEST_SECRET: usize = 4;

/// Masks known values, and everything that looks like a secret, in text.
#[derive(Clone, Default)]
pub struct SecretMasker(Vec<String>);

impl SecretMasker {
    /// A masker for these values.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a EnvValue>) -> Self {
        let mut values: Vec<String> = values
            .into_iter()
            .map(|value| value.expose().trim().to_owned())
            .filter(|value| value.len() >= SHORTEST_SECRET)
            .collect();
        // A value may contain another one; the longer is masked first.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// The text with all of them masked.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for value in &self.0 {
            if masked.contains(value.as_str()) {
                masked = masked.replace(value.as_str(), secrets::REDACTED);
            }
        }
        secrets::mask(&masked)
    }

    /// The length of the longest value: this much around a cut may be half of one.
    pub(crate) fn longest(&self) -> usize {
        self.0.first().map_or(0, String::len)
    }
}

impl fmt::Debug for SecretMasker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masker({} values)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_out_and_never_show_themselves() {
        let values =
            [EnvValue::new("hunter2hunter2"), EnvValue::new("hunter2"), EnvValue::new("on")];
        let masker = SecretMasker::new(&values);
        let text = masker.mask("key=hunter2hunter2 pw=hunter2 mode=on");
        assert_eq!(text, "key=[REDACTED CREDENTIAL] pw=[REDACTED CREDENTIAL] mode=on");
        assert!(!format!("{values:?} {masker:?}").contains("hunter"));
    }
}
