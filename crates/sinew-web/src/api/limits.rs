//! The bounds that the description of the API names, enforced where a request is read: what a client
//! reads is what holds.

use serde_json::{Map, Value, json};
use sinew_settings::ErrorCode;
use url::form_urlencoded;
use utoipa::{IntoParams, ToSchema};

use super::Problem;

/// Fields whose bounds have a code of their own.
const OWN_CODES: &[(&str, ErrorCode)] = &[
    ("`message`", ErrorCode::BadMessage),
    ("`limit`", ErrorCode::BadLimit),
    ("`intent`", ErrorCode::BadIntent),
    ("`q`", ErrorCode::BadSearch),
];

/// Refuses a body that breaks the bounds of its type.
pub(super) fn check_body<T: ToSchema>(body: &Value) -> Result<(), Problem> {
    match broken(&json!(T::schema()), body, "the body") {
        None => Ok(()),
        Some(said) => Err(problem(ErrorCode::BadBody, said)),
    }
}

/// Refuses a query that breaks the bounds of its parameters.
pub(super) fn check_query<T: IntoParams>(query: &str) -> Result<(), Problem> {
    match broken_by_query::<T>(query) {
        None => Ok(()),
        Some(said) => Err(problem(ErrorCode::BadQuery, said)),
    }
}

fn problem(usual: ErrorCode, said: String) -> Problem {
    let own = OWN_CODES.iter().find(|(field, _)| said.starts_with(field));
    Problem::new(own.map_or(usual, |(_, code)| *code), said)
}

fn broken_by_query<T: IntoParams>(query: &str) -> Option<String> {
    let parameters = T::into_params(|| None);
    form_urlencoded::parse(query.as_bytes()).find_map(|(name, text)| {
        let parameter = parameters.iter().find(|parameter| parameter.name == name)?;
        let schema = json!(parameter.schema);
        let value = match text.parse::<f64>() {
            Ok(number) if has_type(&schema, "integer") => json!(number),
            _ => json!(text),
        };
        broken(&schema, &value, &format!("`{name}`"))
    })
}

fn broken(schema: &Value, value: &Value, name: &str) -> Option<String> {
    let Value::Object(schema) = schema else { return None };
    let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    if let Some(said) = parts.into_iter().find_map(|part| broken(part, value, name)) {
        return Some(said);
    }
    match value {
        Value::String(text) => {
            let length = text.chars().count() as f64;
            beyond(schema, ["minLength", "maxLength"], length, name, " characters")
        }
        Value::Number(number) => beyond(schema, ["minimum", "maximum"], number.as_f64()?, name, ""),
        Value::Array(items) => {
            let count = items.len() as f64;
            beyond(schema, ["minItems", "maxItems"], count, name, " items").or_else(|| {
                let each = schema.get("items")?;
                items.iter().find_map(|item| broken(each, item, &format!("an item of {name}")))
            })
        }
        Value::Object(fields) => {
            let properties = schema.get("properties")?.as_object()?;
            fields.iter().find_map(|(name, field)| {
                broken(properties.get(name)?, field, &format!("`{name}`"))
            })
        }
        Value::Null | Value::Bool(_) => None,
    }
}

fn beyond(
    schema: &Map<String, Value>,
    [least, most]: [&str; 2],
    found: f64,
    name: &str,
    unit: &str,
) -> Option<String> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let (least, most) = (bound(least), bound(most));
    let fits = least.is_none_or(|least| found >= least) && most.is_none_or(|most| found <= most);
    let allowed = match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, most) => format!("at most {}", most.unwrap_or_default()),
    };
    (!fits).then(|| format!("{name} is {allowed}{unit}, not {found}"))
}

fn has_type(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(own) => own == kind,
        Value::Array(kinds) => kinds.iter().any(|own| own == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::broken;

    #[test]
    fn a_bound_is_named_with_what_was_sent() {
        let schema = json!({"properties": {
            "detail": {"type": ["string", "null"], "maxLength": 3},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            "tags": {"type": "array", "maxItems": 1, "items": {"type": "string", "minLength": 1}},
        }});
        for (body, said) in [
            (json!({"detail": "äöü", "limit": 20, "tags": ["a"], "other": 1}), None),
            (json!({"detail": "four"}), Some("`detail` is at most 3 characters, not 4")),
            (json!({"limit": 0}), Some("`limit` is 1 to 20, not 0")),
            (json!({"tags": ["a", "b"]}), Some("`tags` is at most 1 items, not 2")),
            (json!({"tags": [""]}), Some("an item of `tags` is at least 1 characters, not 0")),
        ] {
            assert_eq!(broken(&schema, &body, "the body").as_deref(), said, "{body}");
        }
    }
}
