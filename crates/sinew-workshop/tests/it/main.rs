//! The workshop, as agents and people use it.

#![allow(
    clippy::needless_pass_by_value,
    clippy::redundant_closure_for_method_calls,
    reason = "a table of cases reads better without ampersands and paths"
)]

mod bench;
mod capture;
mod crowd;
mod gates;
mod golden;
mod history;
mod hostile;
mod kill;
mod openclaw;
mod probation;
mod proposals;
mod reshape;
mod reviewer;
mod tool;
mod traces;
mod turns;
