//! The registry's verdict on the safety of a version, in the shapes of the upstream API.
//!
//! The scanner's words are `allow`, `warn` and `block`; the API's are `clean`, `suspicious` and
//! `malicious`. What blocks is never stored, so a stored version is clean, with or without warnings,
//! unless another registry that it came from says otherwise.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_guard::Untrusted;
use sinew_skill::content_hash;

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::download::url_text;
use super::lookup::VersionOrTag;
use super::model::{SkillDoc, VersionDoc};
use super::refusal::{RefusalFormat, RegistryRefusal, RegistryReply, json_answer};
use super::skill_request::RegistrySkillRequest;

/// Items of one bulk request.
const MAX_ITEMS: usize = 100;
const CARD: &str = "skill-card.md";

fn status(skill: &SkillDoc) -> &'static str {
    if skill.is_suspicious() { "suspicious" } else { "clean" }
}

/// The `moderation` of a skill's detail.
pub(crate) fn moderation_of(skill: &SkillDoc) -> Value {
    if !skill.is_suspicious() {
        return Value::Null;
    }
    json!({
        "isSuspicious": true,
        "isMalwareBlocked": false,
        "verdict": "suspicious",
        "reasonCodes": ["upstream.suspicious"],
        "summary": "The registry that this skill comes from flagged it.",
        "engineVersion": null,
        "updatedAt": skill.mirrored.as_ref().map(|mirrored| mirrored.checked_at),
    })
}

/// The `security` of a version.
pub(crate) fn security(skill: &SkillDoc, version: &VersionDoc) -> Value {
    json!({
        "status": status(skill),
        "hasWarnings": version.scan.has_warnings,
        "checkedAt": version.scan.checked_at,
        "model": null,
        "hasScanResult": true,
        "sha256hash": version.archive.sha256,
        "virustotalUrl": null,
        "scanners": {
            "sinew": {
                "status": status(skill),
                "ruleset": version.scan.ruleset,
                "issueCount": version.scan.findings.len(),
                "checkedAt": version.scan.checked_at,
            },
        },
    })
}

fn signals(skill: &SkillDoc, version: &VersionDoc) -> Value {
    json!({
        "staticScan": {
            "status": status(skill),
            "hasWarnings": version.scan.has_warnings,
            "engineVersion": version.scan.ruleset,
            "checkedAt": version.scan.checked_at,
        },
        "virusTotal": null,
        "skillSpector": null,
        "dependencyRegistry": null,
    })
}

fn reasons(skill: &SkillDoc) -> Vec<&'static str> {
    if skill.is_suspicious() { vec!["security.suspicious"] } else { Vec::new() }
}

pub(crate) async fn scan(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .version(|_, _, skill, version| {
            json_answer(&json!({
                "skill": { "slug": skill.slug, "displayName": skill.display_name },
                "version": { "version": version.version, "createdAt": version.created_at },
                "moderation": {
                    "scope": "version",
                    "sourceVersion": version.version,
                    "matchesRequestedVersion": true,
                    "isPendingScan": false,
                    "isMalwareBlocked": false,
                    "isSuspicious": skill.is_suspicious(),
                    "isHiddenByMod": false,
                    "isRemoved": false,
                },
                "security": security(skill, version),
            }))
        })
        .await
}

/// Findings are for the owner, and for every caller once a skill is flagged.
pub(crate) async fn moderation(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .skill(RefusalFormat::Text, |registry, asked, skill| {
            if !skill.is_suspicious() && !asked.caller.owns(&skill.owner) {
                return Err(RegistryRefusal::not_found("Moderation details unavailable"));
            }
            let version = registry.version_of(skill, &VersionOrTag::default())?;
            let suspicious = skill.is_suspicious();
            let mut codes: Vec<&str> =
                version.scan.findings.iter().map(|finding| finding.code.as_str()).collect();
            codes.dedup();
            json_answer(&json!({
                "moderation": {
                    "isSuspicious": suspicious,
                    "isMalwareBlocked": false,
                    "verdict": status(skill),
                    "reasonCodes": codes,
                    "summary": null,
                    "engineVersion": version.scan.ruleset,
                    "updatedAt": version.scan.checked_at,
                    "legacyReason": null,
                    "evidence": version.scan.findings,
                },
            }))
        })
        .await
}

pub(crate) async fn verify(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .version(|_, asked, skill, version| {
            let which = asked.which();
            let ok = !skill.is_suspicious();
            let card = card_text(skill, version);
            let at = format!("{}/api/v1/skills/{}", asked.caller.base, skill.slug);
            let owner = url_text(&skill.owner);
            let number = url_text(&version.version);
            let from = match (&which.version, &which.tag) {
                (Some(_), _) => "version",
                (None, Some(_)) => "tag",
                _ => "latest",
            };
            let provenance = match &skill.mirrored {
                Some(mirrored) => json!({
                    "source": "mirror",
                    "upstream": mirrored.upstream,
                    "declared": version.source,
                }),
                None => json!({ "source": "registry", "declared": version.source }),
            };
            let prints = skill.version(&version.version).map(|line| &line.fingerprints);
            json_answer(&json!({
                "schema": "clawhub.skill.verify.v1",
                "ok": ok,
                "decision": if ok { "pass" } else { "fail" },
                "reasons": reasons(skill),
                "slug": skill.slug,
                "displayName": skill.display_name,
                "pageUrl": format!("{at}?ownerHandle={owner}"),
                "publisherHandle": skill.owner,
                "publisherDisplayName": skill.owner,
                "publisherProfileUrl": null,
                "version": version.version,
                "resolvedFrom": from,
                "tag": which.tag,
                "createdAt": version.created_at,
                "card": {
                    "available": true,
                    "path": CARD,
                    "url": format!("{at}/card?ownerHandle={owner}&version={number}"),
                    "sha256": content_hash(card.as_bytes()),
                    "size": card.len(),
                    "contentType": "text/markdown",
                },
                "artifact": {
                    "sourceFingerprint": version.fingerprint,
                    "bundleFingerprints": prints,
                    "treeSha256": version.tree,
                    "files": version.files,
                },
                "provenance": provenance,
                "security": {
                    "status": status(skill),
                    "passed": ok,
                    "rawStatus": status(skill),
                    "verdict": status(skill),
                    "confidence": null,
                    "summary": null,
                    "model": null,
                    "checkedAt": version.scan.checked_at,
                    "signals": signals(skill, version),
                },
                "signature": { "status": "unsigned" },
            }))
        })
        .await
}

pub(crate) async fn card(asked: RegistrySkillRequest) -> RegistryReply {
    asked
        .version(|_, _, skill, version| {
            let text = card_text(skill, version);
            Ok(([(CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response())
        })
        .await
}

#[derive(Debug, Deserialize)]
pub(crate) struct BulkVerdictBody {
    items: Vec<BulkVerdictItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BulkVerdictItem {
    slug: String,
    version: String,
    owner_handle: Option<String>,
}

pub(crate) async fn bulk(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Json(bulk): Json<BulkVerdictBody>,
) -> RegistryReply {
    let mut unique = bulk.items.clone();
    unique.sort();
    unique.dedup();
    if unique.len() != bulk.items.len() || !(1..=MAX_ITEMS).contains(&unique.len()) {
        return Err(RegistryRefusal::bad("items must be 1 to 100 different skills"));
    }
    registry
        .work(move |registry| {
            let mut items = Vec::new();
            for item in &bulk.items {
                items.push(registry.verdict(&caller, item)?);
            }
            json_answer(&json!({ "schema": "clawhub.skill.security-verdicts.v1", "items": items }))
        })
        .await
}

impl TeamRegistry {
    fn verdict(
        &self,
        caller: &RegistryCaller,
        item: &BulkVerdictItem,
    ) -> Result<Value, RegistryRefusal> {
        let which = VersionOrTag { version: Some(item.version.clone()), tag: None };
        let looked = self
            .find(caller, &item.slug, item.owner_handle.as_deref(), RefusalFormat::Text)
            .and_then(|found| Ok((self.version_of(&found.value, &which)?, found.value)));
        let (version, skill) = match looked {
            Ok(found) => found,
            Err(refusal) if refusal.status.is_server_error() => return Err(refusal),
            Err(refusal) => {
                return Ok(json!({
                    "ok": false,
                    "decision": "fail",
                    "reasons": ["version.not_found"],
                    "requestedSlug": item.slug,
                    "requestedOwnerHandle": item.owner_handle,
                    "requestedVersion": item.version,
                    "error": { "code": "version.not_found", "message": refusal.message() },
                    "security": null,
                }));
            }
        };
        let ok = !skill.is_suspicious();
        let at = format!("{}/api/v1/skills/{}", caller.base, skill.slug);
        let owner = url_text(&skill.owner);
        Ok(json!({
            "ok": ok,
            "decision": if ok { "pass" } else { "fail" },
            "reasons": reasons(&skill),
            "requestedSlug": item.slug,
            "requestedOwnerHandle": item.owner_handle,
            "requestedVersion": item.version,
            "slug": skill.slug,
            "displayName": skill.display_name,
            "publisherHandle": skill.owner,
            "publisherDisplayName": skill.owner,
            "version": version.version,
            "createdAt": version.created_at,
            "checkedAt": version.scan.checked_at,
            "skillUrl": format!("{at}?ownerHandle={owner}"),
            "securityAuditUrl": format!("{at}/scan?ownerHandle={owner}"),
            "security": {
                "status": status(&skill),
                "passed": ok,
                "signals": signals(&skill, &version),
            },
        }))
    }
}

/// The card of a version: the facts that the registry vouches for.
fn card_text(skill: &SkillDoc, version: &VersionDoc) -> String {
    let safe = |text: &str| Untrusted::new(text).for_terminal();
    let mut text = String::new();
    let _ = writeln!(text, "# {} {}\n", safe(&skill.display_name), version.version);
    if let Some(summary) = &skill.summary {
        let _ = writeln!(text, "{}\n", safe(summary));
    }
    let _ = writeln!(text, "- reference: @{}/{}@{}", skill.owner, skill.slug, version.version);
    if let Some(spdx) = &version.spdx {
        let _ = writeln!(text, "- licence: {}", safe(spdx));
    }
    let warnings = if version.scan.has_warnings { "with warnings" } else { "no warnings" };
    let _ = writeln!(text, "- scan: {}, {warnings}", status(skill));
    let _ = writeln!(text, "- digest: {}", version.tree);
    let _ = writeln!(text, "\n## Files\n");
    for file in &version.files {
        let _ =
            writeln!(text, "- `{}` {} bytes, sha256 {}", safe(&file.path), file.size, file.sha256);
    }
    text
}
