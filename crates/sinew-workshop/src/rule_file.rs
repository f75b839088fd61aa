//! A learned skill's file: one title, one section of rules, one line per rule.
//!
//! A rule is added, strengthened or put in another's place; nothing else of the file is touched, and a
//! section never holds another one.

use serde_json::json;
use sinew_skill::{sections, split_front_matter};

use crate::activity::{ASKED_KEY, TAUGHT_KEY, asked_line, asked_of};
use crate::error::Result;
use crate::render::{new_skill, scalar};
use crate::rule::{RuleRelation, compare, strengthened, without_count};
use sinew_skill::ecmascript as text;

/// The section of rules.
pub(crate) const RULES: &str = "Rules";

/// From so many rules on, or so many characters, a skill should become several.
pub const MAX_RULES: usize = 60;
/// See [`MAX_RULES`].
pub const MAX_RULES_CHARS: usize = 8_000;

/// The longest description: what agents list of a skill has to stay short.
const MAX_DESCRIPTION: usize = 500;
/// Of one rule, in a description.
const MAX_IN_DESCRIPTION: usize = 110;

/// What is added to a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaughtRule<'r> {
    pub(crate) rule: &'r str,
    /// What the skill is for, after "when".
    pub(crate) when: &'r str,
    pub(crate) groups: &'r [String],
    /// The day it was said, such as `2026-11-12`.
    pub(crate) day: &'r str,
    /// The request that was corrected; empty where there was none.
    pub(crate) asked: &'r str,
}

impl TaughtRule<'_> {
    fn request(&self) -> Option<&str> {
        Some(self.asked).filter(|asked| !asked.trim().is_empty())
    }
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleEffect {
    /// It is new.
    Added,
    /// It was there, and counts once more.
    Strengthened,
    /// It took the place of this one.
    Replaced(String),
}

/// The file with a rule.
pub(crate) fn with_rule(
    name: &str,
    taught: TaughtRule<'_>,
    existing: Option<&str>,
) -> Result<String> {
    let Some(file) = existing else {
        let body = format!("# {}\n\n## {RULES}\n\n- {}", capitalised(taught.when), taught.rule);
        let plain = new_skill(name, &description(taught.when, &[taught.rule]), &body)?;
        let mut metadata = json!({ TAUGHT_KEY: taught.groups.join(", ") });
        if let Some(request) = taught.request() {
            metadata[ASKED_KEY] = json!(asked_line(&[], Some(request)));
        }
        return Ok(plain.replacen("\n---\n", &format!("\nmetadata: {metadata}\n---\n"), 1));
    };
    let (changed, _) = with_bullet(file, taught);
    Ok(with_front_matter(&changed, taught))
}

/// The file with rules that move to it: each as it is, once, and none in another's place.
pub(crate) fn with_rules(
    name: &str,
    rules: &[String],
    taught: TaughtRule<'_>,
    existing: Option<&str>,
) -> Result<Option<String>> {
    let mut file = existing.map(str::to_owned);
    for rule in rules {
        let taught = TaughtRule { rule, ..taught };
        let Some(known) = &file else {
            file = Some(with_rule(name, taught, None)?);
            continue;
        };
        let plain = without_count(rule).0;
        let is_same = |old: &RuleBullet<'_>| without_count(old.rule).0 == plain;
        let bullets = bullets(known);
        let changed = match bullets.iter().find(|old| is_same(old)) {
            Some(_) => with_bullet(known, TaughtRule { rule: plain, ..taught }).0,
            None => added(known, rule, &bullets),
        };
        file = Some(with_front_matter(&changed, taught));
    }
    Ok(file)
}

/// What a rule would do to a file.
pub(crate) fn effect(file: &str, taught: TaughtRule<'_>) -> RuleEffect {
    with_bullet(file, taught).1
}

/// The rules of a file.
pub(crate) fn rules(file: &str) -> Vec<&str> {
    bullets(file).into_iter().map(|bullet| bullet.rule).collect()
}

/// The activities that a file was taught for; none where it was not taught.
pub(crate) fn taught_groups(file: &str) -> Option<Vec<String>> {
    let body = split_front_matter(file).ok()?.body;
    let head = &file[..file.len() - body.len()];
    let written = head.lines().find_map(|line| line.strip_prefix("metadata: "))?;
    let metadata: serde_json::Value = serde_json::from_str(written).ok()?;
    let groups = metadata.get(TAUGHT_KEY)?.as_str()?.split(',').map(|id| id.trim().to_owned());
    Some(groups.filter(|id| !id.is_empty()).collect())
}

/// A learned skill's file with requests that its rules corrected.
pub(crate) fn with_asked(file: &str, requests: &[String]) -> String {
    requests.iter().fold(file.to_owned(), |file, asked| {
        with_front_matter(&file, TaughtRule { rule: "", when: "", groups: &[], day: "", asked })
    })
}

/// The requests that a learned skill's rules corrected.
pub(crate) fn asked(file: &str) -> Vec<String> {
    let body = split_front_matter(file).map_or(file, |fenced| fenced.body);
    let head = &file[..file.len() - body.len()];
    let written = head.lines().find_map(|line| line.strip_prefix("metadata: "));
    let metadata = written.and_then(|json| serde_json::from_str::<serde_json::Value>(json).ok());
    let asked = metadata.as_ref().and_then(|metadata| metadata[ASKED_KEY].as_str());
    asked.map(asked_of).unwrap_or_default()
}

/// Every list of a file, whatever section it is in: for files that are older than the section of rules.
pub(crate) fn lists(file: &str) -> Vec<Vec<String>> {
    let body = split_front_matter(file).map_or(file, |fenced| fenced.body);
    let mut lists: Vec<Vec<String>> = Vec::new();
    let mut goes_on = false;
    for line in body.lines() {
        match bullet(line) {
            Some(rule) if goes_on => {
                if let Some(list) = lists.last_mut() {
                    list.push(rule.to_owned());
                }
            }
            Some(rule) => lists.push(vec![rule.to_owned()]),
            // A blank line between two bullets is the border between what was said at two times.
            None => {}
        }
        goes_on = bullet(line).is_some();
    }
    lists
}

/// Whether a file says more than its headings and lists.
pub(crate) fn has_prose(file: &str) -> bool {
    let body = split_front_matter(file).map_or(file, |fenced| fenced.body);
    body.lines()
        .any(|line| !line.trim().is_empty() && !line.starts_with('#') && bullet(line).is_none())
}

fn bullet(line: &str) -> Option<&str> {
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).map(str::trim)
}

/// The file without some of its rules, and with a description that fits what is left.
pub(crate) fn without_rules(file: &str, gone: &[String]) -> String {
    let body = split_front_matter(file).map_or(file, |fenced| fenced.body);
    let head = &file[..file.len() - body.len()];
    let is_gone = |line: &str| bullet(line).is_some_and(|rule| gone.iter().any(|it| it == rule));
    let kept =
        body.split_inclusive('\n').filter(|line| !is_gone(line.trim_end_matches(['\r', '\n'])));
    let left = format!("{head}{}", kept.collect::<String>());
    with_front_matter(&left, TaughtRule { rule: "", when: "", groups: &[], day: "", asked: "" })
}

/// Whether a file holds as many rules as one skill should.
pub(crate) fn is_full(file: &str) -> bool {
    rules(file).len() >= MAX_RULES || file.chars().count() >= MAX_RULES_CHARS
}

struct RuleBullet<'f> {
    rule: &'f str,
    /// Where its line begins and ends, without the line end.
    start: usize,
    end: usize,
}

/// The bullets of the section of rules.
fn bullets(file: &str) -> Vec<RuleBullet<'_>> {
    let Some((start, end)) = section(file) else { return Vec::new() };
    let mut at = start;
    let mut found = Vec::new();
    for line in file[start..end].split_inclusive('\n') {
        let bare = line.trim_end_matches(['\r', '\n']);
        if let Some(rule) = bare.strip_prefix("- ") {
            found.push(RuleBullet { rule, start: at, end: at + bare.len() });
        }
        at += line.len();
    }
    found
}

/// Where the text below the heading of the rules begins and ends.
fn section(file: &str) -> Option<(usize, usize)> {
    let body = split_front_matter(file).map_or(file, |fenced| fenced.body);
    let offset = file.len() - body.len();
    let all = sections(body);
    let at = all.iter().position(|section| section.level == 2 && section.title == RULES)?;
    let line_start = |line: usize| -> usize {
        body.split_inclusive('\n').take(line).map(str::len).sum::<usize>() + offset
    };
    let start = line_start(all[at].line);
    let next = all.get(at + 1).map(|next| line_start(next.line - 1));
    Some((start, next.unwrap_or(file.len())))
}

fn with_bullet(file: &str, taught: TaughtRule<'_>) -> (String, RuleEffect) {
    let known = bullets(file);
    let put = |bullet: &RuleBullet<'_>, line: &str| {
        format!("{}- {line}{}", &file[..bullet.start], &file[bullet.end..])
    };
    let by = |how: RuleRelation| known.iter().find(|one| compare(taught.rule, one.rule) == how);
    if let Some(same) = by(RuleRelation::Same) {
        return (put(same, &strengthened(same.rule, taught.day)), RuleEffect::Strengthened);
    }
    if let Some(old) = by(RuleRelation::Contradiction) {
        let was = without_count(old.rule).0.to_owned();
        return (put(old, taught.rule), RuleEffect::Replaced(was));
    }
    (added(file, taught.rule, &known), RuleEffect::Added)
}

/// The file with a rule below those that it has.
fn added(file: &str, rule: &str, known: &[RuleBullet<'_>]) -> String {
    let end = if file.contains("\r\n") { "\r\n" } else { "\n" };
    match (known.last(), section(file)) {
        (Some(last), _) => {
            format!("{}{end}- {rule}{}", &file[..last.end], &file[last.end..])
        }
        (None, Some((start, _))) => {
            let rest = file[start..].trim_start_matches(['\r', '\n']);
            let gap = if rest.is_empty() { "" } else { end };
            format!("{}{end}- {rule}{end}{gap}{rest}", &file[..start])
        }
        (None, None) => {
            let kept = text::trim_end(file);
            format!("{kept}{end}{end}## {RULES}{end}{end}- {rule}{end}")
        }
    }
}

/// A learned skill's description and activities follow its rules; another skill's stay.
fn with_front_matter(file: &str, taught: TaughtRule<'_>) -> String {
    let Ok(fenced) = split_front_matter(file) else { return file.to_owned() };
    let head = &file[..file.len() - fenced.body.len()];
    let written = head.lines().find_map(|line| line.strip_prefix("metadata: "));
    let metadata = written.and_then(|json| serde_json::from_str::<serde_json::Value>(json).ok());
    let Some(mut metadata) = metadata.filter(|metadata| metadata[TAUGHT_KEY].is_string()) else {
        return file.to_owned();
    };
    let known = metadata[TAUGHT_KEY].as_str().unwrap_or_default();
    let groups = known.split(',').map(|id| id.trim().to_owned());
    let mut groups: Vec<String> = groups.filter(|id| !id.is_empty()).collect();
    for group in taught.groups {
        if !groups.contains(group) {
            groups.push(group.clone());
        }
    }
    metadata[TAUGHT_KEY] = json!(groups.join(", "));
    let asked = asked_of(metadata[ASKED_KEY].as_str().unwrap_or_default());
    let asked = asked_line(&asked, taught.request());
    if !asked.is_empty() {
        metadata[ASKED_KEY] = json!(asked);
    }
    let title = sections(fenced.body).into_iter().find(|section| section.level == 1);
    let when = title.map_or_else(|| taught.when.to_owned(), |title| title.title.to_lowercase());
    let described = scalar(&description(&when, &rules(file)));
    let lines = head.split_inclusive('\n').map(|line| {
        let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
        if line.starts_with("description: ") {
            format!("description: {described}{end}")
        } else if line.starts_with("metadata: ") {
            format!("metadata: {metadata}{end}")
        } else {
            line.to_owned()
        }
    });
    let head: String = lines.collect();
    format!("{head}{}", fenced.body)
}

/// What a skill is for, in the words that messages will have: "Use when committing: run the tests first".
pub(crate) fn description(when: &str, rules: &[&str]) -> String {
    let mut out = format!("Use when {when}: ");
    for (at, rule) in rules.iter().enumerate() {
        let short = text::short(without_count(rule).0, MAX_IN_DESCRIPTION);
        if at > 0 && out.chars().count() + short.chars().count() > MAX_DESCRIPTION {
            out.push_str("; and more");
            break;
        }
        out.push_str(if at > 0 { "; " } else { "" });
        out.push_str(&short);
    }
    out
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taught<'r>(rule: &'r str, groups: &'r [String]) -> TaughtRule<'r> {
        TaughtRule { rule, when: "committing changes", groups, day: "2026-11-12", asked: "" }
    }

    #[test]
    fn rules_are_lines_of_one_section() {
        let groups = ["git".to_owned()];
        let one =
            with_rule("our-git", taught("run the tests first", &groups), None).expect("a file");
        assert_eq!(
            one,
            "---\nname: our-git\ndescription: \"Use when committing changes: run the tests first\"\n\
             metadata: {\"sinew-taught\":\"git\"}\n---\n\n# Committing changes\n\n## Rules\n\n\
             - run the tests first\n"
        );
        let two = with_rule("our-git", taught("ticket number in the title", &groups), Some(&one));
        let two = two.expect("a file");
        assert!(two.ends_with("- run the tests first\n- ticket number in the title\n"), "{two}");
        assert!(two.contains("run the tests first; ticket number in the title"), "{two}");
        let again = with_rule("our-git", taught("first run the tests", &groups), Some(&two));
        let again = again.expect("a file");
        assert!(again.contains("- run the tests first (said 2 times, last on 2026-11-12)\n"));
        let other =
            with_rule("our-git", taught("don't run the tests first", &groups), Some(&again));
        let other = other.expect("a file");
        assert_eq!(rules(&other), ["don't run the tests first", "ticket number in the title"]);
        assert_eq!(
            effect(&again, taught("don't run the tests first", &groups)),
            RuleEffect::Replaced("run the tests first".to_owned())
        );
    }

    #[test]
    fn another_skills_file_gets_a_section_and_keeps_the_rest() {
        let file = "---\nname: a\ndescription: b\n---\n# A\n\n## Rules\n\n## End\nx\n";
        let changed = with_rule("a", taught("ask first", &[]), Some(file)).expect("a file");
        assert_eq!(
            changed,
            "---\nname: a\ndescription: b\n---\n# A\n\n## Rules\n\n- ask first\n\n## End\nx\n"
        );
        let bare =
            with_rule("a", taught("ask first", &[]), Some("# A\r\ntext\r\n")).expect("a file");
        assert_eq!(bare, "# A\r\ntext\r\n\r\n## Rules\r\n\r\n- ask first\r\n");
    }
}
