//! Who calls: taken from the connection, never from a call's arguments.

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use sinew_guard::Untrusted;
use sinew_settings::Actor;

use super::tool_answer::StructuredContent;

/// The longest client name that reaches a record.
const MAX_NAME: usize = 80;

/// What questions of sinew's own commands are asked by: no client has such a name, or it could take them
/// back.
const OWN_NAMES: &[&str] = &["sinew", "http", "a program without a terminal"];

/// How the clients of known agents begin their names, and the agent.
const CLIENT_NAMES: &[(&str, &str)] = &[
    ("claude-code", "claude-code"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("cursor", "cursor"),
    ("goose", "goose"),
    ("opencode", "opencode"),
    ("openclaw", "openclaw"),
    ("visual studio code", "vscode"),
];

/// The form of the protocol that a conversation uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolEra {
    /// It began with `initialize`, and the server may send requests to the client.
    Session,
    /// Every request stands alone; a question is an answer to it.
    Stateless,
}

/// What is known of the program at the other end, before it says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientTrust {
    /// A person connected it and it started this server: what its dialogues bring is the person's.
    Connected,
    /// It may be any program. It can announce dialogues and answer them itself, so it passes answers on.
    Unknown,
}

/// A client, as one request describes it.
#[derive(Debug, Clone)]
pub(super) struct McpCaller {
    pub(super) name: String,
    pub(super) era: ProtocolEra,
    /// Whether its person can be asked, and an answer is theirs.
    pub(super) elicits: bool,
    /// Whether its model can be asked.
    pub(super) samples: bool,
    /// Whether its revision has a place for data.
    pub(super) data: StructuredContent,
}

impl McpCaller {
    pub(super) fn of(context: &RequestContext<RoleServer>, trust: ClientTrust) -> Self {
        let name = context.client_info().map(|client| client.name).unwrap_or_default();
        let clean = Untrusted::new(name.trim()).for_terminal();
        let name: String = clean.chars().take(MAX_NAME).collect();
        let capabilities = context.client_capabilities();
        let form = |elicitation: &rmcp::model::ElicitationCapability| {
            // A client that names no form of elicitation means the oldest one.
            elicitation.form.is_some() || elicitation.url.is_none()
        };
        #[allow(deprecated, reason = "sampling is deprecated, and clients still use it")]
        let samples = capabilities.as_ref().is_some_and(|client| client.sampling.is_some());
        Self {
            name: own_name(name),
            era: era(context),
            elicits: trust == ClientTrust::Connected
                && capabilities.is_some_and(|client| client.elicitation.as_ref().is_some_and(form)),
            samples,
            data: structured_content(context),
        }
    }

    /// The agent that this client is part of, where its name tells.
    pub(super) fn agent(&self) -> Option<&'static str> {
        let name = self.name.to_lowercase();
        CLIENT_NAMES.iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, agent)| *agent)
    }

    /// The name under which hooks of the same agent keep records, where it is a known one.
    pub(super) fn record_name(&self) -> &str {
        self.agent().unwrap_or(&self.name)
    }

    /// The client as the engine knows it: an agent, whatever it says of itself.
    pub(super) fn actor(&self) -> Actor {
        Actor::Agent { name: self.name.clone() }
    }
}

/// The name of a client, which takes no name of sinew's own.
fn own_name(name: String) -> String {
    let lower = name.to_lowercase();
    match OWN_NAMES.iter().any(|own| lower.starts_with(own)) {
        _ if name.is_empty() => "an MCP client".to_owned(),
        true => format!("an MCP client ({name})"),
        false => name,
    }
}

/// The form of the protocol that a request belongs to.
pub(super) fn era(context: &RequestContext<RoleServer>) -> ProtocolEra {
    let newest = ProtocolVersion::V_2026_07_28;
    match context.protocol_version() {
        Some(version) if version.as_str() >= newest.as_str() => ProtocolEra::Stateless,
        _ => ProtocolEra::Session,
    }
}

/// Whether the revision of a request knows structured content.
fn structured_content(context: &RequestContext<RoleServer>) -> StructuredContent {
    let first = ProtocolVersion::V_2025_06_18;
    match context.protocol_version() {
        Some(version) if version.as_str() < first.as_str() => StructuredContent::Unknown,
        _ => StructuredContent::Known,
    }
}
