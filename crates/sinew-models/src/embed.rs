//! What turns text into vectors: our encoder, or a remote model.
//!
//! The transport is not here: the engine gives a [`EmbedTransport`], this module knows what to send and
//! how to read the answer.

use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which side of a match a text is on; models may read them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSide {
    /// What a user said.
    Message,
    /// A skill.
    Document,
}

/// Something that turns text into vectors of one length.
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// The name of the weights: vectors and calibrations are kept under it.
    fn id(&self) -> &str;

    /// The length of the vectors.
    fn dims(&self) -> usize;

    /// Whether it runs in this process, so that its time is predictable.
    fn is_local(&self) -> bool {
        true
    }

    /// One vector per text, each of length one.
    fn embed(&self, texts: &[&str], side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why a text has no vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// No answer in time.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The server cannot be reached.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The server refused.
    #[error("status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The answer has another shape.
    #[error("answer cannot be read: {0}")]
    BadAnswer(String),
    /// Vectors of another length.
    #[error("vectors of {found} dimensions, expected {expected}")]
    Dimensions {
        /// As configured.
        expected: usize,
        /// As received.
        found: usize,
    },
}

/// The dialect of a remote model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedDialect {
    /// `POST /v1/embeddings`: OpenAI, vLLM, and Ollama's compatible route.
    OpenAi,
    /// `POST /api/embed`: Ollama.
    Ollama,
}

impl EmbedDialect {
    /// The path below the base address.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1/embeddings",
            Self::Ollama => "/api/embed",
        }
    }

    /// The body of a request.
    pub fn encode(self, model: &str, texts: &[&str]) -> Vec<u8> {
        let body = match self {
            Self::OpenAi => {
                serde_json::json!({ "model": model, "input": texts, "encoding_format": "float" })
            }
            Self::Ollama => serde_json::json!({ "model": model, "input": texts }),
        };
        body.to_string().into_bytes()
    }

    /// The vectors of an answer, in the order of the request, each scaled to length one.
    pub fn decode(
        self,
        body: &[u8],
        count: usize,
        dims: Option<usize>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let bad = |error: serde_json::Error| EmbedError::BadAnswer(error.to_string());
        let mut vectors = match self {
            Self::OpenAi => {
                let answer: OpenAiEmbeddingsWire = serde_json::from_slice(body).map_err(bad)?;
                let mut data = answer.data;
                data.sort_by_key(|one| one.index);
                data.into_iter().map(|one| one.embedding).collect::<Vec<_>>()
            }
            Self::Ollama => {
                serde_json::from_slice::<OllamaEmbeddingsWire>(body).map_err(bad)?.embeddings
            }
        };
        if vectors.len() != count {
            let found = vectors.len();
            return Err(EmbedError::BadAnswer(format!("{found} vectors for {count} texts")));
        }
        let expected = dims.or_else(|| vectors.first().map(Vec::len)).unwrap_or(0);
        for vector in &mut vectors {
            if vector.len() != expected || vector.is_empty() {
                return Err(EmbedError::Dimensions { expected, found: vector.len() });
            }
            if vector.iter().any(|value| !value.is_finite()) {
                return Err(EmbedError::BadAnswer("a value is not a number".to_owned()));
            }
            crate::math::normalise(vector);
        }
        Ok(vectors)
    }
}

#[derive(Deserialize)]
struct OpenAiEmbeddingsWire {
    data: Vec<OpenAiVectorWire>,
}

#[derive(Deserialize)]
struct OpenAiVectorWire {
    #[serde(default)]
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaEmbeddingsWire {
    embeddings: Vec<Vec<f32>>,
}

/// Sends a request and brings back the body of a successful answer; the engine has the real one.
pub trait EmbedTransport: Send + Sync + std::fmt::Debug {
    /// `POST` to a path below the base address. Time-outs and refusals are errors.
    fn post(&self, path: &str, body: &[u8], deadline: Duration) -> Result<Vec<u8>, EmbedError>;
}

/// How long a remote model may take for a message before the router goes on without it.
pub const REMOTE_DEADLINE: Duration = Duration::from_millis(300);

/// How long it may take for a batch of documents, which are embedded in the background.
const DOCUMENT_DEADLINE: Duration = Duration::from_secs(30);

/// Texts in one request: servers refuse larger ones.
const BATCH: usize = 64;

/// Message vectors that are kept: a chat repeats its last few.
const KEPT: usize = 64;

/// A remote model.
#[derive(Debug)]
pub struct RemoteEmbedder {
    model: String,
    id: String,
    dims: usize,
    dialect: EmbedDialect,
    deadline: Duration,
    transport: Box<dyn EmbedTransport>,
    kept: Mutex<Vec<(String, Vec<f32>)>>,
}

impl RemoteEmbedder {
    /// A remote model; `dims` is what its vectors must have.
    pub fn new(
        model: &str,
        dims: usize,
        dialect: EmbedDialect,
        transport: Box<dyn EmbedTransport>,
    ) -> Self {
        let id = format!("remote:{model}:{dims}");
        let (model, kept) = (model.to_owned(), Mutex::default());
        Self { model, id, dims, dialect, deadline: REMOTE_DEADLINE, transport, kept }
    }

    /// The same with another time for messages.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    fn ask(&self, texts: &[&str], deadline: Duration) -> Result<Vec<Vec<f32>>, EmbedError> {
        let body = self.dialect.encode(&self.model, texts);
        let answer = self.transport.post(self.dialect.path(), &body, deadline)?;
        self.dialect.decode(&answer, texts.len(), Some(self.dims))
    }

    fn cached_vectors(&self) -> std::sync::MutexGuard<'_, Vec<(String, Vec<f32>)>> {
        // A panic while the lock was held leaves no partial entry: the list is still valid.
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Embedder for RemoteEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn is_local(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str], side: TextSide) -> Result<Vec<Vec<f32>>, EmbedError> {
        match (side, texts) {
            (TextSide::Message, &[text]) => {
                if let Some((_, vector)) =
                    self.cached_vectors().iter().find(|(kept, _)| kept == text)
                {
                    return Ok(vec![vector.clone()]);
                }
                let vectors = self.ask(texts, self.deadline)?;
                let mut kept = self.cached_vectors();
                if kept.len() >= KEPT {
                    kept.remove(0);
                }
                kept.push((text.to_owned(), vectors[0].clone()));
                Ok(vectors)
            }
            _ => {
                let mut out = Vec::with_capacity(texts.len());
                for batch in texts.chunks(BATCH) {
                    out.extend(self.ask(batch, DOCUMENT_DEADLINE)?);
                }
                Ok(out)
            }
        }
    }
}
