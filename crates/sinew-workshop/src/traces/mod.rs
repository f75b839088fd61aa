//! Finished runs become drafts: a transcript is read, judged, cleaned, compared and written down.
//!
//! Every stage is a function of what comes in: the same transcript gives the same draft, and no model
//! is asked. Raw text never leaves this module: what is stored, compared, shown or proposed has been
//! through [`clean`].

mod confidence;
mod draft;
mod fingerprint;
mod judge;
mod lines;
mod names;
mod placeholders;
mod program;
mod quote;
mod readers;
mod redact;
mod replay;
mod risk;
mod run;
mod said;
mod segment;
mod simhash;
mod target;
mod typed;

pub use confidence::Confidence;
pub use draft::Draft as SkillDraft;
pub use fingerprint::fingerprint;
pub use judge::{Evidence, Judgement, judge, pitfalls};
pub use lines::Counts as LineCounts;
pub use readers::{Agent, MAX_FILE, ReadError, Reading, Source as TranscriptSource, read};
pub use redact::{Clean, Private, Typed, clean};
pub use risk::Risk;
pub use run::{Action as StepAction, Ending, Run, Step as RunStep, Target as StepTarget};
pub use simhash::{are_near, shown as shown_simhash, simhash, tokens};
pub use typed::Param;
