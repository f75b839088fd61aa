//! What pages say after an action, text from outside made safe to show, and times for people.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sinew_cortex::UtcInstant;
use sinew_guard::Untrusted;

/// What is written as `%20` in an address: everything but letters, digits, `-`, `_` and `.`.
const NOT_IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The sentence shown after an action, by the word in the address. A page never shows text from the
/// address itself.
pub(super) const DONE: &[(&str, &str)] = &[
    ("applied", "The proposal was written. Its skill is in the catalog now."),
    ("rejected", "The proposal was rejected."),
    ("revised", "The proposal has new content, and was scanned again."),
    ("restored", "The findings are acknowledged. The proposal waits again."),
    ("undone", "The write was undone."),
    ("approved", "You approved it."),
    ("refused", "You rejected it."),
    ("enabled", "The skill is switched on."),
    ("disabled", "The skill is switched off."),
    ("pinned", "The skill keeps its place in the prompt."),
    ("unpinned", "The skill is no longer pinned."),
    ("hidden", "The skill is no longer offered."),
    (
        "declared",
        "Your word about these files is kept. Another version, or a use that was seen to change something, ends it.",
    ),
    ("shown", "The skill may be offered again."),
    ("case", "The test case is saved. `sinew eval route` asks it from now on."),
    ("distilled", "The run is a proposal now."),
    ("discarded", "The steps of the run were deleted."),
    ("held", "The skill stays at its version."),
    ("freed", "The skill may be updated again."),
    ("removed", "The skill was removed."),
    (
        "set-aside",
        "The skill was removed. Its files are kept below `removed` in sinew's own folder.",
    ),
    ("accepted", "The finding is accepted for exactly these files."),
    ("asked", "It was fetched, verified and scanned. Review it, then approve or reject it."),
    ("installed", "The skill is installed."),
    ("updated", "The skill is up to date."),
    ("forgotten", "What was learned there is forgotten. The log keeps it."),
    ("connected", "The agent is connected. New sessions of it have sinew."),
    ("disconnected", "The agent is disconnected."),
];

/// A line of text from outside: control characters, and those that reverse the reading direction, are
/// shown as escapes. The template escapes HTML.
pub(super) fn line(text: &str) -> String {
    Untrusted::new(text).for_terminal()
}

/// A line of text, ours or from outside, as HTML: text in backticks is code; nothing else is markup.
pub(super) fn line_html(text: &str) -> String {
    let text = line(text);
    let mut html = String::with_capacity(text.len());
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without its other half is only a backtick.
    let pairs = (parts.len() - 1) / 2;
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            html.push_str(match (at <= 2 * pairs, at % 2) {
                (true, 1) => "<code>",
                (true, _) => "</code>",
                (false, _) => "`",
            });
        }
        escape(part, &mut html);
    }
    html
}

/// Writes text so that it stays text in HTML.
pub(super) fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

/// The same for a text of many lines.
pub(super) fn block(text: &str) -> String {
    Untrusted::new(text).for_terminal_block()
}

/// How long ago something was.
pub(super) fn ago(then: UtcInstant, now: UtcInstant) -> String {
    let seconds = (now.ms() - then.ms()).max(0) / 1000;
    let many = |number: i64, thing: &str| match number {
        1 => format!("1 {thing} ago"),
        _ => format!("{number} {thing}s ago"),
    };
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => many(seconds / 60, "minute"),
        3_600..86_400 => many(seconds / 3_600, "hour"),
        _ => many(seconds / 86_400, "day"),
    }
}

/// The beginning of a digest, enough to tell two apart.
pub(super) fn short(digest: &str) -> String {
    digest.trim_start_matches("sha256:").chars().take(12).collect()
}

/// A share in whole percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A number with a comma for each thousand.
pub(super) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text, encoded for a segment of an address.
pub(super) fn path_segment(text: &str) -> String {
    let path = utf8_percent_encode(text, NOT_IN_PATHS).to_string();
    // A browser resolves a lone dot as a path step.
    if path.chars().all(|c| c == '.') { path.replace('.', "%2E") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_for_people() {
        let at = UtcInstant::from_ms;
        assert_eq!(ago(at(0), at(59_000)), "just now");
        assert_eq!(ago(at(0), at(60_000)), "1 minute ago");
        assert_eq!(ago(at(0), at(3 * 86_400_000)), "3 days ago");
        assert_eq!(ago(at(10), at(0)), "just now", "a clock that went back");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(path_segment("a b/ü"), "a%20b%2F%C3%BC");
        assert_eq!(path_segment(".."), "%2E%2E");
        assert_eq!(line("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(line_html("set `a<b` or `c"), "set <code>a&lt;b</code> or `c");
        assert_eq!(line_html("``<script>`x`"), "<code></code>&lt;script&gt;<code>x</code>");
    }
}
