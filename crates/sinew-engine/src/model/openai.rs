//! Servers that speak OpenAI's chat completions: OpenAI, Ollama, llama.cpp, vLLM, LM Studio.

use serde_json::{Value, json};

use super::http::ModelHttpClient;
use super::{CompletionRequest, LanguageModel, LanguageModelError};

#[derive(Debug)]
pub(super) struct OpenAiModel(pub(super) ModelHttpClient);

impl LanguageModel for OpenAiModel {
    fn complete(&self, request: &CompletionRequest) -> Result<String, LanguageModelError> {
        let mut body = json!({
            "model": self.0.endpoint.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.prompt},
            ],
            "temperature": 0,
            "max_tokens": request.max_output_tokens,
            "stream": false,
        });
        if self.0.endpoint.json_mode {
            body["response_format"] = json!({"type": "json_object"});
        }
        let bearer = self.0.key()?.map(|key| format!("Bearer {key}"));
        let headers: Vec<(&str, &str)> =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
        let answer = self.0.post("/chat/completions", &headers, &body, request.deadline)?;
        let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| {
            LanguageModelError::Unreadable("there is no choices[0].message.content".to_owned())
        })
    }
}
