//! The engine as its surfaces use it.

#[macro_use]
mod cortex;

mod approval;
mod models;
mod workshop;
