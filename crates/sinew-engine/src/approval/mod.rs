//! Approvals: what waits for a person, and what a person said.
//!
//! One object for every surface. Whoever needs a yes opens an [`Approval`] with [`Engine::open_approval`]; a
//! person decides it where they are (a terminal, a page, a form of their agent), or an agent passes
//! their words on as far as `approvals.relay` lets it; whoever asked brings the content it is about to
//! use to [`Engine::use_approval`]. Any number of processes may do so at once.
//!
//! What must never happen here: a yes that nobody gave, a yes to other bytes than those that were
//! shown, a yes that serves twice, an agent that says yes for itself.
//!
//! [`Engine::open_approval`]: crate::Engine::open_approval
//! [`Engine::use_approval`]: crate::Engine::use_approval

mod approval_store;
mod evidence;
mod record;
mod transitions;

pub use evidence::{ApprovalEvidence, ApprovalScan, PlanStep, StepRisk};
pub use record::{
    Approval, ApprovalContent, ApprovalFileDigest, ApprovalState, ApprovalSubject, DecisionOrigin,
    NewApproval,
};
pub use sinew_cortex::acquire::{
    CandidateVerdict, ConsentAct, ConsentChannel, ConsentScope, RelayPolicy,
};
pub use transitions::{ApprovalDecision, ApprovalResponse, ApprovalUse};
