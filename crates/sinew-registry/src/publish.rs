//! Publishing: a client sends a form, or tickets of files that it uploaded before.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::{FromRequest as _, Multipart, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::{Json, RequestExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_guard::scan::{MAX_FILES, MAX_SKILL};
use sinew_store::DocumentVersion;

use super::bundle::{MAX_WORDS, RegistryBundleFile, check_sizes, plain};
use super::caller::RegistryCaller;
use super::intake::IncomingVersion;
use super::model::RegistryAuditEntry;
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};
use super::token::TokenRole;
use super::upload::{content_type, storage_id};
use super::{TeamRegistry, audit, names};

/// The longest version: it stands in addresses, file names and every list.
const MAX_VERSION: usize = 128;
/// The longest name and changelog that are kept.
const MAX_NAME: usize = 120;
const MAX_CHANGELOG: usize = 20_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishBody {
    slug: String,
    display_name: String,
    owner_handle: Option<String>,
    version: String,
    #[serde(default)]
    changelog: String,
    #[serde(default)]
    accept_license_terms: bool,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    topics: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
    source: Option<Value>,
    #[serde(default)]
    files: Vec<UploadedFile>,
}

/// A file that was uploaded before.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UploadedFile {
    path: String,
    size: u64,
    storage_id: String,
    sha256: String,
    content_type: Option<String>,
    upload_ticket: Option<String>,
}

pub(crate) async fn publish(
    State(registry): State<Arc<TeamRegistry>>,
    request: Request,
) -> RegistryReply {
    let caller = request
        .extensions()
        .get::<RegistryCaller>()
        .cloned()
        .ok_or_else(RegistryRefusal::no_token)?;
    // Before the body is read, so that only publishers can send fifty megabytes.
    caller.require_publisher()?;
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let (payload, files) = match kind.map(|kind| kind.split(';').next().unwrap_or(kind).trim()) {
        Some("application/json") => {
            let payload = request.extract::<Json<PublishBody>, _>().await;
            let Json(payload) = payload
                .map_err(|error| RegistryRefusal::text(error.status(), error.body_text()))?;
            (payload, None)
        }
        Some("multipart/form-data") => {
            let form = Multipart::from_request(request, &()).await;
            let (payload, files) =
                read_form(form.map_err(|e| RegistryRefusal::bad(e.body_text()))?).await?;
            (payload, Some(files))
        }
        _ => {
            let text = "Content-Type must be application/json or multipart/form-data";
            return Err(RegistryRefusal::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
    };
    registry
        .work(move |registry| {
            let incoming = registry.incoming(&caller, payload, files)?;
            let (slug, version) = (incoming.slug.clone(), incoming.version.clone());
            let (skill, version_id) = registry.store_version(incoming)?;
            json_answer(&json!({
                "ok": true,
                "skillId": skill,
                "versionId": version_id,
                "publicationStatus": "published",
                "status": "published",
                "slug": slug,
                "version": version,
            }))
        })
        .await
}

async fn read_form(
    mut form: Multipart,
) -> Result<(PublishBody, Vec<RegistryBundleFile>), RegistryRefusal> {
    let bad = |error: axum::extract::multipart::MultipartError| {
        RegistryRefusal::text(error.status(), error.body_text())
    };
    let (mut payload, mut files, mut total) = (None, Vec::new(), 0u64);
    while let Some(field) = form.next_field().await.map_err(bad)? {
        let (name, path) = (field.name().map(str::to_owned), field.file_name().map(str::to_owned));
        let kind = content_type(field.content_type());
        let bytes = field.bytes().await.map_err(bad)?;
        match (name.as_deref(), path) {
            (Some("payload"), _) => {
                let read = serde_json::from_slice::<PublishBody>(&bytes);
                payload =
                    Some(read.map_err(|error| RegistryRefusal::bad(format!("payload: {error}")))?);
            }
            (Some("files"), Some(path)) => {
                total += bytes.len() as u64;
                if files.len() >= MAX_FILES || total > MAX_SKILL {
                    return Err(RegistryRefusal::too_large("Skill bundle exceeds 50MB limit"));
                }
                files.push(RegistryBundleFile { path, bytes: bytes.to_vec(), content_type: kind });
            }
            _ => return Err(RegistryRefusal::bad("Unexpected part of the form")),
        }
    }
    Ok((payload.ok_or_else(|| RegistryRefusal::bad("The part `payload` is missing"))?, files))
}

impl TeamRegistry {
    /// Checks what was sent, and collects its bytes.
    fn incoming(
        &self,
        caller: &RegistryCaller,
        payload: PublishBody,
        sent: Option<Vec<RegistryBundleFile>>,
    ) -> Result<IncomingVersion, RegistryRefusal> {
        if !payload.accept_license_terms {
            return Err(RegistryRefusal::bad("License terms must be accepted"));
        }
        let slug = names::publish_slug(&payload.slug).map_err(RegistryRefusal::bad)?;
        let holder = caller.require_publisher()?;
        let owner = match payload.owner_handle.as_deref().filter(|owner| !owner.trim().is_empty()) {
            None => holder.handle.clone(),
            Some(owner) => {
                names::handle(owner).ok_or_else(|| RegistryRefusal::bad("Invalid owner handle"))?
            }
        };
        caller.require_owner(&owner)?;
        if payload.version.len() > MAX_VERSION {
            let text = format!("Version must have at most {MAX_VERSION} characters");
            return Err(RegistryRefusal::bad(text));
        }
        let version = semver::Version::parse(payload.version.trim());
        let version = version.map_err(|_| RegistryRefusal::bad("Version must be valid semver"))?;
        let mut used = Vec::new();
        let files = match sent {
            Some(files) => files,
            None => self.uploaded(caller, payload.files, &mut used)?,
        };
        let display_name = match plain(&payload.display_name, MAX_NAME) {
            name if name.is_empty() => slug.clone(),
            name => name,
        };
        let words = |words: Vec<String>| -> Vec<String> {
            let words = words.iter().map(|word| plain(word, 40)).filter(|word| !word.is_empty());
            words.take(MAX_WORDS).collect()
        };
        let mut topics = words(payload.topics);
        topics.extend(
            words(payload.categories)
                .into_iter()
                .filter(|word| !topics.contains(word))
                .collect::<Vec<_>>(),
        );
        Ok(IncomingVersion {
            owner,
            slug,
            display_name,
            version: version.to_string(),
            changelog: payload.changelog.chars().take(MAX_CHANGELOG).collect(),
            tags: words(payload.tags),
            topics,
            source: payload.source,
            files,
            created_at: self.now(),
            is_free_to_name: holder.role == TokenRole::Admin,
            mirrored: None,
            used,
            by: RegistryAuditEntry {
                who: holder.handle.clone(),
                address: Some(caller.address.to_string()),
                ..audit::empty_entry()
            },
        })
    }

    /// The bytes behind tickets.
    fn uploaded(
        &self,
        caller: &RegistryCaller,
        named: Vec<UploadedFile>,
        used: &mut Vec<(String, DocumentVersion)>,
    ) -> Result<Vec<RegistryBundleFile>, RegistryRefusal> {
        check_sizes(named.iter().map(|file| file.size))?;
        let mut seen = HashSet::new();
        let mut files = Vec::new();
        for file in named {
            let id = file.upload_ticket.unwrap_or_default();
            let ticket = self.ticket(caller, &id)?;
            let kind = content_type(file.content_type.as_deref());
            let bound = ticket.value.uploaded
                && ticket.value.path == file.path
                && ticket.value.size == file.size
                && ticket.value.sha256 == file.sha256.to_ascii_lowercase()
                && ticket.value.content_type == kind
                && storage_id(&ticket.value.sha256) == file.storage_id;
            if !bound || !seen.insert(id.clone()) {
                let text = format!("{}: the upload ticket is for something else", file.path);
                return Err(RegistryRefusal::bad(text));
            }
            let bytes = self
                .blobs
                .get(&ticket.value.sha256)
                .map_err(|_| RegistryRefusal::bad(format!("{}: upload it again", file.path)))?;
            used.push((id, ticket.version));
            files.push(RegistryBundleFile { path: file.path, bytes, content_type: kind });
        }
        Ok(files)
    }
}
