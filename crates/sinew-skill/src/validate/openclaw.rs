//! OpenClaw's rules: what its loader accepts. The reader already applies them; its reasons are the
//! issues.

use sinew_settings::{Reason, ReasonCode, ReasonSeverity};

use super::document::SkillDocument;
use super::{Fix, ValidationFile, ValidationIssue};
use crate::validate::name::folder_name_fix;
use crate::{ReadOptions, read, text};

/// The largest skill file OpenClaw reads, unless configured otherwise.
pub const MAX_FILE_BYTES: usize = 256_000;

pub(super) fn check(target: &ValidationFile<'_>) -> Vec<ValidationIssue> {
    let mut issues = Vec::new();
    if target.file_name != "SKILL.md" {
        let message =
            format!("the file is named {}, not SKILL.md, so it is not found", target.file_name);
        issues.push(ValidationIssue::error(ReasonCode::FilenameCase.as_str(), message));
    }
    if target.bytes.len() > MAX_FILE_BYTES {
        let size = target.bytes.len();
        let message = format!("the file has {size} bytes, more than {MAX_FILE_BYTES}");
        issues.push(ValidationIssue::error(ReasonCode::FileTooLarge.as_str(), message));
        return issues;
    }
    let outcome = read(target.bytes, &ReadOptions::openclaw(target.directory));
    let fixes = ReaderFixes::of(target);
    issues.extend(outcome.reasons.iter().map(|reason| {
        let line = reason.line.and_then(|line| usize::try_from(line).ok());
        ValidationIssue::new(reason.severity, reason.code.as_str(), message(reason))
            .at_line(line)
            .fixed_by(fixes.for_reason(reason))
    }));
    issues
}

fn message(reason: &Reason) -> String {
    match &reason.remedy {
        Some(remedy) if reason.severity >= ReasonSeverity::Warn => {
            format!("{}; {remedy}", reason.detail)
        }
        _ => reason.detail.clone(),
    }
}

/// The fixes for what the reader repaired.
#[derive(Default)]
struct ReaderFixes {
    fence: Option<(u32, Fix)>,
    name: Option<Fix>,
    fields: Vec<(u32, Fix)>,
}

impl ReaderFixes {
    fn of(target: &ValidationFile<'_>) -> Self {
        let Ok(text) = text::decode(target.bytes) else { return Self::default() };
        let Ok(document) = SkillDocument::parse(&text) else { return Self::default() };
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let fence = document.fence_fix().map(|fix| (number(document.fence_line()), fix));
        let Some(Ok(front)) = &document.front else { return Self { fence, ..Self::default() } };
        let name = front.fields.get("name");
        let blank =
            name.and_then(crate::YamlValue::as_str).is_some_and(|name| name.trim().is_empty());
        let fields = front.repaired.iter();
        Self {
            fence,
            name: name
                .filter(|_| blank)
                .and_then(|_| folder_name_fix(target, &document, front, name, |_| true)),
            fields: fields.map(|r| (number(r.line), SkillDocument::repair_fix(r))).collect(),
        }
    }

    fn for_reason(&self, reason: &Reason) -> Option<Fix> {
        let here = |(line, fix): &(u32, Fix)| (Some(*line) == reason.line).then(|| fix.clone());
        match reason.code {
            ReasonCode::FrontmatterRepaired => {
                self.fence.iter().find_map(here).or_else(|| self.fields.iter().find_map(here))
            }
            ReasonCode::NameMissing => self.name.clone(),
            _ => None,
        }
    }
}
