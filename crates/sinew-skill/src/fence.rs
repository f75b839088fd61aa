//! Finding the front matter: whole lines of `---`, and a few tolerated mistakes.

use sinew_settings::{Reason, ReasonCode};

/// A file split into front matter and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatterSplit<'a> {
    /// The text between the fences, if there are any.
    pub front: Option<&'a str>,
    /// The line of the file on which `front` starts, from 1.
    pub front_line: usize,
    /// Everything after the closing fence.
    pub body: &'a str,
    /// The line of the file on which the body starts, from 1.
    pub body_line: usize,
    /// What was tolerated or is missing.
    pub reasons: Vec<Reason>,
}

/// Splits a decoded file at its fences.
///
/// Blank lines and HTML comments before the opening fence are tolerated with a reason, and so is a
/// block that is entirely inside a code fence. Prose before the fence is not interpreted.
pub fn split_front_matter(text: &str) -> Result<FrontMatterSplit<'_>, Reason> {
    let mut lines = NumberedLines::new(text);
    let mut reasons = Vec::new();
    let Some(opening) = find_opening(&mut lines, text, &mut reasons) else {
        return Ok(FrontMatterSplit {
            front: None,
            front_line: 1,
            body: text,
            body_line: 1,
            reasons,
        });
    };
    let front_start = lines.offset;
    let front_line = lines.number + 1;
    while let Some(line) = lines.next() {
        if is_fence(line.text) {
            let front = &text[front_start..line.start];
            if opening == FenceOpening::InCodeFence {
                skip_code_fence_end(&mut lines);
            }
            return Ok(FrontMatterSplit {
                front: Some(front),
                front_line,
                body: &text[lines.offset..],
                body_line: lines.number + 1,
                reasons,
            });
        }
    }
    Err(Reason::new(
        ReasonCode::FrontmatterUnterminated,
        "UNTERMINATED_FRONTMATTER: the front matter has no closing `---` line",
    )
    .line(front_line - 1)
    .remedy("add a line `---` after the last field"))
}

/// Whether the line is a fence: `---` followed only by blanks.
pub(crate) fn is_fence(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.bytes().all(|b| matches!(b, b' ' | b'\t')))
}

/// Lines around front matter that was pasted together with its code fence.
const CODE_FENCES: &[&str] = &["```", "```yaml", "```yml", "```markdown", "```md"];

#[derive(PartialEq)]
enum FenceOpening {
    Plain,
    InCodeFence,
}

/// Moves `lines` past the opening fence.
fn find_opening<'a>(
    lines: &mut NumberedLines<'a>,
    text: &'a str,
    reasons: &mut Vec<Reason>,
) -> Option<FenceOpening> {
    if lines.next().is_some_and(|first| is_fence(first.text)) {
        return Some(FenceOpening::Plain);
    }
    *lines = NumberedLines::new(text);
    let mut in_comment = false;
    let mut opening = FenceOpening::Plain;
    for line in lines.by_ref() {
        let trimmed = line.text.trim();
        let comment = if in_comment { Some(trimmed) } else { trimmed.strip_prefix("<!--") };
        if let Some(comment) = comment {
            let after = comment.split_once("-->").map(|(_, after)| after.trim());
            // Text after a comment is prose, so no front matter is looked for.
            if after.is_some_and(|after| !after.is_empty()) {
                break;
            }
            in_comment = after.is_none();
        } else if is_fence(line.text) {
            let what = match opening {
                FenceOpening::Plain => "the front matter does not start on line 1",
                FenceOpening::InCodeFence => "the front matter is inside a code fence",
            };
            reasons.push(
                Reason::new(ReasonCode::FrontmatterRepaired, what)
                    .line(line.number)
                    .remedy("make `---` the first line of the file"),
            );
            return Some(opening);
        } else if opening == FenceOpening::Plain && CODE_FENCES.contains(&trimmed) {
            opening = FenceOpening::InCodeFence;
        } else if !trimmed.is_empty() {
            break;
        }
    }
    reasons.push(missing(text));
    None
}

fn skip_code_fence_end(lines: &mut NumberedLines<'_>) {
    let mut ahead = *lines;
    if let Some(line) = ahead.next()
        && line.text.trim() == "```"
    {
        *lines = ahead;
    }
}

/// The reason for a missing block, with a remedy that names a line if possible.
fn missing(text: &str) -> Reason {
    let reason = Reason::new(ReasonCode::FrontmatterMissing, "the file does not start with `---`");
    let fence = NumberedLines::new(text).find(|line| is_fence(line.text));
    if let Some(fence) = fence {
        return reason.line(1).remedy(format!(
            "move the block that starts with `---` on line {} to the top of the file",
            fence.number
        ));
    }
    let looks_like_field = |line: &str| {
        let key = line.split(':').next().unwrap_or_default();
        line.contains(':') && matches!(key, "name" | "description")
    };
    match NumberedLines::new(text).find(|line| looks_like_field(line.text)) {
        Some(field) => reason.line(field.number).remedy(format!(
            "put a line `---` before line {} and another after the last field",
            field.number
        )),
        None => reason.line(1).remedy(
            "start the file with a line `---`, then `name:` and `description:`, then `---` again",
        ),
    }
}

#[derive(Clone, Copy)]
struct NumberedLines<'a> {
    text: &'a str,
    offset: usize,
    /// The number of the line that was returned last.
    number: usize,
}

struct NumberedLine<'a> {
    text: &'a str,
    start: usize,
    number: usize,
}

impl<'a> NumberedLines<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, offset: 0, number: 0 }
    }
}

impl<'a> Iterator for NumberedLines<'a> {
    type Item = NumberedLine<'a>;

    fn next(&mut self) -> Option<NumberedLine<'a>> {
        let rest = self.text.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').unwrap_or(rest.len());
        let line =
            NumberedLine { text: &rest[..length], start: self.offset, number: self.number + 1 };
        self.offset = (self.offset + length + 1).min(self.text.len());
        self.number += 1;
        Some(line)
    }
}
