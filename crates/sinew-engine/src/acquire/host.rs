//! The surface at the other end of a flow, and what it is told.

use std::path::Path;

use serde::Serialize;
use sinew_cortex::acquire::{AcquireEnding, AcquireReport, UseReport};
use sinew_settings::Actor;

use super::candidate_summary::CandidateSummary;
use crate::approval::{
    Approval, ApprovalAnswer, ApprovalQuestion, Approver, ConsentChannel, PlanStep,
};

/// The surface that a flow serves. It answers questions as an [`Approver`], and hears what happens;
/// what it does not implement waits for another surface.
pub trait AcquireHost: Approver {
    /// Something happened.
    fn on_progress(&mut self, told: &AcquireProgress<'_>);

    /// Who answers here, and over which channel.
    fn respondent(&self) -> (Actor, ConsentChannel) {
        (Actor::System, ConsentChannel::Cli)
    }

    /// A reflex is about to install; the person may cancel for so many milliseconds.
    fn offer_cancel(&mut self, _ms: u64) -> PauseEnd {
        PauseEnd::Later
    }

    /// So many milliseconds pass.
    fn wait(&mut self, ms: u64) -> PauseEnd {
        std::thread::sleep(std::time::Duration::from_millis(ms));
        PauseEnd::Passed
    }

    /// The skill is in place and is to be used now. `None` where it is used and reported elsewhere.
    fn use_skill(&mut self, _ready: &ReadySkill<'_>) -> Option<UseReport> {
        None
    }

    /// A use was cut short: how did it go?
    fn ask_outcome(&mut self, _slug: &str) -> Option<UseReport> {
        None
    }

    /// Credentials were refused: are they right now?
    fn confirm_credentials(&mut self, _slug: &str, _names: &[String]) -> Option<bool> {
        None
    }
}

/// No person and no listener: everything that needs a person waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnattendedHost;

impl Approver for UnattendedHost {
    fn ask(&mut self, _question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        ApprovalAnswer::ABSENT
    }
}

impl AcquireHost for UnattendedHost {
    fn on_progress(&mut self, _told: &AcquireProgress<'_>) {}
}

/// How a pause ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseEnd {
    /// It is over.
    Passed,
    /// The person cancelled.
    Cancelled,
    /// This surface does not wait; the run is continued later.
    Later,
}

/// A skill that is ready to be used.
#[derive(Debug, Clone, Copy)]
pub struct ReadySkill<'a> {
    /// The run.
    pub run: &'a str,
    /// The skill.
    pub slug: &'a str,
    /// Its folder.
    pub folder: &'a Path,
}

/// What happens, as one line of a stream.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum AcquireProgress<'a> {
    /// A run begins, or goes on.
    Run {
        /// The run.
        run: &'a str,
        /// Where it stands.
        state: &'a str,
        /// The task's words.
        signals: &'a [String],
    },
    /// An installed skill can do it.
    Handled {
        /// Which.
        skill: &'a str,
    },
    /// The memory was asked.
    Recalled {
        /// The region that fits.
        region: Option<&'a str>,
        /// What may be offered.
        candidates: usize,
        /// Why.
        reason: &'a str,
        /// Installed skills that may be worth a look.
        installed: Vec<String>,
    },
    /// Registries were searched.
    Searched {
        /// With which words.
        keywords: &'a [String],
        /// How many were found.
        found: usize,
        /// How many of the reviewed ones fit the task.
        relevant: usize,
        /// Whether unreviewed sources were asked.
        supplemented: bool,
        /// What went wrong, where something did.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        problems: Vec<String>,
    },
    /// The candidates, fetched and scanned.
    Candidates {
        /// Each of them.
        candidates: &'a [CandidateSummary],
        /// `standard` or `reflex`.
        mode: &'a str,
    },
    /// A reflex installs unless the person cancels.
    Notice {
        /// The two lines.
        text: &'a str,
        /// How long.
        cancel_window_ms: u64,
    },
    /// A person is asked.
    NeedsApproval {
        /// The question.
        approval: &'a Approval,
    },
    /// A question was answered.
    Answered {
        /// The question.
        approval: &'a str,
        /// What became of it.
        state: &'a str,
    },
    /// A skill is in place.
    Installed {
        /// The skill.
        slug: &'a str,
        /// Its version.
        version: &'a str,
        /// The digest of its files.
        digest: &'a str,
        /// Its folder.
        folder: String,
    },
    /// It could not be installed.
    InstallFailed {
        /// The skill.
        slug: &'a str,
        /// Why.
        detail: &'a str,
    },
    /// What would be done.
    Plan {
        /// The skill.
        slug: &'a str,
        /// Step by step.
        steps: &'a [PlanStep],
    },
    /// The skill is used now.
    Use {
        /// The skill.
        slug: &'a str,
        /// Its folder.
        folder: String,
    },
    /// It ended.
    Finished {
        /// How.
        finish: &'a UseReport,
    },
    /// The one retry waits.
    Waiting {
        /// How long.
        ms: u64,
    },
    /// Credentials were refused; nothing is tried again by itself.
    Credentials {
        /// The skill.
        slug: &'a str,
        /// Variables that it reads, by name.
        names: &'a [String],
    },
    /// A program was installed, or not.
    Dependency {
        /// The command.
        command: &'a str,
        /// Whether what was missing is there now.
        installed: bool,
    },
    /// The outcome was learned.
    Learned {
        /// The region.
        region: &'a str,
        /// The skill.
        slug: &'a str,
        /// Its weight, where it is remembered.
        weight: Option<f64>,
        /// Whether it has earned a reflex.
        reflex: bool,
    },
    /// A skill is gone again.
    Released {
        /// The skill.
        slug: &'a str,
    },
    /// What was tried.
    Report {
        /// Each candidate that failed.
        report: &'a AcquireReport,
    },
    /// The run is over.
    Closed {
        /// The run.
        run: &'a str,
        /// How it ended.
        end: AcquireEnding,
    },
}
