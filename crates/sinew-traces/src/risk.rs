//! Steps that reached personal data without a person's consent.

use serde::{Deserialize, Serialize};

use crate::fingerprint::STEPS;
use crate::redact::CleanRun;
use crate::run::{RunStep, StepAction};
use crate::step_sentence::consent_words;

/// Why a run should not be repeated as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ReplayRisk {
    /// Personal data was reached without asking the user.
    HumanAuthMissing,
}

impl ReplayRisk {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HumanAuthMissing => "human_auth_missing",
        }
    }

    /// The block that a draft opens with.
    pub(crate) fn warning(self) -> &'static str {
        match self {
            Self::HumanAuthMissing => {
                "> **Warning: human authorisation is missing.** This procedure reached personal data without the\n\
                 > person's consent. As it stands it is wrong for personal photos, files, contacts or location:\n\
                 > `request_human_auth` must come first."
            }
        }
    }
}

/// Paths of personal data that no program should read without asking.
const PERSONAL: &[&str] = &[
    "/.ssh/",
    "/.aws/",
    "/.gnupg/",
    "/.mozilla/firefox/",
    "/google-chrome/",
    "/chromium/",
    "/Library/Keychains/",
    "/.password-store/",
    "/Library/Mail/",
    "/.thunderbird/",
    "/Library/Messages/",
    "AddressBook",
    "/.kube/config",
    "Login Data",
    "cookies.sqlite",
    "contacts2.db",
    ".kdbx",
];

/// Words in the kind of a step that asks a person whether it may go on.
const CONSENT_WORDS: &[&str] =
    &["human_auth", "approval", "ask_human", "consent", "user_decision", "confirm_with"];

/// Whether a step asked a person for consent.
pub(crate) fn is_consent(kind: &str) -> bool {
    let last = kind.rsplit('.').next().unwrap_or(kind);
    CONSENT_WORDS.iter().any(|word| last.contains(word)) && !last.contains("probe")
}

/// What these steps asked a person for, each once.
pub(crate) fn asked_for(steps: &[RunStep]) -> Vec<String> {
    let mut asked = Vec::new();
    for step in steps.iter().filter(|step| is_consent(&step.action.kind)) {
        let words = consent_words(&step.action);
        if !asked.contains(&words) {
            asked.push(words);
        }
    }
    asked
}

/// Lets a run ask for what earlier runs of the same task asked for, before it does anything.
pub fn keep_consents(clean: &mut CleanRun, asked: &[String]) {
    let there = asked_for(&clean.run.steps);
    let mut missing: Vec<&String> = asked.iter().filter(|what| !there.contains(what)).collect();
    missing.sort();
    missing.dedup();
    let steps = missing.into_iter().map(|what| RunStep {
        action: StepAction::new("request_human_auth").with("capability", what.as_str()),
        ..RunStep::default()
    });
    clean.run.steps.splice(0..0, steps.collect::<Vec<_>>());
}

/// The risk of doing these steps again, if there is one.
pub(crate) fn replay_risk(steps: &[RunStep]) -> Option<ReplayRisk> {
    let has_consent = steps.iter().take(STEPS).any(|step| is_consent(&step.action.kind));
    let reached = steps.iter().any(|step| step.probed || reads_personal(step));
    (reached && !has_consent).then_some(ReplayRisk::HumanAuthMissing)
}

fn reads_personal(step: &RunStep) -> bool {
    let text = match step.action.kind.as_str() {
        "read" => step.action.text("path"),
        "exec" | "shell" => step.action.text("command"),
        _ => return false,
    };
    PERSONAL.iter().any(|place| text.contains(place))
}
