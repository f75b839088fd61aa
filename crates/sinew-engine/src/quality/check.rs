//! `check`: the whole catalog at a glance.

use std::path::PathBuf;

use serde::Serialize;
use sinew_catalog::prompt::PromptReport;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SkillRequirements};
use sinew_settings::{Reason, ReasonCode};
use sinew_skill::InstallSpec;

use crate::{PromptOptions, QualityHandle};

/// The catalog at a glance.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The agent whose list applies.
    pub agent_id: Option<String>,
    /// That list.
    pub agent_skill_filter: Option<Vec<String>>,
    /// The agent's workspace.
    pub workspace_dir: PathBuf,
    /// Where installed skills live.
    pub managed_skills_dir: PathBuf,
    /// How many of each.
    pub summary: CheckSummary,
    /// Skills that pass the gate.
    pub eligible: Vec<String>,
    /// Skills that the model sees.
    pub model_visible: Vec<String>,
    /// Skills that are slash commands.
    pub command_visible: Vec<String>,
    /// Skills that are switched off.
    pub disabled: Vec<String>,
    /// Skills that are held back.
    pub blocked: Vec<String>,
    /// Skills that the agent's list leaves out.
    pub agent_filtered: Vec<String>,
    /// Eligible skills that the model is not shown, and why.
    pub not_injected: Vec<UnlistedSkill>,
    /// Skills that lack something here.
    pub missing_requirements: Vec<SkillShortfall>,
    /// Skills that could not be loaded.
    pub broken: Vec<UnlistedSkill>,
    /// How the prompt budget is spent.
    pub prompt: PromptReport,
    /// What is worth knowing and belongs to no single skill.
    pub issues: Vec<Reason>,
}

/// How many skills of each kind there are.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    /// All, without shadowed copies.
    pub total: usize,
    /// Skills that pass the gate.
    pub eligible: usize,
    /// Skills that the model may see.
    pub model_visible: usize,
    /// Skills that are slash commands.
    pub command_visible: usize,
    /// Skills that are switched off.
    pub disabled: usize,
    /// Skills that are held back.
    pub blocked: usize,
    /// Skills that the agent's list leaves out.
    pub agent_filtered: usize,
    /// Eligible skills that the model is not shown.
    pub not_injected: usize,
    /// Skills that lack something here.
    pub missing_requirements: usize,
    /// Skills that could not be loaded.
    pub broken: usize,
    /// Copies that lost to another of the same name.
    pub shadowed: usize,
}

/// A skill that is not shown, and why.
#[derive(Debug, Serialize)]
pub struct UnlistedSkill {
    /// The skill.
    pub name: String,
    /// The reason's code.
    pub reason: ReasonCode,
}

/// A skill that lacks something here.
#[derive(Debug, Serialize)]
pub struct SkillShortfall {
    /// The skill.
    pub name: String,
    /// Whether it came with the program.
    pub bundled: bool,
    /// What it lacks.
    pub missing: SkillRequirements,
    /// How to get it.
    pub install: Vec<InstallSpec>,
}

impl QualityHandle<'_> {
    /// The whole catalog at a glance.
    pub fn check(&self, catalog: &Catalog) -> CheckReport {
        let block = self.engine.skills().prompt(catalog, &PromptOptions::default());
        let names = |keep: &dyn Fn(&CatalogEntry) -> bool| -> Vec<String> {
            catalog
                .unshadowed()
                .filter(|entry| keep(entry))
                .map(|entry| entry.name.clone())
                .collect()
        };
        let mut not_injected: Vec<UnlistedSkill> = catalog
            .unshadowed()
            .filter(|entry| {
                entry.eligible && !entry.model_visible && !entry.blocked_by_agent_filter
            })
            .map(|entry| UnlistedSkill {
                name: entry.name.clone(),
                reason: if entry
                    .reasons
                    .iter()
                    .any(|reason| reason.code == ReasonCode::SessionOverride)
                {
                    ReasonCode::SessionOverride
                } else {
                    ReasonCode::ModelInvocationDisabled
                },
            })
            .collect();
        not_injected.extend(
            block.report.omitted.iter().map(|omitted| UnlistedSkill {
                name: omitted.name.clone(),
                reason: omitted.reason,
            }),
        );
        let missing_requirements: Vec<SkillShortfall> = catalog
            .unshadowed()
            .filter(|entry| entry.state == EntryState::NeedsSetup)
            .map(|entry| SkillShortfall {
                name: entry.name.clone(),
                bundled: entry.bundled,
                missing: entry.missing.clone(),
                install: entry.install.clone(),
            })
            .collect();
        let broken: Vec<UnlistedSkill> = catalog
            .unshadowed()
            .filter(|entry| entry.state == EntryState::Broken)
            .filter_map(|entry| {
                Some(UnlistedSkill {
                    name: entry.name.clone(),
                    reason: entry.primary_reason()?.code,
                })
            })
            .collect();
        let mut report = CheckReport {
            agent_id: self.engine.agent.clone(),
            agent_skill_filter: catalog.skill_filter.clone(),
            workspace_dir: self.engine.places.workspace.clone(),
            managed_skills_dir: self.engine.hub().managed_folder(),
            summary: CheckSummary::default(),
            eligible: names(&|entry| entry.eligible),
            model_visible: names(&|entry| entry.model_visible),
            command_visible: names(&|entry| entry.command_visible),
            disabled: names(&|entry| entry.disabled),
            blocked: names(&|entry| entry.state == EntryState::Blocked),
            agent_filtered: names(&|entry| entry.blocked_by_agent_filter),
            not_injected,
            missing_requirements,
            broken,
            prompt: block.report,
            issues: self.engine.status().issues(catalog),
        };
        report.summary = CheckSummary {
            total: catalog.unshadowed().count(),
            eligible: report.eligible.len(),
            model_visible: report.model_visible.len(),
            command_visible: report.command_visible.len(),
            disabled: report.disabled.len(),
            blocked: report.blocked.len(),
            agent_filtered: report.agent_filtered.len(),
            not_injected: report.not_injected.len(),
            missing_requirements: report.missing_requirements.len(),
            broken: report.broken.len(),
            shadowed: catalog.entries.len() - catalog.unshadowed().count(),
        };
        report
    }
}
