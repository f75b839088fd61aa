//! The tools: one file each, and the table that lists them.

mod acquire_output;
mod acquire_queries;
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

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sinew_engine::{EngineError, LiveView};

use super::caller::McpCaller;
use super::questions::{ClientReply, McpToolResponse, QuestionSubject};
use super::schema;
use super::tool_answer::{McpToolAnswer, bad_argument};

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

/// Tools that a model needs before it knows what to search for. Claude Code shows its model the names of
/// the others only, until it asks for them.
const FIRST_NEEDED: &[&str] = &["find_skill", "read_skill"];
/// How Claude Code is told so.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// One tool.
pub(super) struct ToolSpec {
    name: &'static str,
    description: &'static str,
    /// The schema of its arguments.
    input: fn() -> Value,
    /// The schema of its data, where it gives any.
    output: Option<fn() -> Value>,
    hints: ToolHints,
    /// Whether it is offered now.
    offered: fn(&LiveView) -> bool,
    call: fn(&McpToolCall<'_>) -> Result<McpToolResponse, EngineError>,
    /// Continues with the answer to its question.
    resume: Option<ToolResumeFn>,
}

type ToolResumeFn =
    fn(&McpToolCall<'_>, &QuestionSubject, ClientReply) -> Result<McpToolResponse, EngineError>;

/// Every tool there is, in the order in which clients list them.
const TOOLS: &[ToolSpec] = &[
    find_skill::SPEC,
    list_skills::SPEC,
    read_skill::SPEC,
    explain::SPEC,
    report_outcome::SPEC,
    acquire_queries::SEARCH,
    acquire_skill::SPEC,
    acquire_queries::STATUS,
    approve::LIST,
    approve::SPEC,
    skill_workshop::STATUS,
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
    fn read<T: DeserializeOwned>(&self) -> Result<T, EngineError> {
        serde_json::from_value(self.arguments.clone())
            .map_err(|error| bad_argument(error.to_string()))
    }

    /// Of these arguments exactly one is there. A schema cannot say so: clients refuse a choice at the
    /// top of one.
    fn check_one_of(&self, names: &[&str]) -> Result<(), EngineError> {
        match names.iter().filter(|name| self.arguments.get(name).is_some()).count() {
            1 => Ok(()),
            found => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let said = format!("exactly one of {} is required, not {found}", names.join(", "));
                Err(bad_argument(said))
            }
        }
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
) -> Result<McpToolResponse, EngineError> {
    let arguments = Value::Object(of_command(spec, arguments.unwrap_or_default()));
    schema::check(&(spec.input)(), &arguments).map_err(bad_argument)?;
    if !spec.hints.read_only {
        look.engine.check_gate()?;
    }
    let call = McpToolCall { look, caller, arguments };
    match (answered, spec.resume) {
        (Some((about, reply)), Some(resume)) => resume(&call, &about, reply),
        _ => (spec.call)(&call),
    }
}

/// The payload of a slash command that a host sends straight to `find_skill`: what was typed is the
/// message. No other tool takes words alone.
fn of_command(spec: &ToolSpec, mut arguments: JsonObject) -> JsonObject {
    if spec.name == find_skill::SPEC.name && arguments.contains_key("commandName") {
        let typed = arguments.remove("command").unwrap_or_default();
        return Map::from_iter([("message".to_owned(), typed)]);
    }
    arguments
}

impl ToolSpec {
    fn declare(&self) -> Tool {
        let hints = self.hints;
        let mut annotations = ToolAnnotations::default()
            .read_only(hints.read_only)
            .destructive(hints.destructive)
            .open_world(hints.open_world);
        // What is not said is `false`, and of a tool that changes nothing it says nothing.
        annotations.idempotent_hint = (hints.idempotent && !hints.read_only).then_some(true);
        let tool = Tool::new(self.name, self.description, object((self.input)()))
            .with_annotations(annotations);
        let tool = match FIRST_NEEDED.contains(&self.name) {
            true => {
                tool.with_meta(MetaObject(Map::from_iter([(ALWAYS_LOAD.to_owned(), true.into())])))
            }
            false => tool,
        };
        match self.output {
            Some(output) => tool.with_raw_output_schema(object(output())),
            None => tool,
        }
    }
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::new(Map::new()),
    }
}

fn always(_: &LiveView) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, schema};
    use serde_json::Value;

    /// A keyword that is declared and not checked would be an empty promise.
    #[test]
    fn every_keyword_of_an_input_is_checked() {
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
                    Value::Object(_) => walk(value, tool),
                    _ => {}
                }
            }
        }
        for tool in TOOLS {
            walk(&(tool.input)(), tool.name);
        }
    }

    /// Clients drop a tool whose schema is not a plain object at its top, or names another schema.
    #[test]
    fn clients_take_every_schema() {
        fn walk(schema: &Value, tool: &str) {
            match schema {
                Value::Object(fields) => {
                    for keyword in ["$ref", "$defs", "allOf", "oneOf"] {
                        assert!(!fields.contains_key(keyword), "{tool}: {keyword} in {schema}");
                    }
                    let kind = fields.get("type");
                    assert!(!kind.is_some_and(Value::is_array), "{tool}: a list of types");
                    for (keyword, value) in fields {
                        match value {
                            Value::Object(properties) if keyword == "properties" => {
                                properties.values().for_each(|schema| walk(schema, tool));
                            }
                            _ if keyword == "default" => {}
                            value => walk(value, tool),
                        }
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| walk(item, tool)),
                _ => {}
            }
        }
        for tool in TOOLS {
            for schema in std::iter::once((tool.input)()).chain(tool.output.map(|output| output()))
            {
                assert_eq!(schema["type"], "object", "{}", tool.name);
                for choice in ["anyOf", "oneOf", "allOf", "enum", "not", "if"] {
                    assert!(schema.get(choice).is_none(), "{}: {choice}", tool.name);
                }
                walk(&schema, tool.name);
            }
        }
    }
}
