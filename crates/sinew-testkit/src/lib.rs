//! What tests of several crates need: a hermetic machine, a database server, and data that lives
//! outside the repo.
//!
//! Only ever a dev-dependency.

mod machine;
mod models;
mod postgres;
mod shared;

pub use machine::Machine;
pub use models::{ModelManner, ModelRequest, ModelServer};
pub use postgres::{Postgres, postgres};
pub use shared::{shared_data, shared_rows, skipped};
