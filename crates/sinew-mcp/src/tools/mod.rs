//! The tools: one file each, and the table that lists them.

mod acquire_skill;
mod approve;
mod explain;
mod find_skill;
mod list_skills;
mod read_skill;
mod report_outcome;
mod scan_skill;
mod skill_workshop;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sinew_engine::LiveView;

use super::caller::McpCaller;
use super::questions::{ClientReply, McpToolResponse, QuestionSubject};
use super::schema;
use super::tool_answer::{McpToolAnswer, McpToolRefusal};

/// What a tool may change, as clients are told.
#[derive(Debug, Clone, Copy)]
struct ToolHints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

/// A tool that reads and changes nothing.
const LOOK: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };

/// One tool.
pub(super) struct ToolSpec {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    /// The fields of an answer, and those it always has.
    output: fn() -> (Value, &'static [&'static str]),
    hints: ToolHints,
    /// Whether it is offered now.
    offered: fn(&LiveView) -> bool,
    call: fn(&McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal>,
    /// Continues with the answer to its question.
    resume: Option<ToolResumeFn>,
}

type ToolResumeFn =
    fn(&McpToolCall<'_>, &QuestionSubject, ClientReply) -> Result<McpToolResponse, McpToolRefusal>;

/// Every tool there is, in the order in which clients list them.
const TOOLS: &[ToolSpec] = &[
    find_skill::SPEC,
    list_skills::SPEC,
    read_skill::SPEC,
    explain::SPEC,
    acquire_skill::SPEC,
    approve::SPEC,
    report_outcome::SPEC,
    skill_workshop::SPEC,
    scan_skill::SPEC,
];

/// One call.
pub(super) struct McpToolCall<'a> {
    pub(super) look: &'a LiveView,
    pub(super) caller: &'a McpCaller,
    pub(super) arguments: Value,
}

impl McpToolCall<'_> {
    /// The arguments, which were checked against the schema.
    fn read<T: DeserializeOwned>(&self) -> Result<T, McpToolRefusal> {
        serde_json::from_value(self.arguments.clone())
            .map_err(|error| McpToolRefusal::Invalid(error.to_string()))
    }
}

/// The tools that are offered now.
pub(super) fn list(look: &LiveView) -> Vec<Tool> {
    TOOLS.iter().filter(|spec| (spec.offered)(look)).map(ToolSpec::declare).collect()
}

/// The tool of that name, if it is offered now.
pub(super) fn find(look: &LiveView, name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|spec| spec.name == name && (spec.offered)(look))
}

/// Calls a tool, or continues a call whose question was answered.
pub(super) fn call(
    spec: &ToolSpec,
    look: &LiveView,
    caller: &McpCaller,
    arguments: Option<JsonObject>,
    answered: Option<(QuestionSubject, ClientReply)>,
) -> Result<McpToolResponse, McpToolRefusal> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    schema::check(&(spec.input)(), &arguments).map_err(McpToolRefusal::Invalid)?;
    let call = McpToolCall { look, caller, arguments };
    match (answered, spec.resume) {
        (Some((about, reply)), Some(resume)) => resume(&call, &about, reply),
        _ => (spec.call)(&call),
    }
}

impl ToolSpec {
    fn declare(&self) -> Tool {
        let hints = self.hints;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(hints.read_only)
            .destructive(hints.destructive)
            .idempotent(hints.idempotent)
            .open_world(hints.open_world);
        Tool::new(self.name, self.description, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object(self.output_schema()))
            .with_annotations(annotations)
    }

    /// An answer has its fields, or it is an error.
    fn output_schema(&self) -> Value {
        let (mut properties, required) = (self.output)();
        properties["error"] = error_schema();
        json!({
            "type": "object",
            "properties": properties,
            "anyOf": [{"required": required}, {"required": ["error"]}],
        })
    }
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::new(Map::new()),
    }
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Why there is no answer, and what to do next",
        "properties": {
            "kind": {"type": "string", "enum": ["no", "usage", "refused", "environment"]},
            "code": {"type": "string"},
            "message": {"type": "string"},
            "hints": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["kind", "code", "message", "hints"],
    })
}

fn always(_: &LiveView) -> bool {
    true
}

/// Fields for schemas: text, a number, a list of texts.
fn text() -> Value {
    json!({"type": "string"})
}

fn number() -> Value {
    json!({"type": "number"})
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, schema};
    use serde_json::Value;

    /// A keyword that is declared and not checked would be an empty promise.
    #[test]
    fn every_keyword_of_a_schema_is_checked() {
        fn walk(schema: &Value, tool: &str) {
            let Value::Object(fields) = schema else { return };
            for (keyword, value) in fields {
                let known = schema::CHECKED.contains(&keyword.as_str())
                    || schema::TOLD.contains(&keyword.as_str());
                assert!(known, "{tool}: {keyword} is declared and not checked");
                match value {
                    Value::Object(properties) if keyword == "properties" => {
                        properties.values().for_each(|schema| walk(schema, tool));
                    }
                    Value::Array(choices) if matches!(keyword.as_str(), "anyOf" | "oneOf") => {
                        choices.iter().for_each(|schema| walk(schema, tool));
                    }
                    Value::Object(_) => walk(value, tool),
                    _ => {}
                }
            }
        }
        for tool in TOOLS {
            walk(&(tool.input)(), tool.name);
            walk(&tool.output_schema(), tool.name);
        }
    }
}
