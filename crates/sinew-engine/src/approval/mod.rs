//! Approvals: what waits for a person, and what a person said.
//!
//! One object for every surface. A caller that needs a yes opens an [`Approval`] with [`ApprovalsHandle::open`]; a
//! person decides it where they are (a terminal, a page, a form of their agent), or an agent passes
//! their words on as far as `approvals.relay` lets it; the caller then brings the content it is about to
//! use to [`ApprovalsHandle::consume`]. Any number of processes may do so at once.
//!
//! What must never happen here: a yes that was not given, a yes to other bytes than those that were
//! shown, a yes that serves twice, an agent that says yes for itself.

mod approval_store;
mod approver;
mod evidence;
mod record;
mod transitions;

pub use approver::{ApprovalAnswer, ApprovalQuestion, Approver, InstallProgress};
pub use evidence::{ApprovalEvidence, ApprovalScan, PlanStep, StepRisk};
pub use record::{
    Approval, ApprovalContent, ApprovalFileDigest, ApprovalState, ApprovalSubject, DecisionOrigin,
    NewApproval,
};
pub use sinew_cortex::acquire::{
    CandidateVerdict, ConsentAct, ConsentAnswer, ConsentChannel, ConsentScope,
};
pub use sinew_settings::config::RelayPolicy;
pub use transitions::{ApprovalDecision, ApprovalUse};

use crate::Engine;

/// What waits for a person, and what a person said.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalsHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// Approvals: what waits for a person, and what a person said.
    pub fn approvals(&self) -> ApprovalsHandle<'_> {
        ApprovalsHandle { engine: self }
    }
}
