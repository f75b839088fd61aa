//! What tests of several crates need: a hermetic machine, and data that lives outside the repo.
//!
//! Only ever a dev-dependency.

mod machine;

pub use machine::Machine;
