//! What helps where no skill here fits: a skill that did such tasks before, or a look at registries.

use serde::Serialize;
use sinew_catalog::Snapshot;
use sinew_cortex::explain::{CandidateView, PlanMode, RecallAction, RunCounts};
use sinew_cortex::signals::{SignalVocabulary, WordClass, signal_words};
use sinew_route::RouteDecision;
use sinew_settings::config::ReflexInstall;

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
        /// Whether its reflex fires: it is installed after a notice, without a question.
        reflex: bool,
    },
    /// Registries can be searched.
    Registries,
}

impl SkillElsewhere {
    /// One sentence for a model that has the tool `acquire_skill`.
    pub fn sentence(&self) -> String {
        match self {
            Self::Remembered { slug, success, runs, reflex } => {
                let how = match reflex {
                    false => "gets it, with one yes of the user",
                    true => {
                        "gets it without a question, after a notice that the user can answer with cancel"
                    }
                };
                format!(
                    "{slug} worked {success} of {runs} times for tasks like this one and is not \
                     installed: acquire_skill {how}"
                )
            }
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

    /// The same for a hook: what registries may have is worth a line only where the message names
    /// something to be done to something.
    pub(crate) fn skill_elsewhere_for_hook(
        &self,
        snapshot: &Snapshot,
        message: &str,
        answer: &RouteAnswer,
    ) -> Option<SkillElsewhere> {
        let vocabulary = SignalVocabulary::built_in();
        let names_a_task = || {
            let words = signal_words(message, &vocabulary);
            let has = |wanted: fn(WordClass) -> bool| {
                words.iter().filter_map(|word| vocabulary.class(word)).any(wanted)
            };
            has(|class| class == WordClass::Verb) && has(|class| class != WordClass::Verb)
        };
        self.skill_elsewhere(snapshot, message, answer)
            .filter(|elsewhere| *elsewhere != SkillElsewhere::Registries || names_a_task())
    }

    /// A skill that did tasks like this one before, and is not here any more.
    fn remembered_elsewhere(&self, snapshot: &Snapshot, message: &str) -> Option<SkillElsewhere> {
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
        let fires = recalled.decision.mode == PlanMode::Reflex;
        let reflex = fires && self.needs_no_yes(recalled.region.as_deref(), candidate);
        is_new.then_some(SkillElsewhere::Remembered { slug, success, runs: success + fail, reflex })
    }

    /// Whether a reflex installs these files after a notice alone: a person approved them before. What a
    /// registry has now is compared with them when it is fetched.
    fn needs_no_yes(&self, region: Option<&str>, candidate: &CandidateView) -> bool {
        let Ok(cortex) = self.cortex() else { return false };
        let approved = cortex.with_memory(|memory| {
            let region = region?;
            let known = memory.candidate(region, &candidate.slug)?;
            let digest = known.digest.as_deref()?;
            Some(memory.is_approved(region, &candidate.slug, digest))
        });
        cortex.policy().install == ReflexInstall::Notify && matches!(approved, Ok(Some(true)))
    }
}
