//! Evaluation: how good routing is.
//!
//! Rows that cannot be read are reported and the rest is evaluated. Every figure comes with a 95 %
//! interval from a seeded bootstrap, so two equal runs print the same numbers.

mod calibrate;
mod compare;
mod data;
mod decision_keys;
mod dedupe;
mod own_examples;
mod public_rows;
mod raw_signals;
mod report;
mod run;
mod triggers;

pub use calibrate::{CalibrationPool, calibrate};
pub use compare::{EvalComparison, compare};
pub use data::{
    EvalQuestion, EvalRows, ExpectedMatch, TriggerRow, UnreadableRow, read_questions, read_skills,
    read_trigger_rows,
};
pub use decision_keys::{
    DecisionFigures, DecisionKeys, DecisionTrial, decision_trials, fit_decision_keys,
};
pub use dedupe::{ConfusablePair, confusable_pairs};
pub use own_examples::{own_questions, own_skills};
pub use public_rows::{EvalAnswers, read_answers};
pub use raw_signals::{RawSignals, candidates, raw_signals};
pub use report::{
    AbstentionFigures, ConfidenceInterval, ConfusionMatrix, EvalMiss, FalseMatchFigures,
    RankingFigures, RouteEvalReport, RouteLatency, StageLatency,
};
pub use run::{QuestionResult, RouteEvalOptions, evaluate, near_misses, observe};
pub use triggers::{TriggerReport, TriggerTrial, evaluate_triggers};
