//! The workshop: corrections and finished runs become changes to skills, behind review.
//!
//! A change starts as a [`Draft`], from the tool, from a captured correction ([`judge`]) or from a
//! reviewer's reply ([`read_reply`]). [`Workshop::suggest`] checks it and makes it a [`Proposal`]:
//! queued, quarantined, or written where the policy allows it. Whatever is written can be undone.
//!
//! ```
//! use sinew_workshop::{CaptureProfile, Guards, Verdict, judge};
//!
//! let said = "From now on, check the frames before you post a GIF.";
//! let Verdict::Captured(found) = judge(said, CaptureProfile::Reference, Guards::On) else {
//!     panic!("a correction");
//! };
//! assert_eq!(found.topic.skill, "animated-gif-workflow");
//! assert!(matches!(
//!     judge("what is the capital of France?", CaptureProfile::Extended, Guards::On),
//!     Verdict::Nothing(_)
//! ));
//! ```
//!
//! **Promises.** Nothing is written without a record; a file is old or new, and after a crash the
//! record agrees with it; quarantine has a way out; what a person wrote or installed is never edited
//! unasked; no literal secret is stored.
//!
//! **Invariant:** time, skills around it, store and settings arrive from outside ([`Parts`]). **Left
//! out on purpose:** how a model is reached, who may approve on which channel, and printing.

mod apply;
mod book;
mod by;
mod capture;
mod error;
mod event;
mod files;
mod gates;
mod history;
mod id;
mod kept;
mod learn;
mod name;
mod openclaw;
mod prepare;
mod probation;
mod promote;
mod proposal;
mod publish;
mod render;
mod retire;
mod reviewer;
mod revise;
mod settings;
mod status;
mod suggest;
mod support;
mod text;
mod tool;
pub mod traces;
mod turn;
mod undo;
mod workshop;

pub use apply::{Consent, Preview};
pub use book::{ReviewState, workspace_hash};
pub use by::By;
pub use capture::{
    Capture, Guards, Skipped, Topic, TranscriptError, Verdict, count_tool_calls, judge, judge_turn,
    message_text, read_transcript,
};
pub use error::{Error, Result};
pub use event::{Event, EventKind, Level};
pub use files::overlay_path;
pub use gates::{
    Duplicate, DuplicateVerdict, Gates, Near, Owner, Stolen, StoredQuery, Trigger, TriggerVerdict,
};
pub use history::{Action, Version, Written};
pub use kept::KeptRun;
pub use learn::{Became, Learned};
pub use name::normalise_name;
pub use openclaw::Imported;
pub use probation::{Probation, Trials};
pub use proposal::{
    Acknowledged, Change, Generated, Place, Proposal, Queries, ScanFinding, Source, Step, Target,
};
pub use reviewer::{
    KnownSkill, MAX_OUTPUT_TOKENS, MAX_PROMPT, MAX_REPLY, ReviewPrompt, prompt as review_prompt,
    read_reply, repair_prompt,
};
pub use revise::Revision;
pub use settings::{
    ApprovalRule, CaptureProfile, Endpoint, GateMode, Policy, ProbationRule, Provider, ReviewMode,
    Settings, StaleCheck,
};
pub use status::Status;
pub use suggest::{Apply, Draft, Origin, Suggested};
pub use support::SupportFile;
pub use tool::{Caller, TOOL, ToolAnswer, guidance, schema};
pub use turn::{Turn, TurnOutcome};
pub use undo::{Force, Undone, Wish};
pub use workshop::{Counts, Neighbour, Parts, Surroundings, Workshop};
