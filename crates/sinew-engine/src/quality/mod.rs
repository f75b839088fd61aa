//! How good skills are: what the guard finds, what the rule sets say, what is missing.

mod check;
mod scan;
mod scan_target;
mod validate;

pub use check::{CheckReport, CheckSummary, SkillShortfall, UnlistedSkill};
pub use scan::{ScanAcceptance, ScannedTarget};
pub(crate) use scan::{ScanFiles, read_bundle};
pub use validate::{FixedFile, ValidatedFile, ValidationReport, ValidationTarget};
pub(crate) use validate::{files_in, read};

use crate::Engine;

/// Scanning, validating and checking skills.
#[derive(Debug, Clone, Copy)]
pub struct QualityHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// The quality of skills: `scan`, `validate`, `check`.
    pub fn quality(&self) -> QualityHandle<'_> {
        QualityHandle { engine: self }
    }
}
