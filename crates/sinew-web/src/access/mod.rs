//! Who calls: a program with the token, or a person whose browser was signed in.
//!
//! The token is the engine's. A browser gets a cookie instead, for a code that works once. A page of
//! another site can make the browser send the cookie, but not the CSRF token that only our pages have.
//!
//! **Must never happen here:** a secret compared byte by byte, kept where it could be printed, or
//! accepted twice.

mod caller;
mod secret;
mod session;

pub use caller::WebCaller;
pub(crate) use caller::{COOKIE, identify, require_for_api, require_for_metrics, session_of};
pub use session::WebAccess;
pub(crate) use session::{BrowserSession, SESSION_LIVES};
