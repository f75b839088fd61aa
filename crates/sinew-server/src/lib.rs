//! The ways into sinew over a wire: the HTTP API, MCP, and the team registry.
//!
//! A [`HttpServer`] is one listener; what it answers is composed of [`ServerPart`]s. What holds for all of
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
//! *Leaves out*: TLS (a proxy in front ends it; see [`ServerOptions::public_url`]), and the rules of
//! skills, which are the engine's.

mod access;
mod api;
mod app;
mod blocking;
pub mod mcp;
mod origin_check;
mod rate_limit;
pub mod registry;
mod server;
mod ui;
mod write_timeout;

pub use access::{WebAccess, WebCaller};
pub use app::WebApp;
pub use origin_check::{OriginRule, PeerAddress, ServerOrigin};
pub use rate_limit::PER_SECOND;
pub use server::{HttpServer, MAX_BODY, RunningServer, ServeError, ServerOptions, ServerPart};

/// The description of the HTTP API: OpenAPI 3.1, as `/api/v1/openapi.json` serves it.
pub fn api_document() -> serde_json::Value {
    // It is made of texts and maps with text keys, which always become JSON.
    serde_json::to_value(api::document()).unwrap_or_default()
}

/// The routes of the HTTP API and of the dashboard.
pub fn router(app: &WebApp) -> axum::Router {
    api::router(app).merge(ui::router(app))
}

/// The same as a part of a server, which is ready when the catalog is read.
pub fn part(app: &WebApp) -> ServerPart {
    let ready = app.clone();
    ServerPart::new("engine", router(app)).ready(move || ready.ready())
}
