//! Permits: what the hub demands before it changes anything.
//!
//! Opening a hub gives a [`HubAuthority`] beside it. Only the authority makes permits, and every
//! method that changes what is installed consumes one. The engine keeps the authority behind its
//! policy check, so a surface that holds a [`Hub`](crate::Hub) can look and fetch, but not install.
//!
//! **Must never happen here:** a permit for files that the approval does not name.

use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::install::PreparedInstall;
use crate::lock::LockApproval;

/// The right to permit changes, one for each opened hub. It cannot be cloned or built elsewhere.
#[derive(Debug)]
pub struct HubAuthority {
    _private: (),
}

impl HubAuthority {
    pub(crate) fn new() -> Self {
        Self { _private: () }
    }

    /// Permits the install of exactly the files that were reviewed. Fails where the approval is for
    /// other files.
    pub fn permit_install(
        &self,
        prepared: PreparedInstall,
        approval: LockApproval,
    ) -> Result<InstallPermit, HubError> {
        let digest = &prepared.review.digest;
        if approval.digest != *digest {
            let message =
                format!("the approval is for {}, and these files are {digest}", approval.digest);
            return Err(HubError::new(ErrorCode::NeedsApproval, message));
        }
        Ok(InstallPermit { prepared, approval })
    }

    /// Permits one change of an installed skill, by its key or slug.
    pub fn permit_change(&self, skill: &str) -> ChangePermit {
        ChangePermit { skill: skill.to_owned() }
    }

    /// Permits that skills of other tools are taken into the lock, unapproved.
    pub fn permit_import(&self) -> ImportPermit {
        ImportPermit { _private: () }
    }
}

/// Permission to put exactly these files in place. It holds the files, so it cannot be used for
/// others; [`Hub::commit`](crate::Hub::commit) consumes it.
///
/// ```compile_fail,E0451
/// # use sinew_hub::{InstallPermit, install::PreparedInstall, lock::LockApproval};
/// fn forge(prepared: PreparedInstall, approval: LockApproval) -> InstallPermit {
///     InstallPermit { prepared, approval }
/// }
/// ```
#[derive(Debug)]
pub struct InstallPermit {
    pub(crate) prepared: PreparedInstall,
    pub(crate) approval: LockApproval,
}

/// Permission to change one installed skill once: remove, pin or keep it.
///
/// ```compile_fail,E0451
/// let forged = sinew_hub::ChangePermit { skill: "tides".to_owned() };
/// ```
#[derive(Debug)]
pub struct ChangePermit {
    pub(crate) skill: String,
}

/// Permission to take skills of other tools into the lock once.
///
/// ```compile_fail,E0451
/// let forged = sinew_hub::ImportPermit { _private: () };
/// ```
#[derive(Debug)]
pub struct ImportPermit {
    _private: (),
}
