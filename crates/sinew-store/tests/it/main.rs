//! The store as a whole: one suite for both back ends, then tests that concern only one of them.
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
mod repair;
mod server;
mod snapshots;
mod streams;
mod transactions;
