//! `provider` of the workshop: where the reviewer's model is.

use serde_json::{Map, Value};

use super::reader::ConfigReader;
use super::section::{Section as _, choices, section};
use super::value::CommandArguments;

/// Where the reviewer's model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewerProvider {
    /// A server that speaks OpenAI's chat completions: OpenAI, Ollama, llama.cpp, vLLM, LM Studio.
    OpenAi(ReviewerEndpoint),
    /// Anthropic's messages.
    Anthropic(ReviewerEndpoint),
    /// A program: the prompt on its input, the reply on its output.
    Command {
        /// Program and arguments; no shell.
        argv: Vec<String>,
        /// Variables it gets besides PATH and HOME.
        env: Vec<String>,
    },
    /// The client of the MCP connection, where there is one.
    Mcp,
}

/// A model behind an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerEndpoint {
    /// The base address.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The variable that holds the key; never the key itself.
    pub api_key_env: Option<String>,
    /// Whether JSON is asked for in the request.
    pub json_mode: bool,
    /// Whether plain HTTP may leave this machine.
    pub allow_insecure: bool,
}

section! {
    /// What the file says about the reviewer's model.
    pub struct ProviderSection at "plugins.entries.skill-workshop.config.provider" {
        /// Where the reviewer's model is: a server, a program, or the client of an MCP connection.
        "kind" => kind: Option<ProviderKind> = None;
        /// A server's base address; the service's own where absent.
        "baseUrl" => base_url: Option<String> = None;
        /// The model's name there.
        "model" => model: Option<String> = None;
        /// The variable that holds the server's key.
        "apiKeyEnv" => api_key_env: Option<String> = None;
        /// Whether JSON is asked for in the request.
        "jsonMode" => json_mode: bool = true;
        /// Whether plain HTTP may leave this machine.
        "allowInsecure" => allow_insecure: bool = false;
        /// A program and its arguments.
        "command" => command: CommandArguments = CommandArguments::default();
        /// Variables that the program gets besides PATH and HOME.
        "env" => env: Vec<String> = Vec::new();
    }
}

choices! {
    /// Which kind of thing answers the reviewer.
    pub enum ProviderKind {
        /// A server that speaks OpenAI's chat completions.
        OpenAi = "openai",
        /// A server that speaks Anthropic's messages.
        Anthropic = "anthropic",
        /// A program.
        Command = "command",
        /// The client of the MCP connection.
        Mcp = "mcp",
    }
}

impl ProviderSection {
    /// The reviewer that the keys describe; what is missing is said.
    pub(super) fn reviewer(
        &self,
        written: &Map<String, Value>,
        reader: &mut ConfigReader,
    ) -> Option<ReviewerProvider> {
        if written.contains_key("apiKey") {
            let rest = "it is left out: name a variable in apiKeyEnv instead";
            let path = format!("{}.apiKey", Self::PATH);
            reader.refused(&path, "would put a key into the file", rest);
        }
        let provider = self.kind.and_then(|kind| self.provider(kind));
        // A kind that is not known was reported when it was read.
        if provider.is_none() && (self.kind.is_some() || !written.contains_key("kind")) {
            let problem = "needs kind, and model (openai, anthropic) or command (a list of words)";
            reader.refused(Self::PATH, problem, "there is no reviewer");
        }
        provider
    }

    fn provider(&self, kind: ProviderKind) -> Option<ReviewerProvider> {
        match kind {
            ProviderKind::OpenAi => {
                self.endpoint("https://api.openai.com/v1").map(ReviewerProvider::OpenAi)
            }
            ProviderKind::Anthropic => {
                self.endpoint("https://api.anthropic.com").map(ReviewerProvider::Anthropic)
            }
            ProviderKind::Command => {
                let argv = Some(self.command.0.clone()).filter(|argv| !argv.is_empty())?;
                Some(ReviewerProvider::Command { argv, env: self.env.clone() })
            }
            ProviderKind::Mcp => Some(ReviewerProvider::Mcp),
        }
    }

    fn endpoint(&self, usual: &str) -> Option<ReviewerEndpoint> {
        Some(ReviewerEndpoint {
            base_url: self.base_url.clone().unwrap_or_else(|| usual.to_owned()),
            model: self.model.clone()?,
            api_key_env: self.api_key_env.clone(),
            json_mode: self.json_mode,
            allow_insecure: self.allow_insecure,
        })
    }
}
