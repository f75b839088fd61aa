//! A language model that is not one: a server on loopback that speaks the dialects of the providers,
//! follows a script, and keeps every request. Point an agent at it, and you see what its model would
//! have been given: which tools, which text, how many characters.
//!
//! ```
//! use sinew_loopback::{LoopbackModel, ModelScript, SchemaRule};
//!
//! let model = LoopbackModel::start(ModelScript::text("All done."), SchemaRule::Strict)?;
//! assert!(model.address().starts_with("http://127.0.0.1:"));
//! assert!(model.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! **Promise:** it listens on loopback only, reaches nothing, runs nothing, and no request can break it:
//! what it cannot understand is refused and recorded. **Left out on purpose:** which agent is started,
//! and what its requests ought to hold (`sinew-engine`).

mod agent_request;
mod anthropic;
mod dialect;
mod gemini;
mod http;
mod openai_chat;
mod openai_responses;
mod schema_rule;
mod script;
mod server;

pub use agent_request::{AgentRequest, ModelReply, OfferedTool, RequestRole, RequestText};
pub use dialect::ModelDialect;
pub use schema_rule::SchemaRule;
pub use script::{ModelScript, ModelStep};
pub use server::{LoopbackModel, StrayRequest};
