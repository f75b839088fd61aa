//! A step as a person reads it: without secrets, and with every program and verb.
//!
//! What looks like a secret by its surroundings (`with the API token: desk-cli …`) may be the program
//! that is about to be run; a person who approves a plan must see which.

use super::{code_span, command::ScriptEffects, skill_text};
use crate::secrets;

/// The longest name of a program or verb that stays whatever stands around it.
const MAX_NAME: usize = 32;

/// The text of a step with its secrets replaced, and its programs and verbs readable.
///
/// ```
/// use sinew_guard::effects::mask_step;
///
/// let shown = mask_step("with the API token: `desk-cli ticket close --all`");
/// assert_eq!(shown, "with the API token: `desk-cli ticket close --all`");
/// ```
pub fn mask_step(text: &str) -> String {
    let found = secrets::find_strict(text);
    if found.is_empty() {
        return text.to_owned();
    }
    let mut names = code_span::names_of(&ScriptEffects::of(text));
    names.extend(skill_text::names_in(text));
    names.retain(|name| is_plain_name(name));
    let mut masked = String::with_capacity(text.len());
    let mut last = 0;
    for secret in found {
        let start = secret.range.start.max(last);
        if start >= secret.range.end {
            continue;
        }
        let hidden = &text[start..secret.range.end];
        masked.push_str(&text[last..start]);
        if begins_with_name(hidden, &names) {
            // A command: only what is secret in the command itself is hidden.
            masked.push_str(&secrets::mask_strict(hidden));
        } else if has_value(hidden) {
            masked.push_str(secrets::REDACTED);
        } else {
            masked.push_str(hidden);
        }
        last = secret.range.end;
    }
    masked.push_str(&text[last..]);
    masked
}

/// Whether a name is a word that people choose, and nothing that a generator makes.
fn is_plain_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.'))
        && secrets::find_strict(name).is_empty()
}

/// Whether a hidden part begins with the name of a program or verb.
fn begins_with_name(hidden: &str, names: &[String]) -> bool {
    let hidden = hidden.trim_start_matches([' ', '`', '"', '\'']);
    let ends = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ';' | '|');
    let word = hidden.split(ends).next().unwrap_or_default();
    names.iter().any(|name| name == word)
}

/// Whether anything but quotes is left to hide.
fn has_value(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_and_programs_never() {
        for (text, expected) in [
            (
                "Update it with the API token: `desk-cli ticket close --all`",
                "Update it with the API token: `desk-cli ticket close --all`",
            ),
            ("password: desk-cli close", "password: desk-cli close"),
            ("List the tickets", "List the tickets"),
        ] {
            assert_eq!(mask_step(text), expected);
        }
        let shown = mask_step(
            "curl -H 'Authorization: Bearer sk_live_FAKEfakeFAKEfakeFAKE1' https://a.example",
        );
        assert!(
            shown.starts_with("curl -H 'Authorization: Bearer ") && !shown.contains("FAKE1"),
            "{shown}"
        );
        let shown = mask_step("deploy --api-key hunter2 now");
        assert!(shown.starts_with("deploy --api-key ") && !shown.contains("hunter2"), "{shown}");
        let shown = mask_step("token: ghp_FAKEfakeFAKEfakeFAKEfake1234FAKEfake");
        assert!(!shown.contains("ghp_"), "{shown}");
    }
}
