//! The tests of running and installing, in one binary.

mod child;
mod classify;
mod download;
mod environment;
mod installers;
mod policy;
mod real_installs;
mod runs;
mod secrets;
mod server;
mod support;
