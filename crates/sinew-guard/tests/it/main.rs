//! The guard as a whole: one module per attack class, the rules' examples, the promised sentences,
//! the goals on labelled data, mutants and kills.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod acceptance;
mod class_01_path_escape;
mod class_02_bombs;
mod class_03_links;
mod class_04_swap;
mod class_05_yaml;
mod class_06_odd_input;
mod class_07_slow_patterns;
mod class_08_unicode;
mod class_09_opaque;
mod class_10_obfuscation;
mod class_12_prompt_markup;
mod class_13_environment;
mod class_17_tokens_at_rest;
mod class_20_support_files;
mod class_21_terminal;
mod class_24_suppression;
mod class_26_persistence;
mod closed_holes;
mod determinism;
mod dev_data;
mod false_alarms;
mod golden;
mod kill;
mod lures;
mod published;
mod reworded;
mod rule_examples;
mod script_payloads;
mod seeds;
mod sentences;
mod support;
mod tools;
