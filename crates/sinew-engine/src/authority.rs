//! Whether anything may be changed at all.
//!
//! A configuration says what is forbidden. Where it cannot be read, or a part of it that forbids
//! cannot, acting would be a guess: every operation that changes something asks here first.

use sinew_hub::HubError;
use sinew_settings::ErrorCode;

use crate::{Engine, EngineError};

impl Engine {
    /// Refuses while the configuration has a fault in a part that may forbid something, and while the
    /// database, which may hold a no, is damaged.
    pub fn check_gate(&self) -> Result<(), EngineError> {
        self.check_config()?;
        self.database().check()
    }

    /// Refuses while the configuration has a fault in a part that may forbid something.
    pub fn check_config(&self) -> Result<(), EngineError> {
        self.config.gate().map_err(|fault| {
            let file = self.config_source.path.display();
            EngineError::new(
                ErrorCode::BadConfig,
                format!("{file}: {fault}; nothing is changed until it is corrected"),
            )
            .hint("`sinew doctor` shows every fault of the configuration")
        })
    }

    /// As [`Self::check_gate`], in the hub's words.
    pub(crate) fn check_hub_gate(&self) -> Result<(), HubError> {
        self.check_gate().map_err(|error| {
            error
                .hints
                .iter()
                .fold(HubError::new(error.code, error.message.clone()), HubError::hint)
        })
    }
}
