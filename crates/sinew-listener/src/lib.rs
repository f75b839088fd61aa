//! The listener: one address, the parts that answer there, and the rules that apply to all of them.
//!
//! A [`HttpServer`] is composed of [`ServerPart`]s: the registry, MCP, the HTTP API with the
//! dashboard. What applies to all of them is decided once, in front: which host names are accepted,
//! which pages may call, how large a request may be, how many one client may send, and how long a
//! client may take.
//!
//! ```
//! use axum::{Router, routing::get};
//! use sinew_listener::{HttpServer, ServerOptions, ServerPart};
//!
//! let hello = ServerPart::new("hello", Router::new().route("/hello", get(|| async { "hello" })));
//! let server = HttpServer::bind(ServerOptions::loopback(0))?.mount(hello);
//! let running = server.start()?;
//! assert!(running.origin().starts_with("http://127.0.0.1:"));
//! running.stop()?;
//! # Ok::<(), sinew_listener::ServeError>(())
//! ```
//!
//! **Promise:** no other site's page can use a browser against a part, and a slow client costs one
//! connection for a bounded time. **Invariant:** this crate knows nothing of skills, and none of
//! sinew's crates; the parts depend on it. **Left out on purpose:** TLS (a proxy in front terminates
//! it; see [`ServerOptions::public_url`]), and who a caller is, which each part finds out for itself.

mod blocking;
mod connection_places;
mod origin_check;
mod rate_limit;
mod request_log;
mod server;
mod write_timeout;

pub use blocking::blocking;
pub use connection_places::ConnectionLimits;
pub use origin_check::{OriginRule, PeerAddress, ServerOrigin};
pub use rate_limit::{RateLimiter, RateStanding};
pub use server::{HttpServer, MAX_BODY, RunningServer, ServeError, ServerOptions, ServerPart};
