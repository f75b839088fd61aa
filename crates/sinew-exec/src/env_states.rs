//! Where the value of each declared variable would come from.

use serde::Serialize;
use sinew_guard::env::{self, EnvRefusal};
use sinew_settings::Environment;

use crate::env_plan::{CoveredSkill, EnvRules};
use crate::lease::is_set;

/// Where a declared variable comes from, and what blocks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EnvState {
    /// The variable.
    pub name: String,
    /// Where its value comes from.
    pub from: EnvValueSource,
    /// Whether the host's value is blank: a run keeps it, but the gate reports it as missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blank: bool,
    /// Why the skill's configuration may not set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<EnvRefusal>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum EnvValueSource {
    /// The host's environment.
    Host,
    /// The configuration.
    Config,
    /// It has no value.
    Missing,
}

impl EnvValueSource {
    /// The name that records and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Config => "config",
            Self::Missing => "missing",
        }
    }
}

/// The state of each name that a skill declares, in the order of its declaration.
pub fn env_states(
    skill: &CoveredSkill<'_>,
    rules: &EnvRules<'_>,
    host: &Environment,
) -> Vec<EnvState> {
    let declared = skill.declared_names();
    let judged = skill.guard_view(&declared, rules);
    let primary = skill.entry.primary_env.as_deref();
    let configured = |name: &str| {
        skill.settings.is_some_and(|settings| {
            settings.env.get(name).is_some_and(|secret| !secret.is_blank())
                || (primary == Some(name)
                    && settings.api_key.as_ref().is_some_and(|key| !key.is_blank()))
        })
    };
    declared
        .iter()
        .map(|name| {
            // Whether a name may be set does not depend on the value.
            let blocked = env::check_variable(&judged, name, "").err();
            let from = if is_set(host, name) {
                EnvValueSource::Host
            } else if configured(name) && blocked.is_none() {
                EnvValueSource::Config
            } else {
                EnvValueSource::Missing
            };
            let blank = from == EnvValueSource::Host && host.var(name).is_none();
            EnvState { name: name.clone(), from, blank, blocked }
        })
        .collect()
}
