//! The JSON schemas of tools, made from the types that are read and written.
//!
//! Clients differ in what they understand. Every schema here is an object at its top, without a choice
//! beside its fields, and names no other schema: what `utoipa` describes apart is put where it is used.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// A type that holds itself ends here; none does, and a schema is finite in any case.
const MAX_DEPTH: usize = 24;

/// Keywords that clients do not agree on, and that say nothing which is checked.
const LEFT_OUT: &[&str] = &["$ref", "format", "propertyNames", "example", "examples", "title"];

type SchemaObject = Map<String, Value>;

/// The schema of what a tool takes. A field that may be left out is left out, never `null`.
pub(super) fn input<T: ToSchema>() -> Value {
    SchemaInliner::of::<T>(SchemaSide::Input)
}

/// The schema of a tool's data: its fields and their types. Nothing is required, because an error may
/// take its place; and what is inside of a field is not told, because every client downloads the list of
/// tools and few look at an answer before it is there.
pub(super) fn output<T: ToSchema>() -> Value {
    let mut answer = SchemaInliner::of::<T>(SchemaSide::Output);
    if let Some(fields) = answer.as_object_mut() {
        fields.shift_remove("required");
        if let Some(Value::Object(properties)) = fields.get_mut("properties") {
            properties.values_mut().for_each(shallow);
        }
    }
    answer
}

/// The schema of data whose fields are another program's.
pub(super) fn any_object() -> Value {
    json!({"type": "object"})
}

/// The type of a field alone. A field that has no value is left out, never `null`.
fn shallow(schema: &mut Value) {
    let own = |schema: &Value| schema.get("type").filter(|kind| *kind != "null").cloned();
    let choices = parts_of(schema, "anyOf");
    let kind = own(schema).or_else(|| choices.iter().find_map(own));
    *schema = match kind {
        Some(kind) => json!({ "type": kind }),
        None => json!({}),
    };
}

fn parts_of(schema: &Value, keyword: &str) -> Vec<Value> {
    schema.get(keyword).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaSide {
    Input,
    Output,
}

struct SchemaInliner {
    named: BTreeMap<String, Value>,
    side: SchemaSide,
}

impl SchemaInliner {
    fn of<T: ToSchema>(side: SchemaSide) -> Value {
        let mut named = Vec::new();
        T::schemas(&mut named);
        let named = named.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
        let mut top = flat(Self { named, side }.inline(&json!(T::schema()), 0));
        top.shift_remove("description");
        top.entry("properties").or_insert_with(|| json!({}));
        Value::Object(top)
    }

    /// A schema without names of others.
    fn inline(&self, schema: &Value, depth: usize) -> SchemaObject {
        let Value::Object(fields) = schema else { return Map::new() };
        if depth > MAX_DEPTH {
            return Map::new();
        }
        let mut own = Map::new();
        for (keyword, value) in fields {
            let inlined = match (keyword.as_str(), value) {
                ("allOf" | "oneOf" | "anyOf", _) => continue,
                ("description", _) if self.side == SchemaSide::Output && depth > 1 => continue,
                ("properties", Value::Object(properties)) => {
                    let each = properties.iter().map(|(name, property)| {
                        (name.clone(), Value::Object(self.inline(property, depth + 1)))
                    });
                    Value::Object(each.collect())
                }
                ("items" | "additionalProperties", Value::Object(_)) => {
                    Value::Object(self.inline(value, depth + 1))
                }
                (keyword, _) if LEFT_OUT.contains(&keyword) => continue,
                _ => value.clone(),
            };
            own.insert(keyword.clone(), inlined);
        }
        let nullable = take_null(&mut own);
        if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
            let name = name.rsplit('/').next().unwrap_or_default();
            let named = self.named.get(name).unwrap_or(&Value::Null);
            let mut named = self.inline(named, depth);
            if self.side == SchemaSide::Input {
                // What a type is says little of what an argument is for.
                named.shift_remove("description");
            }
            fill(&mut own, named);
        }
        for part in parts(fields, "allOf") {
            add(&mut own, flat(self.inline(part, depth)));
        }
        let choices = parts(fields, "oneOf").chain(parts(fields, "anyOf"));
        let (nulls, choices): (Vec<_>, Vec<_>) = choices
            .map(|choice| self.inline(choice, depth))
            .partition(|choice| choice.get("type") == Some(&json!("null")));
        self.choose(own, choices, nullable || !nulls.is_empty())
    }

    /// A schema with its choices. One alone is no choice, and nothing that is read is `null`.
    fn choose(
        &self,
        mut own: SchemaObject,
        mut choices: Vec<SchemaObject>,
        nullable: bool,
    ) -> SchemaObject {
        let nullable = nullable && self.side == SchemaSide::Output;
        if choices.len() == 1 {
            fill(&mut own, choices.swap_remove(0));
            choices.clear();
        }
        if !nullable && choices.is_empty() {
            return own;
        }
        let mut outer = Map::new();
        for told in ["description", "default"] {
            if let Some(value) = own.shift_remove(told) {
                outer.insert(told.to_owned(), value);
            }
        }
        if choices.is_empty() {
            choices.push(own);
        } else {
            choices.iter_mut().for_each(|choice| add(choice, own.clone()));
        }
        if nullable {
            choices.push(Map::from_iter([("type".to_owned(), json!("null"))]));
        }
        outer.insert("anyOf".to_owned(), json!(choices));
        outer
    }
}

/// The schemas of a keyword that lists some.
fn parts<'a>(fields: &'a SchemaObject, keyword: &str) -> impl Iterator<Item = &'a Value> {
    fields.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Takes `null` out of a list of types, and says whether it was there.
fn take_null(schema: &mut SchemaObject) -> bool {
    let Some(Value::Array(kinds)) = schema.get_mut("type") else { return false };
    let before = kinds.len();
    kinds.retain(|kind| kind != "null");
    let nullable = kinds.len() < before;
    if let [kind] = kinds.as_slice() {
        let kind = kind.clone();
        schema.insert("type".to_owned(), kind);
    }
    nullable
}

/// Takes over what a schema does not say itself.
fn fill(schema: &mut SchemaObject, other: SchemaObject) {
    for (keyword, value) in other {
        schema.entry(keyword).or_insert(value);
    }
}

/// Adds the fields of another object.
fn add(schema: &mut SchemaObject, other: SchemaObject) {
    for (keyword, value) in other {
        match (schema.get_mut(&keyword), value) {
            (Some(Value::Object(own)), Value::Object(more)) if keyword == "properties" => {
                fill(own, more);
            }
            (Some(Value::Array(own)), Value::Array(more)) if keyword == "required" => {
                own.extend(more);
            }
            (Some(_), _) => {}
            (None, value) => drop(schema.insert(keyword, value)),
        }
    }
}

/// An object for one of several: it has every field of each, and needs what all of them need.
fn flat(mut schema: SchemaObject) -> SchemaObject {
    let Some(Value::Array(choices)) = schema.shift_remove("anyOf") else { return schema };
    let mut united: Option<SchemaObject> = None;
    for choice in choices {
        let Value::Object(choice) = choice else { continue };
        let choice = flat(choice);
        let Some(all) = &mut united else {
            united = Some(choice);
            continue;
        };
        let needed = choice.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(Value::Array(required)) = all.get_mut("required") {
            required.retain(|name| needed.contains(name));
        }
        let properties = choice.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let fields = all.entry("properties").or_insert_with(|| json!({}));
            let known = fields.get(name).cloned();
            fields[name] = either(known, property);
        }
    }
    add(&mut schema, united.unwrap_or_default());
    schema
}

/// A field that is described twice.
fn either(known: Option<Value>, other: &Value) -> Value {
    let Some(mut known) = known.filter(|known| known != other) else { return other.clone() };
    let names = |schema: &Value| schema.get("enum").and_then(Value::as_array).cloned();
    if let (Some(mut all), Some(more)) = (names(&known), names(other)) {
        all.extend(more);
        let mut seen: Vec<Value> = Vec::new();
        all.retain(|name| {
            !seen.contains(name) && {
                seen.push(name.clone());
                true
            }
        });
        known["enum"] = Value::Array(all);
        return known;
    }
    let mut choices = match known.get("anyOf") {
        Some(Value::Array(choices)) => choices.clone(),
        _ => vec![known],
    };
    match other.get("anyOf") {
        Some(Value::Array(more)) => choices.extend(more.iter().cloned()),
        _ => choices.push(other.clone()),
    }
    json!({ "anyOf": choices })
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;
    use utoipa::ToSchema;

    use super::{SchemaInliner, SchemaSide, input, output};

    /// What is to be done
    #[derive(Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only described")]
    struct TakenFields {
        /// What
        #[schema(min_length = 1)]
        what: String,
        #[schema(minimum = 1, maximum = 20, default = 3)]
        limit: Option<usize>,
        #[schema(default = "fast")]
        speed: Option<TakenSpeed>,
    }

    #[derive(Deserialize, ToSchema)]
    #[serde(rename_all = "lowercase")]
    enum TakenSpeed {
        Fast,
        Slow,
    }

    #[derive(Serialize, ToSchema)]
    struct SaidFields {
        #[serde(flatten)]
        state: SaidState,
        name: Option<String>,
    }

    #[derive(Serialize, ToSchema)]
    #[serde(tag = "state", rename_all = "lowercase")]
    #[expect(dead_code, reason = "only described")]
    enum SaidState {
        Open { since: u64 },
        Closed,
    }

    #[test]
    fn what_is_taken_has_bounds_and_is_never_null() {
        let expected = json!({
            "type": "object", "additionalProperties": false, "required": ["what"],
            "properties": {
                "what": {"type": "string", "description": "What", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3},
                "speed": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            },
        });
        assert_eq!(input::<TakenFields>(), expected);
    }

    #[test]
    fn a_flattened_choice_gives_an_object_with_the_fields_of_all() {
        let said = SchemaInliner::of::<SaidFields>(SchemaSide::Output);
        assert_eq!(said["type"], "object");
        assert_eq!(said["required"], json!(["state"]));
        assert_eq!(said["properties"]["state"]["enum"], json!(["open", "closed"]));
        assert_eq!(said["properties"]["since"]["type"], "integer");
        let name = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        assert_eq!(said["properties"]["name"], name);
        assert!(said.get("anyOf").is_none() && said.get("allOf").is_none());
    }

    #[test]
    fn clients_are_told_the_fields_of_an_answer_and_their_types() {
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "since": {"type": "integer"},
                "state": {"type": "string"},
            },
        });
        assert_eq!(output::<SaidFields>(), expected);
    }
}
