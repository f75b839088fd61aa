//! What a skill needs on this machine, and how to get it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use sinew_catalog::install::{InstallOption, InstallerKind, OfferContext, offered_options};
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SkillRequirements, tools};
use sinew_exec::EnvState;
use sinew_exec::install::{MissingManager, installer_setup, missing_manager};
use sinew_settings::{Reason, ReasonCode};

use crate::ExecHandle;

/// What one skill needs here.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DepsReport {
    /// The skill.
    pub skill: String,
    /// Whether it can be used.
    pub state: EntryState,
    /// What it lacks.
    pub missing: SkillRequirements,
    /// How to get programs, the best way marked.
    pub options: Vec<InstallOption>,
    /// Managers that the best ways need and this machine lacks.
    pub managers: Vec<MissingManager>,
    /// Where each declared variable comes from.
    pub env: Vec<EnvState>,
    /// Programs that are found here and that a plain shell would not find.
    pub off_path: Vec<OffPathProgram>,
    /// Ways to install that were left out, and why.
    pub refused: Vec<Reason>,
}

/// A program outside PATH.
#[derive(Debug, Serialize)]
pub struct OffPathProgram {
    /// The program.
    pub bin: String,
    /// Its folder.
    pub folder: PathBuf,
}

impl ExecHandle<'_> {
    /// What a skill needs here and how to get it.
    pub fn deps(&self, entry: &CatalogEntry) -> DepsReport {
        self.deps_with(entry, &mut BTreeMap::new())
    }

    /// The same; what the system said of a manager is not asked again, because a question takes it
    /// half a second.
    fn deps_with(
        &self,
        entry: &CatalogEntry,
        known: &mut BTreeMap<InstallerKind, Option<MissingManager>>,
    ) -> DepsReport {
        let options = self.install_options(entry);
        let setup = installer_setup(self.engine.config.install.node_manager);
        let managers = options
            .iter()
            .filter(|option| option.preferred && !option.manager_present)
            .filter_map(|option| {
                let ask =
                    || missing_manager(option.kind, &setup, &self.engine.env, &self.engine.leases);
                known.entry(option.kind).or_insert_with(ask).clone()
            })
            .collect();
        let refused = |reason: &&Reason| reason.code == ReasonCode::InstallSpecInvalid;
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
        let lacking = |entry: &&CatalogEntry| entry.state == EntryState::NeedsSetup;
        let mut known = BTreeMap::new();
        let lacking = catalog.unshadowed().filter(lacking);
        lacking.map(|entry| self.deps_with(entry, &mut known)).collect()
    }

    /// The ways to get what a skill needs, as this machine and its configuration see them.
    pub(crate) fn install_options(&self, entry: &CatalogEntry) -> Vec<InstallOption> {
        let offer = OfferContext {
            os: &self.engine.env.os,
            prefer_brew: self.engine.config.install.prefer_brew,
            has: &|program| sinew_catalog::find_program(&self.engine.env, program).is_some(),
            setup: installer_setup(self.engine.config.install.node_manager),
        };
        offered_options(&entry.requirements.os, &entry.install, &offer)
    }

    fn off_path(&self, entry: &CatalogEntry) -> Vec<OffPathProgram> {
        let needs = &entry.requirements;
        let bins = needs.bins.iter().chain(&needs.any_bins);
        bins.filter(|bin| sinew_catalog::find_program(&self.engine.env, bin).is_none())
            .filter_map(|bin| {
                let own = tools::skill_tools_folders(&self.engine.env, &entry.skill_key);
                let folders = tools::shared_folders(&self.engine.env).into_iter().chain(own);
                let folder = folders.into_iter().find(|folder| folder.join(bin).is_file())?;
                Some(OffPathProgram { bin: bin.clone(), folder })
            })
            .collect()
    }
}
