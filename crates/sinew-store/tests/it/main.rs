//! The store as a whole: one suite for both back ends, then what only one of them can go through.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[macro_use]
mod support;

mod documents;
mod files;
mod kill;
mod limits;
mod migrations;
mod model;
mod processes;
mod server;
mod snapshots;
mod streams;
mod transactions;
