//! Arguments in a skill's text: `$ARGUMENTS`, `$1` to `$9`, and names that its front matter declares.

use std::collections::BTreeMap;

use sinew_catalog::CatalogEntry;
use sinew_skill::YamlValue;

/// The marker for everything that was typed.
const ALL: &str = "ARGUMENTS";

/// What a skill wants to be called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub hint: Option<String>,
}

/// The arguments that a skill declares; `args` where it declares none.
pub fn declared_arguments(entry: &CatalogEntry) -> Vec<SkillArgument> {
    let skill = entry.skill.as_deref();
    let field = |key: &str| skill.and_then(|skill| skill.frontmatter.get(key));
    let hint =
        field("argument-hint").and_then(YamlValue::flattened).filter(|hint| !hint.is_empty());
    let named: Vec<SkillArgument> = match field("arguments") {
        Some(YamlValue::List(list)) => list.iter().filter_map(argument).collect(),
        Some(YamlValue::String(names)) => names
            .split_whitespace()
            .map(|name| SkillArgument { name: name.to_owned(), hint: None })
            .collect(),
        _ => Vec::new(),
    };
    if named.is_empty() { vec![SkillArgument { name: "args".to_owned(), hint }] } else { named }
}

/// One declared argument: a name, or a map with `name` and `description`.
fn argument(value: &YamlValue) -> Option<SkillArgument> {
    let text = |value: &YamlValue| value.source_text().filter(|text| !text.trim().is_empty());
    match value {
        YamlValue::Map(map) => Some(SkillArgument {
            name: text(map.get("name")?)?,
            hint: map.get("description").and_then(text),
        }),
        value => Some(SkillArgument { name: text(value)?, hint: None }),
    }
}

/// A text with arguments in their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledText {
    /// The text.
    pub text: String,
    /// Whether it had a place for any of them.
    pub used: bool,
}

/// Puts arguments into a text in one pass, so that typed text is never read as a marker. `$10` is
/// never `$1` and a zero: two digits are not a marker.
pub fn fill_in(text: &str, typed: &str, named: &BTreeMap<String, String>) -> FilledText {
    let words: Vec<&str> = typed.split_whitespace().collect();
    let (mut filled, mut used, mut rest) = (String::with_capacity(text.len()), false, text);
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        let marker = &after[..end];
        let value = match marker {
            ALL => Some(typed),
            _ => match marker.parse::<usize>() {
                Ok(place @ 1..=9) if marker.len() == 1 => {
                    Some(words.get(place - 1).copied().unwrap_or_default())
                }
                _ => named.get(marker).map(String::as_str),
            },
        };
        match value {
            Some(value) => {
                filled.push_str(value);
                used = true;
            }
            None => {
                filled.push('$');
                filled.push_str(marker);
            }
        }
        rest = &after[end..];
    }
    filled.push_str(rest);
    FilledText { text: filled, used }
}

#[cfg(test)]
mod tests {
    use super::fill_in;
    use std::collections::BTreeMap;

    fn check(text: &str, typed: &str, expected: &str) {
        let named = BTreeMap::from([("file".to_owned(), "a.pdf".to_owned())]);
        assert_eq!(fill_in(text, typed, &named).text, expected);
    }

    #[test]
    fn arguments_take_their_places() {
        check("Merge $ARGUMENTS now", "a b", "Merge a b now");
        check("$1 then $2 then $3.", "a b", "a then b then .");
        check("Open $file, not $files or $10", "x", "Open a.pdf, not $files or $10");
        check("costs $5 and $", "", "costs  and $");
    }

    #[test]
    fn what_was_typed_is_never_a_marker() {
        check("Do $ARGUMENTS", "$ARGUMENTS $1 $file", "Do $ARGUMENTS $1 $file");
    }

    #[test]
    fn a_text_without_a_place_says_so() {
        assert!(!fill_in("nothing here", "a", &BTreeMap::new()).used);
        assert!(fill_in("$1", "", &BTreeMap::new()).used);
    }
}
