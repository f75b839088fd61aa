//! How the reference validator reads a file that it splits differently.
//!
//! It splits at the first two `---` anywhere, so for it a description that contains ` --- ` ends
//! the front matter. sinew accepts only whole lines as fences; the author should know about both.

use super::document::SkillDocument;
use crate::value::YamlValue;
use crate::{YamlMapping, yaml};

/// The reference validator's view of a file whose front matter it cuts short.
pub(super) struct TruncatedFrontMatter<'a> {
    /// The line of the `---` that is not a fence.
    pub(super) line: usize,
    /// The text that it treats as the front matter.
    front: &'a str,
}

/// Finds the cut, if there is one.
pub(super) fn find_truncation<'a>(
    document: &SkillDocument<'a>,
) -> Option<TruncatedFrontMatter<'a>> {
    let front = document.fenced.front?;
    let at = front.find("---")?;
    Some(TruncatedFrontMatter {
        line: document.fenced.front_line + front[..at].matches('\n').count(),
        front: &front[..at],
    })
}

/// How much of a value is quoted.
const MAX_SHOWN: usize = 60;

impl TruncatedFrontMatter<'_> {
    /// The fields it reads, if the rest is still YAML.
    pub(super) fn fields(&self) -> Option<YamlMapping> {
        match yaml::parse(self.front).ok()?.value {
            YamlValue::Map(map) => Some(map),
            _ => None,
        }
    }

    /// What it reads, as a sentence.
    pub(super) fn describe(&self, whole: &YamlMapping) -> String {
        let start = "the reference validator ends the front matter at the `---` in this line";
        let Some(fields) = self.fields() else {
            return format!("{start} and finds no fields in what is left");
        };
        let missing: Vec<&str> =
            whole.iter().map(|(key, _)| key).filter(|key| fields.get(key).is_none()).collect();
        let last = fields.iter().last();
        let changed = last.filter(|(key, value)| whole.get(key) != Some(value));
        let mut sees = Vec::new();
        if let Some((key, value)) = changed {
            let text = value.flattened().unwrap_or_default();
            let start_of_value: String = text.chars().take(MAX_SHOWN).collect();
            sees.push(format!("reads `{key}` as `{start_of_value}`"));
        }
        if !missing.is_empty() {
            sees.push(format!("does not see {}", missing.join(", ")));
        }
        if sees.is_empty() {
            start.to_owned()
        } else {
            format!("{start}: it {}", sees.join(" and "))
        }
    }
}
