//! The acquisition flow, without hands: what state a run is in, what may happen next, and what has to
//! be done about it.
//!
//! [`step`] takes a run and an event and gives the run as it is then, with [`AcquireEffect`]s for whoever has
//! hands (the engine): search, stage, ask, install, execute. A run is plain data; after each step it
//! is stored, and [`resume`] says what to do with one that a crash left behind.
//!
//! What must never happen here: an installation without a yes that covers its digest, a third switch,
//! an outcome that is counted twice, a yes that nobody gave.

mod consent;
mod outcome;
mod resume;
mod run;
mod step;

pub use consent::{
    AcquireRefusal, ConsentAct, ConsentAnswer, ConsentChannel, ConsentReply, ConsentScope,
    RelayPolicy, check_consent,
};
pub use outcome::{AcquireReport, FailedCandidate, UseReport, may_retain};
pub use resume::resume;
pub use run::{
    AcquireCandidate, AcquireEnding, AcquireRun, AcquireState, AttemptStage, CandidateAttempt,
    CandidateVerdict, ChosenSkill, ConsentQuestion, OutcomePrerequisite, StagedCandidate,
};
pub use step::{AcquireContext, AcquireEffect, AcquireEvent, AcquireStep, step};

/// Switches to another candidate per run, over install and execution failures together.
pub const MAX_SWITCHES: u8 = 2;
/// Candidates that are shown.
pub const MAX_SHOWN: usize = 3;
/// How long a question stays open.
pub const ANSWER_WITHIN_MS: i64 = 24 * crate::time::HOUR_MS;
/// How long the one retry after a service failure waits.
pub const RETRY_AFTER_MS: u64 = 3_000;
