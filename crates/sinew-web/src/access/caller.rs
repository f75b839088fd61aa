//! Finding out who calls, before any route is reached.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE as COOKIE_HEADER, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sinew_settings::{Actor, ErrorCode};

use super::session::BrowserSession;
use crate::api::Problem;
use crate::app::WebApp;

/// The cookie of a browser that was signed in.
pub(crate) const COOKIE: &str = "sinew_session";
/// The header that scripts of our own pages send with every write.
const CSRF_HEADER: &str = "x-sinew-csrf";

/// Who calls. Set here, never by what a request says about itself.
#[derive(Debug, Clone)]
pub enum WebCaller {
    /// A program that has the token. It can ask, and never approve.
    Program,
    /// A person at a browser that was signed in.
    Person,
}

impl WebCaller {
    /// The caller as the engine knows actors.
    pub fn actor(&self) -> Actor {
        match self {
            Self::Program => Actor::Agent { name: "http".to_owned() },
            Self::Person => Actor::on_page(),
        }
    }

    /// Whether a person sees the answer.
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Person)
    }
}

/// The browser session of a request, where its cookie is known.
pub(crate) fn session_of(
    app: &WebApp,
    headers: &HeaderMap,
) -> Option<(String, Arc<BrowserSession>)> {
    let cookies = headers.get_all(COOKIE_HEADER).iter().filter_map(|value| value.to_str().ok());
    let mut values = cookies
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    values.find_map(|value| Some((value.to_owned(), app.access().session(value)?)))
}

/// Notes who calls, where that is known; routes decide what that allows.
pub(crate) async fn identify(
    State(app): State<WebApp>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let caller = match headers.get(AUTHORIZATION) {
        Some(given) => {
            let given = given.to_str().ok().and_then(|text| {
                let (scheme, token) = text.split_once(' ')?;
                scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
            });
            match given.is_some_and(|token| app.access().is_token(token)) {
                true => Some(WebCaller::Program),
                // A cookie never makes up for a wrong token: the caller meant to use the token.
                false => return unauthorized("that is not this server's token"),
            }
        }
        None => session_of(&app, headers).map(|(_, session)| {
            request.extensions_mut().insert(session);
            WebCaller::Person
        }),
    };
    if let Some(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    next.run(request).await
}

/// What every route of the API requires: a known caller, and for a browser's writes the CSRF token
/// that only our own pages have.
pub(crate) async fn require_for_api(request: Request, next: Next) -> Response {
    match request.extensions().get::<WebCaller>() {
        None => unauthorized("this needs the server's token, or a browser that is signed in"),
        Some(WebCaller::Program) => next.run(request).await,
        Some(WebCaller::Person) => {
            let reads = matches!(*request.method(), Method::GET | Method::HEAD);
            let word = request.headers().get(CSRF_HEADER).and_then(|word| word.to_str().ok());
            let session = request.extensions().get::<Arc<BrowserSession>>();
            let ours = session.zip(word).is_some_and(|(session, word)| session.matches_csrf(word));
            // The listener has checked that a given origin is ours; here there must be one at all.
            let said_where = request.headers().contains_key(ORIGIN);
            let sent_by_us = ours && said_where;
            if !reads && !sent_by_us {
                return Problem::new(
                    ErrorCode::Csrf,
                    "a browser's change needs its `Origin` and the header `X-Sinew-CSRF`",
                )
                .into_response();
            }
            next.run(request).await
        }
    }
}

/// What `/metrics` requires: the same, unless the configuration makes it public.
pub(crate) async fn require_for_metrics(
    State(app): State<WebApp>,
    request: Request,
    next: Next,
) -> Response {
    let public = app.engine().config().metrics.public;
    if public { next.run(request).await } else { require_for_api(request, next).await }
}

fn unauthorized(said: &str) -> Response {
    let mut response = Problem::unauthorized(said).into_response();
    let challenge = HeaderValue::from_static("Bearer realm=\"sinew\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}
