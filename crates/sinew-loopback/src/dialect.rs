//! The providers' protocols: which of them a request follows, and how each says the same things.

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent_request::{OfferedTool, RequestText};
use crate::http::HttpReply;
use crate::script::ScriptedAnswer;
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// A provider's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelDialect {
    /// Anthropic's messages.
    Anthropic,
    /// OpenAI's responses.
    OpenAiResponses,
    /// OpenAI's chat completions, which most others speak too.
    OpenAiChat,
    /// Google's `generateContent`.
    Gemini,
}

impl ModelDialect {
    /// The protocol of a path, without its query.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::OpenAiResponses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::OpenAiChat)
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// The tools of a request.
    pub(crate) fn tools(self, body: &Value) -> Vec<OfferedTool> {
        match self {
            Self::Anthropic => anthropic::tools(body),
            Self::OpenAiResponses => openai_responses::tools(body),
            Self::OpenAiChat => openai_chat::tools(body),
            Self::Gemini => gemini::tools(body),
        }
    }

    /// The texts of a request.
    pub(crate) fn texts(self, body: &Value) -> Vec<RequestText> {
        match self {
            Self::Anthropic => anthropic::texts(body),
            Self::OpenAiResponses => openai_responses::texts(body),
            Self::OpenAiChat => openai_chat::texts(body),
            Self::Gemini => gemini::texts(body),
        }
    }

    /// How many calls of tools the request brings the results of.
    pub(crate) fn results(self, body: &Value) -> usize {
        match self {
            Self::Anthropic => anthropic::results(body),
            Self::OpenAiResponses => openai_responses::results(body),
            Self::OpenAiChat => openai_chat::results(body),
            Self::Gemini => gemini::results(body),
        }
    }

    /// An answer. `number` makes the ids of a conversation differ.
    pub(crate) fn answer(
        self,
        path: &str,
        body: &Value,
        answer: &ScriptedAnswer,
        number: usize,
    ) -> HttpReply {
        match self {
            Self::Anthropic => anthropic::answer(body, answer, number),
            Self::OpenAiResponses => openai_responses::answer(body, answer, number),
            Self::OpenAiChat => openai_chat::answer(body, answer, number),
            Self::Gemini => gemini::answer(path, answer),
        }
    }

    /// An error about the request, in the provider's own form.
    pub(crate) fn refusal(self, why: &str) -> HttpReply {
        let error = match self {
            Self::Anthropic => json!({"type": "error", "error":
                {"type": "invalid_request_error", "message": why}}),
            Self::OpenAiResponses | Self::OpenAiChat => json!({"error":
                {"type": "invalid_request_error", "code": "invalid_function_parameters",
                 "param": "tools", "message": why}}),
            Self::Gemini => json!({"error":
                {"code": 400, "status": "INVALID_ARGUMENT", "message": why}}),
        };
        HttpReply::json(400, &error)
    }
}

/// The items of a list; anything else has none.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a content that is a string, or a list of parts with a `text` each.
pub(crate) fn content_texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        parts => list(parts).iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}
