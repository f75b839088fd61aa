//! Finished runs of agents: finding their transcripts, learning from them, what is remembered.

mod learn;
mod rewrite;
mod session_stamps;
mod transcript_files;

pub use learn::{LearnReport, LearnSource, LearnedFile, UnreadFile};

use crate::Engine;

/// Transcripts of agents, and the runs that were learned from them.
#[derive(Debug, Clone, Copy)]
pub struct TracesHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// Finished runs: `learn`, and what is remembered of them.
    pub fn traces(&self) -> TracesHandle<'_> {
        TracesHandle { engine: self }
    }
}
