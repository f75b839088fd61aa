//! What happens, as it happens: server-sent events.
//!
//! Nothing is replayed. A listener that comes back, or that fell behind, gets one `reset` and looks
//! for itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use sinew_listener::PeerAddress;
use sinew_settings::ErrorCode;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use utoipa::IntoParams;

use super::Problem;
use super::extract::UrlQuery;
use super::openapi::ProblemResponses;
use crate::access::{BrowserSession, WebCaller};
use crate::app::{
    MAX_CLIENT_STREAMS, MAX_STREAMS, ServerEvent, ServerEventKind, StreamClient, StreamPlace,
    StreamRefusal, WebApp,
};

/// Proxies and browsers give up on a line that is silent for longer than this.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// The kinds that are wanted, separated by commas; all where absent
    kinds: Option<String>,
}

impl EventsQuery {
    fn kinds(&self) -> Result<Vec<ServerEventKind>, Problem> {
        let Some(names) = &self.kinds else { return Ok(ServerEventKind::ALL.to_vec()) };
        let kind = |name: &str| {
            let known = ServerEventKind::ALL.into_iter().find(|kind| kind.as_str() == name.trim());
            known.ok_or_else(|| {
                let all: Vec<&str> =
                    ServerEventKind::ALL.iter().map(|kind| kind.as_str()).collect();
                let said = format!("there is no kind `{}`", name.escape_debug());
                Problem::new(ErrorCode::UnknownKind, said)
                    .hint(format!("kinds: {}", all.join(", ")))
            })
        };
        names.split(',').map(kind).collect()
    }
}

struct EventSubscriber {
    _place: StreamPlace,
    receiver: Receiver<Arc<ServerEvent>>,
    kinds: Vec<ServerEventKind>,
    /// The first thing to say.
    reset: bool,
}

impl EventSubscriber {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let reset = || Event::default().event("reset").data("{}");
        if std::mem::take(&mut self.reset) {
            return Some((Ok(reset()), self));
        }
        loop {
            match self.receiver.recv().await {
                Ok(happened) if self.kinds.contains(&happened.kind) => {
                    let event = Event::default()
                        .id(happened.id.to_string())
                        .event(happened.kind.as_str())
                        .data(happened.data.to_string());
                    return Some((Ok(event), self));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return Some((Ok(reset()), self)),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

fn stream(listener: EventSubscriber) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(listener, EventSubscriber::next)
}

fn refused(refusal: StreamRefusal) -> Problem {
    let (said, hint) = match refusal {
        StreamRefusal::ClientFull => (
            format!("this client has {MAX_CLIENT_STREAMS} event streams open already"),
            "close one of them",
        ),
        StreamRefusal::ServerFull => {
            tracing::warn!(most = MAX_STREAMS, "an event stream was refused: too many are open");
            (format!("this server has {MAX_STREAMS} event streams open already"), "try again later")
        }
    };
    Problem::new(ErrorCode::TooManyStreams, said).hint(hint)
}

/// What happens, as it happens
#[utoipa::path(
    get, path = "/events", tag = "server", operation_id = "watch", params(EventsQuery),
    responses(
        (status = 200, content_type = "text/event-stream", body = String,
         description = "`id`, `event` and `data` (JSON) of each event; a comment every 15 seconds"),
        ProblemResponses
    )
)]
pub(crate) async fn events(
    State(app): State<WebApp>,
    _caller: WebCaller,
    session: Option<Extension<Arc<BrowserSession>>>,
    peer: Option<Extension<PeerAddress>>,
    headers: HeaderMap,
    UrlQuery(query): UrlQuery<EventsQuery>,
) -> Result<Response, Problem> {
    let kinds = query.kinds()?;
    let client = match session {
        Some(Extension(session)) => StreamClient::Browser(session.csrf.clone()),
        None => StreamClient::Programs(peer.map(|Extension(peer)| peer.0.ip())),
    };
    let (place, receiver) = app.bus().listen(client).map_err(refused)?;
    // The place in the books is found before the first event can be missed.
    app.wake_follower();
    let reset = headers.contains_key("last-event-id");
    let listener = EventSubscriber { _place: place, receiver, kinds, reset };
    let alive = KeepAlive::new().interval(KEEP_ALIVE).text("still here");
    Ok(Sse::new(stream(listener)).keep_alive(alive).into_response())
}
