//! Google's `generateContent`: contents of parts, tools as declarations of functions.

use serde_json::{Value, json};

use crate::agent_request::{OfferedTool, RequestRole, RequestText};
use crate::dialect::{content_texts, list};
use crate::http::HttpReply;
use crate::script::ScriptedAnswer;

pub(crate) fn tools(body: &Value) -> Vec<OfferedTool> {
    let groups = list(&body["tools"]).iter();
    let functions = groups.flat_map(|tool| list(&tool["functionDeclarations"]));
    functions
        .filter_map(|function| {
            // The schema stands in one of two fields, by its kind.
            let field = ["parametersJsonSchema", "parameters"];
            let field = field.into_iter().find(|field| !function[field].is_null());
            OfferedTool::of(function, field.unwrap_or("parameters"))
        })
        .collect()
}

pub(crate) fn texts(body: &Value) -> Vec<RequestText> {
    let system = content_texts(&body["systemInstruction"]["parts"]).into_iter();
    let mut texts: Vec<RequestText> =
        system.map(|text| RequestText::new(RequestRole::System, text)).collect();
    for content in list(&body["contents"]) {
        let role = if content["role"] == "model" { RequestRole::Model } else { RequestRole::User };
        for part in list(&content["parts"]) {
            if let Some(result) = part.get("functionResponse") {
                texts.push(RequestText::new(RequestRole::Tool, result_text(result)));
            } else if let Some(text) = part["text"].as_str() {
                texts.push(RequestText::new(role, text));
            }
        }
    }
    texts
}

/// What a function gave: one text where there is one, else all of it.
fn result_text(result: &Value) -> String {
    let response = &result["response"];
    let text = response["output"].as_str().or_else(|| response["error"].as_str());
    text.map_or_else(|| response.to_string(), str::to_owned)
}

pub(crate) fn results(body: &Value) -> usize {
    let parts = list(&body["contents"]).iter().flat_map(|content| list(&content["parts"]));
    parts.filter(|part| part.get("functionResponse").is_some()).count()
}

pub(crate) fn answer(path: &str, answer: &ScriptedAnswer) -> HttpReply {
    let part = match answer.parts() {
        Ok((tool, arguments)) => {
            json!({"functionCall": {"name": tool.name, "args": arguments}})
        }
        Err(text) => json!({"text": text}),
    };
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]},
                        "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "loopback"});
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    match (path.ends_with(":streamGenerateContent"), query.contains("alt=sse")) {
        (true, true) => HttpReply::events(&[whole.to_string()]),
        (true, false) => HttpReply::json(200, &json!([whole])),
        (false, _) => HttpReply::json(200, &whole),
    }
}
