//! The tools that a server lists, as agents take them over: what an agent will drop is named, not counted.

use serde_json::Value;

/// What providers of models refuse at the top of a tool's input schema. An agent then drops the tool, or
/// fails with every request while the server is connected.
const REFUSED_AT_ROOT: &[&str] = &["oneOf", "anyOf", "allOf", "not", "enum", "if", "const", "$ref"];

/// The tools of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolList {
    /// Those that an agent has.
    taken: Vec<String>,
    /// Those that it drops.
    dropped: Vec<String>,
}

impl ToolList {
    /// Reads the answer to `tools/list`.
    pub(crate) fn of(result: &Value) -> Option<Self> {
        result["tools"].as_array().map(|tools| Self::of_tools(tools))
    }

    /// The tools of such an answer.
    pub(crate) fn of_tools(tools: &[Value]) -> Self {
        let (taken, dropped): (Vec<&Value>, Vec<&Value>) =
            tools.iter().partition(|tool| is_accepted(&tool["inputSchema"]));
        let names = |tools: Vec<&Value>| -> Vec<String> {
            tools.iter().map(|tool| tool["name"].as_str().unwrap_or("?").to_owned()).collect()
        };
        Self { taken: names(taken), dropped: names(dropped) }
    }

    /// All that the server offers, by name.
    pub(crate) fn names(self) -> Vec<String> {
        self.taken.into_iter().chain(self.dropped).collect()
    }

    /// What the agent has of it, or what is wrong with it.
    pub(crate) fn verdict(&self) -> Result<String, String> {
        match self.dropped.as_slice() {
            [] => Ok(format!("offers {} tools", self.taken.len())),
            dropped => Err(format!(
                "offers {} tools, and agents drop {} for what is at the root of their schemas",
                self.taken.len(),
                dropped.join(", ")
            )),
        }
    }
}

fn is_accepted(schema: &Value) -> bool {
    schema["type"] == "object"
        && REFUSED_AT_ROOT.iter().all(|keyword| schema.get(keyword).is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ToolList;

    fn says(schemas: &[(&str, Value)]) -> Result<String, String> {
        let tools: Vec<Value> = schemas
            .iter()
            .map(|(name, schema)| json!({"name": name, "inputSchema": schema}))
            .collect();
        ToolList::of(&json!({ "tools": tools })).expect("a list").verdict()
    }

    #[test]
    fn what_an_agent_drops_is_named_and_not_counted() {
        let plain = || json!({"type": "object", "properties": {"a": {"anyOf": [{}, {}]}}});
        assert_eq!(says(&[("find", plain())]), Ok("offers 1 tools".to_owned()));
        let said = says(&[
            ("find", plain()),
            ("read", json!({"type": "object", "oneOf": [{"required": ["name"]}]})),
            ("scan", json!({"type": "object", "anyOf": []})),
            ("odd", json!({"type": "string"})),
        ]);
        let expected = "offers 1 tools, and agents drop read, scan, odd for what is at the root of their \
                        schemas";
        assert_eq!(said, Err(expected.to_owned()));
        assert_eq!(ToolList::of(&json!({})), None);
    }
}
