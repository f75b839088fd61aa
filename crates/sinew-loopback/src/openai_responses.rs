//! OpenAI's responses: a list of items; the tools of a server come in a group of their own.

use serde_json::{Value, json};

use crate::agent_request::{OfferedTool, RequestRole, RequestText};
use crate::dialect::{content_texts, list};
use crate::http::HttpReply;
use crate::script::ScriptedAnswer;

pub(crate) fn tools(body: &Value) -> Vec<OfferedTool> {
    let of = |tool: &Value| OfferedTool::of(tool, "parameters");
    let mut tools = Vec::new();
    for tool in list(&body["tools"]) {
        if tool["type"] != "namespace" {
            tools.extend(of(tool));
            continue;
        }
        let group = tool["name"].as_str().map(str::to_owned);
        let members = list(&tool["tools"]).iter().filter_map(of);
        tools.extend(members.map(|member| OfferedTool { group: group.clone(), ..member }));
    }
    tools
}

pub(crate) fn texts(body: &Value) -> Vec<RequestText> {
    let mut texts: Vec<RequestText> = Vec::new();
    if let Some(text) = body["instructions"].as_str() {
        texts.push(RequestText::new(RequestRole::System, text));
    }
    if let Some(text) = body["input"].as_str() {
        texts.push(RequestText::new(RequestRole::User, text));
    }
    for item in list(&body["input"]) {
        if is_result(item) {
            let output = &item["output"];
            let text = match content_texts(output) {
                parts if !parts.is_empty() => parts.join("\n"),
                _ => output.to_string(),
            };
            texts.push(RequestText::new(RequestRole::Tool, text));
            continue;
        }
        let role = match item["role"].as_str() {
            Some("assistant") => RequestRole::Model,
            Some("system" | "developer") => RequestRole::System,
            _ => RequestRole::User,
        };
        let parts = content_texts(&item["content"]).into_iter();
        texts.extend(parts.map(|text| RequestText::new(role, text)));
    }
    texts
}

fn is_result(item: &Value) -> bool {
    item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
}

pub(crate) fn results(body: &Value) -> usize {
    list(&body["input"]).iter().filter(|item| is_result(item)).count()
}

pub(crate) fn answer(body: &Value, answer: &ScriptedAnswer, number: usize) -> HttpReply {
    let id = format!("resp_{number}");
    let item = match answer.parts() {
        Ok((tool, arguments)) => {
            let mut call = json!({"type": "function_call", "id": format!("fc_{number}"),
                "call_id": format!("call_{number}"), "name": tool.name, "status": "completed",
                "arguments": arguments.to_string()});
            if let Some(group) = &tool.group {
                call["namespace"] = json!(group);
            }
            call
        }
        Err(text) => json!({"type": "message", "id": format!("item_{number}"),
            "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
    };
    let usage = json!({"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2});
    let response = json!({"id": id, "object": "response", "created_at": 0, "status": "completed",
        "model": body["model"], "output": [item], "usage": usage});
    if body["stream"] != true {
        return HttpReply::json(200, &response);
    }
    let created = json!({"id": id, "object": "response", "created_at": 0, "status": "in_progress",
        "model": body["model"], "output": []});
    let mut events = vec![
        json!({"type": "response.created", "response": created}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ];
    if let Err(text) = answer.parts() {
        // Clients that show text as it comes read only this event.
        events.push(json!({"type": "response.output_text.delta", "output_index": 0,
            "content_index": 0, "item_id": item["id"], "delta": text}));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    events.push(json!({"type": "response.completed", "response": response}));
    HttpReply::named_events(&events)
}
