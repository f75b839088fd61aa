//! Skill Workshop's seven patterns, with JavaScript's meaning: `\b` and case are ASCII.

use std::sync::LazyLock;

use regex::Regex;

use super::{CaptureGuards, CaptureSkipReason, CaptureVerdict, CapturedCorrection, guard, topic};
use crate::text;

/// Shorter and longer messages are no corrections, in UTF-16 code units.
pub(super) const LENGTH: std::ops::RangeInclusive<usize> = 24..=1200;

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

/// The first pattern that matches a collapsed text, and its name for explanations.
pub(super) fn cue(text: &str) -> Option<String> {
    let found = COMPILED.iter().position(|pattern| pattern.is_match(text))?;
    Some(format!("reference pattern {}", found + 1))
}

/// A message without the "ok" that it starts with.
pub(super) fn without_ok(text: &str) -> &str {
    let starts = text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("ok"));
    let rest = if starts { &text[2..] } else { return text };
    let cut = rest.trim_start_matches([',', '.', ' ']);
    if cut.len() == rest.len() { text } else { cut }
}

pub(super) fn judge(message: &str, guards: CaptureGuards) -> CaptureVerdict {
    let line = text::collapse(message);
    if !LENGTH.contains(&text::utf16_len(&line)) {
        return CaptureVerdict::Nothing(Vec::new());
    }
    let Some(heard) = cue(&line) else { return CaptureVerdict::Nothing(Vec::new()) };
    if guards == CaptureGuards::On {
        if guard::holds_secret(message) {
            return CaptureVerdict::Skipped(CaptureSkipReason::Secret);
        }
        if cue(&text::collapse(&guard::without_quotations(message))).is_none() {
            return CaptureVerdict::Skipped(CaptureSkipReason::Quoted);
        }
    }
    CaptureVerdict::Captured(CapturedCorrection {
        topic: topic::of(&line, topic::WordBoundary::Ascii),
        instruction: text::trim(without_ok(&line)).to_owned(),
        cues: vec![heard],
    })
}
