//! One skill, for people and agents who see or use it: summaries, text, files, the prompt block.
//!
//! [`Engine::skills`] gives a [`SkillsHandle`]. Who may see a skill is the catalog's decision; here it
//! is applied to every way in which a skill's text can leave.
//!
//! What must never happen here: a file outside a skill's folder that is read, a held back skill whose
//! text is handed out.

mod agent_view;
mod arguments;
mod dispatch;
mod eject;
mod files;
mod host_listing;
mod new_skill;
mod openpocket;
mod prompt;
mod removal;
mod requirement_checks;
mod served_skills;

pub use agent_view::{
    AgentScanVerdict, FindingCounts, ScanExtent, ScanSubject, SkillReading, SkillSummary,
    SkillTrust,
};
pub use arguments::{FilledText, SkillArgument, declared_arguments, fill_in};
pub use eject::EjectedSkill;
pub use files::{ListedFile, MAX_READ_BYTES, SkillFile};
pub use host_listing::HostListing;
pub use new_skill::{NewSkill, NewSkillRequest};
pub use openpocket::{CopyReport, MigrationReport};
pub(crate) use prompt::HypotheticalSkill;
pub use prompt::{PromptOptions, ResolvedSkill};
pub use removal::RemovedSkill;
pub(crate) use requirement_checks::place_elsewhere;
pub use requirement_checks::{RequirementCheck, variable_origin};
pub use served_skills::{
    DigestCache, MAX_SERVED_BYTES, MAX_SERVED_FILES, ServedFile, ServedSkill, SkillFileDigest,
    UnservedReason,
};

use crate::Engine;

/// The skills of one agent, one at a time.
#[derive(Debug, Clone, Copy)]
pub struct SkillsHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// Reading skills: summaries, text, files, the prompt block.
    pub fn skills(&self) -> SkillsHandle<'_> {
        SkillsHandle { engine: self }
    }
}
