//! `sinew mcp` as clients meet it: a real process, spoken to in frames.
//!
//! Numbers of cases are those of the specification of surfaces.

mod acquire;
mod approvals;
mod attacks;
mod changes;
mod client;
mod conformance;
mod fixture;
mod http;
mod inspector;
mod node;
mod skills;
mod tools;
