//! The text of a skill after a change: new files, sections, replacements.
//!
//! Pure text in, text out. What Skill Workshop writes is written byte for byte, except where it
//! would have been wrong: headings are whole lines outside code, `$` is only a `$`, a description
//! that YAML would misread is quoted, and a file keeps its line ends.

use sinew_skill::{YamlValue, parse_front_matter, sections};

use crate::error::{Result, WorkshopError};
use crate::proposal::{GeneratedDetails, ProposalChange};
use crate::rule_file::{self, TaughtRule};
use sinew_skill::ecmascript as text;

/// The section for a new skill's steps.
pub(crate) const WORKFLOW: &str = "Workflow";

/// Keeps a draft out of prompts until a person has reviewed it.
pub(crate) const HIDDEN: &str = "disable-model-invocation: true";

/// What `change` makes of a skill's file; `existing` is its text, where it is there.
pub(crate) fn result(
    name: &str,
    title: &str,
    change: &ProposalChange,
    existing: Option<&str>,
) -> Result<String> {
    match (change, existing) {
        // A draft made from runs replaces one made from fewer.
        (ProposalChange::Create { description, body, generated: Some(generated), .. }, _) => {
            generated_skill(name, description, body, generated)
        }
        (ProposalChange::Create { description, body, .. }, None) => {
            new_skill(name, description, body)
        }
        (ProposalChange::Create { body, .. }, Some(file)) => Ok(append(file, WORKFLOW, body)),
        (ProposalChange::Append { section, body, description }, None) => {
            let described = [description.as_str(), title].into_iter().find(|d| !is_blank(d));
            let minimal = new_skill(name, described.unwrap_or_default(), "# Workflow")?;
            Ok(append(&minimal, section, body))
        }
        (ProposalChange::Append { section, body, .. }, Some(file)) => {
            Ok(append(file, section, body))
        }
        (ProposalChange::Replace { .. }, None) => Err(WorkshopError::NoSuchSkill(name.to_owned())),
        (ProposalChange::Replace { old_text, new_text }, Some(file)) => {
            if old_text.is_empty() || !file.contains(old_text.as_str()) {
                return Err(WorkshopError::OldTextNotFound);
            }
            Ok(file.replacen(old_text.as_str(), new_text, 1))
        }
        (ProposalChange::Rule { rule, when, groups, day, asked, .. }, file) => {
            rule_file::with_rule(name, TaughtRule { rule, when, groups, day, asked }, file)
        }
        (ProposalChange::Retire { .. } | ProposalChange::Reshape { .. }, _) => {
            Err(WorkshopError::OnlyAsItIs)
        }
    }
}

/// What `change` makes of the notes that were learned about an installed skill.
pub(crate) fn overlay(
    name: &str,
    change: &ProposalChange,
    existing: Option<&str>,
) -> Result<String> {
    let file = existing.unwrap_or_default();
    match change {
        ProposalChange::Create { body, .. } => Ok(append(file, WORKFLOW, body)),
        ProposalChange::Append { section, body, .. } => Ok(append(file, section, body)),
        ProposalChange::Rule { rule, when, day, .. } => rule_file::with_rule(
            name,
            TaughtRule { rule, when, groups: &[], day, asked: "" },
            Some(file),
        ),
        ProposalChange::Replace { .. } => {
            Err(WorkshopError::NotOurs { owner: "installed", name: name.to_owned() })
        }
        ProposalChange::Retire { .. } | ProposalChange::Reshape { .. } => {
            Err(WorkshopError::OnlyAsItIs)
        }
    }
}

fn is_blank(text: &str) -> bool {
    text::trim(text).is_empty()
}

/// A file made from a finished run.
pub(crate) fn generated_skill(
    name: &str,
    description: &str,
    body: &str,
    generated: &GeneratedDetails,
) -> Result<String> {
    let Some(metadata) = &generated.metadata else {
        return Ok(format!("{}\n", text::trim(body)));
    };
    let plain = new_skill(name, description, body)?;
    // JSON on one line is YAML too, and what OpenClaw reads.
    let hidden = if generated.hidden { format!("{HIDDEN}\n") } else { String::new() };
    Ok(plain.replacen("\n---\n", &format!("\n{hidden}metadata: {metadata}\n---\n"), 1))
}

/// A new file: front matter, a blank line, the body.
pub(crate) fn new_skill(name: &str, description: &str, body: &str) -> Result<String> {
    let description = text::collapse(description);
    if description.is_empty() {
        return Err(WorkshopError::EmptyDescription);
    }
    let description = scalar(&description);
    Ok(format!("---\nname: {name}\ndescription: {description}\n---\n\n{}\n", text::trim(body)))
}

/// A line of text as a YAML value: plain where every reader takes it for that text, else quoted.
pub(crate) fn scalar(line: &str) -> String {
    if is_plain(line) { line.to_owned() } else { quoted(line) }
}

/// Words that YAML 1.1 readers take for something else, which 1.2 readers do not.
const NOT_TEXT: &[&str] = &["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"];

fn is_plain(line: &str) -> bool {
    let block = format!("description: {line}");
    let reads_back = parse_front_matter(&block, 1).is_ok_and(|front| {
        front.repaired.is_empty()
            && front.fields.len() == 1
            && matches!(front.fields.get("description"), Some(YamlValue::String(text)) if text == line)
    });
    let is_word = NOT_TEXT.iter().any(|word| line.eq_ignore_ascii_case(word));
    // Dates, times and underscored numbers are texts in YAML 1.2 and others in 1.1.
    let is_number = line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && line.chars().all(|c| {
            c.is_ascii_digit()
                || matches!(
                    c,
                    '-' | ':' | '_' | '.' | 'T' | '+' | 'Z' | ' ' | 'x' | 'o' | 'e' | 'E'
                )
        });
    reads_back && !is_word && !is_number
}

/// A double-quoted YAML text; `line` holds no line end.
fn quoted(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 2);
    text.push('"');
    for c in line.chars() {
        match c {
            '"' | '\\' => {
                text.push('\\');
                text.push(c);
            }
            // Control characters were refused before; the remaining unprintable characters are escaped.
            c if (c as u32) < 0x20
                || matches!(c as u32, 0x7f..=0x9f | 0xfeff | 0xfffe | 0xffff) =>
            {
                text.push_str(&format!("\\u{:04X}", c as u32));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Puts `body` under the heading `## section`, right behind the heading line; a section that is not
/// there comes at the end, and a body that is there already changes nothing.
pub(crate) fn append(file: &str, section: &str, body: &str) -> String {
    let end = if file.contains("\r\n") { "\r\n" } else { "\n" };
    let body = text::trim(body).replace("\r\n", "\n").replace('\n', end);
    if file.contains(&body) {
        let ended = file.is_empty() || file.ends_with('\n');
        return if ended { file.to_owned() } else { format!("{file}{end}") };
    }
    match heading_end(file, section) {
        Some(at) => {
            let (before, after) = file.split_at(at);
            let gap = if before.ends_with('\n') { "" } else { end };
            format!("{before}{gap}{end}{body}{end}{after}")
        }
        None => {
            let kept = text::trim_end(file);
            let gap = if kept.is_empty() { String::new() } else { format!("{end}{end}") };
            format!("{kept}{gap}## {section}{end}{end}{body}{end}")
        }
    }
}

/// Where the line of the first heading `## section` ends, outside front matter and code.
fn heading_end(file: &str, section: &str) -> Option<usize> {
    let body = match sinew_skill::split_front_matter(file) {
        Ok(fenced) => fenced.body,
        Err(_) => file,
    };
    let start = file.len() - body.len();
    let found = sections(body).into_iter().find(|s| s.level == 2 && s.title == section)?;
    let line = body.split_inclusive('\n').take(found.line).map(str::len).sum::<usize>();
    Some(start + line)
}

/// How often `old` occurs in `file`.
pub(crate) fn occurrences(file: &str, old: &str) -> usize {
    if old.is_empty() { 0 } else { file.matches(old).count() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn create(description: &str, body: &str) -> ProposalChange {
        ProposalChange::Create {
            description: description.to_owned(),
            body: body.to_owned(),
            files: Default::default(),
            generated: None,
        }
    }

    fn append_of(section: &str, body: &str) -> ProposalChange {
        ProposalChange::Append {
            section: section.to_owned(),
            body: body.to_owned(),
            description: "d".to_owned(),
        }
    }

    fn made(change: &ProposalChange, existing: Option<&str>) -> String {
        result("n", "t", change, existing).unwrap_or_else(|error| format!("error: {error}"))
    }

    #[test]
    fn a_new_skill_has_skill_workshops_bytes() {
        assert_eq!(
            made(&create("d", "\n- x\n\n"), None),
            "---\nname: n\ndescription: d\n---\n\n- x\n"
        );
        assert_eq!(
            made(&create("Use for: x", "b"), None),
            "---\nname: n\ndescription: \"Use for: x\"\n---\n\nb\n"
        );
        assert_eq!(made(&create(" \n ", "b"), None), "error: description required");
    }

    #[test]
    fn text_goes_right_behind_its_heading_and_only_once() {
        let once =
            made(&append_of("Workflow", "- New bullet."), Some("## Workflow\n\n- Old bullet.\n"));
        assert_eq!(once, "## Workflow\n\n- New bullet.\n\n- Old bullet.\n");
        assert_eq!(made(&append_of("Workflow", "- New bullet."), Some(&once)), once);
        assert_eq!(made(&append_of("Workflow", "- a"), Some("- a")), "- a\n");
    }

    #[test]
    fn an_append_to_nothing_makes_a_minimal_skill() {
        assert_eq!(
            made(&append_of("Workflow", "- x"), None),
            "---\nname: n\ndescription: d\n---\n\n# Workflow\n\n## Workflow\n\n- x\n"
        );
    }

    /// The only headings that Skill Workshop recognises.
    #[test]
    fn only_a_whole_heading_line_is_the_section() {
        let check = |file: &str, expected: &str| {
            assert_eq!(made(&append_of("Workflow", "- x"), Some(file)), expected);
        };
        check("## Workflow notes\n\n- a\n", "## Workflow notes\n\n- a\n\n## Workflow\n\n- x\n");
        check("### Workflow\n", "### Workflow\n\n## Workflow\n\n- x\n");
        check("```\n## Workflow\n```\n", "```\n## Workflow\n```\n\n## Workflow\n\n- x\n");
        check("## Workflow\r\n\r\n- a\r\n", "## Workflow\r\n\r\n- x\r\n\r\n- a\r\n");
        check("## Workflow", "## Workflow\n\n- x\n");
        check(
            "---\nname: n\n## Workflow\n---\nb\n",
            "---\nname: n\n## Workflow\n---\nb\n\n## Workflow\n\n- x\n",
        );
    }

    #[test]
    fn a_replacement_is_literal_and_touches_the_first_place() {
        let replace = |old: &str, new: &str| ProposalChange::Replace {
            old_text: old.to_owned(),
            new_text: new.to_owned(),
        };
        assert_eq!(made(&replace("a", "$&"), Some("a b a")), "$& b a");
        assert_eq!(made(&replace("z", "y"), Some("a")), "error: oldText not found");
        assert_eq!(made(&replace("a", "b"), None), "error: skill does not exist: n");
    }

    proptest! {
        /// Whatever the description says, the front matter holds it and nothing else.
        #[test]
        fn no_description_breaks_out_of_its_line(description in "\\PC{1,80}") {
            let skill = made(&create(&description, "b"), None);
            prop_assume!(!text::collapse(&description).is_empty());
            let fenced = sinew_skill::split_front_matter(&skill).expect("closed front matter");
            let front = parse_front_matter(fenced.front.expect("front matter"), 2).expect("valid");
            prop_assert!(front.repaired.is_empty());
            let fields: Vec<&str> = front.fields.iter().map(|(key, _)| key).collect();
            prop_assert_eq!(fields, ["name", "description"]);
            let read = front.fields.get("description").and_then(YamlValue::as_str);
            let given = text::collapse(&description);
            prop_assert_eq!(read, Some(given.as_str()));
        }

        /// An append keeps every line that was there, and a second one changes nothing.
        #[test]
        fn an_append_loses_nothing(file in "([a-z#` \\n-]{0,12}\\n){0,6}", body in "- [a-z]{1,12}") {
            let once = append(&file, "Workflow", &body);
            prop_assert!(once.contains(&body));
            for line in file.lines().filter(|line| !line.trim().is_empty()) {
                prop_assert!(once.contains(line.trim_end()), "{line:?} in {once:?}");
            }
            prop_assert_eq!(append(&once, "Workflow", &body), once);
        }
    }
}
