//! The store as a whole: one suite for both back ends, then what only one of them can go through.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[macro_use]
mod support;

mod documents;
mod limits;
mod model;
mod snapshots;
mod streams;
mod transactions;
