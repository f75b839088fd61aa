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

impl PluginOrigin {
    /// The plugin, its version, where it was installed from, and why its host uses it or not.
    pub fn sentence(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}"));
        let market = self.marketplace.as_ref().map(|market| format!(" of {market}"));
        let state = match self.state {
            PluginState::Enabled => "on",
            PluginState::Disabled => "off",
        };
        let detail = self.detail.as_ref().map(|detail| format!(": {detail}"));
        let [version, market, detail] = [version, market, detail].map(Option::unwrap_or_default);
        format!("{}{version}{market}, {state} in {}{detail}", self.name, self.host)
    }
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
