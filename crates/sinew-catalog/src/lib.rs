//! Placeholder.

pub mod collate;
pub mod commands;
pub mod locations;
pub mod prompt;
pub mod references;
