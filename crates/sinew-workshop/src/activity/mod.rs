//! Activities: what people ask for, in the words they ask with.
//!
//! A correction holds for a kind of task, and the next task of that kind comes in other words. The
//! table in `data/activities.tsv` says which wordings mean the same kind of task; a message is of the
//! activity whose wordings it is nearest to. None of it knows any skill. What was taught is found by
//! `rule_match.rs`: by the requests that were corrected and the rules themselves, with the table as one
//! sign among them.

mod fit;
mod question;
mod rule_match;
mod table;
mod taught_memory;
mod taught_skill;
mod wording_vectors;

pub use fit::{ActivityFit, MessageMeaning, NearestActivity};
pub(crate) use fit::{STATIC_TABLE, is_dense};
pub use question::is_lookup;
pub(crate) use rule_match::likeness;
pub use rule_match::{TaughtHit, taught_hit};
pub use table::{ActivityGroup, activity_groups};
pub use taught_memory::TaughtMemory;
pub use taught_skill::{ASKED_KEY, TAUGHT_KEY, TaughtSkill};
pub(crate) use taught_skill::{asked_line, asked_of};
pub use wording_vectors::{wording_vectors_id, write_wording_vectors};
