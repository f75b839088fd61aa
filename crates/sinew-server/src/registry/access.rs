//! Who calls: the token behind a request, what it allows, and how often.
//!
//! **Must never happen here:** a route that is reached without this, but for the documents that
//! say where the registry is, and logins, which count for themselves.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::answer::{Refusal, header};
use super::model::{AuditEntry, SkillDoc};
use super::rate::{Kind, Standing, Who};
use super::settings::Mode;
use super::token::{self, Role, TokenInfo};
use super::{Registry, audit};
use crate::gate::{CalledAs, Peer};

/// Whoever sent a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The holder of the token, where one was sent.
    pub(crate) holder: Option<Arc<TokenInfo>>,
    pub(crate) address: IpAddr,
    /// The registry's base as the caller knows it.
    pub(crate) base: Arc<str>,
    /// Whether the answer rests on what another registry said long ago.
    stale: Arc<AtomicBool>,
}

impl Caller {
    /// The answer rests on what another registry said long ago.
    pub(crate) fn note_stale(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }

    /// The holder, who must be known.
    pub(crate) fn known(&self) -> Result<&TokenInfo, Refusal> {
        self.holder.as_deref().ok_or_else(Refusal::no_token)
    }

    /// The holder, who must be allowed to publish something.
    pub(crate) fn publisher(&self) -> Result<&TokenInfo, Refusal> {
        let holder = self.known()?;
        if holder.role < Role::Publish {
            return Err(Refusal::forbidden("This token may read, not publish"));
        }
        Ok(holder)
    }

    /// Whether a skill is the caller's to change.
    pub(crate) fn owns(&self, owner: &str) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.may_publish_as(owner))
    }

    /// The holder, who must be allowed to change a skill of this owner.
    pub(crate) fn owner_of(&self, owner: &str) -> Result<&TokenInfo, Refusal> {
        let holder = self.publisher()?;
        match holder.may_publish_as(owner) {
            true => Ok(holder),
            false => Err(Refusal::forbidden(format!("@{owner} is not yours to publish under"))),
        }
    }

    /// A record of what the caller does to a skill.
    pub(crate) fn entry(&self, skill: &SkillDoc) -> AuditEntry {
        AuditEntry {
            who: self.holder.as_ref().map_or_else(String::new, |holder| holder.handle.clone()),
            skill: Some(skill.key()),
            address: Some(self.address.to_string()),
            ..audit::nothing()
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Refusal::no_token)
    }
}

/// Finds out who calls, counts the request, and lets it pass or not.
pub(crate) async fn admit(
    State(registry): State<Arc<Registry>>,
    mut request: Request,
    next: Next,
) -> Response {
    let public = registry.settings.mode == Mode::PublicRead;
    let sent = Sent::of(&request, registry.prefix);
    let (caller, standing) = match enter(&registry, sent).await {
        Ok(entered) => entered,
        Err(refusal) => return finished(refusal.into_response(), None, public),
    };
    let outcome = match standing.exceeded {
        true => Err(Refusal::rate_limited(standing.reset_in.max(1))),
        false if caller.holder.is_none() && !(public && reads(request.method())) => {
            Err(Refusal::no_token())
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
struct Sent {
    address: IpAddr,
    base: Arc<str>,
    kind: Kind,
    token: Option<String>,
}

impl Sent {
    fn of(request: &Request, prefix: &str) -> Self {
        let extensions = request.extensions();
        let address = extensions.get::<Peer>().map(|peer| peer.0.ip());
        let origin = extensions.get::<CalledAs>().map_or("", |called| &*called.0);
        Self {
            address: address.unwrap_or(IpAddr::from([0, 0, 0, 0])),
            base: format!("{origin}{prefix}").into(),
            kind: kind_of(request.method(), request.uri().path()),
            token: sent_token(request.headers()).map(str::to_owned),
        }
    }
}

async fn enter(registry: &Arc<Registry>, sent: Sent) -> Result<(Caller, Standing), Refusal> {
    let Sent { address, base, kind, token } = sent;
    let now = registry.now();
    let holder = match token {
        None => None,
        Some(token) => match registry.holder(&token).await? {
            Some(holder) => Some(Arc::new(holder)),
            None => {
                // Whoever guesses is counted by the address it guesses from.
                let standing = registry.rates.count(Who::Address(address), Kind::Write, now);
                return Err(match standing.exceeded {
                    true => Refusal::rate_limited(standing.reset_in.max(1)),
                    false => Refusal::bad_token(),
                });
            }
        },
    };
    let who = match &holder {
        Some(holder) => Who::Token(holder.id.clone(), holder.role),
        None => Who::Address(address),
    };
    let standing = registry.rates.count(who, kind, now);
    Ok((Caller { holder, address, base, stale: Arc::default() }, standing))
}

fn sent_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?;
    // Something was sent; what cannot be read is a wrong token, not none.
    Some(value.to_str().ok().and_then(token::of_header).unwrap_or(""))
}

fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn kind_of(method: &Method, path: &str) -> Kind {
    if path.ends_with("/api/v1/skills/-/security-verdicts") {
        Kind::Read
    } else if !reads(method) {
        Kind::Write
    } else if path.ends_with("/api/v1/skills/export") {
        Kind::Export
    } else if path.ends_with("/api/v1/download") || path.ends_with(".zip") {
        Kind::Download
    } else {
        Kind::Read
    }
}

/// The headers that every answer has.
fn finished(mut response: Response, standing: Option<Standing>, public: bool) -> Response {
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
