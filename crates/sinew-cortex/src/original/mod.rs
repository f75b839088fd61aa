//! `cortex.json`: the original's file, in its exact schema.
//!
//! [`read`] takes what people have on their disks and puts it into normal form, with a note for
//! everything that was repaired or dropped. [`export`] writes the memory in that form, [`merge`] keeps
//! a file that several programs write. Keys that mean nothing here are carried along.

mod export;
mod import;
mod merge;
mod read;
mod schema;

pub use export::export;
pub(crate) use import::take_in;
pub use merge::merge;
pub use read::{MAX_FILE, Repaired, Unreadable, read};
pub use schema::{
    CandidatePart, CortexPart, LastFailPart, LessonPart, MotorPart, Original, PatternPart,
    PrefrontalPart, RunsPart, SensoryPart, StatsPart,
};
