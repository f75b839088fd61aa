//! A turn's messages: their texts and roles, and how many tools were called.

use serde_json::Value;

use sinew_skill::ecmascript as text;

/// A transcript larger than this is not one turn.
const MAX_TRANSCRIPT: usize = 64 * 1024 * 1024;

/// Why a transcript could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// It is larger than a turn can be.
    #[error("the transcript has {0} bytes, more than {MAX_TRANSCRIPT}")]
    TooLarge(usize),
    /// There is no message in it.
    #[error("the transcript holds no messages: {0}")]
    NoMessages(String),
}

/// Reads messages: a JSON list, an object with `messages`, or one JSON object per line. Records that
/// wrap a message (`{"type": "message", "message": {…}}`) are unwrapped, others are skipped.
pub fn read_transcript(written: &str) -> Result<Vec<Value>, TranscriptError> {
    if written.len() > MAX_TRANSCRIPT {
        return Err(TranscriptError::TooLarge(written.len()));
    }
    let records: Vec<Value> = match serde_json::from_str::<Value>(written) {
        Ok(Value::Array(records)) => records,
        Ok(Value::Object(mut object)) => match object.remove("messages") {
            Some(Value::Array(records)) => records,
            _ => vec![Value::Object(object)],
        },
        // A truncated line is skipped; the others still count.
        _ => written.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    let messages: Vec<Value> = records.into_iter().filter_map(unwrapped).collect();
    if messages.is_empty() {
        let expected = "expected objects with role and content, as a list or one per line";
        return Err(TranscriptError::NoMessages(expected.to_owned()));
    }
    Ok(messages)
}

fn unwrapped(mut record: Value) -> Option<Value> {
    let is_call = |record: &Value| {
        matches!(kind(record), Some("tool_call" | "function_call"))
            || record.get("tool_calls").is_some()
    };
    if record.get("role").is_some() || is_call(&record) {
        return Some(record);
    }
    record.get_mut("message").map(Value::take).filter(|inner| inner.get("role").is_some())
}

fn kind(value: &Value) -> Option<&str> {
    value.get("type").and_then(Value::as_str)
}

/// The text of a message: its content, or the text blocks of it, one per line.
pub fn message_text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| {
                let is_text = matches!(kind(block), Some("text" | "input_text" | "output_text"));
                let text = block.get("text").filter(|_| is_text)?;
                text.as_str().or_else(|| text.get("value")?.as_str())
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The texts of the messages that users wrote.
pub(crate) fn user_texts(messages: &[Value]) -> impl Iterator<Item = String> {
    let users = messages.iter().filter(|message| message.get("role") == Some(&"user".into()));
    users.map(message_text).filter(|text| !text.is_empty())
}

/// How many tools were called.
pub fn count_tool_calls(messages: &[Value]) -> u64 {
    let of = |message: &Value| {
        let listed = message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
        let itself = usize::from(matches!(kind(message), Some("tool_call" | "function_call")));
        let blocks = message.get("content").and_then(Value::as_array);
        let blocks = blocks.map_or(0, |blocks| {
            blocks.iter().filter(|block| kind(block) == Some("tool_call")).count()
        });
        listed + itself + blocks
    };
    messages.iter().map(|message| of(message) as u64).sum()
}

/// The conversation, one `role: text` line per message, and one per tool that hooks saw.
pub(crate) fn transcript_text(messages: &[Value]) -> String {
    let lines = messages.iter().flat_map(|message| {
        let role = message.get("role").and_then(Value::as_str);
        let said = text::collapse(&message_text(message));
        let said = role.filter(|_| !said.is_empty()).map(|role| format!("{role}: {said}"));
        said.into_iter().chain(tool_lines(message))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The tools of a message, with how each went and on which files.
fn tool_lines(message: &Value) -> Vec<String> {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let lines = blocks.filter_map(|block| {
        let ok = block.get("ok").filter(|_| kind(block) == Some("tool_call"))?.as_bool()?;
        let name = block.get("name").and_then(Value::as_str)?;
        let files = block.get("files").and_then(Value::as_array).into_iter().flatten();
        let files: Vec<&str> = files.filter_map(Value::as_str).collect();
        let on = if files.is_empty() { String::new() } else { format!(" on {}", files.join(", ")) };
        Some(format!("tool: {name} {}{on}", if ok { "ok" } else { "failed" }))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_come_from_strings_and_blocks() {
        let check = |content: Value, text: &str| {
            assert_eq!(message_text(&json!({"role": "user", "content": content})), text);
        };
        check(json!("a"), "a");
        check(
            json!([{"type": "text", "text": "a"}, {"type": "input_text", "text": {"value": "b"}}]),
            "a\nb",
        );
        check(json!([{"type": "image", "text": "a"}, {"type": "text", "text": 3}]), "");
        check(json!(null), "");
    }

    #[test]
    fn tool_calls_are_counted_in_three_places() {
        let count = |message: Value| count_tool_calls(&[message]);
        assert_eq!(count(json!({"tool_calls": [1, 2]})), 2);
        assert_eq!(count(json!({"type": "function_call"})), 1);
        assert_eq!(count(json!({"content": [{"type": "tool_call"}, {"type": "text"}]})), 1);
        assert_eq!(count(json!({"content": [{"type": "toolCall"}]})), 0);
    }

    #[test]
    fn tools_that_hooks_saw_are_lines_of_the_conversation() {
        let call = |ok: bool, files: Value| json!({"type": "tool_call", "name": "Edit", "ok": ok, "files": files});
        let messages = [
            json!({"role": "user", "content": "fix it"}),
            json!({"role": "assistant", "content": [call(false, json!([])), call(true, json!(["a.rs"]))]}),
        ];
        let lines = "user: fix it\ntool: Edit failed\ntool: Edit ok on a.rs";
        assert_eq!(transcript_text(&messages), lines);
    }

    #[test]
    fn transcripts_are_lists_objects_or_lines() {
        let one = r#"{"role":"user","content":"a"}"#;
        for written in [
            format!("[{one}]"),
            format!("{{\"messages\":[{one}]}}"),
            format!("{{\"type\":\"session\"}}\n{one}\n{{\"role\":"),
            format!("{{\"type\":\"message\",\"message\":{one}}}"),
            one.to_owned(),
        ] {
            let read = read_transcript(&written).expect("messages");
            assert_eq!(transcript_text(&read), "user: a", "{written}");
        }
        assert!(read_transcript("prose").is_err() && read_transcript("[]").is_err());
    }
}
