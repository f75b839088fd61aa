//! What a skill needs on this machine, and how to get it.

use std::path::PathBuf;

use serde::Serialize;
use sinew_catalog::install::{InstallOption, Offer, options};
use sinew_catalog::{Catalog, Entry, Requirements, State, tools};
use sinew_exec::EnvState;
use sinew_exec::install::{Missing, missing_manager, setup};
use sinew_skill::{Code, Reason};

use crate::Engine;

/// What one skill needs here.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DepsReport {
    /// The skill.
    pub skill: String,
    /// Whether it can be used.
    pub state: State,
    /// What it lacks.
    pub missing: Requirements,
    /// How to get programs, the best way marked.
    pub options: Vec<InstallOption>,
    /// Managers that the best ways need and this machine lacks.
    pub managers: Vec<Missing>,
    /// Where each declared variable comes from.
    pub env: Vec<EnvState>,
    /// Programs that are found here and that a plain shell would not find.
    pub off_path: Vec<OffPath>,
    /// Ways to install that were left out, and why.
    pub refused: Vec<Reason>,
}

/// A program outside PATH.
#[derive(Debug, Serialize)]
pub struct OffPath {
    /// The program.
    pub bin: String,
    /// Its folder.
    pub folder: PathBuf,
}

impl Engine {
    /// What a skill needs here and how to get it.
    pub fn deps(&self, entry: &Entry) -> DepsReport {
        let options = self.install_options(entry);
        let setup = setup(self.config.install.node_manager);
        let managers = options
            .iter()
            .filter(|option| option.preferred && !option.manager_present)
            .filter_map(|option| missing_manager(option.kind, &setup, &self.env, &self.leases))
            .collect();
        let refused = |reason: &&Reason| reason.code == Code::InstallSpecInvalid;
        DepsReport {
            skill: entry.name.clone(),
            state: entry.state,
            missing: entry.missing.clone(),
            managers,
            env: self.env_states(entry),
            off_path: self.off_path(entry),
            refused: entry.reasons.iter().filter(refused).cloned().collect(),
            options,
        }
    }

    /// Every skill that lacks something here.
    pub fn all_deps(&self, catalog: &Catalog) -> Vec<DepsReport> {
        let lacking = |entry: &&Entry| entry.state == State::NeedsSetup;
        catalog.active().filter(lacking).map(|entry| self.deps(entry)).collect()
    }

    /// The ways to get what a skill needs, as this machine and its configuration see them.
    pub(crate) fn install_options(&self, entry: &Entry) -> Vec<InstallOption> {
        let offer = Offer {
            os: &self.env.os,
            prefer_brew: self.config.install.prefer_brew,
            has: &|program| self.env.find_program(program).is_some(),
            setup: setup(self.config.install.node_manager),
        };
        options(&entry.requirements.os, &entry.install, &offer)
    }

    fn off_path(&self, entry: &Entry) -> Vec<OffPath> {
        let needs = &entry.requirements;
        let bins = needs.bins.iter().chain(&needs.any_bins);
        bins.filter(|bin| self.env.find_program(bin).is_none())
            .filter_map(|bin| {
                let own = tools::own_folders(&self.env, &entry.skill_key);
                let folders = tools::shared_folders(&self.env).into_iter().chain(own);
                let folder = folders.into_iter().find(|folder| folder.join(bin).is_file())?;
                Some(OffPath { bin: bin.clone(), folder })
            })
            .collect()
    }
}
