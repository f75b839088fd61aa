//! A JSON5 text that gets other values, with its comments, order and spelling left alone.

use serde_json::Value;

use super::{ConfigDocument, ConfigEditError, ConfigFormat};

/// The text of a JSON5 map that says `wanted` and is `text` everywhere else; `None` where it cannot be
/// changed in place, so that the caller writes it anew.
pub fn json5_with_values(text: &str, wanted: &Value) -> Option<String> {
    let mut document = ConfigDocument::read(ConfigFormat::Json5, text).ok()?;
    let there: Value = json5::from_str(text).ok()?;
    change(&mut document, &mut Vec::new(), &there, wanted).ok()?;
    let changed = document.text();
    let says: Value = json5::from_str(&changed).ok()?;
    (says == *wanted).then_some(changed)
}

/// Writes what differs below a place.
fn change<'a>(
    document: &mut ConfigDocument,
    at: &mut Vec<&'a str>,
    there: &Value,
    wanted: &'a Value,
) -> Result<(), ConfigEditError> {
    let (Value::Object(old), Value::Object(new)) = (there, wanted) else {
        return if there == wanted { Ok(()) } else { document.put(at, wanted) };
    };
    for (name, value) in new {
        at.push(name);
        match old.get(name) {
            Some(there) => change(document, at, there, value)?,
            None => document.put(at, value)?,
        }
        at.pop();
    }
    for gone in old.keys().filter(|name| !new.contains_key(*name)) {
        let mut place = at.clone();
        place.push(gone.as_str());
        document.remove(&place);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::json5_with_values;

    const TEXT: &str = "{\n  // why\n  skills: { entries: { tides: { enabled: false } } }, // mine\n  route: { top: 5 },\n}\n";

    #[test]
    fn comments_and_spelling_stay() {
        let wanted = json!({
            "skills": {"entries": {"tides": {"enabled": true}, "soup": {"enabled": false}}},
            "route": {"top": 7},
        });
        let text = json5_with_values(TEXT, &wanted).expect("it can be changed in place");
        assert!(text.contains("// why") && text.contains("// mine"), "{text}");
        assert!(text.contains("route: { top: 7 }"), "{text}");
    }

    #[test]
    fn what_goes_leaves_the_rest() {
        let wanted = json!({"skills": {"entries": {}}, "route": {"top": 5}});
        let text = json5_with_values(TEXT, &wanted).expect("it can be changed in place");
        assert!(text.contains("// mine") && !text.contains("tides"), "{text}");
        assert!(json5_with_values("[1]", &wanted).is_none());
    }
}
