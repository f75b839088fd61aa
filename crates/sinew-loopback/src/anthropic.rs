//! Anthropic's messages: content in blocks, results of tools inside the user's messages.

use serde_json::{Value, json};

use crate::agent_request::{OfferedTool, RequestRole, RequestText};
use crate::dialect::{content_texts, list};
use crate::http::HttpReply;
use crate::script::ScriptedAnswer;

pub(crate) fn tools(body: &Value) -> Vec<OfferedTool> {
    list(&body["tools"]).iter().filter_map(|tool| OfferedTool::of(tool, "input_schema")).collect()
}

pub(crate) fn texts(body: &Value) -> Vec<RequestText> {
    let system = content_texts(&body["system"]).into_iter();
    let mut texts: Vec<RequestText> =
        system.map(|text| RequestText::new(RequestRole::System, text)).collect();
    for message in list(&body["messages"]) {
        let role = match message["role"].as_str() {
            Some("assistant") => RequestRole::Model,
            Some("system") => RequestRole::System,
            _ => RequestRole::User,
        };
        if let Some(text) = message["content"].as_str() {
            texts.push(RequestText::new(role, text));
        }
        for block in list(&message["content"]) {
            if block["type"] == "tool_result" {
                let parts = content_texts(&block["content"]);
                texts.push(RequestText::new(RequestRole::Tool, parts.join("\n")));
            } else if let Some(text) = block["text"].as_str() {
                texts.push(RequestText::new(role, text));
            }
        }
    }
    texts
}

pub(crate) fn results(body: &Value) -> usize {
    let blocks = list(&body["messages"]).iter().flat_map(|message| list(&message["content"]));
    blocks.filter(|block| block["type"] == "tool_result").count()
}

pub(crate) fn answer(body: &Value, answer: &ScriptedAnswer, number: usize) -> HttpReply {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let id = format!("toolu_{number}");
    let (whole, start, delta, stop) = match answer.parts() {
        Ok((tool, arguments)) => (
            json!({"type": "tool_use", "id": id, "name": tool.name, "input": arguments}),
            json!({"type": "tool_use", "id": id, "name": tool.name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
        Err(text) => (
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
    };
    let mut message = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant",
        "model": body["model"], "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    if body["stream"] != true {
        message["content"] = json!([whole]);
        message["stop_reason"] = json!(stop);
        return HttpReply::json(200, &message);
    }
    HttpReply::named_events(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "usage": usage,
               "delta": {"stop_reason": stop, "stop_sequence": null}}),
        json!({"type": "message_stop"}),
    ])
}
