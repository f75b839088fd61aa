//! What agents wait for, over 1,000 skills: hooks from start to exit, tools over MCP,
//! and messages over HTTP.
//!
//! `cargo bench -p sinew-cli --bench surfaces`

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "what is written with `json!` at the call is given away"
)]

mod hook;
mod http;
mod mcp;

fn main() {
    hook::run();
    mcp::run();
    http::run();
}
