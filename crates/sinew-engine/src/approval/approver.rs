//! One way to ask a person, whatever needs the yes: an install, a risk of it, a program that a skill
//! needs, a step of an acquisition, a stored approval.
//!
//! A surface implements [`Approver`]: a terminal shows the question and reads a key, a server answers
//! from stored approvals, a script answers as its flags say. What a surface cannot put to a person is
//! [`ApprovalAnswer::Absent`], never a yes.

use sinew_exec::child::OutputStream;
use sinew_exec::install::PolicyNotice;
use sinew_hub::install::{InstallConcern, InstallReview};
use sinew_hub::lock::ApprovalMethod;

use super::{Approval, ConsentScope};
use crate::exec::DependencyQuestion;

/// The person who is asked, as a surface reaches them.
pub trait Approver {
    /// Puts a question to the person, or gives the answer that they gave beforehand.
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer;

    /// How far the work has come. Nothing depends on what is done with it.
    fn progress(&mut self, _progress: &InstallProgress<'_>) {}
}

/// A question, with everything that the answer depends on.
#[derive(Debug, Clone, Copy)]
pub enum ApprovalQuestion<'a> {
    /// Whether an install goes on although it has this risk. A yes to the install does not cover it.
    Risk(&'a InstallConcern),
    /// Whether exactly these files are installed.
    Install(&'a InstallReview),
    /// Whether a program is installed for a skill.
    Dependency(&'a DependencyQuestion<'a>),
    /// Whether a program is installed although the operator's policy warns. The person types the
    /// skill's name.
    PolicyWarning {
        /// The skill that needs the program.
        skill: &'a str,
        /// What the policy says.
        notice: &'a PolicyNotice,
    },
    /// A question that is stored, and can be answered elsewhere as well.
    Stored {
        /// The question.
        approval: &'a Approval,
        /// Whether the person may ask for other candidates instead.
        others: bool,
    },
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes.
    Yes {
        /// Who said so, as records name them.
        by: String,
        /// How.
        method: ApprovalMethod,
        /// Why.
        reason: Option<String>,
        /// To how much, where several candidates were listed.
        scope: ConsentScope,
    },
    /// No.
    No,
    /// Other candidates instead.
    Others,
    /// Another one of those that were shown: its name.
    Pick(String),
    /// Stop everything that the question belongs to.
    Cancel,
    /// No person can be asked now. The question waits under this id, if it was stored.
    Absent {
        /// The approval that waits.
        waits: Option<String>,
    },
}

impl ApprovalAnswer {
    /// No person can be asked, and nothing was stored.
    pub const ABSENT: Self = Self::Absent { waits: None };

    /// A yes to everything that was listed.
    pub fn yes(by: impl Into<String>, method: ApprovalMethod) -> Self {
        Self::Yes { by: by.into(), method, reason: None, scope: ConsentScope::Listed }
    }

    /// Whether it is a yes.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes { .. })
    }
}

/// How far an install has come.
#[derive(Debug, Clone, Copy)]
pub enum InstallProgress<'a> {
    /// So many bytes are here.
    Downloaded {
        /// Bytes so far.
        bytes: u64,
        /// The total, where the server names it.
        of: Option<u64>,
    },
    /// An installer wrote something.
    Output {
        /// Where to.
        stream: OutputStream,
        /// What.
        bytes: &'a [u8],
    },
}
