//! The server as its clients see it.

mod access;
mod api;
mod browser;
mod conformance;
mod events;
mod hostile;
mod registry;
mod listener;
mod pages;
mod schemathesis;
mod support;
