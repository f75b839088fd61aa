//! `route`: how the right skill is found.

use serde::{Deserialize, Serialize};

use super::section::{choices, section};
use super::skills::SecretSetting;

section! {
    /// `route`: how the right skill is found.
    pub struct RouteSection at "route" {
        /// What ranks.
        "model" => model: ModelChoice = ModelChoice::Default;
        /// The probability a match needs.
        "threshold" => threshold: Option<f64> = None, in 0 to 1, shown "0.75";
        /// The lead a match needs over the second.
        "margin" => margin: Option<f64> = None, in 0 to 1, shown "0.2";
        /// The probability that any skill fits, below which nothing is offered; with 0 something always is.
        "floor" => floor: Option<f64> = None, in 0 to 1, shown "0.25";
        /// How many skills `find` shows, and the longest short list.
        "top" => top: Option<usize> = None, in 1 to f64::INFINITY, shown "5";
        /// Folder of a sentence-transformers model of BERT's shape, for the model `file`.
        "file" => file: Option<String> = None;
        also {
            /// `route.remote`.
            remote: RemoteModelSection = RemoteModelSection::default();
        }
    }
}

section! {
    /// `route.remote`: an embedding model behind an address.
    pub struct RemoteModelSection at "route.remote" {
        /// Base address of an embedding server (OpenAI, Ollama, vLLM …).
        "url" => url: Option<String> = None;
        /// The model's name there.
        "model" => model: Option<String> = None;
        /// The length of its vectors.
        "dims" => dims: Option<usize> = None;
        /// openai (/v1/embeddings) or ollama (/api/embed).
        "dialect" => dialect: RemoteDialect = RemoteDialect::OpenAi;
        /// The key it wants: text, or {source, id}.
        "apiKey" => api_key: Option<SecretSetting> = None;
        /// How long it may take for a message.
        "timeoutMs" => timeout_ms: Option<u64> = None, shown "300";
    }
}

choices! {
    /// Which models rank.
    #[derive(Default)]
    pub enum ModelChoice {
        /// What the configuration says; all that the program carries where it says nothing.
        #[default]
        Default = "default",
        /// Words and static vectors.
        Static = "static",
        /// Words alone.
        Words = "words",
        /// The configured folder in the encoder's place.
        File = "file",
        /// The configured server in the encoder's place.
        Remote = "remote",
    }
}

choices! {
    /// The dialect of a remote model.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RemoteDialect {
        /// `POST /v1/embeddings`: OpenAI, vLLM, and Ollama's compatible route.
        #[default]
        OpenAi = "openai",
        /// `POST /api/embed`: Ollama.
        Ollama = "ollama",
    }
}
