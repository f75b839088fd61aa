//! Instructions for the next time: the seven patterns by which Skill Workshop recognises a
//! correction, as JavaScript reads them: `\b` and case are ASCII.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;
use sinew_skill::ecmascript as text;

use crate::quotations::{holds_secret, without_quotations};

/// Shorter and longer messages are not corrections, in UTF-16 code units.
pub const CORRECTION_LENGTH: RangeInclusive<usize> = 24..=1200;

const PATTERNS: [&str; 7] = [
    r"(?i-u)\bnext time\b",
    r"(?i-u)\bfrom now on\b",
    r"(?i-u)\bremember to\b",
    r"(?i-u)\bmake sure to\b",
    r"(?i-u)\balways\b(?u:.){0,80}\b(?:use|check|verify|record|save|prefer)\b",
    r"(?i-u)\bprefer\b(?u:.){0,120}\b(?:when|for|instead|use)\b",
    r"(?i-u)\bwhen asked\b",
];

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// The number of the first pattern that matches a text on one line, counted from 1.
pub fn correction_pattern(line: &str) -> Option<usize> {
    COMPILED.iter().position(|pattern| pattern.is_match(line)).map(|found| found + 1)
}

/// Whether a message asks for something from now on, in the user's own words and without a secret.
pub(crate) fn is_correction(message: &str) -> bool {
    let line = text::collapse(message);
    CORRECTION_LENGTH.contains(&text::utf16_len(&line))
        && correction_pattern(&line).is_some()
        && !holds_secret(message)
        && correction_pattern(&text::collapse(&without_quotations(message))).is_some()
}
