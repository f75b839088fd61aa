//! The table of routes, and the part of the server that it makes.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use sinew_guard::scan::{MAX_FILE, MAX_SKILL};
use sinew_listener::OriginRule;
use sinew_settings::config::RegistryMode;

use super::refusal::RegistryRefusal;
use super::{
    TeamRegistry, caller, details, device, discovery, download, export, github, lifecycle, lists,
    publish, rename, search, stars, upload, verdict,
};
use sinew_listener::ServerPart;

/// A whole bundle in one form, with its headers.
const MAX_FORM: usize = MAX_SKILL as usize + (2 << 20);
/// One file, and a byte more than is allowed, so that the answer can say so.
const MAX_UPLOAD: usize = MAX_FILE as usize + 1;

impl TeamRegistry {
    /// The registry as a part of a server.
    pub fn part(self: &Arc<Self>) -> ServerPart {
        let rule = match self.settings.mode {
            RegistryMode::Private => OriginRule::Own,
            RegistryMode::PublicRead => OriginRule::AnyReads,
        };
        let checked = Arc::clone(self);
        // Indexes are answered at the origin too, for clients that know only a host.
        let (guarded, open) = match self.prefix {
            "" => (api().merge(discovery()), open_documents()),
            prefix => (
                Router::new()
                    .nest(prefix, api().merge(discovery()).fallback(unknown))
                    .merge(discovery()),
                open_documents().nest(prefix, open_documents()),
            ),
        };
        let router = guarded
            // On routes only: a path that is not the registry's is left to the other parts.
            .route_layer(from_fn_with_state(Arc::clone(self), caller::admit))
            .merge(open)
            .with_state(Arc::clone(self));
        ServerPart::new("registry", router).origin(rule).counts_itself().ready(move || {
            let answers = checked.store.len(super::model::AUDIT);
            answers.map(drop).map_err(|error| error.to_string())
        })
    }
}

async fn unknown() -> RegistryRefusal {
    RegistryRefusal::not_found("Not found")
}

type RegistryRouter = Router<Arc<TeamRegistry>>;

/// ClawHub's API.
fn api() -> RegistryRouter {
    let v1 = Router::new()
        .route("/whoami", get(details::whoami))
        .route("/search", get(search::search))
        .route("/resolve", get(details::resolve))
        .route("/download", get(download::download))
        .route("/trending", get(lists::trending))
        .route("/skills", get(lists::list))
        .route("/skills", post(publish::publish).layer(DefaultBodyLimit::max(MAX_FORM)))
        .route("/skills/export", get(export::export))
        .route("/skills/resolve", get(details::resolve))
        .route("/skills/-/upload-url", post(upload::ticket))
        .route(
            "/skills/-/upload/{ticket}",
            post(upload::upload).layer(DefaultBodyLimit::max(MAX_UPLOAD)),
        )
        .route("/skills/-/security-verdicts", post(verdict::bulk))
        .route("/skills/{slug}", get(details::detail).delete(lifecycle::delete))
        .route("/skills/{slug}/undelete", post(lifecycle::undelete))
        .route("/skills/{slug}/tags/{tag}", post(rename::tag))
        .route("/skills/{slug}/rename", post(rename::rename))
        .route("/skills/{slug}/merge", post(rename::merge))
        .route("/skills/{slug}/versions", get(details::versions))
        .route(
            "/skills/{slug}/versions/{version}",
            get(details::version).delete(lifecycle::withdraw),
        )
        .route("/skills/{slug}/versions/{version}/restore", post(lifecycle::restore))
        .route("/skills/{slug}/file", get(download::file))
        .route("/skills/{slug}/install", get(download::install))
        .route("/skills/{slug}/scan", get(verdict::scan))
        .route("/skills/{slug}/verify", get(verdict::verify))
        .route("/skills/{slug}/card", get(verdict::card))
        .route("/skills/{slug}/moderation", get(verdict::moderation))
        .route("/skills-sh/{owner}/{repo}/{slug}/install", get(github::skills_sh_install))
        .route("/stars/{slug}", post(stars::star).delete(stars::unstar));
    Router::new()
        .nest("/api/v1", v1)
        .route("/api/cli/telemetry/install", post(stars::installed))
        .route("/api/search", get(search::skills_sh))
}

/// Discovery indexes, for clients that know no API.
fn discovery() -> RegistryRouter {
    Router::new()
        .route("/.well-known/agent-skills/index.json", get(discovery::index))
        .route("/.well-known/agent-skills/{name}/{*file}", get(discovery::artifact))
        .route("/.well-known/skills/index.json", get(discovery::legacy_index))
        .route("/.well-known/skills/{name}/{*file}", get(discovery::legacy_file))
        .route(
            "/{owner}/skills/{slug}/.well-known/agent-skills/index.json",
            get(discovery::index_of_one),
        )
}

/// Routes that need no token: where the registry is, and how to get a token. The client asks for them
/// at the origin, whatever the registry's base is.
fn open_documents() -> RegistryRouter {
    Router::new()
        .route("/api/cli/device/code", post(device::code))
        .route("/api/cli/device/token", post(device::token))
        .route("/device", get(device::page))
        .route("/.well-known/clawhub.json", get(discovery::clawhub))
        .route("/.well-known/clawdhub.json", get(discovery::clawhub))
}
