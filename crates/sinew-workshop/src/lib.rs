//! The workshop: corrections and finished runs become changes to skills, behind review.
//!
//! A change starts as a [`ProposalRequest`], from the tool, from a captured correction
//! ([`judge_message`]) or from a reviewer's reply ([`read_reply`]). [`Workshop::suggest`] checks it and makes it a [`Proposal`]:
//! queued, quarantined, or written where the policy allows it. Whatever is written can be undone.
//!
//! ```
//! use sinew_settings::config::CaptureProfile;
//! use sinew_workshop::{CaptureGuards, CaptureVerdict, judge_message};
//!
//! let said = "From now on, check the frames before you post a GIF.";
//! let verdict = judge_message(said, CaptureProfile::Reference, CaptureGuards::On);
//! let CaptureVerdict::Captured(found) = verdict else {
//!     panic!("a correction");
//! };
//! assert_eq!(found.topic.skill, "animated-gif-workflow");
//! assert!(matches!(
//!     judge_message("what is the capital of France?", CaptureProfile::Extended, CaptureGuards::On),
//!     CaptureVerdict::Nothing(_)
//! ));
//! ```
//!
//! **Promises.** Nothing is written without a record; a file is old or new, and after a crash the
//! record agrees with it; quarantine has a way out; what a person wrote or installed is never edited
//! unasked; no literal secret is stored.
//!
//! **Invariant:** time, skills around it, store and settings arrive from outside ([`WorkshopParts`]).
//! **Left out on purpose:** how a model is reached, who may approve on which channel, and printing.

mod activity;
mod apply;
mod capture;
mod error;
mod event;
mod files;
mod gates;
mod history;
mod home;
mod id;
mod learn;
mod name;
mod openclaw;
mod personal_words;
mod prepare;
mod probation;
mod promote;
mod proposal;
mod publish;
mod records;
mod remembered_runs;
mod render;
mod reshape;
mod retire;
mod reviewer;
mod revise;
mod rewrite;
mod rule;
mod rule_file;
mod split;
mod status;
mod suggest;
mod support;
mod tend;
mod tool;
mod tool_reply;
mod turn;
mod undo;
mod workshop;

pub use activity::{
    ASKED_KEY, ActivityFit, ActivityGroup, MessageMeaning, NearestActivity, TAUGHT_KEY, TaughtHit,
    TaughtMemory, TaughtSkill, activity_groups, is_lookup, taught_hit, wording_vectors_id,
    write_wording_vectors,
};
pub use apply::{ApplyConsent, ProposalPreview};
pub use capture::{
    CaptureGuards, CaptureSkipReason, CaptureTopic, CaptureVerdict, CapturedCorrection,
    TranscriptError, capture_features, capture_vetoed, count_tool_calls, judge_message,
    judge_message_after, judge_turn, message_text, read_transcript,
};
pub use error::{Result, WorkshopError};
pub use event::{EventLevel, WorkshopEvent, WorkshopEventKind};
pub use files::overlay_path;
pub use gates::{
    DuplicateGateReport, DuplicateVerdict, GateReport, SimilarSkill, SkillOwner, StolenQuery,
    StoredQuery, TriggerGateReport, TriggerVerdict,
};
pub use history::{SkillVersion, VersionCause, WrittenFile};
pub use learn::{LearnResult, LearnStatus};
pub use name::normalise_name;
pub use openclaw::OpenclawImport;
pub use probation::{ProbationStatus, TrialRecord};
pub use proposal::{
    FindingAcknowledgement, GeneratedDetails, GeneratedLocation, Proposal, ProposalChange,
    ProposalFinding, ProposalSource, ProposalStep, ProposalTarget, TriggerQueries,
};
pub use records::{ReviewState, workspace_hash};
pub use remembered_runs::RememberedRun;
pub use reviewer::{
    MAX_OUTPUT_TOKENS, MAX_PROMPT, MAX_REPLY, ReviewPrompt, ReviewerSkill, prompt as review_prompt,
    read_reply, repair_prompt,
};
pub use revise::ProposalRevision;
pub use rewrite::{read_rewrite, rewrite_prompt};
pub use rule_file::{MAX_RULES, MAX_RULES_CHARS};
pub use split::OLD_HOME;
pub use status::ProposalState;
pub use suggest::{ApplyMode, ProposalOrigin, ProposalRequest, ProposalUpdate};
pub use support::SupportFile;
pub use tend::TendReport;
pub use tool::{TOOL, WorkshopCaller, WorkshopToolAnswer, guidance, schema};
pub use tool_reply::{ToolProposal, ToolProposalUpdate, ToolSupportFile, WorkshopToolReply};
pub use turn::{FinishedTurn, TurnOutcome};
pub use undo::{UndoForce, UndoReport, UndoTarget};
pub use workshop::{NeighbourSkill, ProposalCounts, SkillSurroundings, Workshop, WorkshopParts};
