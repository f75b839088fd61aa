//! sinew over the Model Context Protocol: tools, prompts, resources and the skills extension.
//!
//! A [`McpHost`] holds the one engine of the process; an [`McpServer`] is one conversation with a client,
//! over standard streams ([`serve_stdio`]) or over HTTP ([`http::router`]). Both eras of the protocol
//! are spoken: sessions that begin with `initialize`, and requests that stand alone.
//!
//! **Promise:** a call is checked against the schema that its tool declares, handed to the engine and
//! rendered; standard output carries frames and nothing else. **Invariant:** no decision about trust
//! is made here. A client speaks for an agent, and only a question that its person answers approves.
//! **Left out on purpose:** rules about skills, which are the engine's; sockets, origins and sizes,
//! which are the listener's.

mod caller;
mod changes;
mod completions;
mod host;
pub mod http;
mod info;
mod prompts;
mod questions;
mod resources;
mod schema;
mod server;
mod session_cap;
mod skills;
mod stdio;
mod tool_answer;
mod tool_schema;
mod tools;

pub use caller::ClientTrust;
pub use host::McpHost;
pub use info::RESERVED_COMMANDS;
pub use server::McpServer;
pub use stdio::serve_stdio;
