//! The word by which `sinew mcp` knows a client that a person connected.
//!
//! It stands in the client's own entry and in the ledger. A client that starts the server with it may
//! put questions to its person; every other one passes answers on. The word keeps a program from setting
//! itself up as such a client. It is no secret from a program that reads the user's files.

use serde_json::Value;
use sinew_settings::CodedError;

use crate::Connector;
use crate::agents::{ConnectScope, ConnectableAgent};
use crate::connect::{ConnectRequest, find_agent};
use crate::ledger::{ConnectChange, WrittenValue};

/// The option of `sinew mcp` that carries the word.
const OPTION: &str = "--client";

impl Connector<'_> {
    /// The agent whose entry holds this word, where one is connected with it.
    pub fn connected_client(&self, word: &str) -> Option<&'static str> {
        let changes = self.ledger().changes().ok()?;
        let standing = ConnectChange::standing(&changes);
        let known = standing.iter().find(|(_, written)| word_of(written) == Some(word));
        known.and_then(|(change, _)| find_agent(&change.agent).ok()).map(|agent| agent.id)
    }

    /// The word for an agent's entry: the one that it has, or else the one that a person brings. A file
    /// that colleagues share gets none.
    pub(super) fn client_word(
        &self,
        agent: &ConnectableAgent,
        request: &ConnectRequest,
    ) -> Result<Option<String>, CodedError> {
        if request.scope == ConnectScope::Project || request.http.is_some() {
            return Ok(None);
        }
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let standing = ConnectChange::standing(&changes);
        let mut ours = standing
            .iter()
            .filter(|(change, _)| change.agent == agent.id && change.scope == ConnectScope::User);
        let has = ours.find_map(|(_, written)| word_of(written)).map(str::to_owned);
        Ok(has.or_else(|| request.client_word.clone()))
    }
}

/// An entry whose command names the word.
pub(super) fn with_word(mut entry: Value, word: &str) -> Value {
    let fields = entry.as_object_mut().into_iter().flat_map(|fields| fields.values_mut());
    for words in fields.filter_map(Value::as_array_mut) {
        if words.iter().any(|argument| argument == "mcp") {
            words.extend([OPTION.into(), word.into()]);
        }
    }
    entry
}

fn word_of(written: &WrittenValue) -> Option<&str> {
    let WrittenValue::Entry { value, .. } = written else { return None };
    let lists = value.as_object()?.values().filter_map(Value::as_array);
    lists.into_iter().find_map(|words| {
        let at = words.iter().position(|argument| argument == OPTION)?;
        words.get(at + 1)?.as_str()
    })
}
