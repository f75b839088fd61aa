//! A file as the rule sets see it: decoded, split and parsed once.

use sinew_settings::Reason;

use super::{FileEdit, Fix, ValidationIssue};
use crate::fence::FrontMatterSplit;
use crate::repair::{FieldRepair, FrontMatter};
use crate::{fence, parse_front_matter};

/// The parts of a file that decodes and has valid fences.
pub(super) struct SkillDocument<'a> {
    pub(super) text: &'a str,
    pub(super) fenced: FrontMatterSplit<'a>,
    /// The fields, or the error; `None` if there is no front matter.
    pub(super) front: Option<Result<FrontMatter, Reason>>,
}

impl<'a> SkillDocument<'a> {
    /// Splits and parses a decoded file.
    pub(super) fn parse(text: &'a str) -> Result<Self, Reason> {
        let fenced = fence::split_front_matter(text)?;
        let front = fenced.front.map(|front| parse_front_matter(front, fenced.front_line));
        Ok(Self { text, fenced, front })
    }

    /// The line of the opening fence.
    pub(super) fn fence_line(&self) -> usize {
        self.fenced.front_line - 1
    }

    /// The text of one line of the file, from 1.
    pub(super) fn line(&self, number: usize) -> &'a str {
        self.text.split('\n').nth(number - 1).unwrap_or_default()
    }

    /// The fix for front matter that does not start on line 1: the text before it moves after it,
    /// and a code fence around it is removed.
    pub(super) fn fence_fix(&self) -> Option<Fix> {
        let opening = self.fence_line();
        if opening <= 1 || self.front.is_none() {
            return None;
        }
        let before: Vec<&str> = self.text.split('\n').take(opening - 1).collect();
        let wrapped = before.iter().any(|line| line.trim_start().starts_with("```"));
        let closing = self.closing_fence_line();
        if wrapped && self.fenced.body_line == closing + 1 {
            // The code fence was not closed right after the block, so its end would be a guess.
            return None;
        }
        let keep = |line: &&&str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with("```")
        };
        let moved: Vec<String> = before.iter().filter(keep).map(|&line| line.to_owned()).collect();
        let mut edits = vec![FileEdit::remove(1, opening - 1)];
        let behind = usize::from(wrapped);
        if behind > 0 || !moved.is_empty() {
            edits.push(FileEdit::Lines { line: closing + 1, remove: behind, insert: moved });
        }
        Some(Fix::new("make `---` the first line", edits))
    }

    fn closing_fence_line(&self) -> usize {
        let front = self.fenced.front.unwrap_or_default();
        self.fenced.front_line + front.matches('\n').count()
    }

    /// The fix that puts one repaired field in quotes.
    pub(super) fn repair_fix(repaired: &FieldRepair) -> Fix {
        Fix::new(
            format!("put the value of `{}` in quotes", repaired.key),
            vec![FileEdit::replace(repaired.line, repaired.lines, &repaired.replacement)],
        )
    }
}

/// Uses the fix for the name instead of the quoting fix if both would touch the field.
pub(super) fn prefer_name_fix(name_fix: Option<&Fix>, repaired: &FieldRepair) -> Fix {
    match name_fix {
        Some(fix) if repaired.key == "name" => fix.clone(),
        _ => SkillDocument::repair_fix(repaired),
    }
}

/// Adds the line of a field to an issue.
pub(super) fn at_field(issue: ValidationIssue, front: &FrontMatter, key: &str) -> ValidationIssue {
    issue.at_line(front.line_of(key))
}
