//! Machines that a host is connected to: the host tells of them, for a while.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sinew_engine::RemoteRecord;
use utoipa::ToSchema;

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath};
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::WebApp;

/// A machine that the host can run commands on
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemoteBody {
    /// Its platform: `darwin`, `linux` or `win32`
    #[schema(min_length = 1, max_length = 32)]
    platform: String,
    /// The programs that it has, out of those that skills need
    #[serde(default)]
    #[schema(max_items = 2000)]
    bins: Vec<String>,
    /// For how many seconds it counts
    #[schema(minimum = 1, maximum = 86400)]
    ttl: u64,
}

/// A machine, and until when it counts
#[derive(Debug, Serialize, ToSchema)]
struct RemoteWire {
    /// What the host calls it
    id: String,
    /// Its platform
    platform: String,
    /// Its programs
    bins: Vec<String>,
    /// When it stops to count, in milliseconds since 1970
    expires_at: u64,
}

/// The machines that count now
#[derive(Debug, Serialize, ToSchema)]
struct RemoteListReply {
    remotes: Vec<RemoteWire>,
}

impl RemoteListReply {
    fn of(records: BTreeMap<String, RemoteRecord>) -> Self {
        let wire = records.into_iter().map(|(id, record)| RemoteWire {
            id,
            platform: record.platform,
            bins: record.bins,
            expires_at: record.expires_at,
        });
        Self { remotes: wire.collect() }
    }
}

/// The machines that hosts told of and that count now
#[utoipa::path(
    get, path = "/remotes", tag = "skills", operation_id = "remotes",
    responses((status = 200, body = RemoteListReply), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    _caller: WebCaller,
) -> Result<JsonReply, Problem> {
    app.ask(|look| JsonReply::of(&RemoteListReply::of(look.engine.told_remotes()))).await
}

/// Tell of a machine, for some seconds
#[utoipa::path(
    put, path = "/remotes/{id}", tag = "skills", operation_id = "remote_put",
    params(("id" = String, Path, description = "What the host calls the machine")),
    request_body = RemoteBody,
    responses((status = 200, body = RemoteListReply), ProblemResponses)
)]
pub(crate) async fn put(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
    JsonBody(told): JsonBody<RemoteBody>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| {
        let machine = (told.platform.as_str(), told.bins, told.ttl);
        JsonReply::of(&RemoteListReply::of(look.engine.tell_remote(&id, Some(machine))?))
    })
    .await
}

/// Say that a machine is no longer connected
#[utoipa::path(
    delete, path = "/remotes/{id}", tag = "skills", operation_id = "remote_delete",
    params(("id" = String, Path, description = "What the host calls the machine")),
    responses((status = 200, body = RemoteListReply), ProblemResponses)
)]
pub(crate) async fn forget(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| JsonReply::of(&RemoteListReply::of(look.engine.tell_remote(&id, None)?)))
        .await
}
