//! The workshop over the engine's catalog, store and models.
//!
//! Settings are read anew at every call, as in Skill Workshop: a file that changes between two turns
//! counts from the next one. After a write the catalog is refreshed before the call returns.

mod approvals;
mod capture;
mod error;
mod explain;
mod loads;
mod openclaw;
mod queue;
mod review;
mod rules;
mod surroundings;

pub use capture::{CaptureAnswer, CaptureOptions, TurnReport};
pub use explain::WorkshopDiagnosis;
pub use queue::QueuedReview;
use sinew_settings::config::LoadedConfig;

use serde_json::Value;
use sinew_guard::scan::Scanner;
use sinew_settings::config::WorkshopSettings;
use sinew_settings::{ErrorCode, Reason};
use sinew_workshop::{
    Proposal, ProposalCounts, TaughtSkill, TendReport, Workshop, WorkshopCaller, WorkshopEvent,
    WorkshopParts, WorkshopToolAnswer,
};

use crate::{Engine, EngineError};
use surroundings::CatalogSurroundings;

/// Proposals and what leads to them, in this workspace.
#[derive(Debug, Clone, Copy)]
pub struct WorkshopHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// The workshop: proposals, captures, reviews.
    pub fn workshop(&self) -> WorkshopHandle<'_> {
        WorkshopHandle { engine: self }
    }
}

impl WorkshopHandle<'_> {
    /// How the workshop works now, and what of its configuration had to be corrected.
    pub fn settings(&self) -> (WorkshopSettings, Vec<Reason>) {
        let LoadedConfig { config, mut reasons, .. } =
            LoadedConfig::read(self.engine.settings().config_source().path.clone());
        reasons.retain(|reason| reason.detail.starts_with(WorkshopSettings::PATH));
        (config.workshop, reasons)
    }

    /// Calls `work` with the workshop of this workspace.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&Workshop<'_>) -> sinew_workshop::Result<T>,
    ) -> Result<T, EngineError> {
        self.with_settings(&self.settings().0, work)
    }

    /// Every proposal of this workspace, newest first.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the path of a method is not general enough over the workshop's lifetime"
    )]
    pub fn proposals(&self) -> Result<Vec<Proposal>, EngineError> {
        self.with(|shop| shop.proposals())
    }

    /// How many proposals are in which state.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the path of a method is not general enough over the workshop's lifetime"
    )]
    pub fn proposal_counts(&self) -> Result<ProposalCounts, EngineError> {
        self.with(|shop| shop.status())
    }

    pub(crate) fn with_settings<T>(
        &self,
        settings: &WorkshopSettings,
        work: impl FnOnce(&Workshop<'_>) -> sinew_workshop::Result<T>,
    ) -> Result<T, EngineError> {
        let store = self.engine.store()?;
        let locks = self.engine.env.sinew_home().join("workshop");
        let around = CatalogSurroundings(self.engine);
        let workshop = Workshop::new(WorkshopParts {
            store: store.as_ref(),
            workspace: self.engine.workspace(),
            locks: &locks,
            settings,
            scanner: self.engine.scanner.get_or_init(Scanner::new),
            surroundings: &around,
            clock: self.engine.env.clock.as_ref(),
        });
        work(&workshop).map_err(EngineError::from)
    }

    /// Checks what was learned and is on trial: what has proved itself is promoted, and a person is
    /// asked about what should be retired.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the path of the method is not general enough over the workshop's lifetime"
    )]
    pub fn check_probation(&self) -> Result<Vec<WorkshopEvent>, EngineError> {
        self.with(|shop| shop.check_probation())
    }

    /// Whether anything was ever learned here, as far as the skills of this workspace say.
    pub fn has_learned(&self) -> bool {
        let snapshot = self.engine.snapshot();
        let mut skills = snapshot.catalog.unshadowed().filter_map(|entry| entry.skill.as_ref());
        skills.any(|skill| TaughtSkill::of(skill).is_some())
    }

    /// Looks through the learned skills where that was not done for a week: what would make them better is
    /// proposed, and nothing is applied.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the path of the method is not general enough over the workshop's lifetime"
    )]
    pub fn tend_weekly(&self) -> Result<TendReport, EngineError> {
        self.with(|shop| shop.tend_weekly())
    }

    /// What goes before an agent's system context while the workshop is on.
    pub fn guidance(&self) -> Option<String> {
        let (settings, _) = self.settings();
        settings.is_on().then(|| sinew_workshop::guidance(settings.approval_policy))
    }

    /// The tool `skill_workshop`, which is there only while the workshop is on.
    pub fn tool(
        &self,
        parameters: &Value,
        caller: &WorkshopCaller,
    ) -> Result<WorkshopToolAnswer, EngineError> {
        let (settings, _) = self.settings();
        if !settings.is_on() {
            return Err(EngineError::new(ErrorCode::WorkshopOff, "the workshop is not enabled")
                .hint("set plugins.entries.skill-workshop.enabled to true"));
        }
        self.with_settings(&settings, |workshop| workshop.call_tool(parameters, caller))
    }
}
