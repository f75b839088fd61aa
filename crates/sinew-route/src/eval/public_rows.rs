//! Rows of public sets, read as ours: SkillRouter's tasks, MetaTool, ToolBench and BFCL.
//!
//! Each of them pairs a request with the tools that serve it; a tool's name and description are a skill
//! without a body. Answers may be in a file of their own (SkillRouter's `relevance.json`, BFCL's
//! `possible_answer`): [`read_answers`] reads it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::document::RouteDocument;

/// The right skills of messages, by the messages' ids.
pub type EvalAnswers = BTreeMap<String, Vec<String>>;

/// A row of a public set in our names: `id`, `query`, `expected`; `None` for one that is already ours.
pub(super) fn as_ours(row: &Value) -> Option<Value> {
    let row = row.as_object()?;
    let foreign =
        ["question", "instruction_text", "tool", "tools", "Tool", "relevant APIs", "task_id"];
    if !foreign.iter().any(|key| row.contains_key(*key)) || row.contains_key("should_trigger") {
        return None;
    }
    let query = ["query", "Query", "instruction_text", "instruction"]
        .iter()
        .find_map(|key| Some(row.get(*key)?.as_str()?.to_owned()))
        .or_else(|| Some(user_words(row.get("question")?)))?;
    let mut ours = Map::new();
    ours.insert("query".to_owned(), Value::from(query));
    ours.insert("expected".to_owned(), Value::from(right_tools(row)));
    if let Some(id) = id(row) {
        ours.insert("id".to_owned(), Value::from(id));
    }
    ours.insert("kind".to_owned(), Value::from("normal"));
    Some(Value::from(ours))
}

/// The id of a row, whatever it is called.
fn id(row: &Map<String, Value>) -> Option<String> {
    let found = ["id", "task_id", "query_id"].iter().find_map(|key| row.get(*key))?;
    Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// What the user says in a conversation: BFCL's list of turns of messages, or plain text.
fn user_words(question: &Value) -> String {
    match question {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let said: Vec<String> =
                parts.iter().map(user_words).filter(|one| !one.is_empty()).collect();
            said.join("\n")
        }
        Value::Object(message) if message.get("role").and_then(Value::as_str) == Some("user") => {
            message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// The tools that a row calls right.
fn right_tools(row: &Map<String, Value>) -> Vec<String> {
    // Core answers stand for all: the others are helpers of every task.
    for key in ["core_gt_ids", "gt_skill_ids", "relevant APIs", "tools", "tool", "Tool"] {
        if let Some(found) = row.get(key) {
            return match found {
                Value::String(name) => vec![name.clone()],
                Value::Array(all) => all.iter().filter_map(tool_name).collect(),
                _ => Vec::new(),
            };
        }
    }
    let calls = row.get("ground_truth").and_then(Value::as_array);
    let calls = calls.into_iter().flatten().filter_map(Value::as_object);
    calls.flat_map(|call| call.keys().cloned()).collect()
}

/// A tool's name: text, or ToolBench's pair of a tool and one of its calls.
fn tool_name(tool: &Value) -> Option<String> {
    match tool {
        Value::String(name) => Some(name.clone()),
        Value::Array(pair) => {
            let parts: Option<Vec<&str>> = pair.iter().map(Value::as_str).collect();
            Some(parts?.join("/"))
        }
        _ => None,
    }
}

/// Answers in a file of their own: rows with an id, or one object of them by id.
pub fn read_answers(text: &str) -> EvalAnswers {
    let mut answers = EvalAnswers::new();
    let mut add = |id: Option<String>, row: &Map<String, Value>| {
        if let Some(id) = id {
            answers.insert(id, right_tools(row));
        }
    };
    let whole: Option<Map<String, Value>> = serde_json::from_str(text).ok();
    if let Some(whole) = whole.filter(|whole| whole.values().all(Value::is_object)) {
        for (id, row) in &whole {
            row.as_object().into_iter().for_each(|row| add(Some(id.clone()), row));
        }
        return answers;
    }
    for line in text.lines() {
        if let Ok(Value::Object(row)) = serde_json::from_str(line) {
            add(id(&row), &row);
        }
    }
    answers
}

/// The rows of MetaTool's CSV, `Query,Tool`, as JSON lines; `None` for other text.
pub(super) fn csv_as_lines(text: &str) -> Option<String> {
    let (first, rest) = text.trim_start_matches('\u{feff}').split_once('\n')?;
    if !first.trim().eq_ignore_ascii_case("query,tool") {
        return None;
    }
    let rows = csv_rows(rest).into_iter().filter(|row| row.len() > 1);
    let line =
        |row: Vec<String>| serde_json::json!({"query": row[0], "tool": row[1].trim()}).to_string();
    Some(rows.map(line).collect::<Vec<_>>().join("\n"))
}

fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    rows
}

/// The tools that a row of a public set brings along, as skills: BFCL's `function`, ToolBench's `api_list`.
pub(super) fn tools_in(row: &Value) -> Option<Vec<RouteDocument>> {
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(functions) = row.get("function").and_then(Value::as_array) {
        let document = |tool: &Value| {
            let name = text(tool, "name")?;
            let about = text(tool, "description").unwrap_or_default();
            let mut document = RouteDocument::from_description(&name, &name, &about);
            document.body = parameters(tool);
            Some(document)
        };
        return Some(functions.iter().filter_map(document).collect());
    }
    let calls = row.get("api_list").and_then(Value::as_array)?;
    let document = |call: &Value| {
        let (tool, name) = (text(call, "tool_name")?, text(call, "api_name")?);
        let about = text(call, "api_description").unwrap_or_default();
        let id = format!("{tool}/{name}");
        Some(RouteDocument::from_description(&id, &format!("{tool} {name}"), &about))
    };
    Some(calls.iter().filter_map(document).collect())
}

/// The names and descriptions of a tool's parameters, as its body.
fn parameters(tool: &Value) -> String {
    let known = tool.pointer("/parameters/properties").and_then(Value::as_object);
    let line = |(name, about): (&String, &Value)| {
        let about = about.get("description").and_then(Value::as_str).unwrap_or_default();
        format!("{name}: {about}")
    };
    known.into_iter().flatten().map(line).collect::<Vec<_>>().join("\n")
}

/// MetaTool's `{"name": "description"}` as skills; `None` for other text.
pub(super) fn described_tools(text: &str) -> Option<Vec<RouteDocument>> {
    let tools: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
    // One row of ours in a file is text by text as well.
    if ["id", "skill_id", "name"].iter().any(|key| tools.contains_key(*key)) {
        return None;
    }
    let document =
        |(name, about): (&String, &String)| RouteDocument::from_description(name, name, about);
    Some(tools.iter().map(document).collect())
}
