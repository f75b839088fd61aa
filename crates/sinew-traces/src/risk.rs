//! Steps that reached personal data without a person's consent.

use serde::{Deserialize, Serialize};

use crate::fingerprint::STEPS;
use crate::run::RunStep;

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

/// Whether a step asked a person for consent.
pub(crate) fn is_consent(kind: &str) -> bool {
    matches!(kind, "request_human_auth" | "request_approval" | "ask_human" | "human_approval")
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
