//! Whether sinew sees what an agent sees: the agent's own list of skills beside ours, row by row.
//!
//! Where the two differ, the row says why, from a reason that the catalog recorded or from what is known
//! about the agent. A difference that nothing explains is a defect, and is shown as one.

mod difference;
mod host_rows;
mod listing_program;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use sinew_catalog::Profile;
use sinew_settings::{ErrorCode, path_text};

use crate::{Engine, EngineError, EngineOptions};
pub use difference::{CompareRow, CompareVerdict};
use listing_program::{HostListingRecipe, RECIPES};

/// How long an agent may take to list its skills.
pub const COMPARE_TIME: Duration = Duration::from_secs(60);

/// An agent's list of skills beside ours.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostComparison {
    /// The agent.
    pub agent: String,
    /// What people call it.
    pub title: String,
    /// The program that was asked.
    pub program: String,
    /// Its version, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The folder in which both were asked.
    pub workspace: String,
    /// Skills that the agent lists.
    pub host_total: usize,
    /// Skills that the agent can use.
    pub host_ready: usize,
    /// Skills that sinew has for it.
    pub sinew_total: usize,
    /// Skills that sinew finds ready.
    pub sinew_ready: usize,
    /// Rows on which both agree.
    pub same: usize,
    /// Rows that differ for a known reason.
    pub explained: usize,
    /// Rows that differ, and nothing says why.
    pub unexplained: usize,
    /// Every row, those without a reason first.
    pub rows: Vec<CompareRow>,
}

impl HostComparison {
    /// The agents whose lists can be compared.
    pub fn agents() -> Vec<&'static str> {
        RECIPES.iter().map(|recipe| recipe.agent).collect()
    }

    /// Whether every difference has a reason.
    pub fn is_explained(&self) -> bool {
        self.unexplained == 0
    }
}

impl Engine {
    /// The agents on PATH whose lists can be compared.
    pub fn comparable_agents(&self) -> Vec<&'static str> {
        let here = |recipe: &&HostListingRecipe| {
            sinew_catalog::find_program(&self.env, recipe.program).is_some()
        };
        RECIPES.iter().filter(here).map(|recipe| recipe.agent).collect()
    }

    /// Asks an agent for its own list of skills, and compares it with ours.
    pub fn compare_host(&self, agent: &str, time: Duration) -> Result<HostComparison, EngineError> {
        let recipe = recipe(agent)?;
        if self.profile.name != recipe.agent {
            // The profile is the agent's, and its own configuration holds.
            let named = self.options.workspace.clone();
            let options = EngineOptions {
                profile: Some(recipe.agent.to_owned()),
                workspace: named,
                agent: self.options.agent.clone(),
                ..EngineOptions::default()
            };
            return Self::open(self.env.clone(), options)?.compare_host(agent, time);
        }
        let program = sinew_catalog::find_program(&self.env, recipe.program).ok_or_else(|| {
            EngineError::new(
                ErrorCode::AgentNotInstalled,
                format!("`{}` is not on PATH", recipe.program),
            )
            .hint("install the agent, or add its folder to PATH")
        })?;
        let asked = self.asked_folder();
        let listing =
            recipe.ask(&program, &asked, &self.env, self.options.agent.as_deref(), time)?;
        let snapshot = self.snapshot();
        let rows = difference::compare(&snapshot.catalog, &listing, recipe);
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let version = self.host_version(recipe);
        Ok(HostComparison {
            agent: recipe.agent.to_owned(),
            title: Profile::find(recipe.agent).map_or(recipe.agent, |p| p.title).to_owned(),
            program: path_text(&program),
            version,
            workspace: path_text(&asked),
            host_total: listing.rows.len(),
            host_ready: listing.rows.iter().filter(|row| row.ready).count(),
            sinew_total: snapshot.catalog.unshadowed().count(),
            sinew_ready: snapshot.catalog.unshadowed().filter(|entry| entry.eligible).count(),
            same: count(CompareVerdict::Same),
            explained: count(CompareVerdict::Explained),
            unexplained: count(CompareVerdict::Unexplained),
            rows,
        })
    }

    /// The folder in which the agent is asked: OpenClaw has a workspace of its own, and is asked where
    /// the caller stands.
    fn asked_folder(&self) -> PathBuf {
        match self.profile.name {
            "openclaw" => self.env.cwd.clone(),
            _ => self.places.workspace.clone(),
        }
    }

    fn host_version(&self, recipe: &HostListingRecipe) -> Option<String> {
        let (env, workspace) = (&self.env, &self.places.workspace);
        let found =
            sinew_catalog::find_host_package(env, recipe.program, recipe.package, workspace)?;
        Some(found.version).filter(|version| !version.is_empty())
    }
}

fn recipe(agent: &str) -> Result<&'static HostListingRecipe, EngineError> {
    let named = |recipe: &&HostListingRecipe| {
        recipe.agent == agent || recipe.program == agent || recipe.aliases.contains(&agent)
    };
    RECIPES.iter().find(named).ok_or_else(|| {
        let known = HostComparison::agents();
        let error = EngineError::new(
            ErrorCode::NoTrial,
            format!("`{agent}` has no list of its skills that could be compared"),
        );
        let error = match sinew_settings::nearest(agent, known.iter().copied()).first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        };
        error.hint(format!("agents that can be compared: {}", known.join(", ")))
    })
}
