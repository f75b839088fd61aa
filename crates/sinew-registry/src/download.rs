//! Bytes: archives and single files, with their digests.

use axum::http::header::{CONTENT_RANGE, CONTENT_TYPE, IF_NONE_MATCH, RANGE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::model::{SkillDoc, StatsDoc};
use super::refusal::{RegistryRefusal, RegistryReply, header, json_answer};
use super::skill_request::RegistrySkillRequest;

/// The largest file that is shown as a preview.
const MAX_PREVIEW: usize = 200_000;

pub(crate) async fn download(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .version(|registry, asked, skill, version| {
            let bytes = registry.blobs.get(&version.archive.sha256)?;
            registry.count(&skill.key(), StatsDoc { downloads: 1, installs: 0 });
            let mut response = archive(&asked.headers, &version.archive.sha256, bytes);
            let name = format!("attachment; filename=\"{}-{}.zip\"", skill.slug, version.version);
            header(&mut response, "content-disposition", &name);
            Ok(response)
        })
        .await
}

/// Which archive an install would fetch.
pub(crate) async fn install(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .version(|_, asked, skill, version| {
            json_answer(&archive_of(&asked.caller.base, skill, &version.version))
        })
        .await
}

/// Where the archive of a version is.
pub(crate) fn archive_of(base: &str, skill: &SkillDoc, version: &str) -> Value {
    let url = format!(
        "{base}/api/v1/download?slug={}&ownerHandle={}&version={}",
        skill.slug,
        skill.owner,
        url_text(version)
    );
    json!({
        "ok": true,
        "slug": skill.slug,
        "installKind": "archive",
        "archive": { "version": version, "downloadUrl": url },
    })
}

pub(crate) async fn file(asked: RegistrySkillRequest) -> RegistryReply {
    let path = asked.query.path.clone().ok_or_else(|| RegistryRefusal::bad("Missing path"))?;
    asked
        .version(move |registry, asked, _, version| {
            let known = version.files.iter().find(|file| file.path == path);
            let known = known.ok_or_else(|| RegistryRefusal::not_found("File not found"))?;
            let bytes = registry.blobs.get(&known.sha256)?;
            let shown = matches!(asked.query.preview.as_deref(), Some("1" | "true"));
            if shown && (bytes.len() > MAX_PREVIEW || std::str::from_utf8(&bytes).is_err()) {
                let text = "Only text up to 200 KB can be previewed";
                return Err(RegistryRefusal::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
            }
            Ok(plain_file(&asked.headers, &known.sha256, bytes))
        })
        .await
}

/// A published file. Whatever it calls itself, a browser is told text or bytes: no uploaded file
/// runs at this origin.
pub(crate) fn plain_file(headers: &HeaderMap, sha256: &str, bytes: Vec<u8>) -> Response {
    let kind = match std::str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    let size = bytes.len().to_string();
    let mut response = conditional(headers, sha256, kind, bytes);
    header(&mut response, "x-content-sha256", sha256);
    header(&mut response, "x-content-size", &size);
    response
}

/// An archive, whole or in part.
pub(crate) fn archive(headers: &HeaderMap, sha256: &str, bytes: Vec<u8>) -> Response {
    let mut response = conditional(headers, sha256, "application/zip", bytes);
    header(&mut response, "x-content-sha256", sha256);
    header(&mut response, "cache-control", "private, max-age=60");
    response
}

fn conditional(headers: &HeaderMap, sha256: &str, kind: &'static str, bytes: Vec<u8>) -> Response {
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let same = |tag: &str| tag.trim().trim_start_matches("W/").trim_matches('"') == sha256;
    let mut response = if known.is_some_and(|tags| tags == "*" || tags.split(',').any(same)) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        match range(headers, bytes.len()) {
            ByteRange::All => ([(CONTENT_TYPE, kind)], bytes).into_response(),
            ByteRange::Part(from, to) => {
                let said = format!("bytes {from}-{to}/{}", bytes.len());
                let part = bytes[from..=to].to_vec();
                let headers = [(CONTENT_TYPE, kind.to_owned()), (CONTENT_RANGE, said)];
                (StatusCode::PARTIAL_CONTENT, headers, part).into_response()
            }
            ByteRange::Outside => {
                let said = format!("bytes */{}", bytes.len());
                (StatusCode::RANGE_NOT_SATISFIABLE, [(CONTENT_RANGE, said)]).into_response()
            }
        }
    };
    // The upstream server sends the digest without quotes, and clients compare it as it is.
    header(&mut response, "etag", sha256);
    header(&mut response, "accept-ranges", "bytes");
    response
}

enum ByteRange {
    All,
    Part(usize, usize),
    Outside,
}

/// One range of bytes; several at once are answered with everything, as the protocol allows.
fn range(headers: &HeaderMap, length: usize) -> ByteRange {
    let Some(text) = headers.get(RANGE).and_then(|value| value.to_str().ok()) else {
        return ByteRange::All;
    };
    let Some((from, to)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return ByteRange::All;
    };
    let last = length.saturating_sub(1);
    let bounds = match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
        (Ok(from), Ok(to)) if from <= to => (from, to.min(last)),
        (Ok(from), Err(_)) if to.trim().is_empty() => (from, last),
        (Err(_), Ok(tail)) if from.trim().is_empty() => (length.saturating_sub(tail), last),
        _ => return ByteRange::All,
    };
    if length == 0 || bounds.0 >= length {
        ByteRange::Outside
    } else {
        ByteRange::Part(bounds.0, bounds.1)
    }
}

/// Text encoded for a query.
pub(crate) fn url_text(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
