//! What agents wait for, over 1,000 skills: hooks from start to exit, and tools over MCP.
//!
//! `cargo bench -p sinew-cli --bench surfaces`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod hook;
mod mcp;

fn main() {
    hook::run();
    mcp::run();
}
