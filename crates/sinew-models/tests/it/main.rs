//! The models' tests, in one binary.

mod folder;
mod model_folder;
mod reference;
