//! The description of the API: complete, and true.

use serde_json::{Value, json};

use crate::support::Server;

/// Every endpoint that the API promises.
const PROMISED: &[(&str, &str)] = &[
    ("get", "/skills"),
    ("get", "/skills/{name}"),
    ("get", "/skills/{name}/files/{path}"),
    ("patch", "/skills/{name}"),
    ("post", "/skills/validate"),
    ("get", "/prompt"),
    ("post", "/route"),
    ("get", "/cortex"),
    ("get", "/cortex/regions/{id}"),
    ("post", "/cortex/blacklist"),
    ("delete", "/cortex/blacklist/{slug}"),
    ("get", "/outcomes"),
    ("post", "/outcomes"),
    ("get", "/approvals"),
    ("post", "/approvals/{id}/decision"),
    ("get", "/proposals"),
    ("get", "/proposals/{id}"),
    ("get", "/proposals/{id}/diff"),
    ("post", "/proposals"),
    ("post", "/proposals/{id}/apply"),
    ("post", "/proposals/{id}/reject"),
    ("post", "/proposals/{id}/revise"),
    ("post", "/proposals/{id}/restore"),
    ("post", "/proposals/{id}/undo"),
    ("get", "/registry/search"),
    ("get", "/registry/installed"),
    ("post", "/registry/install"),
    ("post", "/registry/update"),
    ("delete", "/registry/installed/{slug}"),
    ("get", "/traces"),
    ("post", "/traces"),
    ("get", "/traces/{id}"),
    ("post", "/traces/{id}/distill"),
    ("post", "/scan"),
    ("get", "/activity"),
    ("get", "/events"),
    ("get", "/version"),
    ("get", "/config"),
];

async fn document(server: &Server) -> Value {
    server.get("/openapi.json").await.json()
}

#[tokio::test]
async fn every_endpoint_is_described() {
    let document = document(&Server::new()).await;
    assert!(document["openapi"].as_str().expect("a version").starts_with("3.1"));
    for (method, path) in PROMISED {
        let described = &document["paths"][format!("/api/v1{path}")][method];
        assert!(described["operationId"].is_string(), "{method} {path}");
        assert!(described["summary"].is_string(), "{method} {path}");
        assert!(described["responses"]["4XX"].is_object(), "{method} {path}");
    }
    let mut shown = document.clone();
    shown["info"]["version"] = json!("[version]");
    insta::with_settings!({omit_expression => true}, {
        insta::assert_json_snapshot!("openapi", shown);
    });
}

/// Holds a value against a schema of the description: a required field that is missing, or a value
/// of another kind, is told with its place.
fn check(document: &Value, schema: &Value, value: &Value, place: &str, wrong: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().expect("a name");
        return check(document, &document["components"]["schemas"][name], value, place, wrong);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = choices.iter().any(|choice| {
            let mut trouble = Vec::new();
            check(document, choice, value, place, &mut trouble);
            trouble.is_empty()
        });
        if !fits {
            wrong.push(format!("{place}: {value} fits none of the choices"));
        }
        return;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"));
    if !fits {
        return wrong.push(format!("{place}: {kind} instead of {kinds:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        wrong.push(format!("{place}: {value} is not one of {allowed:?}"));
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check(document, &schema["items"], item, &format!("{place}[{at}]"), wrong);
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        if value.get(name).is_none() {
            wrong.push(format!("{place}: {name} is missing"));
        }
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            check(document, field, value, &format!("{place}.{name}"), wrong);
        }
    }
}

#[tokio::test]
async fn answers_are_what_the_description_says() {
    let server = Server::new();
    let document = document(&server).await;
    let draft = json!({"skillName": "standup", "description": "The standup", "body": "- Ask"});
    let made = server.post("/proposals", &draft).await.json();
    let id = made["proposal"]["id"].as_str().expect("an id").to_owned();
    let report = json!({
        "skill": "todoist", "version": "1", "region": "tasks", "outcome": "success",
        "side_effects": ["write:files"],
    });
    let asked = [
        ("post", "/outcomes", "/outcomes".to_owned(), report),
        ("post", "/proposals", "/proposals".to_owned(), draft),
        ("post", "/route", "/route".to_owned(), json!({"message": "release notes"})),
        ("post", "/scan", "/scan".to_owned(), json!({"skill": "weather"})),
        ("post", "/skills/validate", "/skills/validate".to_owned(), json!({})),
        ("get", "/skills", "/skills?limit=200".to_owned(), Value::Null),
        ("get", "/skills/{name}", "/skills/needs-gh".to_owned(), Value::Null),
        (
            "get",
            "/skills/{name}/files/{path}",
            "/skills/weather/files/SKILL.md".to_owned(),
            Value::Null,
        ),
        ("get", "/prompt", "/prompt".to_owned(), Value::Null),
        ("get", "/cortex", "/cortex".to_owned(), Value::Null),
        ("get", "/cortex/regions/{id}", "/cortex/regions/tasks".to_owned(), Value::Null),
        ("get", "/outcomes", "/outcomes".to_owned(), Value::Null),
        ("get", "/approvals", "/approvals?state=all".to_owned(), Value::Null),
        ("get", "/proposals", "/proposals".to_owned(), Value::Null),
        ("get", "/proposals/{id}", format!("/proposals/{id}"), Value::Null),
        ("get", "/proposals/{id}/diff", format!("/proposals/{id}/diff"), Value::Null),
        ("post", "/proposals/{id}/reject", format!("/proposals/{id}/reject"), json!({})),
        ("get", "/registry/installed", "/registry/installed".to_owned(), Value::Null),
        ("get", "/activity", "/activity".to_owned(), Value::Null),
        ("get", "/version", "/version".to_owned(), Value::Null),
        ("get", "/config", "/config".to_owned(), Value::Null),
        ("get", "/skills/{name}", "/skills/no-such-skill".to_owned(), Value::Null),
    ];
    for (method, template, path, body) in asked {
        let answer = match method {
            "get" => server.get(&path).await,
            _ => server.post(&path, &body).await,
        };
        let responses = &document["paths"][format!("/api/v1{template}")][method]["responses"];
        let status = answer.status.as_str();
        let response = match &responses[status] {
            Value::Null => &responses[format!("{}XX", &status[..1])],
            found => found,
        };
        let content = response["content"].as_object().unwrap_or_else(|| panic!("{path} {status}"));
        let (kind, schema) = content.iter().next().expect("a content");
        assert_eq!(answer.header("content-type"), kind, "{path}");
        let mut wrong = Vec::new();
        check(&document, &schema["schema"], &answer.json(), "", &mut wrong);
        assert!(wrong.is_empty(), "{method} {path}: {wrong:#?}");
    }
}
