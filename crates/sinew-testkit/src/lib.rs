//! What tests of several crates need: a hermetic machine, servers on loopback that speak the real
//! protocols, a database server, and data that lives outside the repo.
//!
//! Only ever a dev-dependency.

mod agents;
mod bucket;
pub mod clawhub;
mod github;
mod machine;
mod models;
mod postgres;
mod shared;
mod site;

pub use agents::AgentModel;
pub use bucket::S3Bucket;
pub use clawhub::{ClawHub, ClawHubManner, Flag, skill_text};
pub use github::GitHub;
pub use machine::Machine;
pub use models::{ModelManner, ModelRequest, ModelServer};
pub use postgres::{Postgres, postgres};
pub use shared::{shared_data, shared_rows, skipped};
pub use site::{Sending, Site, SiteAnswer, SiteRequest};
