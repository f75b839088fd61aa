//! Who calls: the token behind a request, what it allows, and how often.
//!
//! **Must never happen here:** a route that is reached without this check, except for the documents
//! that say where the registry is, and logins, which count their own requests.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sinew_listener::{PeerAddress, RateStanding, ServerOrigin};
use sinew_settings::config::RegistryMode;

use super::model::{RegistryAuditEntry, SkillDoc};
use super::rate_limit::{RateSubject, RequestKind};
use super::refusal::{RegistryRefusal, header};
use super::token::{self, TokenInfo, TokenRole};
use super::{TeamRegistry, audit};

/// The sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct RegistryCaller {
    /// The holder of the token, where one was sent.
    pub(crate) holder: Option<Arc<TokenInfo>>,
    pub(crate) address: IpAddr,
    /// The registry's base as the caller knows it.
    pub(crate) base: Arc<str>,
    /// Whether the answer rests on an old answer of another registry.
    stale: Arc<AtomicBool>,
}

impl RegistryCaller {
    /// Notes that the answer rests on an old answer of another registry.
    pub(crate) fn note_stale(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }

    /// The holder, who must be known.
    pub(crate) fn require_token(&self) -> Result<&TokenInfo, RegistryRefusal> {
        self.holder.as_deref().ok_or_else(RegistryRefusal::no_token)
    }

    /// The holder, who must be allowed to publish something.
    pub(crate) fn require_publisher(&self) -> Result<&TokenInfo, RegistryRefusal> {
        let holder = self.require_token()?;
        if holder.role < TokenRole::Publish {
            return Err(RegistryRefusal::forbidden("This token may read, not publish"));
        }
        Ok(holder)
    }

    /// Whether a skill is the caller's to change.
    pub(crate) fn owns(&self, owner: &str) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.may_publish_as(owner))
    }

    /// The holder, who must be allowed to change a skill of this owner.
    pub(crate) fn require_owner(&self, owner: &str) -> Result<&TokenInfo, RegistryRefusal> {
        let holder = self.require_publisher()?;
        match holder.may_publish_as(owner) {
            true => Ok(holder),
            false => {
                Err(RegistryRefusal::forbidden(format!("@{owner} is not yours to publish under")))
            }
        }
    }

    /// A record of what the caller does to a skill.
    pub(crate) fn audit_entry(&self, skill: &SkillDoc) -> RegistryAuditEntry {
        RegistryAuditEntry {
            who: self.holder.as_ref().map_or_else(String::new, |holder| holder.handle.clone()),
            skill: Some(skill.key()),
            address: Some(self.address.to_string()),
            ..audit::empty_entry()
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RegistryCaller {
    type Rejection = RegistryRefusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, RegistryRefusal> {
        parts.extensions.get::<Self>().cloned().ok_or_else(RegistryRefusal::no_token)
    }
}

/// Finds out who calls, counts the request, and lets it pass or not.
pub(crate) async fn admit(
    State(registry): State<Arc<TeamRegistry>>,
    mut request: Request,
    next: Next,
) -> Response {
    let public = registry.settings.mode == RegistryMode::PublicRead;
    let sent = CallerClaim::of(&request, registry.prefix);
    let (caller, standing) = match enter(&registry, sent).await {
        Ok(entered) => entered,
        Err(refusal) => return finished(refusal.into_response(), None, public),
    };
    let outcome = match standing.exceeded {
        true => Err(RegistryRefusal::rate_limited(standing.reset_in.max(1))),
        false if caller.holder.is_none() && !(public && reads(request.method())) => {
            Err(RegistryRefusal::no_token())
        }
        false => Ok(caller),
    };
    let response = match outcome {
        Ok(caller) => {
            let stale = Arc::clone(&caller.stale);
            request.extensions_mut().insert(caller);
            let mut response = next.run(request).await;
            if stale.load(Ordering::Relaxed) {
                header(&mut response, "x-sinew-mirror", "stale");
            }
            response
        }
        Err(refusal) => refusal.into_response(),
    };
    finished(response, Some(standing), public)
}

/// What of a request says who sent it.
struct CallerClaim {
    address: IpAddr,
    base: Arc<str>,
    kind: RequestKind,
    token: Option<String>,
}

impl CallerClaim {
    fn of(request: &Request, prefix: &str) -> Self {
        let extensions = request.extensions();
        let address = extensions.get::<PeerAddress>().map(|peer| peer.0.ip());
        let origin = extensions.get::<ServerOrigin>().map_or("", |called| &*called.0);
        Self {
            address: address.unwrap_or(IpAddr::from([0, 0, 0, 0])),
            base: format!("{origin}{prefix}").into(),
            kind: kind_of(request.method(), request.uri().path()),
            token: sent_token(request.headers()).map(str::to_owned),
        }
    }
}

async fn enter(
    registry: &Arc<TeamRegistry>,
    sent: CallerClaim,
) -> Result<(RegistryCaller, RateStanding), RegistryRefusal> {
    let CallerClaim { address, base, kind, token } = sent;
    let now = registry.now();
    let holder = match token {
        None => None,
        Some(token) => match registry.holder(&token).await? {
            Some(holder) => Some(Arc::new(holder)),
            None => {
                // A caller who guesses tokens is counted by address.
                let standing =
                    registry.rates.count(RateSubject::Address(address), RequestKind::Write, now);
                return Err(match standing.exceeded {
                    true => RegistryRefusal::rate_limited(standing.reset_in.max(1)),
                    false => RegistryRefusal::bad_token(),
                });
            }
        },
    };
    let who = match &holder {
        Some(holder) => RateSubject::Token(holder.id.clone(), holder.role),
        None => RateSubject::Address(address),
    };
    let standing = registry.rates.count(who, kind, now);
    Ok((RegistryCaller { holder, address, base, stale: Arc::default() }, standing))
}

fn sent_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    // A header was sent; one that cannot be read counts as a wrong token, not as none.
    Some(value.to_str().ok().and_then(token::bearer_token).unwrap_or(""))
}

fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn kind_of(method: &Method, path: &str) -> RequestKind {
    if path.ends_with("/api/v1/skills/-/security-verdicts") {
        RequestKind::Read
    } else if !reads(method) {
        RequestKind::Write
    } else if path.ends_with("/api/v1/skills/export") {
        RequestKind::Export
    } else if path.ends_with("/api/v1/download") || path.ends_with(".zip") {
        RequestKind::Download
    } else {
        RequestKind::Read
    }
}

/// The headers that every answer has.
fn finished(mut response: Response, standing: Option<RateStanding>, public: bool) -> Response {
    if let Some(standing) = standing {
        let limit = standing.limit.to_string();
        header(&mut response, "x-ratelimit-limit", &limit);
        header(&mut response, "ratelimit-limit", &limit);
        header(&mut response, "x-ratelimit-reset", &standing.reset_at.to_string());
        header(&mut response, "ratelimit-reset", &standing.reset_in.to_string());
        if standing.exceeded {
            let remaining = standing.remaining.to_string();
            header(&mut response, "x-ratelimit-remaining", &remaining);
            header(&mut response, "ratelimit-remaining", &remaining);
        }
    }
    if public {
        let any = HeaderValue::from_static("*");
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    }
    response
}
