//! The `sinew` command as people run it: real processes on hermetic machines.

#![allow(
    clippy::needless_pass_by_value,
    reason = "what is written with `json!` at the call is given away"
)]

mod acquire;
mod agents;
mod approve;
mod bad_input;
mod commands;
mod conformance;
mod connect;
mod cortex;
mod demo;
mod deps;
mod docs;
mod exec;
mod file_model;
mod find;
mod help;
mod hook;
mod house;
mod hub;
mod import;
mod learn;
mod live;
mod logging;
mod mcp;
mod openpocket;
mod output;
#[cfg(unix)]
mod recording;
mod remote;
mod scan;
mod soak;
mod support;
mod surfaces;
mod watch;
mod workshop;
