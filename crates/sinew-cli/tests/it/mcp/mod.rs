//! `sinew mcp` as clients meet it: a real process, spoken to in frames.

mod acquire;
pub(crate) mod approvals;
mod attacks;
mod changes;
pub(crate) mod client;
mod conformance;
mod fixture;
mod given;
mod http;
mod inspector;
mod node;
mod skills;
mod tools;
