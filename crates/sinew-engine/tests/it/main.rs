//! The engine as its surfaces use it.

mod models;
mod workshop;
