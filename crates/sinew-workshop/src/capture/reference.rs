//! The profile of Skill Workshop: its seven patterns, whole messages, nothing weighed.

use super::{CaptureGuards, CaptureSkipReason, CaptureVerdict, CapturedCorrection, topic};
use sinew_skill::ecmascript as text;
use sinew_traces::{CORRECTION_LENGTH, correction_pattern, holds_secret, without_quotations};

/// The first pattern that matches a collapsed text, and its name for explanations.
pub(super) fn cue(text: &str) -> Option<String> {
    Some(format!("reference pattern {}", correction_pattern(text)?))
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
    if !CORRECTION_LENGTH.contains(&text::utf16_len(&line)) {
        return CaptureVerdict::Nothing(Vec::new());
    }
    let Some(heard) = cue(&line) else { return CaptureVerdict::Nothing(Vec::new()) };
    if guards == CaptureGuards::On {
        if holds_secret(message) {
            return CaptureVerdict::Skipped(CaptureSkipReason::Secret);
        }
        if cue(&text::collapse(&without_quotations(message))).is_none() {
            return CaptureVerdict::Skipped(CaptureSkipReason::Quoted);
        }
    }
    CaptureVerdict::Captured(CapturedCorrection {
        topic: topic::of(&line, topic::WordBoundary::Ascii),
        instruction: text::trim(without_ok(&line)).to_owned(),
        cues: vec![heard],
        request: None,
        done: None,
        in_use: None,
    })
}
