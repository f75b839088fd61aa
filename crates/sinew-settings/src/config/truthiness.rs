//! Whether a configuration path counts as set.

use serde_json::Value;

/// Paths that are on when nothing is said about them.
const ON_BY_DEFAULT: &[&str] = &["browser.enabled", "browser.evaluateEnabled"];

/// Keys that JavaScript would find on every object; they never name a setting.
const NEVER: &[&str] = &["__proto__", "constructor", "prototype"];

/// Whether the dotted `path` leads to something that is not absent, null, false, 0 or blank.
pub fn is_truthy(tree: &Value, path: &str) -> bool {
    let segments: Vec<&str> = path.split('.').filter(|segment| !segment.is_empty()).collect();
    let mut value = Some(tree);
    for segment in &segments {
        value = match value {
            Some(Value::Object(map)) if !NEVER.contains(segment) => map.get(*segment),
            Some(Value::Array(items)) => segment.parse().ok().and_then(|i: usize| items.get(i)),
            _ => None,
        };
    }
    match value.filter(|_| !segments.is_empty()) {
        None => ON_BY_DEFAULT.contains(&segments.join(".").as_str()),
        Some(Value::Null) => false,
        Some(Value::Bool(on)) => *on,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(_) | Value::Object(_)) => true,
    }
}
