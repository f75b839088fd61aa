//! The guard as a whole: one module per attack class, the rules' examples, the promised sentences,
//! the goals on labelled data, mutants and kills.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod acceptance;
mod bombs;
mod closed_holes;
mod determinism;
mod dev_data;
mod environment;
mod false_alarms;
mod golden;
mod kill;
mod links;
mod lures;
mod obfuscation;
mod odd_input;
mod opaque;
mod path_escape;
mod persistence;
mod prompt_markup;
mod published;
mod reworded;
mod rule_examples;
mod script_payloads;
mod seeds;
mod sentences;
mod slow_patterns;
mod support;
mod support_files;
mod suppression;
mod swap;
mod terminal;
mod tokens_at_rest;
mod tools;
mod unicode;
mod yaml;
