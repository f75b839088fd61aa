//! Transcripts of agents as runs: a finished run is read, judged, cleaned, compared and drafted.
//!
//! Every stage is a function of what comes in: the same transcript gives the same draft, and no model
//! is asked.
//!
//! ```
//! use std::io::Cursor;
//! use sinew_traces::{TraceAgent, TranscriptOptions};
//!
//! let lines = concat!(
//!     r#"{"type":"trace","task":"Count the files","id":"s"}"#, "\n",
//!     r#"{"type":"step","currentApp":"ls","action":{"type":"exec","command":"ls"},"result":"3"}"#, "\n",
//!     r#"{"type":"end","ok":true,"finalMessage":"There are 3."}"#,
//! );
//! let reading = TranscriptOptions { agent: None, name: "s", progress: &|_| {} };
//! let mut runs = Vec::new();
//! let (agent, _) = sinew_traces::read(&mut Cursor::new(lines), &reading, &mut |run| runs.push(run))?;
//! assert_eq!((agent, runs[0].task.as_str()), (TraceAgent::Generic, "Count the files"));
//! assert_eq!(sinew_traces::judge_run(&runs[0]).ok, Some(true));
//! # Ok::<(), sinew_traces::TraceReadError>(())
//! ```
//!
//! **Promises.** No secret survives: what is stored, compared, shown or proposed has been through
//! [`clean`]. Consent is never lost: a run that reached personal data without asking says so in its
//! draft, and its replay script stops until a person agrees. **Left out on purpose:** proposals, the store, and where transcripts lie.

mod confidence;
mod corrections;
mod draft;
mod draft_page;
mod fingerprint;
mod generalise;
mod harness;
mod hook_records;
mod judge;
mod learned_runs;
mod lines;
mod names;
mod parameters;
mod placeholders;
mod program;
mod quotations;
mod quote;
mod readers;
mod redact;
mod reference_page;
mod replay;
mod risk;
mod run;
mod segment;
mod settings;
mod simhash;
mod step_sentence;
mod target;
mod task_words;
mod user_reaction;

pub use confidence::DraftConfidence;
pub use corrections::{CORRECTION_LENGTH, correction_pattern};
pub use draft::{DraftContext, SkillDraft, draft};
pub use fingerprint::fingerprint;
pub use generalise::{MAX_RUNS as MAX_MERGED, merge};
pub use harness::is_harness_tool;
pub use hook_records::{LiveStep, live_end, live_message, live_step, live_trace};
pub use judge::{JudgementEvidence, RunJudgement, judge_run, pitfalls};
pub use learned_runs::{
    LearnedRun, RunKey, RunRelation, run_key as key_of, trim_for_merging as kept_of,
};
pub use lines::LineCounts;
pub use parameters::RunParameter;
pub use quotations::{holds_secret, without_quotations};
pub use readers::{
    MAX_FILE, TraceAgent, TraceReadError, TranscriptOptions, TranscriptSource, read,
};
pub use redact::{CleanRun, PrivateNames, clean};
pub use replay::{FILE as REPLAY_FILE, stem as replay_stem};
pub use risk::{ReplayRisk, keep_consents};
pub use run::{AgentRun, RunEnding, RunStep, StepAction, StepTarget};
pub use settings::{DraftForm, TraceSettings, WeakRunPolicy};
pub use simhash::{are_near, format_simhash as shown_simhash, simhash, tokens};
pub use user_reaction::{UserReaction, reaction as user_reaction};
