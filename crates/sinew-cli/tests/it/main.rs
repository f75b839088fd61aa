//! The `sinew` command as people run it: real processes on hermetic machines.

mod acquire;
mod approve;
mod bad_input;
mod commands;
mod conformance;
mod agents;
mod connect;
mod cortex;
mod deps;
mod exec;
mod file_model;
mod find;
mod help;
mod mcp;
mod hub;
mod hook;
mod import;
mod openpocket;
mod output;
mod remote;
mod scan;
mod support;
mod watch;
mod workshop;
