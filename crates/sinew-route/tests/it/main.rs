//! The router's tests, in one binary.

mod acceptance;
mod calibration;
mod corpus;
mod demands;
mod evaluation;
mod folder;
mod index;
mod library;
#[allow(dead_code, reason = "the models' own tests use all of it")]
#[path = "../../../sinew-models/tests/it/model_folder.rs"]
mod model_folder;
mod operator;
mod properties;
mod remote;
mod several;
mod shared;
mod stuffing;
mod support;
