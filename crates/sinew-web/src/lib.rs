//! The HTTP API and the dashboard: what this machine's engine says, to programs and to browsers.
//!
//! A [`WebApp`] is what all routes share; [`part`] mounts them on a listener. The API is described
//! by the types that it answers with ([`api_document`]); the dashboard is HTML first, so that every
//! page is one request and every action a form.
//!
//! **Promise:** nothing is read or written without the token or a browser that was signed in, and a
//! program with the token never approves anything. **Invariant:** thin: a request is parsed, the
//! engine is asked, its answer is rendered. **Left out on purpose:** rules about skills, which are
//! the engine's; sockets, origins and sizes, which are the listener's.

mod access;
mod api;
mod app;
mod book;
mod ui;

pub use access::{WebAccess, WebCaller};
pub use app::WebApp;
pub use book::{Book, BookFile, BookPage};

use sinew_listener::ServerPart;

/// The description of the HTTP API: OpenAPI 3.1, as `/api/v1/openapi.json` serves it.
pub fn api_document() -> serde_json::Value {
    api::document()
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
