//! Uploads: a ticket for each file, then its bytes, then the publication that names both.
//!
//! A ticket binds path, size, digest, kind and holder, lives an hour, and is used once.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::json;
use sinew_guard::scan::MAX_FILE;
use sinew_skill::content_hash;
use sinew_store::{ExpectedVersion, JsonText};

use super::TeamRegistry;
use super::bundle::check_path;
use super::caller::RegistryCaller;
use super::lookup::{self, LoadedDoc};
use super::model::{TICKETS, TicketDoc};
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};
use super::token::{hex, random_bytes};

/// How long a ticket lives.
const TICKET_MS: u64 = 60 * 60 * 1000;
/// The type of a file where the upload names none.
pub(crate) const UNKNOWN_KIND: &str = "application/octet-stream";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadTicketBody {
    path: String,
    size: u64,
    sha256: String,
    content_type: Option<String>,
}

pub(crate) async fn ticket(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Json(wanted): Json<UploadTicketBody>,
) -> RegistryReply {
    registry
        .work(move |registry| {
            let holder = caller.require_publisher()?;
            check_path(&wanted.path)?;
            if wanted.size > MAX_FILE {
                return Err(RegistryRefusal::too_large("File exceeds 10MB limit"));
            }
            if sinew_guard::digest::from_hex(&wanted.sha256).is_none() {
                return Err(RegistryRefusal::bad("Invalid sha256"));
            }
            let ticket = TicketDoc {
                path: wanted.path,
                size: wanted.size,
                sha256: wanted.sha256.to_ascii_lowercase(),
                content_type: content_type(wanted.content_type.as_deref()),
                handle: holder.handle.clone(),
                expires_at: registry.now() + TICKET_MS,
                uploaded: false,
            };
            let id = new_id()?;
            registry.store.put(TICKETS, &id, ExpectedVersion::Absent, JsonText::of(&ticket)?)?;
            json_answer(&json!({
                "uploadUrl": format!("{}/api/v1/skills/-/upload/{id}", caller.base),
                "uploadTicket": id,
            }))
        })
        .await
}

pub(crate) async fn upload(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path(id): Path<String>,
    bytes: Bytes,
) -> RegistryReply {
    registry
        .work(move |registry| {
            let mut ticket = registry.ticket(&caller, &id)?;
            if bytes.len() as u64 != ticket.value.size {
                return Err(RegistryRefusal::bad(
                    "Uploaded file size does not match its upload ticket",
                ));
            }
            if content_hash(&bytes) != ticket.value.sha256 {
                let text = "Uploaded file SHA-256 does not match its upload ticket";
                return Err(RegistryRefusal::bad(text));
            }
            let sha256 = registry.blobs.put(&bytes)?;
            // The same bytes may be sent again: a client does so when it lost the answer.
            if !ticket.value.uploaded {
                ticket.value.uploaded = true;
                let expect = ExpectedVersion::Version(ticket.version);
                registry.store.put(TICKETS, &id, expect, JsonText::of(&ticket.value)?)?;
            }
            json_answer(&json!({ "storageId": storage_id(&sha256) }))
        })
        .await
}

impl TeamRegistry {
    /// A ticket of the caller that is still valid.
    pub(crate) fn ticket(
        &self,
        caller: &RegistryCaller,
        id: &str,
    ) -> Result<LoadedDoc<TicketDoc>, RegistryRefusal> {
        // Another user's ticket is answered like an unknown one, so that its existence is not revealed.
        let unknown =
            || RegistryRefusal::bad("Upload ticket is missing, used, expired or not yours");
        let holder = caller.require_publisher()?;
        if id.is_empty() || id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let document = self.store.get(TICKETS, id)?.ok_or_else(unknown)?;
        let ticket: LoadedDoc<TicketDoc> = lookup::read(&document)?;
        let counts = ticket.value.handle == holder.handle && self.now() < ticket.value.expires_at;
        if counts { Ok(ticket) } else { Err(unknown()) }
    }
}

/// The name of stored bytes, as publications refer to them.
pub(crate) fn storage_id(sha256: &str) -> String {
    format!("sha256:{sha256}")
}

/// An id that cannot be guessed.
pub(crate) fn new_id() -> Result<String, RegistryRefusal> {
    let bytes = random_bytes()
        .map_err(|_| RegistryRefusal::unavailable("No random numbers on the server"))?;
    Ok(hex(&bytes[..16]))
}

/// The type of a file, where it is safe to send back.
pub(crate) fn content_type(given: Option<&str>) -> String {
    let fine = |kind: &&str| {
        (3..=100).contains(&kind.len())
            && kind.contains('/')
            && kind.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    };
    given.map(str::trim).filter(fine).unwrap_or(UNKNOWN_KIND).to_owned()
}
