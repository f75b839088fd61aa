//! The content of a change: no control characters, no literal secret, and the scanner's findings.

use sinew_guard::scan::{Finding, FindingSeverity, Scanner, SkillBundle};
use sinew_guard::secrets;

use crate::error::{Result, WorkshopError};
use crate::proposal::{ProposalChange, ProposalFinding};
use sinew_skill::ecmascript as text;

/// Findings that are kept with a proposal: as many as a person reads.
const MAX_FINDINGS: usize = 50;

/// The longest excerpt that is shown.
const MAX_EXCERPT: usize = 120;

/// Every text of a proposal with the name of its field.
pub(crate) fn fields<'a>(
    title: &'a str,
    reason: &'a str,
    change: &'a ProposalChange,
) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![("title", title), ("reason", reason)];
    fields.extend(change.texts());
    fields
}

/// Refuses what must never be stored: endless fields, control characters, literal secrets.
pub(crate) fn check_fields(fields: &[(&str, &str)], limit: usize) -> Result<()> {
    for (field, value) in fields {
        if value.len() > limit {
            return Err(WorkshopError::FieldTooLong { field: (*field).to_owned(), limit });
        }
        let control = value.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
        if let Some(c) = control {
            return Err(WorkshopError::ControlCharacter {
                field: (*field).to_owned(),
                code: c as u32,
            });
        }
        refuse_secrets(field, value)?;
    }
    Ok(())
}

/// Refuses text with a literal secret. The message names the file and line, never the value.
pub(crate) fn refuse_secrets(file: &str, value: &str) -> Result<()> {
    match secrets::find_strict(value).first() {
        None => Ok(()),
        Some(secret) => Err(WorkshopError::Secret {
            file: file.to_owned(),
            line: 1 + value[..secret.range.start].matches('\n').count(),
            rule: secret.id.clone(),
        }),
    }
}

/// The scanner's findings in the files that would be written, and in the texts that only the record
/// holds; most severe first.
pub(crate) fn scan(
    scanner: &Scanner,
    name: &str,
    files: &[(String, String)],
    texts: &[(&str, &str)],
) -> Vec<ProposalFinding> {
    let bundle = |files: Vec<(String, Vec<u8>)>| SkillBundle::from_files(files).with_name(name);
    let written = files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes()));
    let report = scanner.scan_proposal(&bundle(written.collect()));
    let kept = texts.iter().filter(|(_, text)| !text.is_empty());
    let kept = kept.map(|(field, text)| (format!("{field}.txt"), text.as_bytes().to_vec()));
    let record = scanner.scan_proposal(&bundle(kept.collect()));
    let mut findings: Vec<ProposalFinding> = report
        .at_least(FindingSeverity::Warn)
        .map(|finding| shown(finding, finding.file.clone()))
        .collect();
    for finding in record.at_least(FindingSeverity::Warn) {
        let field = finding.file.strip_suffix(".txt").unwrap_or(&finding.file).to_owned();
        findings.push(shown(finding, field));
    }
    findings.sort_by_key(|finding| !finding.is_critical());
    findings.truncate(MAX_FINDINGS);
    findings
}

fn shown(finding: &Finding, file: String) -> ProposalFinding {
    let excerpt = secrets::mask_strict(&finding.evidence);
    ProposalFinding {
        severity: finding.severity.as_str().to_owned(),
        rule_id: finding.rule.clone(),
        message: finding.message.clone(),
        file,
        line: finding.line,
        column: finding.column,
        excerpt: text::short(&excerpt, MAX_EXCERPT),
        suggestion: finding.remedy.clone(),
    }
}
