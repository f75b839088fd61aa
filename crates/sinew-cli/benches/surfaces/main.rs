//! What agents wait for, over 1,000 skills: hooks from start to exit, tools over MCP,
//! and messages over HTTP.
//!
//! `cargo bench -p sinew-cli --bench surfaces`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod hook;
mod http;
mod mcp;

fn main() {
    hook::run();
    mcp::run();
    http::run();
}
