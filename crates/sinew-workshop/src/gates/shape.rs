//! The shape of good text: a list of things to do, not a report of what was done.

use std::sync::LazyLock;

use regex::Regex;

/// The name of the objection to a text that reports instead of instructing.
pub(crate) const TRANSCRIPT: &str = "shape-transcript";

/// Subjects and verbs of stories, in English; other languages are not judged.
static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:i|we|he|she|they|it|the (?:user|agent|assistant|model|team))\s+(?:then |also |finally |first )?(?:was|were|had|did|got|went|tried|ran|asked|said|told|found|saw|made|used|took|wanted|thought|noticed|started|decided|opened|checked|fixed|failed|worked|[a-z]{3,}ed)\b",
    )
    .ok()
});

/// Whether a text reads like a transcript: no line starts with a bullet, number or command word, and
/// most of its sentences report past actions.
pub(crate) fn is_transcript(body: &str) -> bool {
    let lines =
        body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    if lines.is_empty() || lines.iter().any(|line| is_listed(line)) {
        return false;
    }
    let sentences = lines.iter().flat_map(|line| line.split_inclusive(['.', '!', '?']));
    let sentences: Vec<&str> = sentences.filter(|part| part.trim().len() > 2).collect();
    let told = sentences.iter().filter(|sentence| is_told(sentence)).count();
    told * 2 > sentences.len()
}

fn is_told(sentence: &str) -> bool {
    TOLD.as_ref().is_some_and(|told| told.is_match(sentence))
}

/// Whether a line is an item of a list, or starts like an order: a verb in its plain form.
fn is_listed(line: &str) -> bool {
    const MARKS: &[char] = &['-', '*', '+', '•', '>', '|', '`'];
    let numbered = line.split_once(['.', ')']).is_some_and(|(number, _)| {
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    });
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    const ORDERS: &[&str] = &[
        "add", "always", "ask", "avoid", "before", "build", "call", "check", "confirm", "copy",
        "create", "delete", "do", "ensure", "export", "fetch", "find", "first", "format", "if",
        "include", "install", "keep", "list", "look", "make", "never", "note", "open", "prefer",
        "read", "record", "remove", "replace", "report", "run", "save", "search", "send", "set",
        "show", "start", "stop", "store", "test", "use", "validate", "verify", "wait", "when",
        "write",
    ];
    line.starts_with(MARKS) || numbered || ORDERS.contains(&first.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_told_from_lists() {
        assert!(is_transcript(
            "The user asked for a GIF. I searched and it was broken. Then we tried again."
        ));
        for fine in [
            "- Verify the frames.\n- It was broken once.",
            "Verify the source. It was broken once.",
            "1. Open the page.\n2. Save it.",
            "Prüfe zuerst die Rechnung.",
            "",
            "A reference table of colour names.",
        ] {
            assert!(!is_transcript(fine), "{fine}");
        }
    }
}
