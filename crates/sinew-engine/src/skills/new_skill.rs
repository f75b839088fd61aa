//! A new skill from a template: valid by every rule set and clean for the guard before it is written.
//!
//! What must never happen here: a skill that exists already and is written over.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::SKILL_FILE;
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::scan::Verdict;
use sinew_settings::{ErrorCode, ReasonSeverity};
use sinew_skill::names::{display_name, is_slug, slug};
use sinew_skill::validate::RuleSet;

use crate::{EngineError, SkillsHandle};

/// The body below the title and the purpose. It holds for any task, and says where to go on.
const BODY: &str = include_str!("new_skill.md");

/// The longest purpose: a description has room for 1,024 characters, and the words are added.
const MAX_PURPOSE: usize = 700;

/// Words of the purpose that the description repeats as those of users.
const MAX_WORDS: usize = 8;

/// A shorter word says little about a task.
const MIN_WORD: usize = 4;

/// Words that are in every sentence, of those that are long enough.
const COMMON: &[&str] = &[
    "about", "after", "also", "and", "before", "between", "does", "each", "every", "from", "have",
    "into", "make", "more", "other", "over", "should", "some", "such", "than", "that", "their",
    "them", "then", "there", "these", "they", "this", "those", "user", "users", "using", "what",
    "when", "where", "which", "will", "with", "without", "your",
];

/// What a new skill is called, what it is for, and where it goes.
#[derive(Debug, Clone)]
pub struct NewSkillRequest {
    /// Its name, which is its folder's.
    pub name: String,
    /// What it should do, in a sentence or two.
    pub purpose: String,
    /// The folder that gets the skill's own one.
    pub folder: PathBuf,
}

/// A skill that was written from the template.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSkill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Its description.
    pub description: String,
    /// The rule sets that it passes: all there are.
    pub rules: &'static [&'static str],
    /// What the guard says: never anything but `allow`.
    pub verdict: Verdict,
}

impl SkillsHandle<'_> {
    /// Writes a skill from the template into a folder of its own, which must not be there yet.
    pub fn create(&self, request: &NewSkillRequest) -> Result<NewSkill, EngineError> {
        self.engine.check_gate()?;
        check_name(&request.name)?;
        let target = request.folder.join(&request.name);
        refuse_existing(&target)?;
        let (text, description) = template(&request.name, &request.purpose)?;
        self.check_text(&request.name, &text)?;
        let path = target.join(SKILL_FILE);
        // Made here and not by the write below: of two that write the same skill, one is refused.
        fs::create_dir_all(&request.folder)
            .and_then(|()| fs::create_dir(&target))
            .map_err(|error| EngineError::file("make", &target, error))?;
        atomic::write(&path, text.as_bytes(), FileAccess::Shared)
            .map_err(|error| EngineError::file("write", &path, error))?;
        Ok(NewSkill {
            name: request.name.clone(),
            path,
            description,
            rules: RuleSet::NAMES,
            verdict: Verdict::Allow,
        })
    }

    /// Refuses a text that a rule set warns about or that the guard does not allow.
    fn check_text(&self, name: &str, text: &str) -> Result<(), EngineError> {
        let quality = self.engine.quality();
        for rules in
            [RuleSet::STRICT, RuleSet::OpenClaw, RuleSet::OpenPocket, RuleSet::OpenPocketStrict]
        {
            let report = quality.validate_text(name, text, rules);
            let mut issues = report.files.iter().flat_map(|file| &file.issues);
            if let Some(issue) = issues.find(|issue| issue.severity >= ReasonSeverity::Warn) {
                let said = format!("the skill would not pass {rules}: {}", issue.message);
                return Err(EngineError::new(ErrorCode::BadValue, said)
                    .hint("say in plain words what the skill should do"));
            }
        }
        let scanned = quality.scan_text(text);
        if scanned.verdict == Verdict::Allow {
            return Ok(());
        }
        let found = scanned.report.findings.first();
        let why = found.map(|finding| finding.message.clone()).unwrap_or_default();
        Err(EngineError::new(ErrorCode::Unsafe, format!("the guard would not allow it: {why}"))
            .hint("say what the skill should do, and not how"))
    }
}

fn check_name(name: &str) -> Result<(), EngineError> {
    if is_slug(name) && !name.ends_with('-') && !name.contains("--") {
        return Ok(());
    }
    let error = EngineError::new(
        ErrorCode::InvalidName,
        format!("`{}` cannot be the name of a skill", name.escape_debug()),
    );
    match slug(name) {
        better if better.is_empty() => {
            Err(error.hint("use lower-case letters, digits and single hyphens"))
        }
        better => Err(error.hint(format!("call it `{better}`"))),
    }
}

/// Refuses a place that is taken.
pub(super) fn refuse_existing(target: &Path) -> Result<(), EngineError> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    let said = format!("{} exists already; nothing was written", target.display());
    Err(EngineError::new(ErrorCode::TargetExists, said)
        .hint("choose another name, or edit the skill that is there"))
}

/// The text of a new skill, and its description.
fn template(name: &str, purpose: &str) -> Result<(String, String), EngineError> {
    let purpose = purpose.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = purpose.chars().count();
    if purpose.chars().filter(|c| c.is_alphanumeric()).count() < MIN_WORD {
        let said = "the purpose of the skill is empty";
        return Err(EngineError::new(ErrorCode::BadValue, said)
            .hint("say in a sentence what it should do: `--from \"export invoices as PDF\"`"));
    }
    if length > MAX_PURPOSE {
        let said = format!("the purpose has {length} characters; at most {MAX_PURPOSE} fit");
        return Err(EngineError::new(ErrorCode::BadValue, said)
            .hint("say it in a sentence or two; the details belong into the body"));
    }
    let sentence = as_sentence(&purpose);
    let words = task_words(&purpose);
    let description = match (purpose.to_lowercase().contains("use when"), words.as_slice()) {
        (true, _) | (_, []) => sentence.clone(),
        (false, words) => format!("{sentence} Use when the user mentions {}.", one_of(words)),
    };
    // JSON strings are YAML strings, and quote whatever was typed.
    let quoted = serde_json::Value::String(description.clone());
    let title = display_name(name);
    let text = format!(
        "---\nname: {name}\ndescription: {quoted}\n---\n\n# {title}\n\n{}\n\n{BODY}",
        as_prose(&sentence)
    );
    Ok((text, description))
}

/// The text with a capital at its start and a full stop at its end.
fn as_sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// A sentence of the body: nothing in it may begin a heading, a list or a tag.
fn as_prose(text: &str) -> String {
    let text = text.replace('<', "‹").replace('>', "›");
    text.trim_start_matches(['#', '-', '*', '+', '>', '=', '`', '|', ' ']).to_owned()
}

/// The words of a purpose that a user may say as well, in their order.
fn task_words(purpose: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in purpose.split(|c: char| !c.is_alphanumeric() && c != '-') {
        let word = word.trim_matches('-');
        let is_name = word.chars().filter(|c| c.is_uppercase()).count() > 1;
        let lower = word.to_lowercase();
        let long = word.chars().count() >= MIN_WORD && !COMMON.contains(&lower.as_str());
        let shown = if is_name { word.to_owned() } else { lower };
        if (is_name || long) && !words.contains(&shown) && words.len() < MAX_WORDS {
            words.push(shown);
        }
    }
    words
}

/// "a, b or c".
fn one_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_name, template};

    #[test]
    fn a_description_says_what_it_does_and_when() {
        let (_, description) =
            template("invoices", "export invoices from billing as PDF").expect("fits");
        assert_eq!(
            description,
            "Export invoices from billing as PDF. Use when the user mentions export, invoices, billing or PDF."
        );
        let own = "Tide tables. Use when the user asks for tides.";
        assert_eq!(template("tides", own).expect("fits").1, own);
        assert_eq!(
            template("tides", "  潮汐表を作る ").expect("fits").1,
            "潮汐表を作る. Use when the user mentions 潮汐表を作る."
        );
        assert!(template("tides", " .. ").is_err());
        assert!(template("tides", &"long ".repeat(200)).is_err());
    }

    #[test]
    fn a_name_is_a_folder_that_every_agent_takes() {
        assert!(check_name("invoice-export").is_ok());
        for bad in ["Invoice Export", "-x", "x-", "a--b", "../x", "", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
