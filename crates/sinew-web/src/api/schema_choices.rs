//! Choices that are part of a larger object, written as one object.
//!
//! A state that is flattened into its record is `allOf` with `oneOf` inside. Generators of clients leave
//! such a type out, and every operation that answers with it; an object with the fields of all states is
//! a weaker promise that each of them understands.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Rewrites every such place of a description.
pub(super) fn unite_choices(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    unite_below(document, &schemas);
}

fn unite_below(value: &mut Value, schemas: &Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| unite_below(item, schemas)),
        Value::Object(fields) => {
            if let Some(Value::Array(parts)) = fields.get_mut("allOf") {
                for part in parts {
                    if let Some(united) = choices_of(part, schemas).and_then(united) {
                        *part = united;
                    }
                }
            }
            fields.values_mut().for_each(|field| unite_below(field, schemas));
        }
        _ => {}
    }
}

/// The choices that a part of an object names or is.
fn choices_of<'s>(part: &'s Value, schemas: &'s Value) -> Option<&'s Vec<Value>> {
    let schema = match part["$ref"].as_str() {
        Some(name) => &schemas[name.rsplit('/').next().unwrap_or_default()],
        None => part,
    };
    schema["oneOf"].as_array()
}

/// An object with the fields of all choices, which needs what all of them need; `None` where one of them
/// is not an object.
fn united(choices: &Vec<Value>) -> Option<Value> {
    let mut properties = Map::new();
    let mut required: Option<BTreeSet<&str>> = None;
    for choice in choices {
        let names = choice["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let needed: BTreeSet<&str> = names.collect();
        required = Some(match required {
            Some(all) => &all & &needed,
            None => needed,
        });
        for (name, field) in choice["properties"].as_object()? {
            match properties.get_mut(name) {
                None => drop(properties.insert(name.clone(), field.clone())),
                Some(known) => add_names(known, field),
            }
        }
    }
    let required: Vec<&str> = required.unwrap_or_default().into_iter().collect();
    Some(json!({"type": "object", "required": required, "properties": properties}))
}

/// A field that names the choice may have the names of all.
fn add_names(known: &mut Value, other: &Value) {
    let (Some(Value::Array(names)), Some(Value::Array(more))) =
        (known.get_mut("enum"), other.get("enum"))
    else {
        return;
    };
    for name in more {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::unite_choices;

    #[test]
    fn a_flattened_state_becomes_fields_of_one_object() {
        let field = |name: &str| json!({"type": "string", "enum": [name]});
        let mut document = json!({"components": {"schemas": {
            "State": {"oneOf": [
                {"type": "object", "required": ["state"], "properties": {"state": field("open")}},
                {
                    "type": "object", "required": ["state", "by"],
                    "properties": {"state": field("closed"), "by": {"type": "string"}},
                },
            ]},
            "Record": {"allOf": [
                {"$ref": "#/components/schemas/State"},
                {"type": "object", "properties": {"id": {"type": "string"}}},
            ]},
        }}});
        unite_choices(&mut document);
        let expected = json!({
            "type": "object", "required": ["state"],
            "properties": {
                "state": {"type": "string", "enum": ["open", "closed"]},
                "by": {"type": "string"},
            },
        });
        assert_eq!(document["components"]["schemas"]["Record"]["allOf"][0], expected);
    }
}
