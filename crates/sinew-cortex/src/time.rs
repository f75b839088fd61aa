//! Instants and calendar days, in UTC. They are passed in: nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;
/// Milliseconds of an hour.
pub(crate) const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Milliseconds of a minute.
pub(crate) const MINUTE_MS: i64 = 60_000;

/// The last instant with a four-digit year.
const LAST_MS: i64 = 253_402_300_799_999;

/// An instant: milliseconds since 1970, written as RFC 3339.
///
/// Always between 1970 and 9999, so that every instant can be written and compared; a clock outside
/// that range is clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UtcInstant(i64);

impl UtcInstant {
    /// The instant that many milliseconds after 1970.
    pub fn from_ms(ms: i64) -> Self {
        Self(ms.clamp(0, LAST_MS))
    }

    /// From the value of a clock.
    pub fn from_clock(ms: u64) -> Self {
        Self::from_ms(i64::try_from(ms).unwrap_or(LAST_MS))
    }

    /// Milliseconds since 1970.
    pub fn ms(self) -> i64 {
        self.0
    }

    /// The day it is in.
    pub fn day(self) -> UtcDay {
        UtcDay(i32::try_from(self.0.div_euclid(DAY_MS)).unwrap_or(i32::MAX))
    }

    /// This many milliseconds later, or earlier.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }
}

impl fmt::Display for UtcInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.0.rem_euclid(DAY_MS);
        let (hours, minutes) = (rest / HOUR_MS, rest / MINUTE_MS % 60);
        let (seconds, ms) = (rest / 1000 % 60, rest % 1000);
        write!(f, "{}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z", self.day())
    }
}

/// A text that is not a valid time or day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidTime(String);

impl fmt::Display for InvalidTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidTime {}

impl FromStr for UtcInstant {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let bad = || InvalidTime(format!("`{}` is not an RFC 3339 time", short(text)));
        let read: jiff::Timestamp = text.parse().map_err(|_| bad())?;
        let ms = read.as_millisecond();
        if (0..=LAST_MS).contains(&ms) { Ok(Self(ms)) } else { Err(bad()) }
    }
}

/// A day of the calendar: days since 1970, written `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UtcDay(i32);

impl UtcDay {
    /// Its first instant.
    pub fn start(self) -> UtcInstant {
        UtcInstant::from_ms(i64::from(self.0) * DAY_MS)
    }

    /// Whole days from `earlier` to this one, never below 0.
    pub fn days_since(self, earlier: Self) -> u32 {
        u32::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// This many days later, or earlier.
    #[must_use]
    pub fn plus_days(self, days: i32) -> Self {
        Self::from_number(self.0.saturating_add(days))
    }

    fn from_number(days: i32) -> Self {
        UtcInstant::from_ms(i64::from(days) * DAY_MS).day()
    }
}

impl fmt::Display for UtcDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Days in eras of 400 years that begin on 1 March, so that the leap day is the last day of
        // a year.
        let days = i64::from(self.0) + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, over) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        write!(f, "{:04}-{month:02}-{day:02}", year + era * 400 + over)
    }
}

impl FromStr for UtcDay {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let bad = || InvalidTime(format!("`{}` is not a date of the form YYYY-MM-DD", short(text)));
        let shape = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let date: jiff::civil::Date = text.parse().ok().filter(|_| shape).ok_or_else(bad)?;
        let first = jiff::civil::date(1970, 1, 1);
        let days = date.since(first).map_err(|_| bad())?.get_days();
        if days < 0 { Err(bad()) } else { Ok(Self(days)) }
    }
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                String::schema()
            }
        }

        #[cfg(feature = "schema")]
        impl utoipa::ToSchema for $type {}
    };
}
pub(crate) use as_text;

as_text!(UtcInstant);
as_text!(UtcDay);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_days_read_back_what_they_write() {
        for text in ["1970-01-01", "2000-02-29", "2024-12-31", "2026-03-05", "9999-12-31"] {
            let day: UtcDay = text.parse().unwrap();
            assert_eq!(day.to_string(), text);
            assert_eq!(day.start().day(), day);
        }
        let stamp: UtcInstant = "2026-03-05T13:14:15.678+01:00".parse().unwrap();
        assert_eq!(stamp.to_string(), "2026-03-05T12:14:15.678Z");
        assert_eq!(stamp.to_string().parse(), Ok(stamp));
        for bad in ["", "2026-3-5", "2026-02-30", "1969-12-31", "yesterday", "2026-03-05T00:00:00Z"]
        {
            assert!(bad.parse::<UtcDay>().is_err(), "{bad}");
        }
        for bad in ["2026-03-05", "12:00", "1969-01-01T00:00:00Z", "2026-03-05T12:00:00"] {
            assert!(bad.parse::<UtcInstant>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_clock_that_makes_no_sense_is_taken_for_the_nearer_end() {
        assert_eq!(UtcInstant::from_clock(u64::MAX / 2).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(UtcInstant::from_ms(-5).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn days_never_go_below_zero() {
        let day = |text: &str| text.parse::<UtcDay>().unwrap();
        assert_eq!(day("2026-03-05").days_since(day("2026-03-01")), 4);
        assert_eq!(day("2026-03-01").days_since(day("2026-03-05")), 0);
    }
}
