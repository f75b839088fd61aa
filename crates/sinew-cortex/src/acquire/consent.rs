//! Who may approve what, and what an approval covers.

use std::fmt;

use serde::{Deserialize, Serialize};
use sinew_settings::config::RelayPolicy;

use super::run::CandidateVerdict;

/// Something that needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ConsentAct {
    /// A skill is installed.
    Install,
    /// A plan is carried out.
    Plan,
    /// A program is installed on the system.
    Dependency,
    /// Another candidate is tried.
    SwitchCandidate,
    /// A skill stays installed.
    Retain,
    /// A proposal is written.
    ProposalApply,
    /// Something is taken out of quarantine.
    QuarantineRestore,
    /// A configuration file is changed.
    ConfigWrite,
}

impl ConsentAct {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Plan => "plan",
            Self::Dependency => "dependency",
            Self::SwitchCandidate => "switch_candidate",
            Self::Retain => "retain",
            Self::ProposalApply => "proposal_apply",
            Self::QuarantineRestore => "quarantine_restore",
            Self::ConfigWrite => "config_write",
        }
    }

    /// Whether it can never be allowed while the scanner blocks the skill. Running or repairing an
    /// installed skill is different: a person who restores it from quarantine has seen the
    /// findings.
    fn needs_a_clean_skill(self) -> bool {
        matches!(self, Self::Install | Self::SwitchCandidate | Self::Retain | Self::ProposalApply)
    }
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ConsentChannel {
    /// The agent's program asked the user itself.
    Elicitation,
    /// A terminal.
    Cli,
    /// A signed-in page.
    Dashboard,
    /// The agent asked in chat and relays the answer.
    Relay,
}

/// An answer, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentReply {
    /// The answer.
    pub answer: ConsentAnswer,
    /// Who gave it.
    pub who: String,
    /// Where.
    pub channel: ConsentChannel,
    /// Whether the agent's program could have asked the person itself.
    pub can_elicit: bool,
}

/// What a person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentAnswer {
    /// Yes, with this scope.
    Yes(ConsentScope),
    /// No.
    No,
}

/// How much an approval of an installation covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ConsentScope {
    /// The candidates that were listed, in order.
    #[default]
    Listed,
    /// Only this one.
    OnlyThis,
}

/// Why an answer or event is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AcquireRefusal {
    /// The scanner blocks the skill; it cannot be approved here.
    Blocked,
    /// An agent may not relay this answer.
    NotByRelay,
    /// The agent's program can ask the person itself.
    MustElicit,
    /// Other candidates were already requested once.
    OthersOnce,
    /// No such event is expected now.
    NotNow,
}

impl fmt::Display for AcquireRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocked => "the scanner blocks this skill; it cannot be approved here",
            Self::NotByRelay => "this needs a person's own answer; an agent cannot relay it",
            Self::MustElicit => "the agent's program can ask the person itself",
            Self::OthersOnce => "other candidates were already shown once",
            Self::NotNow => "no such answer or event is expected now",
        })
    }
}

impl std::error::Error for AcquireRefusal {}

/// Whether an approval of an act counts.
pub fn check_consent(
    act: ConsentAct,
    spoken: &ConsentReply,
    relay: RelayPolicy,
    verdict: CandidateVerdict,
) -> Result<(), AcquireRefusal> {
    let blocked = verdict == CandidateVerdict::Block;
    if blocked && (act.needs_a_clean_skill() || spoken.channel == ConsentChannel::Relay) {
        return Err(AcquireRefusal::Blocked);
    }
    if spoken.channel != ConsentChannel::Relay {
        return Ok(());
    }
    if spoken.can_elicit {
        return Err(AcquireRefusal::MustElicit);
    }
    let limited =
        matches!(act, ConsentAct::Plan | ConsentAct::SwitchCandidate | ConsentAct::Retain);
    match relay {
        RelayPolicy::Allow => Ok(()),
        RelayPolicy::Limited if limited => Ok(()),
        RelayPolicy::Limited | RelayPolicy::Never => Err(AcquireRefusal::NotByRelay),
    }
}
