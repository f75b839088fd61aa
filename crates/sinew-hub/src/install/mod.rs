//! Installing: staged, scanned, verified, reviewed, put in place in one step, and recorded.
//!
//! An [`InstallPreparation`] takes a request as far as a [`PreparedInstall`], and stops at each risk
//! that has to be accepted. What becomes of that is decided elsewhere: [`Hub::commit`](crate::Hub::commit)
//! takes an [`InstallPermit`](crate::InstallPermit) and nothing else.
//!
//! **Must never happen here:** a skill that is visible before it is approved, a mix of two
//! versions, a lock that disagrees with the folder.

mod commit;
pub(crate) mod diff;
pub(crate) mod journal;
mod preparation;
mod review;
mod scan;

pub use commit::InstallReceipt;
pub use diff::VersionDiff;
pub use preparation::{InstallPreparation, PausedPreparation, PreparationStep};
pub(crate) use preparation::{PreparationPurpose, PreparationStage, UpdateBase};
pub(crate) use review::pinned_error;
pub use review::{
    ExistingSkill, InstallConcern, InstallReview, InstallRisk, PreparedInstall, ReviewOccasion,
    RuleAcceptance, SkillInstallRequest,
};
