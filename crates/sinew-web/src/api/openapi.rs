//! The description of the API: OpenAPI 3.1, made from the types.

use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi as Described, RefOr};
use utoipa::{IntoResponses, Modify, OpenApi};

use super::problem::Problem;
use super::schema_choices::unite_choices;
use crate::access::COOKIE;

/// The description, before the routes add theirs.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "sinew",
        description = "The skills of this machine: which there are, which fits a message, what was \
                       learned, and what waits for a person. Every answer is the engine's own \
                       record, the same as on the command line with `--json`.",
        license(name = "MIT OR Apache-2.0"),
    ),
    servers((url = "/", description = "This server")),
    modifiers(&SecuritySchemes),
    security(("token" = []), ("browser" = [])),
    tags(
        (name = "skills", description = "The catalog"),
        (name = "route", description = "From a message to a skill"),
        (name = "cortex", description = "What was learned"),
        (name = "acquire", description = "Finding a skill for a task"),
        (name = "approvals", description = "What waits for a person"),
        (name = "workshop", description = "Changes to skills that wait for review"),
        (name = "registry", description = "Skills from elsewhere"),
        (name = "guard", description = "Scanning"),
        (name = "server", description = "The server itself"),
    ),
)]
pub(super) struct ApiDocument;

struct SecuritySchemes;

impl Modify for SecuritySchemes {
    fn modify(&self, document: &mut Described) {
        let components = document.components.get_or_insert_default();
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
        let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(COOKIE)));
        components.add_security_scheme("browser", cookie);
    }
}

/// Why a request was not answered.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "a shape for the description")]
pub(super) enum ProblemResponses {
    /// The request, or who sent it, is in the way
    #[response(status = "4XX", content_type = "application/problem+json")]
    Theirs(#[to_schema] Problem),
    /// The machine is in the way
    #[response(status = "5XX", content_type = "application/problem+json")]
    Ours(#[to_schema] Problem),
}

/// The description as it is served: with the version, words for every response, and types that
/// generators understand.
pub(super) fn complete(mut document: Described) -> Value {
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    for item in document.paths.paths.values_mut() {
        let PathItem { get, put, post, delete, patch, .. } = item;
        [get, put, post, delete, patch].into_iter().flatten().for_each(describe_responses);
    }
    let mut written = json!(document);
    unite_choices(&mut written);
    written
}

/// A response without words of its own is what its operation promises: OpenAPI requires a description.
fn describe_responses(operation: &mut Operation) {
    let promised = operation.summary.clone().unwrap_or_default();
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description.clone_from(&promised);
        }
    }
}
