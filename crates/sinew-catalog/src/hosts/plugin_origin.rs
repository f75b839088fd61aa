//! Which plugin a skill came with.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// The plugin that brought a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PluginOrigin {
    /// The host whose plugin it is.
    pub host: String,
    /// The plugin's name.
    pub name: String,
    /// Its version, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The marketplace that it was installed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marketplace: Option<String>,
    /// Whether the host uses it.
    pub state: PluginState,
    /// What decided that, as a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Whether a host uses a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, BorshDeserialize, BorshSerialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum PluginState {
    /// The host loads it.
    Enabled,
    /// It is installed and switched off.
    Disabled,
}
