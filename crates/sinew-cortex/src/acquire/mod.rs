//! The acquisition flow as pure logic: the state of a run, what may happen next, and what has to be
//! done about it.
//!
//! [`step`] takes a run and an event and returns the new run, with [`AcquireEffect`]s for the
//! engine to carry out: search, stage, ask, install, execute. A run is plain data; it is stored
//! after each step, and [`resume`] says how to continue after a crash.
//!
//! What must never happen here: an installation without an approval that covers its digest, a third
//! switch, an outcome that is counted twice, an approval that was not given.

mod candidate_steps;
mod consent;
mod install_steps;
mod outcome;
mod resume;
mod run;
mod step;
mod use_steps;

pub use consent::{
    AcquireRefusal, ConsentAct, ConsentAnswer, ConsentChannel, ConsentReply, ConsentScope,
    check_consent,
};
pub use outcome::{AcquireReport, FailedCandidate, UseReport, may_retain};
pub use resume::resume;
pub use run::{
    AcquireCandidate, AcquireEnding, AcquireRun, AcquireState, AttemptStage, CandidateAttempt,
    CandidateVerdict, ChosenSkill, ConsentQuestion, GONE, OutcomePrerequisite, StagedCandidate,
    StagedSummary,
};
pub use step::{AcquireContext, AcquireEffect, AcquireEvent, AcquireStep, step};

/// Switches to another candidate per run, counting install and execution failures together.
pub const MAX_SWITCHES: u8 = 2;
/// The number of candidates shown.
pub const MAX_SHOWN: usize = 3;
/// How long a question stays open.
pub const ANSWER_WITHIN_MS: i64 = 24 * crate::time::HOUR_MS;
/// How long to wait before the one retry after a service failure.
pub const RETRY_AFTER_MS: u64 = 3_000;
