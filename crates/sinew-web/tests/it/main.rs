//! The API and the dashboard as their clients see them.

mod access;
mod acquire;
mod api;
mod browser;
mod clicks;
mod conformance;
mod events;
mod forms;
mod generated_clients;
mod hostile;
mod listener;
mod pages;
mod schemathesis;
mod support;
mod weight;
