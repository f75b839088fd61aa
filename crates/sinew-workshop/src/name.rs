//! Names of skills and sections: how they are made, and which are refused.

use std::sync::LazyLock;

use regex::Regex;
use sinew_guard::archive::is_skill_name;

use crate::error::WorkshopError;
use sinew_skill::ecmascript as text;

/// The longest name of a skill.
const MAX_NAME: usize = 80;

/// The name a skill is written under: lower case, runs of anything outside `[a-z0-9_-]` as one
/// `-`, nothing but letters and digits at its ends, cut to 80.
///
/// ```
/// assert_eq!(sinew_workshop::normalise_name("Release  Notes (v2)"), "release-notes-v2");
/// ```
pub fn normalise_name(written: &str) -> String {
    let mut name = String::new();
    let mut outside = false;
    for c in text::trim(written).to_lowercase().chars() {
        if matches!(c, 'a'..='z' | '0'..='9' | '_' | '-') {
            if std::mem::take(&mut outside) {
                name.push('-');
            }
            name.push(c);
        } else {
            outside = true;
        }
    }
    let ends = |c: char| !c.is_ascii_alphanumeric();
    let name = name.trim_matches(ends);
    // The cut may end in a separator; such a name is trimmed again.
    let cut = name.get(..MAX_NAME).unwrap_or(name);
    cut.trim_end_matches(ends).to_owned()
}

/// The name to write under, or why there is none.
pub(crate) fn writable_name(written: &str) -> Result<String, WorkshopError> {
    let name = normalise_name(written);
    if is_skill_name(&name) {
        return Ok(name);
    }
    Err(WorkshopError::InvalidName(text::short(written, MAX_NAME)))
}

/// The section's heading, if it can be one.
pub(crate) fn section_heading(written: &str) -> Result<&str, WorkshopError> {
    static SECTION: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new("^[A-Za-z0-9][A-Za-z0-9 _./:-]{0,80}$").ok());
    match SECTION.as_ref() {
        Some(section) if section.is_match(written) => Ok(written),
        _ => Err(WorkshopError::InvalidSection(text::short(written, MAX_NAME))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_as_skill_workshop_makes_them() {
        let check = |written: &str, name: &str| assert_eq!(normalise_name(written), name);
        check("Animated GIF!", "animated-gif");
        check("__x__", "x");
        check("Über Skill", "ber-skill");
        check("a/b\\c", "a-b-c");
        check("  spaced  ", "spaced");
        check("a_-b", "a_-b");
        check("", "");
        check("日本", "");
        // A name that is cut at a separator loses it: the one deviation from Skill Workshop.
        check(&format!("{} y", "x".repeat(79)), &"x".repeat(79));
        check(&"x".repeat(100), &"x".repeat(80));
    }

    #[test]
    fn sections_are_plain_headings() {
        assert!(section_heading("Workflow").is_ok() && section_heading("a/b: c-d_e.f").is_ok());
        for bad in ["", " a", "#x", "a\nb", "ü", &"a".repeat(82)] {
            assert!(section_heading(bad).is_err(), "{bad:?}");
        }
    }
}
