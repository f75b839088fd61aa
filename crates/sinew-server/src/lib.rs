//! The ways into sinew over a wire: the HTTP API, MCP, and the team registry.
//!
//! *Promises*: thin. A request is parsed, the engine is called, its answer is rendered.
//! *Leaves out*: every rule; those are the engine's.

pub mod mcp;
