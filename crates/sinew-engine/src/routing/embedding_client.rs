//! Embedding models behind an address: the HTTP side of the router's `Remote`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sinew_exec::secret::{self, SecretCommands};
use sinew_route::{
    EmbedDialect, EmbedError, EmbedTransport, REMOTE_DEADLINE, RemoteEmbedder, RouterModels,
};
use sinew_settings::Environment;
use sinew_settings::config::{RemoteDialect, RemoteModelSection};

/// An answer of 64 vectors of 4,096 numbers has about 4 MB; more is not an answer.
const MAX_ANSWER: u64 = 32 * 1024 * 1024;

/// What helps where a server cannot be asked.
const REMEDY: &str = "`sinew config` shows what is set; words and static vectors answer until then";

/// The models in the binary with the configured one in the encoder's place. What is missing in the
/// configuration is a missing model, said so in every answer.
pub(crate) fn models(remote: &RemoteModelSection, env: &Environment) -> RouterModels {
    let mut models = RouterModels::embedded_table();
    let (Some(url), Some(model), Some(dims)) = (&remote.url, &remote.model, remote.dims) else {
        models.add_missing("encoder", "route.remote needs url, model and dims", REMEDY);
        return models;
    };
    // Commands are not run to rank a message.
    let resolved = |key| secret::resolve(key, env, SecretCommands::Skip).ok();
    let key = remote.api_key.as_ref().map(|key| {
        let value = resolved(key)?.expose().trim().to_owned();
        Some(value).filter(|value| !value.is_empty())
    });
    if let Some(None) = key {
        models.add_missing("encoder", "route.remote.apiKey cannot be resolved", REMEDY);
        return models;
    }
    let dialect = match remote.dialect {
        RemoteDialect::OpenAi => EmbedDialect::OpenAi,
        RemoteDialect::Ollama => EmbedDialect::Ollama,
    };
    let base = url.trim_end_matches('/');
    let server =
        EmbeddingClient { base: base.trim_end_matches("/v1").to_owned(), key: key.flatten() };
    let deadline = remote.timeout_ms.map_or(REMOTE_DEADLINE, Duration::from_millis);
    let remote =
        RemoteEmbedder::new(model, dims, dialect, Box::new(server)).with_deadline(deadline);
    models.with_encoder(Arc::new(remote))
}

struct EmbeddingClient {
    base: String,
    key: Option<String>,
}

impl fmt::Debug for EmbeddingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.base)
    }
}

impl EmbedTransport for EmbeddingClient {
    fn post(&self, path: &str, body: &[u8], deadline: Duration) -> Result<Vec<u8>, EmbedError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(deadline))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .into();
        let mut request =
            agent.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => EmbedError::Timeout(deadline),
            other => EmbedError::Unreachable(other.to_string()),
        };
        let mut answer = request.send(body).map_err(failed)?;
        let status = answer.status().as_u16();
        let body =
            answer.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(failed)?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let message: String = String::from_utf8_lossy(&body).chars().take(200).collect();
        Err(EmbedError::Refused { status, message })
    }
}
