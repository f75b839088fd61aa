//! Language models, behind one call: a text goes in, a text comes out.
//!
//! A request carries no tools, so that all a model can do is answer. Keys come from variables of the
//! [`Environment`], are sent to the configured address and nowhere else, and are in no error.
//! Nothing is tried twice: the caller decides what a failure means.

mod anthropic;
mod command;
mod http;
mod openai;

use std::fmt;
use std::time::Duration;

use sinew_settings::Environment;
use sinew_settings::config::ReviewerProvider;

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct CompletionRequest {
    /// Who it is and what it must never do.
    pub system: String,
    /// What it is to answer.
    pub prompt: String,
    /// The longest answer, in tokens.
    pub max_output_tokens: u32,
    /// How long it may take, from the first connection to the last byte.
    pub deadline: Duration,
}

/// A language model.
pub trait LanguageModel: fmt::Debug + Send + Sync {
    /// Answers a request.
    fn complete(&self, request: &CompletionRequest) -> Result<String, LanguageModelError>;
}

/// Bytes of an answer; a longer one is an error.
pub const MAX_ANSWER: usize = sinew_workshop::MAX_REPLY;

/// Why a model gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LanguageModelError {
    /// It took too long.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// It cannot be reached.
    #[error("cannot reach {address}: {detail}")]
    Unreachable {
        /// The address, or the program.
        address: String,
        /// The system's error.
        detail: String,
    },
    /// It refused.
    #[error("{address} answered {status}{}", shown(.detail))]
    Refused {
        /// The address.
        address: String,
        /// The HTTP status.
        status: u16,
        /// What it said, shortened and without secrets.
        detail: String,
    },
    /// The program failed.
    #[error("{program} ended with {code}{}", shown(.detail))]
    Failed {
        /// The program.
        program: String,
        /// Its exit code, or the signal.
        code: String,
        /// What it said, shortened and without secrets.
        detail: String,
    },
    /// The answer is longer than any proposal.
    #[error("the answer has more than {MAX_ANSWER} bytes")]
    TooLong,
    /// The answer is not in the form of its protocol.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// What is configured cannot work.
    #[error("{0}")]
    Config(String),
}

fn shown(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

impl LanguageModelError {
    /// Whether an answer came, and only its form is wrong.
    pub fn is_about_form(&self) -> bool {
        matches!(self, Self::TooLong | Self::Unreadable(_))
    }
}

/// The model of a configuration; `None` for one that only a connected client has.
pub fn open_model(
    provider: &ReviewerProvider,
    env: &Environment,
) -> Option<Box<dyn LanguageModel>> {
    match provider {
        ReviewerProvider::OpenAi(endpoint) => {
            Some(Box::new(openai::OpenAiModel(http::ModelHttpClient::new(endpoint, env))))
        }
        ReviewerProvider::Anthropic(endpoint) => {
            Some(Box::new(anthropic::AnthropicModel(http::ModelHttpClient::new(endpoint, env))))
        }
        ReviewerProvider::Command { argv, env: named } => {
            Some(Box::new(command::CommandModel::new(argv, named, env)))
        }
        ReviewerProvider::Mcp => None,
    }
}

/// Output of a server or program, for an error message: one line, short, without secrets.
fn told(text: &str, key: Option<&str>) -> String {
    let masked = sinew_guard::secrets::mask_strict(text);
    let masked = match key.filter(|key| !key.is_empty()) {
        Some(key) => masked.replace(key, sinew_guard::secrets::REDACTED),
        None => masked,
    };
    let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}
