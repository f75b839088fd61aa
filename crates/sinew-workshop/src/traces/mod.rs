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
mod judge;
mod known;
mod lines;
mod live;
mod names;
mod placeholders;
mod program;
mod quote;
mod readers;
mod redact;
mod replay;
mod rewrite;
mod risk;
mod run;
mod said;
mod segment;
mod settings;
mod simhash;
mod target;
mod typed;

pub use confidence::Confidence;
pub use draft::Draft as SkillDraft;
pub use fingerprint::fingerprint;
pub use judge::{Evidence, Judgement, judge, pitfalls};
pub use known::KnownRun;
pub use lines::Counts as LineCounts;
pub use live::{LiveStep, live_end, live_said, live_step, live_trace};
pub use readers::{Agent, MAX_FILE, ReadError, Reading, Source as TranscriptSource, read};
pub use redact::{Clean, Private, Typed, clean};
pub use rewrite::{read_rewrite, rewrite_prompt};
pub use risk::Risk;
pub use run::{Action as StepAction, Ending, Run, Step as RunStep, Target as StepTarget};
pub use settings::{Publish, TraceSettings, Weak};
pub use simhash::{are_near, shown as shown_simhash, simhash, tokens};
pub use typed::Param;

pub(crate) use draft::{Making, draft};
pub(crate) use generalise::{MAX_RUNS as MAX_MERGED, merge};
pub(crate) use known::{Relation, kept as kept_of, key as key_of};
pub(crate) use replay::{FILE as REPLAY_FILE, stem as replay_stem};
