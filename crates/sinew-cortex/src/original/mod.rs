//! `cortex.json`: the original's file, in its exact schema.
//!
//! [`read_cortex_json`] reads files as they exist in practice and normalises them, with a note for everything
//! that was repaired or dropped. [`export`] writes the memory in that form, and [`merge`] combines
//! the changes of several programs that write one file. Unknown keys are preserved.

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
