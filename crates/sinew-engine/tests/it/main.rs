//! The engine as its surfaces use it.

#[macro_use]
mod cortex;

mod connect;

mod acquire;
mod approval;
mod hook;
mod live_engine;
mod models;
mod routing;
mod settings;
mod taught;
mod workshop;
