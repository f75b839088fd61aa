//! The `sinew` command as people run it: real processes on hermetic machines.

#![allow(
    clippy::needless_pass_by_value,
    reason = "what is written with `json!` at the call is given away"
)]

mod acquire;
mod activation;
mod agent_trial;
mod agents;
mod approve;
mod authority;
mod bad_input;
mod carried;
mod carried_commands;
mod carried_requests;
mod carried_runs;
mod commands;
mod conformance;
mod connect;
mod cortex;
mod damage;
mod demo;
mod deps;
mod docs;
mod entry_owner;
mod exec;
mod file_model;
mod find;
mod help;
mod hook;
mod hook_conduct;
mod host_folders;
mod host_parity;
mod house;
mod hub;
mod import;
mod kept_secrets;
mod learn;
mod library;
mod library_commands;
mod live;
mod logging;
mod loop_day;
mod loop_team;
mod matrix;
mod mcp;
mod one_skill;
mod openpocket;
mod outage;
mod output;
mod outside_checks;
#[cfg(unix)]
mod packages;
#[cfg(unix)]
mod plugins;
mod recording;
mod remote;
#[cfg(target_os = "linux")]
mod sandbox;
mod scan;
mod security_page;
mod service;
mod serving;
mod setup;
mod signatures;
mod soak;
mod support;
mod surfaces;
mod sync;
mod verbs;
mod watch;
mod workshop;
