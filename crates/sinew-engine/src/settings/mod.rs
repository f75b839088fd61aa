//! sinew's own files on this machine: the configuration, what it says of single skills, the token.

mod access_token;
mod config_file;
mod config_value;
mod config_view;
mod skill_settings;

use sinew_settings::config::ConfigSource;
use sinew_settings::{Actor, ErrorCode};

pub use config_file::ConfigImport;
pub(crate) use config_file::{map_in, update};
pub use config_value::ConfigValueChange;
pub use config_view::{ConfigValueView, ConfigView};
pub use skill_settings::SkillSettingsPatch;

use crate::{Engine, EngineError};

/// The configuration as a file that is shown and changed, and the token beside it.
#[derive(Debug, Clone, Copy)]
pub struct SettingsHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// sinew's own files: showing and changing the configuration, the access token.
    pub fn settings(&self) -> SettingsHandle<'_> {
        SettingsHandle { engine: self }
    }
}

impl<'a> SettingsHandle<'a> {
    /// Where the configuration was read from.
    pub fn config_source(&self) -> &'a ConfigSource {
        &self.engine.config_source
    }

    /// Copies the sections that both programs share from OpenClaw's configuration into sinew's;
    /// without `write`, only says what it would do. What comes over may grant and forbid, so an agent
    /// cannot.
    pub fn import_openclaw_config(
        &self,
        write: bool,
        by: &Actor,
    ) -> Result<ConfigImport, EngineError> {
        if write && !by.is_person() {
            let said = "only a person can bring another program's configuration over";
            return Err(EngineError::new(ErrorCode::NeedsPerson, said)
                .hint("run `sinew config import` in a terminal"));
        }
        let env = &self.engine.env;
        let to = env.var_path("SINEW_CONFIG");
        let to = to.unwrap_or_else(|| env.sinew_home().join("config.json5"));
        config_file::import_openclaw(env, to, write)
    }
}
