//! Reads evaluation data: our JSONL, the trigger format of skill authors, skills as JSONL.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::public_rows::{EvalAnswers, as_ours, csv_as_lines, described_tools, tools_in};
use crate::document::RouteDocument;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableRow {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// The valid rows of a file, and the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalRows<T> {
    /// Rows that could be read.
    pub rows: Vec<T>,
    /// Rows that could not.
    pub bad: Vec<UnreadableRow>,
}

/// The expected answer to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedMatch {
    /// One of some skills.
    Skill,
    /// None: the router must abstain.
    None,
    /// Anything but certain skills; another may fit or not.
    AnyOther,
}

/// A message with the skills that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalQuestion {
    /// Its name in reports.
    pub id: String,
    /// The user's message.
    pub query: String,
    /// Ids of the right skills; empty when no skill fits.
    pub expected: Vec<String>,
    /// Ids that are also right.
    pub also: Vec<String>,
    /// Ids that must not be matched: those of should-not-trigger rows.
    pub never: Vec<String>,
    /// The kind of message; for `none` the router must abstain.
    pub kind: String,
}

impl EvalQuestion {
    /// The expected answer.
    pub fn expected_match(&self) -> ExpectedMatch {
        if self.kind == "none" {
            ExpectedMatch::None
        } else if !self.expected.is_empty() || !self.also.is_empty() {
            ExpectedMatch::Skill
        } else if !self.never.is_empty() {
            ExpectedMatch::AnyOther
        } else {
            ExpectedMatch::None
        }
    }

    /// Takes over what another file says is right; a question that it does not answer stays as it is.
    pub fn answered_by(&mut self, answers: &EvalAnswers) {
        if let Some(right) = answers.get(&self.id) {
            self.expected.clone_from(right);
            self.kind = if right.is_empty() { "none" } else { "normal" }.to_owned();
        }
    }

    /// Whether an id answers it.
    pub fn accepts(&self, id: &str) -> bool {
        self.expected.iter().chain(&self.also).any(|right| right == id)
    }
}

/// A row in either format: ours, or a skill author's with `should_trigger`.
#[derive(Deserialize)]
struct EvalQuestionRow {
    #[serde(default)]
    id: String,
    query: String,
    #[serde(default)]
    expected: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    kind: String,
    skill: Option<String>,
    should_trigger: Option<bool>,
}

/// A message that should, or should not, trigger a skill.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TriggerRow {
    /// The user's message.
    pub query: String,
    /// The skill; absent in files about a single one.
    #[serde(default)]
    pub skill: String,
    /// Whether it should be chosen.
    pub should_trigger: bool,
}

fn read_rows<T>(text: &str, mut read: impl FnMut(&str) -> Result<T, String>) -> EvalRows<T> {
    if text.trim_start().starts_with('[') {
        return match serde_json::from_str::<Vec<serde_json::Value>>(text) {
            Ok(values) => {
                let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
                read_rows(&lines.join("\n"), read)
            }
            Err(error) => {
                let bad = UnreadableRow { line: error.line(), message: error.to_string() };
                EvalRows { rows: Vec::new(), bad: vec![bad] }
            }
        };
    }
    let mut out = EvalRows { rows: Vec::new(), bad: Vec::new() };
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read(line) {
            Ok(row) => out.rows.push(row),
            Err(message) => out.bad.push(UnreadableRow { line: at + 1, message }),
        }
    }
    out
}

/// Reads messages with their right skills, should-trigger rows that name the skill, or rows of a public
/// set (SkillRouter, MetaTool, ToolBench, BFCL); JSONL, or one JSON array.
pub fn read_questions(text: &str) -> EvalRows<EvalQuestion> {
    let mut count = 0;
    let lines = csv_as_lines(text);
    read_rows(lines.as_deref().unwrap_or(text), |line| {
        let row: serde_json::Value =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        let row = as_ours(&row).unwrap_or(row);
        let row: EvalQuestionRow =
            serde_json::from_value(row).map_err(|error| error.to_string())?;
        count += 1;
        let mut question = EvalQuestion {
            id: if row.id.is_empty() { format!("row-{count}") } else { row.id },
            query: row.query,
            expected: row.expected,
            also: row.also,
            never: Vec::new(),
            kind: row.kind,
        };
        match (row.should_trigger, row.skill) {
            (Some(true), Some(skill)) => question.expected.push(skill),
            (Some(false), Some(skill)) => question.never.push(skill),
            (Some(_), None) => {
                let message = "should_trigger without a skill; `eval triggers` takes such rows";
                return Err(message.to_owned());
            }
            (None, _) => {}
        }
        if question.kind.is_empty() || question.expected_match() == ExpectedMatch::None {
            question.kind = match question.expected_match() {
                ExpectedMatch::Skill => "normal",
                ExpectedMatch::None => "none",
                ExpectedMatch::AnyOther => "should-not",
            }
            .to_owned();
        }
        Ok(question)
    })
}

/// Reads should-trigger rows: JSONL, or the JSON array that skill-creator writes.
pub fn read_trigger_rows(text: &str) -> EvalRows<TriggerRow> {
    read_rows(text, |line| serde_json::from_str(line).map_err(|error| error.to_string()))
}

#[derive(Deserialize)]
struct EvalSkillRow {
    #[serde(alias = "skill_id")]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    triggers: Vec<String>,
    #[serde(default)]
    body: String,
}

/// Reads skills as JSONL: `{id, name, text}` with a whole SKILL.md, or `{id, name, description}`.
///
/// Tools of public sets are skills as well: those that BFCL's and ToolBench's rows bring along, and
/// MetaTool's object of descriptions.
pub fn read_skills(text: &str) -> EvalRows<RouteDocument> {
    if let Some(rows) = described_tools(text) {
        return EvalRows { rows, bad: Vec::new() };
    }
    let EvalRows { rows, bad } = read_rows(text, |line| {
        let row: serde_json::Value =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        match tools_in(&row) {
            Some(tools) => Ok(tools),
            None => read_skill(row, line).map(|skill| vec![skill]),
        }
    });
    // Rows share tools; ours have ids of their own.
    let mut known = HashSet::new();
    let rows = rows.into_iter().flatten().filter(|one| known.insert(one.id.clone())).collect();
    EvalRows { rows, bad }
}

fn read_skill(row: serde_json::Value, line: &str) -> Result<RouteDocument, String> {
    let row: EvalSkillRow = serde_json::from_value(row).map_err(|error| error.to_string())?;
    let last = row.id.rsplit(['#', '/']).next().unwrap_or(&row.id);
    let name = if row.name.is_empty() { last } else { &row.name };
    Ok(match &row.text {
        Some(text) => RouteDocument::from_text(&row.id, name, text),
        None => {
            let mut document = RouteDocument::from_description(&row.id, name, &row.description);
            document.triggers = row.triggers;
            document.headings = crate::text::plain::headings(&row.body);
            document.hash = sinew_skill::content_hash(line.as_bytes());
            document.body = row.body;
            document
        }
    })
}
