//! Checks values against the JSON schemas that tools declare: what a client reads is what is enforced.
//!
//! Only the keywords that our schemas use are known; a test holds every declared schema against that
//! list, so that none is declared and not checked.

use regex::Regex;
use serde_json::{Map, Value};

/// Keywords that are checked.
#[cfg(test)]
pub(super) const CHECKED: &[&str] = &[
    "type",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "pattern",
];

/// Keywords that only inform the reader.
#[cfg(test)]
pub(super) const TOLD: &[&str] = &["description", "title", "default"];

/// Says what is wrong with a value, if something is.
pub(super) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    at(schema, value, "")
}

fn at(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let Value::Object(schema) = schema else { return Ok(()) };
    let name = &if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") };
    if let Some(kind) = schema.get("type").filter(|kind| !is_of(kind, value)) {
        return Err(format!("{name} must be {}", of_kind(&words(kind))));
    }
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed = words(&Value::Array(allowed.clone()));
        return Err(format!("{name} must be one of {allowed}, not {}", shown(value)));
    }
    match value {
        Value::String(text) => string(schema, text, name)?,
        Value::Number(number) => between(schema, &NUMBER, number.as_f64(), name)?,
        Value::Array(items) => {
            between(schema, &ITEMS, Some(items.len() as f64), name)?;
            if let Some(each) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    at(each, item, &format!("{path}[{index}]"))?;
                }
            }
        }
        Value::Object(fields) => object(schema, fields, path)?,
        Value::Null | Value::Bool(_) => {}
    }
    Ok(())
}

fn string(schema: &Map<String, Value>, text: &str, name: &str) -> Result<(), String> {
    between(schema, &CHARACTERS, Some(text.chars().count() as f64), name)?;
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && !Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
    {
        return Err(format!("{name} must look like {pattern}"));
    }
    Ok(())
}

/// A pair of bounds: its keywords, and what is counted.
struct BoundWords {
    least: &'static str,
    most: &'static str,
    unit: &'static str,
}

const NUMBER: BoundWords = BoundWords { least: "minimum", most: "maximum", unit: "" };
const CHARACTERS: BoundWords =
    BoundWords { least: "minLength", most: "maxLength", unit: " characters" };
const ITEMS: BoundWords = BoundWords { least: "minItems", most: "maxItems", unit: " items" };

fn between(
    schema: &Map<String, Value>,
    words: &BoundWords,
    found: Option<f64>,
    name: &str,
) -> Result<(), String> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let (Some(found), least, most) = (found, bound(words.least), bound(words.most)) else {
        return Ok(());
    };
    let fits = least.is_none_or(|least| found >= least) && most.is_none_or(|most| found <= most);
    if fits {
        return Ok(());
    }
    let allowed = match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, most) => format!("at most {}", most.unwrap_or_default()),
    };
    let verb = if words.unit.is_empty() { "must be" } else { "must have" };
    Err(format!("{name} {verb} {allowed}{}, not {found}", words.unit))
}

fn object(
    schema: &Map<String, Value>,
    fields: &Map<String, Value>,
    path: &str,
) -> Result<(), String> {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    if let Some(Value::Array(required)) = schema.get("required") {
        let missing =
            required.iter().filter_map(Value::as_str).find(|key| !fields.contains_key(*key));
        if let Some(key) = missing {
            return Err(format!("`{}` is required", below(key)));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, value) in fields {
        match properties.and_then(|properties| properties.get(key)) {
            Some(property) => at(property, value, &below(key))?,
            None => match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => {
                    let key: String = key.chars().take(40).collect();
                    let known: Vec<&str> =
                        properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                    let allowed = match known.as_slice() {
                        [] => "there are none".to_owned(),
                        known => format!("there are {}", known.join(", ")),
                    };
                    return Err(format!("there is no argument `{}`; {allowed}", below(&key)));
                }
                Some(each) => at(each, value, &below(key))?,
                None => {}
            },
        }
    }
    Ok(())
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
        Value::String(kind) => match kind.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "null" => value.is_null(),
            _ => false,
        },
        _ => false,
    }
}

/// A kind of value, in words.
fn of_kind(kind: &str) -> String {
    match kind {
        "string" => "text".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

/// A value that a caller sent, short enough for a message.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Allowed words for a message.
fn words(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Array(words) => words
            .iter()
            .map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::{Value, json};

    fn says(schema: &Value, value: &Value) -> String {
        check(schema, value).err().unwrap_or_default()
    }

    #[test]
    fn what_is_wrong_is_named() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["message"],
            "properties": {
                "message": {"type": "string", "minLength": 1, "maxLength": 3},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20},
                "mode": {"type": "string", "enum": ["auto", "words"]},
                "tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "pattern": "^[a-z]+$"}},
            },
        });
        let good = json!({"message": "äöü", "limit": 3, "mode": "auto", "tags": ["a"]});
        assert_eq!(says(&schema, &good), "");
        for (value, expected) in [
            (json!({}), "`message` is required"),
            (json!({"message": ""}), "`message` must have 1 to 3 characters, not 0"),
            (json!({"message": "four"}), "`message` must have 1 to 3 characters, not 4"),
            (json!({"message": 3}), "`message` must be text"),
            (json!({"message": "a", "limit": 1.5}), "`limit` must be a whole number"),
            (json!({"message": "a", "limit": 21}), "`limit` must be 1 to 20, not 21"),
            (
                json!({"message": "a", "mode": "no"}),
                "`mode` must be one of auto, words, not \"no\"",
            ),
            (json!({"message": "a", "tags": ["A"]}), "`tags[0]` must look like ^[a-z]+$"),
            (
                json!({"message": "a", "tags": ["a", "b", "c"]}),
                "`tags` must have at most 2 items, not 3",
            ),
            (
                json!({"message": "a", "other": 1}),
                "there is no argument `other`; there are message, limit, mode, tags",
            ),
            (json!([]), "the arguments must be an object"),
        ] {
            assert_eq!(says(&schema, &value), expected);
        }
    }
}
