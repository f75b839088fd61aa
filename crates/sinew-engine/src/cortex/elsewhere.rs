//! What helps where no skill here fits: a skill that did such tasks before, or a look at registries.

use serde::Serialize;
use sinew_catalog::Snapshot;
use sinew_cortex::explain::{RecallAction, RunCounts};
use sinew_cortex::signals::{SignalVocabulary, signal_words};
use sinew_route::RouteDecision;

use crate::routing::RouteAnswer;
use crate::{Engine, store};

/// What helps where no skill here fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum SkillElsewhere {
    /// A skill did tasks like this one before, and is not installed now.
    Remembered {
        /// The skill.
        slug: String,
        /// How often it worked.
        success: u64,
        /// How often it was used.
        runs: u64,
    },
    /// Registries can be searched.
    Registries,
}

impl SkillElsewhere {
    /// One sentence for a model that has the tool `acquire_skill`.
    pub fn sentence(&self) -> String {
        match self {
            Self::Remembered { slug, success, runs } => format!(
                "{slug} worked {success} of {runs} times for tasks like this one and is not installed: \
                 acquire_skill gets it, with one yes of the user"
            ),
            Self::Registries => {
                "acquire_skill can look for one in registries, if the user wants that".to_owned()
            }
        }
    }
}

impl Engine {
    /// What helps with a message that no skill here fits. `None` where one fits, or would if this machine
    /// had what it needs, and where the message has no word of a task.
    pub fn skill_elsewhere(
        &self,
        snapshot: &Snapshot,
        message: &str,
        answer: &RouteAnswer,
    ) -> Option<SkillElsewhere> {
        let fits = answer.decision != RouteDecision::None || !answer.named.is_empty();
        if fits || !answer.unavailable.is_empty() || !self.config.cortex.enabled {
            return None;
        }
        if let Some(remembered) = self.remembered_elsewhere(snapshot, message) {
            return Some(remembered);
        }
        // Only what has a word of tasks in it: small talk is no request for a skill.
        let is_task = !signal_words(message, &SignalVocabulary::built_in()).is_empty();
        let is_offline = self.env.var("SINEW_OFFLINE").is_some();
        (is_task && !is_offline).then_some(SkillElsewhere::Registries)
    }

    /// A skill that did tasks like this one before, and is not here any more.
    pub(crate) fn remembered_elsewhere(
        &self,
        snapshot: &Snapshot,
        message: &str,
    ) -> Option<SkillElsewhere> {
        if !self.config.cortex.enabled || !store::local_exists(&self.env) {
            return None;
        }
        let recalled = self.cortex().ok()?.recall(message, None).explanation;
        let slug =
            recalled.decision.slug.filter(|_| recalled.decision.action == RecallAction::Present)?;
        let candidate = recalled.candidates.iter().find(|one| one.slug == slug)?;
        let RunCounts { success, fail } = candidate.runs;
        // It becomes a word of a command that is shown to be copied.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@');
        let is_word = slug.chars().all(plain) && !slug.starts_with('-');
        let is_new = is_word && !snapshot.holds(&slug) && success > 0;
        is_new.then_some(SkillElsewhere::Remembered { slug, success, runs: success + fail })
    }
}
