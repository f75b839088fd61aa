//! Anthropic's messages.

use serde_json::{Value, json};

use super::http::ModelHttpClient;
use super::{CompletionRequest, LanguageModel, LanguageModelError};

/// The version of the protocol that is spoken here.
const VERSION: &str = "2023-06-01";

#[derive(Debug)]
pub(super) struct AnthropicModel(pub(super) ModelHttpClient);

impl LanguageModel for AnthropicModel {
    fn complete(&self, request: &CompletionRequest) -> Result<String, LanguageModelError> {
        let body = json!({
            "model": self.0.endpoint.model,
            "system": request.system,
            "messages": [{"role": "user", "content": request.prompt}],
            "max_tokens": request.max_output_tokens,
        });
        let mut headers = vec![("anthropic-version", VERSION)];
        if let Some(key) = self.0.key()? {
            headers.push(("x-api-key", key));
        }
        let answer = self.0.post("/v1/messages", &headers, &body, request.deadline)?;
        let blocks = answer.get("content").and_then(Value::as_array);
        let Some(blocks) = blocks else {
            return Err(LanguageModelError::Unreadable("there is no content[]".to_owned()));
        };
        let texts = blocks
            .iter()
            .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|block| block.get("text").and_then(Value::as_str));
        Ok(texts.collect())
    }
}
