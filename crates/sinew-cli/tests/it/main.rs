//! The `sinew` command as people run it: real processes on hermetic machines.

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
mod exec;
mod file_model;
mod find;
mod help;
mod hook;
mod hub;
mod import;
mod learn;
mod mcp;
mod openpocket;
mod output;
mod remote;
mod scan;
mod support;
mod watch;
mod workshop;
