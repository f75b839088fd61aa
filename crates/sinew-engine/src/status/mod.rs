//! The state of this machine: what sinew sees here, and what happened lately.

mod activity;
mod doctor;
mod overview;

pub use activity::{ActivityEntry, ActivityFilter};
pub use doctor::{DoctorProbe, DoctorReport, ProbeHealth};
pub use overview::{BlockedSkill, MachineOverview, NextStep, OverviewAgent};

use sinew_catalog::Catalog;
use sinew_settings::Reason;

use crate::Engine;

/// What sinew sees on this machine, and what happened.
#[derive(Debug, Clone, Copy)]
pub struct StatusHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// The state of this machine: `doctor`, the activity of the dashboard.
    pub fn status(&self) -> StatusHandle<'_> {
        StatusHandle { engine: self }
    }
}

impl StatusHandle<'_> {
    /// Everything worth knowing that belongs to no single skill: configuration first.
    pub fn issues(&self, catalog: &Catalog) -> Vec<Reason> {
        let exposed = self.engine.exposed_config();
        let opening = self.engine.opening.iter().cloned().chain(exposed);
        opening.chain(catalog.issues.iter().cloned()).collect()
    }
}
