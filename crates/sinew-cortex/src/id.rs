//! Ids of records: ULIDs, which sort by the time they were made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::{UtcInstant, as_text};

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ENTROPY_BITS: u32 = 80;
/// Ids between two steps, in bits.
const STEP_BITS: u32 = 24;

/// A ULID: 48 bits of time, 80 random bits, 26 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

impl Ulid {
    /// An id for that time. The entropy is passed in; 80 bits of it are used.
    pub fn new(at: UtcInstant, entropy: u128) -> Self {
        let time = u128::try_from(at.ms()).unwrap_or(0) << ENTROPY_BITS;
        Self(time | (entropy & ((1 << ENTROPY_BITS) - 1)))
    }

    /// The time it was made for.
    pub fn time(self) -> UtcInstant {
        UtcInstant::from_ms(i64::try_from(self.0 >> ENTROPY_BITS).unwrap_or(i64::MAX))
    }

    /// The id right after this one, for records that are written together and must stay in order.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// The id this many steps after this one, for records that come one after another. Between two
    /// steps there is room for records that are written together with the first.
    #[must_use]
    pub fn nth_after(self, steps: u32) -> Self {
        Self(self.0.wrapping_add(u128::from(steps) << STEP_BITS))
    }

    /// The id that always belongs to these parts, so that a step repeated after a crash writes the
    /// same record and not a second one.
    pub fn derived(at: UtcInstant, parts: &[&str]) -> Self {
        let mut text = String::new();
        for part in parts {
            text.push_str(&part.len().to_string());
            text.push(':');
            text.push_str(part);
        }
        let hex = sinew_skill::content_hash(text.as_bytes());
        let entropy = u128::from_str_radix(hex.get(..20).unwrap_or_default(), 16).unwrap_or(0);
        Self::new(at, entropy)
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |place: u32| char::from(DIGITS[(self.0 >> (5 * place) & 31) as usize]);
        f.pad(&(0..26).rev().map(digit).collect::<String>())
    }
}

/// A text that is not a ULID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidUlid;

impl fmt::Display for InvalidUlid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id has 26 letters and digits")
    }
}

impl std::error::Error for InvalidUlid {}

impl FromStr for Ulid {
    type Err = InvalidUlid;

    fn from_str(text: &str) -> Result<Self, InvalidUlid> {
        // 26 digits of 5 bits are 130 bits; the first digit must leave the top two empty.
        if text.len() != 26 || text.as_bytes()[0] > b'7' {
            return Err(InvalidUlid);
        }
        let mut value: u128 = 0;
        for byte in text.bytes() {
            let digit = DIGITS.iter().position(|&digit| digit == byte.to_ascii_uppercase());
            value = value << 5 | digit.ok_or(InvalidUlid)? as u128;
        }
        Ok(Self(value))
    }
}

as_text!(Ulid);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_read_back() {
        let early = Ulid::new(UtcInstant::from_ms(1_000), u128::MAX);
        let late = Ulid::new(UtcInstant::from_ms(1_001), 0);
        assert_eq!(early.time(), UtcInstant::from_ms(1_000));
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(early.to_string().parse(), Ok(early));
        assert_eq!(early.to_string().to_lowercase().parse(), Ok(early));
        assert_eq!(
            Ulid::new(UtcInstant::from_ms(1_469_918_176_385), 0).to_string(),
            "01ARYZ6S410000000000000000"
        );
        for bad in ["", "01ARYZ6S41", "81ARYZ6S410000000000000000", "01ARYZ6S41000000000000000U"] {
            assert_eq!(bad.parse::<Ulid>(), Err(InvalidUlid), "{bad}");
        }
    }

    #[test]
    fn the_same_parts_have_the_same_id() {
        let at = UtcInstant::from_ms(5);
        assert_eq!(Ulid::derived(at, &["a", "b"]), Ulid::derived(at, &["a", "b"]));
        assert_ne!(Ulid::derived(at, &["a", "b"]), Ulid::derived(at, &["ab"]));
    }
}
