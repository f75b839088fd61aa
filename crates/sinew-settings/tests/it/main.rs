//! The settings, from outside.

mod config;
mod workshop;
