//! `cortex.json`: the original's file, in its exact schema.
//!
//! [`read_cortex_json`] takes what people have on their disks and puts it into normal form, with a note for
//! everything that was repaired or dropped. [`export`] writes the memory in that form, [`merge`] keeps
//! a file that several programs write. Keys that mean nothing here are carried along.

mod export;
mod import;
mod merge;
mod read;
mod schema;

pub use export::export;
pub(crate) use import::import_into;
pub use merge::merge;
pub use read::{CortexJsonRepair, MAX_FILE, UnreadableCortexJson, read_cortex_json};
pub use schema::{
    CandidatePart, CortexJson, CortexPart, LastFailurePart, LessonPart, MotorPart, PatternPart,
    PrefrontalPart, RunsPart, SensoryPart, StatsPart,
};
