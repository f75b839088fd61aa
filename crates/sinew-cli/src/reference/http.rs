//! The endpoints, as the API describes itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::cell;

/// Every endpoint, by what it is about.
pub(super) fn page() -> String {
    let document = sinew_web::api_document();
    let about = document["info"]["description"].as_str().unwrap_or_default();
    let mut text = format!(
        "# HTTP API\n\n{}\n\nA program sends the token of sinew's home (`~/.sinew/token`) as \
         `Authorization: Bearer …`. `/api/v1/openapi.json` holds the same with every schema; \
         refusals are `application/problem+json` with a code of [errors](errors.md).\n",
        cell(about)
    );
    let mut groups: BTreeMap<&str, String> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let tag = operation["tags"][0].as_str().unwrap_or_default();
            groups.entry(tag).or_default().push_str(&row(path, method, operation));
        }
    }
    for tag in document["tags"].as_array().into_iter().flatten() {
        let (name, about) = (tag["name"].as_str(), tag["description"].as_str());
        let (name, about) = (name.unwrap_or_default(), about.unwrap_or_default());
        let Some(rows) = groups.get(name) else { continue };
        let _ = write!(
            text,
            "\n## {about}\n\n| endpoint | what it does | parameters |\n|---|---|---|\n{rows}"
        );
    }
    text
}

fn row(path: &str, method: &str, operation: &Value) -> String {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let mut parameters: Vec<String> = parameters
        .filter(|parameter| parameter["in"] == "query")
        .filter_map(|parameter| Some(format!("`{}`", parameter["name"].as_str()?)))
        .collect();
    let body = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    if let Some(name) = body.as_str().and_then(|reference| reference.rsplit('/').next()) {
        parameters.push(format!("body {name}"));
    }
    let summary = operation["summary"].as_str().unwrap_or_default();
    let method = method.to_uppercase();
    format!("| `{method} {path}` | {} | {} |\n", cell(summary), parameters.join(", "))
}
