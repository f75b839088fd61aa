//! Finished runs become drafts: a transcript is read, judged, cleaned, compared and written down.
//!
//! Every stage is a function of what comes in: the same transcript gives the same draft, and no model
//! is asked. Raw text never leaves this module: what is stored, compared, shown or proposed has been
//! through [`clean`].
//!
//! ```
//! use std::io::Cursor;
//! use sinew_workshop::traces::{self, Agent, Reading};
//!
//! let lines = concat!(
//!     r#"{"type":"trace","task":"Count the files","id":"s"}"#, "\n",
//!     r#"{"type":"step","currentApp":"ls","action":{"type":"exec","command":"ls"},"result":"3"}"#, "\n",
//!     r#"{"type":"end","ok":true,"finalMessage":"There are 3."}"#,
//! );
//! let reading = Reading { agent: None, name: "s", progress: &|_| {} };
//! let mut runs = Vec::new();
//! let (agent, _) = traces::read(&mut Cursor::new(lines), &reading, &mut |run| runs.push(run))?;
//! assert_eq!((agent, runs[0].task.as_str()), (Agent::Generic, "Count the files"));
//! assert_eq!(traces::judge(&runs[0]).ok, Some(true));
//! # Ok::<(), traces::ReadError>(())
//! ```

mod confidence;
mod draft;
mod fingerprint;
mod generalise;
mod hook_records;
mod judge;
mod learned_runs;
mod lines;
mod names;
mod parameters;
mod placeholders;
mod program;
mod quote;
mod readers;
mod redact;
mod replay;
mod rewrite;
mod risk;
mod run;
mod segment;
mod settings;
mod simhash;
mod target;
mod user_reaction;

pub use confidence::DraftConfidence;
pub use draft::SkillDraft;
pub use fingerprint::fingerprint;
pub use hook_records::{LiveStep, live_end, live_message, live_step, live_trace};
pub use judge::{JudgementEvidence, RunJudgement, judge_run, pitfalls};
pub use learned_runs::LearnedRun;
pub use lines::LineCounts;
pub use parameters::RunParameter;
pub use readers::{
    MAX_FILE, TraceAgent, TraceReadError, TranscriptOptions, TranscriptSource, read,
};
pub use redact::{CleanRun, PrivateNames, TypedTextMode, clean};
pub use rewrite::{read_rewrite, rewrite_prompt};
pub use risk::ReplayRisk;
pub use run::{AgentRun, RunEnding, RunStep, StepAction, StepTarget};
pub use settings::{PublishMode, TraceSettings, WeakRunPolicy};
pub use simhash::{are_near, format_simhash as shown_simhash, simhash, tokens};

pub(crate) use draft::{DraftContext, draft};
pub(crate) use generalise::{MAX_RUNS as MAX_MERGED, merge};
pub(crate) use learned_runs::{RunRelation, run_key as key_of, trim_for_merging as kept_of};
pub(crate) use replay::{FILE as REPLAY_FILE, stem as replay_stem};
