//! The router's tests, in one binary.

mod acceptance;
mod calibration;
mod corpus;
mod evaluation;
mod folder;
mod index;
mod library;
#[allow(dead_code, reason = "the models' own tests use all of it")]
#[path = "../../../sinew-models/tests/it/model_folder.rs"]
mod model_folder;
mod properties;
mod remote;
mod shared;
mod stuffing;
mod support;
