//! What tests of several crates need: a hermetic machine, servers on loopback that speak the real
//! protocols, a database server, and data that lives outside the repo.
//!
//! **Promise:** nothing here touches the real home folder, the real clock or a network but loopback.
//! **Left out on purpose:** everything a program needs; this is only ever a dev-dependency.

mod agents;
mod bucket;
pub mod clawhub;
mod github;
mod machine;
mod models;
mod postgres;
mod shared_data;
mod site;
mod transcripts;

pub use agents::AgentModel;
pub use bucket::S3Bucket;
pub use clawhub::{ClawHubDouble, ClawHubManner, ModerationFlag, skill_text};
pub use github::GitHubDouble;
pub use machine::TestMachine;
pub use models::{ModelManner, ModelRequest, ModelServer};
pub use postgres::{PostgresSchema, postgres};
pub use shared_data::{report_skip, shared_data, shared_rows};
pub use site::{BodyDelivery, SiteAnswer, SiteRequest, TestSite};
pub use transcripts::{GenericTrace, claude_code_session, generic_trace};
