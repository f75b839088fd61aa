//! Names: what each rule set requires, and when the folder's name is the fix.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::document::SkillDocument;
use super::{FileEdit, Fix, ValidationFile};
use crate::names;
use crate::repair::FrontMatter;
use crate::value::{YamlValue, flow};
use crate::yaml;

/// The longest name the Agent Skills specification allows, in code points.
pub(super) const MAX_NAME: usize = 64;

/// One requirement of the Agent Skills specification for a name.
pub(super) struct NameRule {
    pub(super) code: &'static str,
    pub(super) message: &'static str,
    pub(super) broken_by: fn(&str) -> bool,
}

/// The requirements, in the order in which they are reported; each gets the NFKC form.
pub(super) const NAME_RULES: &[NameRule] = &[
    NameRule {
        code: "NAME_TOO_LONG",
        message: "the name is longer than 64 characters",
        broken_by: |name| name.chars().count() > MAX_NAME,
    },
    NameRule {
        code: "NAME_NOT_LOWERCASE",
        message: "the name contains capital letters",
        broken_by: |name| name != name.to_lowercase(),
    },
    NameRule {
        code: "NAME_INVALID",
        message: "the name may contain only letters, digits and hyphens",
        broken_by: |name| !name.chars().all(|c| c == '-' || is_letter_or_digit(c)),
    },
    NameRule {
        code: "NAME_HYPHENS",
        message: "hyphens may only be single and inside the name",
        broken_by: |name| name.starts_with('-') || name.ends_with('-') || name.contains("--"),
    },
];

/// A letter or a digit by general category. Rust's own definition also includes vowel signs and
/// boxed letters, which the reference validator rejects.
fn is_letter_or_digit(c: char) -> bool {
    let boxed = matches!(c, '\u{1F130}'..='\u{1F189}');
    c.is_alphanumeric() && !is_combining_mark(c) && !boxed
}

/// The form in which names and folders are compared.
pub(super) fn nfkc(text: &str) -> String {
    text.nfkc().collect()
}

/// Whether the Agent Skills specification accepts the name.
pub(super) fn is_sound(name: &str) -> bool {
    let name = nfkc(name);
    !name.is_empty() && NAME_RULES.iter().all(|rule| !(rule.broken_by)(&name))
}

/// The fix that takes the folder's name: if the front matter has no name, or has the folder's name
/// in another spelling. Any other difference is for the author to resolve.
pub(super) fn folder_name_fix(
    target: &ValidationFile<'_>,
    document: &SkillDocument<'_>,
    front: &FrontMatter,
    name: Option<&YamlValue>,
    acceptable: fn(&str) -> bool,
) -> Option<Fix> {
    let folder = target.directory;
    if !acceptable(folder) {
        return None;
    }
    let field = format!("name: {}", scalar(folder));
    let summary = format!("name it `{folder}`, as its folder");
    let Some(value) = name else {
        let edit =
            FileEdit::Lines { line: document.fenced.front_line, remove: 0, insert: vec![field] };
        return Some(Fix::new(summary, vec![edit]));
    };
    let written = value.source_text().unwrap_or_default();
    let written = written.trim();
    let blank = written.is_empty() && matches!(value, YamlValue::Null | YamlValue::String(_));
    if !blank && (written == folder || names::slug(written) != folder) {
        return None;
    }
    let line = front.line_of("name")?;
    let written = document.line(line).strip_prefix("name:")?.trim();
    // A comment, or a value that continues below, would be lost.
    let whole = match front.repaired.iter().find(|repaired| repaired.key == "name") {
        Some(repaired) => repaired.lines == 1,
        None => yaml::parse(&format!("name: {written}"))
            .is_ok_and(|alone| alone.value.as_map().and_then(|map| map.get("name")) == Some(value)),
    };
    (whole && !written.contains('#'))
        .then(|| Fix::new(summary, vec![FileEdit::replace(line, 1, &field)]))
}

/// A text as YAML: plain if it reads back as the same text, otherwise quoted.
fn scalar(text: &str) -> String {
    let plain = yaml::parse(&format!("name: {text}")).is_ok_and(|parsed| {
        parsed.value.as_map().and_then(|map| map.get("name")) == Some(&text_value(text))
    });
    if plain { text.to_owned() } else { flow(&text_value(text)) }
}

fn text_value(text: &str) -> YamlValue {
    YamlValue::String(text.to_owned())
}
