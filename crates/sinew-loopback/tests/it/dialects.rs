//! The four protocols: the same tool is called, the same texts are found, in each one's own form.

use serde_json::{Value, json};
use sinew_loopback::{
    AgentRequest, LoopbackModel, ModelDialect, ModelReply, RequestRole, SchemaRule,
};

use crate::{model, post};

const SCHEMA: &str = r#"{"type": "object", "properties": {"message": {"type": "string"}}}"#;

/// A protocol as a table: where it is asked, a request without and one with a result.
struct DialectCase {
    dialect: ModelDialect,
    path: &'static str,
    first: Value,
    second: Value,
    /// What the streamed call and the streamed end hold.
    call: &'static str,
    end: &'static str,
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("a schema")
}

fn cases() -> Vec<DialectCase> {
    let anthropic_tools = json!([{"name": "Read", "input_schema": {"type": "object"}},
        {"name": "mcp__sinew__find_skill", "description": "Finds", "input_schema": schema()}]);
    let responses_tools = json!([{"type": "web_search"}, {"type": "namespace", "name": "mcp__sinew",
        "tools": [{"type": "function", "name": "find_skill", "description": "Finds", "parameters": schema()}]}]);
    let chat_tools = json!([{"type": "function", "function":
        {"name": "sinew_find_skill", "description": "Finds", "parameters": schema()}}]);
    let gemini_tools = json!([{"functionDeclarations": [
        {"name": "mcp_sinew_find_skill", "description": "Finds", "parametersJsonSchema": schema()}]}]);
    vec![
        DialectCase {
            dialect: ModelDialect::Anthropic,
            path: "/v1/messages?beta=true",
            first: json!({"model": "m", "stream": true, "system": [{"type": "text", "text": "be kind"}],
                "tools": anthropic_tools, "messages": [{"role": "user", "content": "hello"}]}),
            second: json!({"model": "m", "stream": true, "system": "be kind", "tools": anthropic_tools,
                "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                        "content": [{"type": "text", "text": "two fit"}]}]}]}),
            call: r#""name":"mcp__sinew__find_skill""#,
            end: "event: message_stop",
        },
        DialectCase {
            dialect: ModelDialect::OpenAiResponses,
            path: "/v1/responses",
            first: json!({"model": "m", "stream": true, "instructions": "be kind", "tools": responses_tools,
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}]}),
            second: json!({"model": "m", "stream": true, "instructions": "be kind", "tools": responses_tools,
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
                    {"type": "function_call", "call_id": "c", "name": "find_skill", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "c", "output": "two fit"}]}),
            call: r#""namespace":"mcp__sinew""#,
            end: "event: response.completed",
        },
        DialectCase {
            dialect: ModelDialect::OpenAiChat,
            path: "/v1/chat/completions",
            first: json!({"model": "m", "stream": true, "tools": chat_tools, "messages": [
                {"role": "system", "content": "be kind"}, {"role": "user", "content": "hello"}]}),
            second: json!({"model": "m", "stream": true, "tools": chat_tools, "messages": [
                {"role": "system", "content": "be kind"}, {"role": "user", "content": [{"type": "text", "text": "hello"}]},
                {"role": "assistant", "content": null, "tool_calls": []},
                {"role": "tool", "tool_call_id": "c", "content": "two fit"}]}),
            call: r#""name":"sinew_find_skill""#,
            end: "data: [DONE]",
        },
        DialectCase {
            dialect: ModelDialect::Gemini,
            path: "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
            first: json!({"systemInstruction": {"parts": [{"text": "be kind"}]}, "tools": gemini_tools,
                "contents": [{"role": "user", "parts": [{"text": "hello"}]}]}),
            second: json!({"systemInstruction": {"parts": [{"text": "be kind"}]}, "tools": gemini_tools,
                "contents": [{"role": "user", "parts": [{"text": "hello"}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "x", "args": {}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {"output": "two fit"}}}]}]}),
            call: r#""functionCall":{"name":"mcp_sinew_find_skill""#,
            end: r#""finishReason":"STOP""#,
        },
    ]
}

fn texts(request: &AgentRequest, role: RequestRole) -> Vec<String> {
    let texts = request.texts().into_iter().filter(|text| text.role == role);
    texts.map(|text| text.text).collect()
}

#[test]
fn a_turn_with_a_tool_runs_in_every_dialect() {
    for case in cases() {
        let model = model(SchemaRule::Strict);
        let call = post(&model, case.path, &case.first);
        assert!(call.starts_with("HTTP/1.1 200") && call.contains("text/event-stream"), "{call}");
        assert!(call.contains(case.call) && call.contains("a photo"), "{:?}: {call}", case.dialect);
        let end = post(&model, case.path, &case.second);
        assert!(end.contains("All done.") && end.contains(case.end), "{:?}: {end}", case.dialect);
        let requests = model.requests();
        assert_eq!(requests.len(), 2);
        let [first, second] = requests.as_slice() else { unreachable!() };
        assert_eq!(first.dialect, case.dialect);
        assert!(
            matches!(&first.reply, ModelReply::ToolCall { tool } if tool.ends_with("find_skill"))
        );
        assert_eq!(second.reply, ModelReply::Text);
        let tool = first.tools().into_iter().find(|tool| tool.name.ends_with("find_skill"));
        let tool = tool.expect("the tool");
        assert_eq!((tool.description.as_str(), &tool.schema), ("Finds", &schema()));
        assert!(tool.full_name().contains("sinew") && tool.chars() > SCHEMA.len() / 2);
        for request in &requests {
            assert_eq!(texts(request, RequestRole::System), ["be kind"], "{:?}", case.dialect);
            assert_eq!(texts(request, RequestRole::User), ["hello"], "{:?}", case.dialect);
            assert!(request.contains("ell") && !request.contains("absent"));
        }
        assert!(first.tool_results().is_empty());
        assert_eq!(second.tool_results(), ["two fit"], "{:?}", case.dialect);
        assert_eq!(second.chars(), "be kindhellotwo fit".len());
    }
}

#[test]
fn an_answer_in_one_piece_is_json() {
    for mut case in cases() {
        let model = model(SchemaRule::Strict);
        let path = match case.dialect {
            ModelDialect::Gemini => "/v1beta/models/gemini-3:generateContent",
            _ => case.path,
        };
        case.second["stream"] = json!(false);
        let answer = post(&model, path, &case.second);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains("application/json"), "{head}");
        let body: Value = serde_json::from_str(body).expect("JSON");
        assert!(body.to_string().contains("All done."), "{body}");
    }
}

/// What OpenAI's and Anthropic's servers say to such a tool, so that no agent can go on with it.
#[test]
fn a_choice_at_the_root_of_a_schema_stops_the_request() {
    for mut case in cases() {
        let refused = json!({"type": "object", "anyOf": [{"required": ["a"]}]});
        let text = case.first.to_string().replace(&schema().to_string(), &refused.to_string());
        case.first = serde_json::from_str(&text).expect("JSON");
        let strict = model(SchemaRule::Strict);
        let answer = post(&strict, case.path, &case.first);
        assert!(answer.starts_with("HTTP/1.1 400"), "{:?}: {answer}", case.dialect);
        assert!(answer.contains("find_skill") && answer.contains("anyOf"), "{answer}");
        assert!(matches!(strict.requests()[0].reply, ModelReply::Refused { .. }));
        let lenient = model(SchemaRule::Lenient);
        assert!(post(&lenient, case.path, &case.first).starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn questions_beside_the_model_are_answered() {
    let model = model(SchemaRule::Strict);
    assert!(post(&model, "/v1/messages/count_tokens", &json!({})).contains("input_tokens"));
    assert!(post(&model, "/v1beta/models/g:countTokens", &json!({})).contains("totalTokens"));
    let list = crate::exchange(&model, b"GET /v1/models HTTP/1.1\r\n\r\n");
    assert!(list.starts_with("HTTP/1.1 200") && list.contains("\"data\":[]"), "{list}");
    let head = crate::exchange(&model, b"HEAD / HTTP/1.1\r\n\r\n");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    assert!(model.requests().is_empty() && model.strays().is_empty());
}

#[test]
fn two_requests_share_a_connection() {
    let model = model(SchemaRule::Strict);
    let body = json!({"messages": []}).to_string();
    let one = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let answers = crate::exchange(&model, format!("{one}{one}").as_bytes());
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn nothing_listens_once_it_is_dropped() {
    let address = {
        let model: LoopbackModel = model(SchemaRule::Strict);
        model.address()
    };
    let address = address.trim_start_matches("http://").to_owned();
    // The thread that accepts ends a moment later.
    let gone = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::net::TcpStream::connect(&address).is_err()
    });
    assert!(gone, "{address} still answers");
}
