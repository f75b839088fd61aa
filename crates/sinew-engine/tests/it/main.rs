//! The engine as its surfaces use it.

#[macro_use]
mod cortex;

mod calibration;
mod connect;

mod acquire;
mod approval;
mod hook;
mod large_catalog;
mod live_engine;
mod models;
mod prompt;
mod routing;
mod settings;
mod sync;
mod taught;
mod workshop;
