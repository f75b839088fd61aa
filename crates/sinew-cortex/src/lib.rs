//! The cortex: it remembers what worked, and turns it into reflexes.
//!
//! Every use of a skill leaves a [`SkillOutcome`](record::SkillOutcome) in a log. The
//! [`CortexMemory`] is a fold over that log: regions of tasks, the weight of each skill in them,
//! reflexes that were earned, lessons from failures. What works gets stronger, what is not used
//! fades, and every answer comes with a [`RecallExplanation`](explain::RecallExplanation).
//!
//! ```
//! use sinew_cortex::record::{CortexRecord, RecordBody, SkillOutcome};
//! use sinew_cortex::{CortexPolicy, Ulid, UtcInstant, fold};
//!
//! let policy = CortexPolicy::default();
//! let at: UtcInstant = "2026-03-02T09:00:00Z".parse().unwrap();
//! let outcome = SkillOutcome::success("task-management", "todoist", "1.0.0");
//! let body = RecordBody::Outcome(Box::new(outcome));
//! let record = CortexRecord { id: Ulid::new(at, 1), ts: at, body };
//! let memory = fold::fold([&record], &policy);
//! assert_eq!(memory.candidate("task-management", "todoist").unwrap().weight, 0.575);
//! ```
//!
//! **Promise:** pure functions of (log, clock, policy). The same log gives the same bytes, in one
//! go or from a snapshot and the rest, in whatever order the records arrived. Skill Cortex's
//! formulas are the defaults, bit for bit. No input panics. **Left out on purpose:** storage, the
//! clock and the network (`sinew-engine` provides them), ranking by meaning (`sinew-route`, through
//! [`TaskSimilarity`](recall::TaskSimilarity)).

pub mod acquire;
pub mod bayes;
pub mod drift;
pub mod explain;
pub mod failure;
pub mod fold;
mod history;
mod id;
pub mod learn;
pub mod lesson;
pub mod memory;
pub mod original;
mod policy;
pub mod prune;
pub mod recall;
pub mod record;
pub mod reflex;
pub mod shield;
pub mod signals;
pub mod simulate;
pub mod stored_body;
mod time;
pub mod weight;

pub use history::{HistorySnapshot, MemoryHistory};
pub use id::{InvalidUlid, Ulid};
pub use memory::CortexMemory;
pub use policy::{CortexPolicy, FoldKey};
pub use time::{InvalidTime, UtcDay, UtcInstant};
