//! What tests of several crates need: a hermetic machine, servers on loopback that speak the real
//! protocols, a database server, and data that lives outside the repo.
//!
//! **Promise:** nothing here touches the real home folder, the real clock or a network but loopback.
//! **Left out on purpose:** everything a program needs; this is only ever a dev-dependency.

mod agents;
mod bucket;
pub mod clawhub;
mod github;
mod hostile_texts;
mod machine;
mod models;
mod npm;
mod postgres;
mod python;
mod secret_samples;
mod shared_data;
mod site;
mod transcripts;

pub use agents::AgentModel;
pub use bucket::S3Bucket;
pub use clawhub::{ClawHubDouble, ClawHubManner, ModerationFlag, skill_text};
pub use github::GitHubDouble;
pub use hostile_texts::hostile_texts;
pub use machine::TestMachine;
pub use models::{ModelManner, ModelRequest, ModelServer};
pub use npm::{NpmPackages, npm_file};
pub use postgres::{PostgresSchema, postgres};
pub use python::PythonPackages;
pub use secret_samples::{SecretSample, secret_look_alikes, secret_samples};
pub use shared_data::{report_skip, shared_data, shared_rows};
pub use site::{BodyDelivery, SiteAnswer, SiteRequest, TestSite};
pub use transcripts::{GenericTrace, claude_code_session, generic_trace};
