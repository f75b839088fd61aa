//! The engine's records, as the description of the API shows them.
//!
//! The engine's types know nothing of HTTP; these shapes are never made, only described. A test
//! holds real answers against them, in both directions.

#![allow(dead_code, reason = "shapes for the description")]

mod engine;
mod skills;

pub(crate) use engine::*;
pub(crate) use skills::*;
