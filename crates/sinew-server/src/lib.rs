//! The ways into sinew over a wire: the HTTP API, MCP, and the team registry.
//!
//! A [`Server`] is one listener; what it answers is composed of [`Part`]s. What holds for all of
//! them is decided once, in front: which names it is called by, which pages may call it, how large
//! a request may be, and how long a client may take.
//!
//! ```
//! use axum::{Router, routing::get};
//! use sinew_server::{Options, Part, Server};
//!
//! let hello = Part::new("hello", Router::new().route("/hello", get(|| async { "hello" })));
//! let server = Server::bind(Options::loopback(0))?.mount(hello);
//! let running = server.start()?;
//! assert!(running.origin().starts_with("http://127.0.0.1:"));
//! running.stop()?;
//! # Ok::<(), sinew_server::ServeError>(())
//! ```
//!
//! *Promises*: thin. A request is parsed, the rules are asked, their answer is rendered. Nothing is
//! written without a token, no other site's page can use a browser against it, and a slow client
//! costs one connection for a bounded time.
//! *Leaves out*: TLS (a proxy in front ends it; see [`Options::public_url`]), and the rules of
//! skills, which are the engine's.

mod access;
mod api;
mod app;
mod blocking;
mod gate;
pub mod mcp;
mod pace;
pub mod registry;
mod serve;
mod stall;
mod ui;

pub use access::{Access, Caller};
pub use app::App;
pub use gate::{CalledAs, OriginRule, Peer};
pub use pace::PER_SECOND;
pub use serve::{MAX_BODY, Options, Part, Running, ServeError, Server};

/// The description of the HTTP API: OpenAPI 3.1, as `/api/v1/openapi.json` serves it.
pub fn api_document() -> serde_json::Value {
    // It is made of texts and maps with text keys, which always become JSON.
    serde_json::to_value(api::document()).unwrap_or_default()
}

/// The routes of the HTTP API and of the dashboard.
pub fn router(app: &App) -> axum::Router {
    api::router(app).merge(ui::router(app))
}

/// The same as a part of a server, which is ready when the catalog is read.
pub fn part(app: &App) -> Part {
    let ready = app.clone();
    Part::new("engine", router(app)).ready(move || ready.ready())
}
