//! Logins from machines without a browser: a client asks for a code, the operator approves it on the
//! registry's machine, and the client, which keeps polling, gets its token.
//!
//! The page that the client shows tells how to approve: there is no form in which a token could be
//! typed. Only the registry's own machine can approve a login.
//!
//! **Must never happen here:** a code or a token in clear in a document. Until the operator approves,
//! there is no token, and it is made in the answer that carries it.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sinew_listener::{PeerAddress, ServerOrigin};
use sinew_store::{ExpectedVersion, JsonText, KeyRange, StoreError, StoreOp, StoredDocument};

use super::bundle::plain;
use super::model::{DEVICES, RegistryAuditEntry};
use super::rate_limit::{RateSubject, RequestKind};
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};
use super::token::{NewToken, TokenError, TokenRole, TokenStore, hex, random_bytes};
use super::{TeamRegistry, audit};

/// How long a login waits for approval.
const WAITS_S: u64 = 15 * 60;
/// How often the client should ask.
const INTERVAL_S: u64 = 5;
/// Logins that wait at once: a team has few, and callers without a token cannot fill the database.
const MAX_WAITING: usize = 200;
/// The longest label that is kept.
const MAX_LABEL: usize = 80;
/// The grant type by which a client names this protocol.
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A login that waits. Its key is the hash of the client's code.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeviceDoc {
    /// The hash of the code that the user reads out.
    code: String,
    label: String,
    address: String,
    expires_at: u64,
    said: Option<LoginDecision>,
}

/// The operator's answer to a login.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginDecision {
    /// It gets this token.
    Yes(NewToken),
    /// It gets none.
    No,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct DeviceCodeBody {
    #[serde(default)]
    label: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DeviceTokenBody {
    #[serde(default)]
    device_code: String,
    #[serde(default)]
    grant_type: String,
}

/// A code for the client, and one for the person.
pub(crate) async fn code(
    State(registry): State<Arc<TeamRegistry>>,
    Extension(peer): Extension<PeerAddress>,
    Extension(called): Extension<ServerOrigin>,
    wanted: Result<Json<DeviceCodeBody>, JsonRejection>,
) -> RegistryReply {
    // Counted before the body is looked at.
    registry.count_without_token(peer)?;
    let Json(wanted) = wanted.map_err(|_| refused(StatusCode::BAD_REQUEST, "invalid_request"))?;
    registry
        .work(move |registry| {
            let now = registry.now();
            if registry.tokens.count_waiting_logins(now)? >= MAX_WAITING {
                return Err(RegistryRefusal::unavailable("Too many logins wait for an answer"));
            }
            let none =
                |_: TokenError| RegistryRefusal::unavailable("No random numbers on the server");
            let device = hex(&random_bytes().map_err(none)?);
            let code = user_code(&random_bytes().map_err(none)?);
            let doc = DeviceDoc {
                code: registry.tokens.hash(&code),
                label: plain(&wanted.label, MAX_LABEL),
                address: peer.0.ip().to_string(),
                expires_at: now + WAITS_S * 1000,
                said: None,
            };
            let key = registry.tokens.hash(&device);
            registry.store.put(DEVICES, &key, ExpectedVersion::Absent, JsonText::of(&doc)?)?;
            json_answer(&json!({
                "device_code": device,
                "user_code": code,
                "verification_uri": format!("{}{}/device", called.0, registry.prefix),
                "expires_in": WAITS_S,
                "interval": INTERVAL_S,
            }))
        })
        .await
}

/// The token, once the operator has approved.
pub(crate) async fn token(
    State(registry): State<Arc<TeamRegistry>>,
    Extension(peer): Extension<PeerAddress>,
    asked: Result<Json<DeviceTokenBody>, JsonRejection>,
) -> RegistryReply {
    registry.count_without_token(peer)?;
    let Json(asked) = asked.map_err(|_| refused(StatusCode::BAD_REQUEST, "invalid_request"))?;
    if asked.grant_type != GRANT {
        return Err(refused(StatusCode::BAD_REQUEST, "unsupported_grant_type"));
    }
    registry
        .work(move |registry| {
            let (key, now) = (registry.tokens.hash(&asked.device_code), registry.now());
            let expired = || refused(StatusCode::BAD_REQUEST, "expired_token");
            let found = registry.store.get(DEVICES, &key)?.ok_or_else(expired)?;
            let doc: DeviceDoc = found.body.read()?;
            if doc.expires_at < now {
                return Err(expired());
            }
            let Some(said) = doc.said else {
                return Err(refused(StatusCode::PRECONDITION_REQUIRED, "authorization_pending"));
            };
            // Once: a client that asks at the same time gets nothing.
            match registry.store.delete(DEVICES, &key, ExpectedVersion::Version(found.version)) {
                Err(StoreError::Conflict { .. }) => return Err(expired()),
                other => other?,
            }
            let LoginDecision::Yes(wanted) = said else {
                return Err(refused(StatusCode::BAD_REQUEST, "access_denied"));
            };
            let scope = if wanted.role == TokenRole::Read { "read" } else { "read write" };
            let made = registry.tokens.create(wanted, now);
            let (secret, _) =
                made.map_err(|error| RegistryRefusal::unavailable(error.to_string()))?;
            json_answer(&json!({
                "access_token": secret.reveal(), "token_type": "bearer", "scope": scope,
            }))
        })
        .await
}

/// The page behind the link that the client shows.
pub(crate) async fn page() -> RegistryReply {
    let text = "The operator of this registry approves your login, on its machine:\n\n    \
        sinew registry token approve <CODE> --role publish --name <YOUR NAME>\n\n\
        The code is the one that your client shows. Your client then continues by itself.\n";
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

impl TeamRegistry {
    /// Counts a request of a client that has no token yet.
    fn count_without_token(&self, peer: PeerAddress) -> Result<(), RegistryRefusal> {
        let standing =
            self.rates.count(RateSubject::Address(peer.0.ip()), RequestKind::Write, self.now());
        match standing.exceeded {
            true => Err(RegistryRefusal::rate_limited(standing.reset_in.max(1))),
            false => Ok(()),
        }
    }
}

impl TokenStore {
    /// Answers a login that waits under a code; says what it called itself, and from where.
    pub fn decide_login(
        &self,
        code: &str,
        said: LoginDecision,
        now: u64,
    ) -> Result<String, TokenError> {
        if let LoginDecision::Yes(wanted) = &said {
            wanted.check()?;
        }
        let wanted = self.hash(&code.trim().to_ascii_uppercase());
        let live =
            |doc: &DeviceDoc| doc.code == wanted && doc.said.is_none() && now <= doc.expires_at;
        for document in self.devices()? {
            let mut doc: DeviceDoc = document.body.read()?;
            if !live(&doc) {
                continue;
            }
            let (kind, note) = match &said {
                LoginDecision::Yes(token) => {
                    ("device-approve", format!("{} for {}", token.role.as_str(), token.handle))
                }
                LoginDecision::No => ("device-deny", doc.label.clone()),
            };
            doc.said = Some(said);
            let entry = RegistryAuditEntry {
                who: "console".to_owned(),
                address: Some(doc.address.clone()),
                note: Some(note),
                ..audit::empty_entry()
            };
            self.store.transact(&[
                StoreOp::put(
                    DEVICES,
                    &document.key,
                    ExpectedVersion::Version(document.version),
                    JsonText::of(&doc)?,
                ),
                audit::append_op(kind, &entry, now)?,
            ])?;
            return Ok(format!("{} from {}", doc.label, doc.address));
        }
        Err(TokenError::NoLogin(code.trim().to_owned()))
    }

    /// How many logins wait; those that ended are forgotten.
    pub(super) fn count_waiting_logins(&self, now: u64) -> Result<usize, StoreError> {
        let mut waiting = 0;
        for document in self.devices()? {
            let doc: DeviceDoc = document.body.read()?;
            match doc.expires_at < now {
                true => self.store.delete(DEVICES, &document.key, ExpectedVersion::Any)?,
                false => waiting += 1,
            }
        }
        Ok(waiting)
    }

    fn devices(&self) -> Result<Vec<StoredDocument>, StoreError> {
        self.store.list(DEVICES, KeyRange::ALL, 2 * MAX_WAITING)
    }
}

/// Eight letters that are hard to confuse and spell no word.
fn user_code(random: &[u8]) -> String {
    const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    let all: String = random.iter().take(8).map(letter).collect();
    format!("{}-{}", &all[..4], &all[4..])
}

fn refused(status: StatusCode, word: &str) -> RegistryRefusal {
    RegistryRefusal::json(status, json!({ "error": word }))
}
