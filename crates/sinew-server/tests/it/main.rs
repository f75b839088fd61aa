//! The server as its clients see it.

mod access;
mod api;
mod browser;
mod clicks;
mod conformance;
mod events;
mod forms;
mod hostile;
mod listener;
mod pages;
mod registry;
mod schemathesis;
mod support;
mod weight;
