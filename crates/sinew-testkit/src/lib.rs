//! What tests of several crates need: a hermetic machine, and data that lives outside the repo.
//!
//! Only ever a dev-dependency.

mod machine;
mod shared;

pub use machine::Machine;
pub use shared::{shared_data, shared_rows};
