//! OpenAI's chat completions: messages with a role each, and a stream that ends with a word.

use serde_json::{Value, json};

use crate::agent_request::{OfferedTool, RequestRole, RequestText};
use crate::dialect::{content_texts, list};
use crate::http::HttpReply;
use crate::script::ScriptedAnswer;

pub(crate) fn tools(body: &Value) -> Vec<OfferedTool> {
    let functions = list(&body["tools"]).iter().map(|tool| &tool["function"]);
    functions.filter_map(|function| OfferedTool::of(function, "parameters")).collect()
}

pub(crate) fn texts(body: &Value) -> Vec<RequestText> {
    let mut texts = Vec::new();
    for message in list(&body["messages"]) {
        let role = match message["role"].as_str() {
            Some("assistant") => RequestRole::Model,
            Some("system" | "developer") => RequestRole::System,
            Some("tool") => RequestRole::Tool,
            _ => RequestRole::User,
        };
        let parts = content_texts(&message["content"]).into_iter();
        texts.extend(parts.map(|text| RequestText::new(role, text)));
    }
    texts
}

pub(crate) fn results(body: &Value) -> usize {
    list(&body["messages"]).iter().filter(|message| message["role"] == "tool").count()
}

pub(crate) fn answer(body: &Value, answer: &ScriptedAnswer, number: usize) -> HttpReply {
    let (message, reason) = match answer.parts() {
        Ok((tool, arguments)) => {
            let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function",
                "function": {"name": tool.name, "arguments": arguments.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        Err(text) => (json!({"role": "assistant", "content": text}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let envelope = |kind: &str, choice: Value| {
        json!({"id": format!("chatcmpl-{number}"), "object": kind, "created": 0,
               "model": body["model"], "choices": [choice], "usage": usage})
    };
    if body["stream"] != true {
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        return HttpReply::json(200, &envelope("chat.completion", choice));
    }
    let chunk = |choice: Value| envelope("chat.completion.chunk", choice).to_string();
    HttpReply::events(&[
        chunk(json!({"index": 0, "delta": message, "finish_reason": null})),
        chunk(json!({"index": 0, "delta": {}, "finish_reason": reason})),
        "[DONE]".to_owned(),
    ])
}
