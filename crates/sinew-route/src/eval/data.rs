//! Reads evaluation data: our JSONL, the trigger shape of skill authors, skills as JSONL.

use serde::{Deserialize, Serialize};

use crate::document::Document;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadRow {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// The good rows of a file, and the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<T> {
    /// Rows that could be read.
    pub rows: Vec<T>,
    /// Rows that could not.
    pub bad: Vec<BadRow>,
}

/// A message with the skills that answer it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// Its name in reports.
    #[serde(default)]
    pub id: String,
    /// What the user said.
    pub query: String,
    /// Ids of the right skills; empty when no skill fits.
    #[serde(default)]
    pub expected: Vec<String>,
    /// Ids that count as right too.
    #[serde(default)]
    pub also: Vec<String>,
    /// What kind of message it is; `none` must be abstained from.
    #[serde(default)]
    pub kind: String,
}

impl Question {
    /// Whether no skill fits.
    pub fn wants_none(&self) -> bool {
        self.kind == "none" || (self.expected.is_empty() && self.also.is_empty())
    }

    /// Whether an id answers it.
    pub fn accepts(&self, id: &str) -> bool {
        self.expected.iter().chain(&self.also).any(|right| right == id)
    }
}

/// A message that should, or should not, trigger a skill.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TriggerRow {
    /// What the user said.
    pub query: String,
    /// The skill; absent in files that are about one.
    #[serde(default)]
    pub skill: String,
    /// Whether it should be chosen.
    pub should_trigger: bool,
}

fn read_rows<T>(text: &str, mut read: impl FnMut(&str) -> Result<T, String>) -> Read<T> {
    let mut out = Read { rows: Vec::new(), bad: Vec::new() };
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read(line) {
            Ok(row) => out.rows.push(row),
            Err(message) => out.bad.push(BadRow { line: at + 1, message }),
        }
    }
    out
}

/// Reads messages with their right skills.
pub fn read_questions(text: &str) -> Read<Question> {
    let mut count = 0;
    read_rows(text, |line| {
        let mut question: Question =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        count += 1;
        if question.id.is_empty() {
            question.id = format!("row-{count}");
        }
        if question.wants_none() {
            question.kind = "none".to_owned();
        } else if question.kind.is_empty() {
            question.kind = "normal".to_owned();
        }
        Ok(question)
    })
}

/// Reads should-trigger rows: JSONL, or the JSON array that skill-creator writes.
pub fn read_trigger_rows(text: &str) -> Read<TriggerRow> {
    if text.trim_start().starts_with('[') {
        return match serde_json::from_str::<Vec<serde_json::Value>>(text) {
            Ok(values) => {
                let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
                read_trigger_rows(&lines.join("\n"))
            }
            Err(error) => Read {
                rows: Vec::new(),
                bad: vec![BadRow { line: error.line(), message: error.to_string() }],
            },
        };
    }
    read_rows(text, |line| serde_json::from_str(line).map_err(|error| error.to_string()))
}

#[derive(Deserialize)]
struct SkillRow {
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
pub fn read_skills(text: &str) -> Read<Document> {
    read_rows(text, |line| {
        let row: SkillRow = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let last = row.id.rsplit(['#', '/']).next().unwrap_or(&row.id);
        let name = if row.name.is_empty() { last } else { &row.name };
        Ok(match &row.text {
            Some(text) => Document::from_text(&row.id, name, text),
            None => {
                let mut document = Document::from_description(&row.id, name, &row.description);
                document.triggers = row.triggers;
                document.headings = crate::text::plain::headings(&row.body);
                document.hash = sinew_skill::content_hash(line.as_bytes());
                document.body = row.body;
                document
            }
        })
    })
}
