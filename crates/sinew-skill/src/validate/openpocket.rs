//! OpenPocket's rules, permissive and strict.

use sinew_settings::{ReasonCode, ReasonSeverity};

use super::document::{SkillDocument, at_field};
use super::name::folder_name_fix;
use super::{FileValidation, ValidationFile, ValidationIssue};
use crate::repair::FrontMatter;
use crate::value::YamlValue;
use crate::{names, text};

pub(super) fn check(target: &ValidationFile<'_>, strict: bool) -> Vec<ValidationIssue> {
    let mut issues = Vec::new();
    if strict {
        check_path(target, &mut issues);
    }
    let text = match text::decode(target.bytes) {
        Ok(text) => text,
        Err(reason) => {
            issues.push(ValidationIssue::of_reason("FRONTMATTER_MISSING", &reason));
            return issues;
        }
    };
    let document = match SkillDocument::parse(&text) {
        Ok(document) => document,
        Err(reason) => {
            issues.push(ValidationIssue::of_reason("FRONTMATTER_MISSING", &reason));
            return issues;
        }
    };
    match &document.front {
        None => {
            let message = "the file does not start with front matter (`---`)";
            let issue = ValidationIssue::error("FRONTMATTER_MISSING", message).at_line(Some(1));
            issues.push(lenient(issue, strict));
        }
        Some(Err(reason)) => {
            let code = match reason.code {
                ReasonCode::DuplicateKey => "DUPLICATE_KEY",
                _ => "FRONTMATTER_INVALID",
            };
            issues.push(ValidationIssue::of_reason(code, reason));
        }
        Some(Ok(front)) => check_fields(target, &document, front, strict, &mut issues),
    }
    issues
}

fn check_path(target: &ValidationFile<'_>, issues: &mut Vec<ValidationIssue>) {
    if target.file_name != "SKILL.md" {
        let message = format!("the file is named {}, not SKILL.md", target.file_name);
        issues.push(ValidationIssue::error("SKILL_FILENAME_INVALID", message));
    }
    if !names::is_slug(target.directory) {
        let message = format!(
            "the folder `{}` must be lower-case letters, digits and hyphens, at most {}",
            target.directory,
            names::MAX_SLUG
        );
        issues.push(ValidationIssue::error("SKILL_DIR_INVALID", message));
    }
}

fn check_fields(
    target: &ValidationFile<'_>,
    document: &SkillDocument<'_>,
    front: &FrontMatter,
    strict: bool,
    issues: &mut Vec<ValidationIssue>,
) {
    let field = front.fields.get_ignore_case("name");
    let fix = || folder_name_fix(target, document, front, field, names::is_slug);
    let name = text_of(field);
    match &name {
        None => {
            let issue = ValidationIssue::error("NAME_MISSING", "there is no `name`");
            issues.push(lenient(at_field(issue, front, "name").fixed_by(fix()), strict));
        }
        Some(name) if strict => {
            let wrong = |code, message: String| {
                at_field(ValidationIssue::error(code, message), front, "name").fixed_by(fix())
            };
            if !names::is_slug(name) {
                let message = "the name must be lower-case letters, digits and hyphens, at most 64";
                issues.push(wrong("NAME_INVALID", message.to_owned()));
            }
            let is_draft_folder = drafted_name(document, target.directory)
                .is_some_and(|drafted| drafted == names::slug(name));
            if names::slug(name) != target.directory && !is_draft_folder {
                let message =
                    format!("the name `{name}` does not fit the folder `{}`", target.directory);
                issues.push(wrong("NAME_PATH_MISMATCH", message));
            }
        }
        Some(_) => {}
    }
    if text_of(front.fields.get_ignore_case("description")).is_none() {
        let issue = ValidationIssue::error("DESCRIPTION_MISSING", "there is no `description`");
        issues.push(lenient(at_field(issue, front, "description"), strict));
    }
}

/// In the permissive modes a heading, the first line and the file's name stand in for what is missing:
/// such a file loads, so it passes.
fn lenient(issue: ValidationIssue, strict: bool) -> ValidationIssue {
    match strict {
        true => issue,
        false => ValidationIssue { severity: ReasonSeverity::Warn, ..issue },
    }
}

/// The name in the folder of a draft that was made from a run: OpenPocket puts the time before it.
fn drafted_name<'d>(document: &SkillDocument<'_>, directory: &'d str) -> Option<&'d str> {
    const STAMP: &[u8] = b"00000000-000000-";
    let front = document.fenced.front?;
    let fits = |(byte, shape): (u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == *shape,
    };
    let is_stamped = directory.len() > STAMP.len() && directory.bytes().zip(STAMP).all(fits);
    (is_stamped && front.contains("auto_skill_draft")).then(|| &directory[STAMP.len()..])
}

/// The text of a field; a list counts as text, because OpenPocket reads its line literally.
fn text_of(value: Option<&YamlValue>) -> Option<String> {
    let value = value?;
    let text = value.source_text().or_else(|| value.flattened())?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Validates a refined draft by the strict rules; a refinement that produced no file has failed.
pub fn validate_draft(draft: Option<&ValidationFile<'_>>) -> FileValidation {
    let issues = match draft {
        Some(target) => check(target, true),
        None => vec![ValidationIssue::error("DRAFT_SKILL_MISSING", "the draft holds no SKILL.md")],
    };
    FileValidation { issues }
}
