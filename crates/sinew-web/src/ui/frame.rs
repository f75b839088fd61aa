//! What every page has: its visitor, what waits, and how an error is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{COOKIE, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use url::form_urlencoded;

use super::switch::SwitchUndo;
use super::text::DONE;
use crate::access::BrowserSession;
use crate::api::Problem;
use crate::app::WebContext;

/// The cookie that remembers light or dark.
pub(super) const THEME: &str = "sinew_theme";

/// A person at a page.
#[derive(Debug, Clone)]
pub(super) struct PageVisitor {
    session: Arc<BrowserSession>,
    theme: &'static str,
    done: Option<&'static str>,
    undo: Option<SwitchUndo>,
}

/// What the frame around a page shows.
#[derive(Debug)]
pub(super) struct PageFrame {
    pub(super) page: &'static str,
    pub(super) title: String,
    pub(super) csrf: String,
    pub(super) theme: &'static str,
    pub(super) done: Option<&'static str>,
    /// How to undo that, where one button does.
    pub(super) undo: Option<SwitchUndo>,
    pub(super) approvals: usize,
    pub(super) proposals: usize,
    pub(super) version: &'static str,
}

impl PageVisitor {
    /// The frame of a page. What cannot be counted now is not shown as waiting.
    pub(super) fn frame(&self, look: &WebContext, page: &'static str, title: &str) -> PageFrame {
        let proposals = look.engine.workshop().proposal_counts();
        PageFrame {
            page,
            title: title.to_owned(),
            csrf: self.session.csrf.clone(),
            theme: self.theme,
            done: self.done,
            undo: self.undo.clone(),
            approvals: look.engine.approvals().list(true).map(|all| all.len()).unwrap_or_default(),
            proposals: proposals.map(|all| all.pending + all.quarantined).unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl PageFrame {
    /// Whether a page is the one that is shown.
    pub(super) fn is(&self, page: &str) -> bool {
        self.page == page
    }
}

/// The theme that a browser asked for.
pub(super) fn theme_of(headers: &HeaderMap) -> &'static str {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut values = cookies
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|pair| pair.trim().strip_prefix(THEME)?.strip_prefix('='));
    match values.next() {
        Some("dark") => "dark",
        Some("light") => "light",
        _ => "auto",
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PageVisitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let Some(session) = parts.extensions.get::<Arc<BrowserSession>>().cloned() else {
            return Err(Redirect::to("/auth").into_response());
        };
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let word = form_urlencoded::parse(query).find(|(name, _)| name == "done");
        let done = word.and_then(|(_, word)| {
            DONE.iter().find(|(known, _)| *known == word).map(|(_, said)| *said)
        });
        Ok(Self {
            session,
            theme: theme_of(&parts.headers),
            done,
            undo: SwitchUndo::of(&parts.uri),
        })
    }
}

/// The fields of a form that a page of ours sent.
pub(super) struct SignedForm {
    fields: BTreeMap<String, Vec<String>>,
}

impl SignedForm {
    /// A field that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = self.fields.get(name)?.first()?;
        Some(value.replace("\r\n", "\n")).filter(|value| !value.trim().is_empty())
    }

    /// Every value of a field.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        self.fields.get(name).cloned().unwrap_or_default()
    }
}

impl<S: Send + Sync> FromRequest<S> for SignedForm {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = PageVisitor::from_request_parts(&mut parts, state).await?;
        let has_origin = parts.headers.contains_key(ORIGIN);
        let request = Request::from_parts(parts, body);
        let bytes = Bytes::from_request(request, state).await.map_err(|_| {
            let said = "the form is larger than this server accepts";
            PageError(Problem::new(ErrorCode::TooLarge, said)).into_response()
        })?;
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(&bytes) {
            fields.entry(name.into_owned()).or_default().push(value.into_owned());
        }
        let word = fields.get("csrf").and_then(|words| words.first());
        // The listener has checked that a given origin is ours; here there must be one at all.
        if !has_origin || !word.is_some_and(|word| visitor.session.matches_csrf(word)) {
            let said = "this form was not sent by a page of this server, or the page is too old";
            let problem = Problem::new(ErrorCode::Csrf, said).hint("load the page again");
            return Err(PageError(problem).into_response());
        }
        Ok(Self { fields })
    }
}

/// A page, drawn.
#[derive(Debug)]
pub(super) struct HtmlPage(String);

impl HtmlPage {
    pub(super) fn of(template: &impl Template) -> Result<Self, EngineError> {
        template.render().map(Self).map_err(|error| {
            EngineError::new(ErrorCode::NotDrawn, format!("the page cannot be rendered: {error}"))
                .caused_by(error)
        })
    }
}

impl IntoResponse for HtmlPage {
    fn into_response(self) -> Response {
        Html(self.0).into_response()
    }
}

/// An error, as a page.
#[derive(Debug)]
pub(super) struct PageError(pub(super) Problem);

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    title: &'a str,
    detail: String,
    hint: Option<String>,
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let page = ProblemPage {
            title: self.0.title(),
            detail: super::text::line(self.0.detail()),
            hint: self.0.next_step().map(super::text::line),
        };
        match page.render() {
            Ok(page) => (self.0.status(), Html(page)).into_response(),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "the page failed\n").into_response(),
        }
    }
}

/// What a page answers.
pub(super) type PageResult = Result<HtmlPage, PageError>;

/// What a form answers: another page.
pub(super) type FormResult = Result<Redirect, PageError>;
