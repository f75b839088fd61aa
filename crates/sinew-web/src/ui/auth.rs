//! Signing a browser in and out, and light or dark.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use serde::Deserialize;
use sinew_listener::ServerOrigin;

use super::frame::{PageError, SignedForm, THEME, theme_of};
use crate::access::{COOKIE, SESSION_LIVES, session_of};
use crate::api::Problem;
use crate::app::WebApp;

#[derive(Debug, Deserialize)]
pub(super) struct SignInQuery {
    once: Option<String>,
}

#[derive(Template)]
#[template(path = "auth.html")]
struct SignInPage {
    theme: &'static str,
    /// Why the last attempt failed.
    refused: Option<&'static str>,
    signed_in: bool,
}

/// The sign-in page, or the target of a link from the terminal.
pub(super) async fn show(
    State(app): State<WebApp>,
    called: Option<Extension<ServerOrigin>>,
    headers: HeaderMap,
    Query(link): Query<SignInQuery>,
) -> Response {
    match link.once {
        Some(code) => {
            signed_in(&app, called, &headers, &code, "This link was used already, or is too old.")
        }
        None => page(&headers, StatusCode::OK, None, false),
    }
}

#[derive(Deserialize)]
pub(super) struct SignInForm {
    code: String,
}

/// Signs in with the code of a link, for a browser on another machine. There is no session yet, so no
/// CSRF word is needed.
pub(super) async fn sign_in(
    State(app): State<WebApp>,
    called: Option<Extension<ServerOrigin>>,
    headers: HeaderMap,
    Form(typed): Form<SignInForm>,
) -> Response {
    // People paste the whole link.
    let code = typed.code.trim();
    let code = code.rsplit_once("once=").map_or(code, |(_, code)| code);
    signed_in(&app, called, &headers, code, "This code was used already, or is too old.")
}

fn signed_in(
    app: &WebApp,
    called: Option<Extension<ServerOrigin>>,
    headers: &HeaderMap,
    given: &str,
    refused: &'static str,
) -> Response {
    let cookie = match app.access().sign_in(given) {
        Ok(Some(cookie)) => cookie,
        // A browser that is already signed in stays so when it opens an old link.
        Ok(None) if session_of(app, headers).is_some() => {
            return Redirect::to("/").into_response();
        }
        Ok(None) => return page(headers, StatusCode::FORBIDDEN, Some(refused), false),
        Err(_) => return PageError(Problem::internal()).into_response(),
    };
    app.warm();
    let secure = called.is_some_and(|Extension(ServerOrigin(origin))| origin.starts_with("https:"));
    // A page that continues by itself: a redirect would still count as cross-site, without the cookie.
    let mut response = page(headers, StatusCode::OK, None, true);
    set_cookie(&mut response, COOKIE, &cookie, SESSION_LIVES.as_secs(), secure);
    response
}

fn page(
    headers: &HeaderMap,
    status: StatusCode,
    refused: Option<&'static str>,
    signed_in: bool,
) -> Response {
    let page = SignInPage { theme: theme_of(headers), refused, signed_in };
    match page.render() {
        Ok(page) => (status, Html(page)).into_response(),
        Err(_) => PageError(Problem::internal()).into_response(),
    }
}

fn set_cookie(response: &mut Response, name: &str, value: &str, seconds: u64, secure: bool) {
    let secure = if secure { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}

/// Signs this browser out.
pub(super) async fn sign_out(
    State(app): State<WebApp>,
    headers: HeaderMap,
    _form: SignedForm,
) -> Response {
    if let Some((cookie, _)) = session_of(&app, &headers) {
        app.access().sign_out(&cookie);
    }
    let mut response = Redirect::to("/auth").into_response();
    set_cookie(&mut response, COOKIE, "", 0, false);
    response
}

/// Light, dark, or as the system is.
pub(super) async fn theme(form: SignedForm) -> Response {
    let wanted = form.text("theme").unwrap_or_default();
    let wanted = ["light", "dark"].into_iter().find(|known| *known == wanted).unwrap_or("auto");
    let mut response = Redirect::to("/").into_response();
    set_cookie(&mut response, THEME, wanted, 365 * 24 * 60 * 60, false);
    response
}
