//! What sinew's hooks did during a trial: their answers, whole, beside their log.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_connect::TRIAL_VARIABLE;
use sinew_settings::Environment;

use crate::hook::TrialHookLine;

/// The folder of a trial that sinew's processes below an agent write to.
#[derive(Debug)]
pub(crate) struct TrialFolder {
    folder: PathBuf,
}

/// Whether this process belongs to an agent that is being tried.
pub(crate) fn is_trial(env: &Environment) -> bool {
    env.var(TRIAL_VARIABLE).is_some()
}

impl TrialFolder {
    /// Where hooks keep their files during the trial that this process belongs to.
    pub(crate) fn of(env: &Environment) -> Option<Self> {
        env.var_path(TRIAL_VARIABLE).map(|folder| Self::below(&folder))
    }

    pub(crate) fn below(folder: &Path) -> Self {
        Self { folder: folder.join("hooks") }
    }

    /// Where hooks keep their files.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// What the hooks were asked and answered.
    pub(super) fn read(&self) -> Vec<TrialHookLine> {
        crate::hook::trial_lines(&self.folder)
    }
}

/// The text that an answer adds, in whatever form the agent wants it.
pub(super) fn added_text(answer: &Value) -> Option<&str> {
    let specific = &answer["hookSpecificOutput"]["additionalContext"];
    let plain = ["additionalContext", "additional_context", "prependContext", "context"];
    specific.as_str().or_else(|| plain.iter().find_map(|field| answer[*field].as_str()))
}
