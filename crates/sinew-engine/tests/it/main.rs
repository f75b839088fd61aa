//! The engine as its surfaces use it.

mod cortex;
mod models;
mod workshop;
