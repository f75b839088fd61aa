//! Evaluation: how good routing is, measured in the open.
//!
//! Rows that cannot be read are reported and the rest is evaluated. Every figure comes with a 95 %
//! interval from a seeded bootstrap, so two runs of the same thing print the same numbers.

mod compare;
mod data;
mod dedupe;
mod raw;
mod report;
mod run;
mod triggers;

pub use compare::{Comparison, compare};
pub use data::{
    BadRow, Question, Read, TriggerRow, Wants, read_questions, read_skills, read_trigger_rows,
};
pub use dedupe::{Pair, confusable};
pub use raw::{RawSignals, candidates, raw_signals};
pub use report::{
    Abstention, Confusion, Figures, Interval, Latency, Miss, Report, ShouldNot, StageLatency,
};
pub use run::{Observed, Options, evaluate, near_misses, observe};
pub use triggers::{Trial, TriggerReport, triggers};
