//! The server as its clients see it.

mod access;
mod api;
mod conformance;
mod events;
mod hostile;
mod registry;
mod support;
