//! `check`: the whole catalog at a glance.

use std::path::PathBuf;

use serde::Serialize;
use sinew_catalog::prompt::PromptReport;
use sinew_catalog::{Catalog, Entry, Requirements, State};
use sinew_skill::{Code, InstallSpec, Reason};

use crate::{Engine, PromptOptions};

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
    pub summary: Summary,
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
    pub not_injected: Vec<NotInjected>,
    /// Skills that lack something here.
    pub missing_requirements: Vec<MissingSkill>,
    /// Skills that could not be loaded.
    pub broken: Vec<NotInjected>,
    /// How the prompt budget is spent.
    pub prompt: PromptReport,
    /// What is worth knowing and belongs to no single skill.
    pub issues: Vec<Reason>,
}

/// How many skills of each kind there are.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
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
pub struct NotInjected {
    /// The skill.
    pub name: String,
    /// The reason's code.
    pub reason: Code,
}

/// A skill that lacks something here.
#[derive(Debug, Serialize)]
pub struct MissingSkill {
    /// The skill.
    pub name: String,
    /// What it lacks.
    pub missing: Requirements,
    /// How to get it.
    pub install: Vec<InstallSpec>,
}

impl Engine {
    /// The whole catalog at a glance.
    pub fn check(&self, catalog: &Catalog) -> CheckReport {
        let block = self.prompt(catalog, &PromptOptions::default());
        let names = |keep: &dyn Fn(&Entry) -> bool| -> Vec<String> {
            catalog.active().filter(|entry| keep(entry)).map(|entry| entry.name.clone()).collect()
        };
        let mut not_injected: Vec<NotInjected> = catalog
            .active()
            .filter(|entry| {
                entry.eligible && !entry.model_visible && !entry.blocked_by_agent_filter
            })
            .map(|entry| NotInjected {
                name: entry.name.clone(),
                reason: if entry.reasons.iter().any(|reason| reason.code == Code::SessionOverride) {
                    Code::SessionOverride
                } else {
                    Code::ModelInvocationDisabled
                },
            })
            .collect();
        not_injected.extend(
            block
                .report
                .omitted
                .iter()
                .map(|omitted| NotInjected { name: omitted.name.clone(), reason: omitted.reason }),
        );
        let missing_requirements: Vec<MissingSkill> = catalog
            .active()
            .filter(|entry| entry.state == State::NeedsSetup)
            .map(|entry| MissingSkill {
                name: entry.name.clone(),
                missing: entry.missing.clone(),
                install: entry.install.clone(),
            })
            .collect();
        let broken: Vec<NotInjected> = catalog
            .active()
            .filter(|entry| entry.state == State::Broken)
            .filter_map(|entry| {
                Some(NotInjected { name: entry.name.clone(), reason: entry.primary_reason()?.code })
            })
            .collect();
        let mut report = CheckReport {
            agent_id: self.agent.clone(),
            agent_skill_filter: catalog.skill_filter.clone(),
            workspace_dir: self.places.workspace.clone(),
            managed_skills_dir: self.managed_folder(),
            summary: Summary::default(),
            eligible: names(&|entry| entry.eligible),
            model_visible: names(&|entry| entry.model_visible),
            command_visible: names(&|entry| entry.command_visible),
            disabled: names(&|entry| entry.disabled),
            blocked: names(&|entry| entry.state == State::Blocked),
            agent_filtered: names(&|entry| entry.blocked_by_agent_filter),
            not_injected,
            missing_requirements,
            broken,
            prompt: block.report,
            issues: self.issues(catalog),
        };
        report.summary = Summary {
            total: catalog.active().count(),
            eligible: report.eligible.len(),
            model_visible: report.model_visible.len(),
            command_visible: report.command_visible.len(),
            disabled: report.disabled.len(),
            blocked: report.blocked.len(),
            agent_filtered: report.agent_filtered.len(),
            not_injected: report.not_injected.len(),
            missing_requirements: report.missing_requirements.len(),
            broken: report.broken.len(),
            shadowed: catalog.entries.len() - catalog.active().count(),
        };
        report
    }
}
