//! Many skills in one archive, for clients that read all of them: the files of each latest version
//! as a single download has them, below `owner/slug/`.
//!
//! **Must never happen here:** an answer that grows with what was published. A page ends at its limit
//! or at [`MAX_PAGE`] bytes, whichever comes first, and says where the next one begins.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_hub::tree::{SkillTree, TreeFile};
use sinew_hub::version_archive;

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::lookup::VersionOrTag;
use super::model::{SkillDoc, VersionDoc};
use super::refusal::{RegistryRefusal, RegistryReply, header};

/// Skills of one page, as upstream has it.
const MAX_SKILLS: usize = 250;
/// Bytes of one page, unpacked: all of it is in memory, with the archive that is made of it.
const MAX_PAGE: usize = 64 << 20;
/// The file with the facts about a skill.
const SKILL_META: &str = "_export_skill_meta.json";
/// The file with the facts about a page.
const MANIFEST: &str = "_manifest.json";
const ERRORS: &str = "_errors.json";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistryExportQuery {
    start_date: Option<String>,
    end_date: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

pub(crate) async fn export(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Query(query): Query<RegistryExportQuery>,
) -> RegistryReply {
    // Any token that may read will do, but even a public registry asks for one here.
    caller.require_token()?;
    let from = bound(query.start_date.as_deref(), 0, "Invalid startDate")?;
    let to = bound(query.end_date.as_deref(), u64::MAX, "Invalid endDate")?;
    if from > to {
        return Err(RegistryRefusal::bad("startDate is after endDate"));
    }
    let limit = query.limit.unwrap_or(MAX_SKILLS).clamp(1, MAX_SKILLS);
    let after = query.cursor.unwrap_or_default();
    registry.freshen().await?;
    registry
        .work(move |registry| {
            let wanted = |skill: &&SkillDoc| (from..=to).contains(&skill.updated_at);
            // One more than the limit says whether there is more.
            let skills: Vec<SkillDoc> = {
                let index = registry.index();
                let skills = index.after(&after).map(|entry| &entry.skill).filter(wanted);
                skills.take(limit + 1).cloned().collect()
            };
            let mut page = ExportBatch::default();
            for skill in skills.iter().take(limit) {
                if page.bytes >= MAX_PAGE {
                    break;
                }
                page.add(registry, skill);
            }
            page.answer(skills.len())
        })
        .await
}

/// A time in milliseconds.
fn bound(text: Option<&str>, absent: u64, wrong: &'static str) -> Result<u64, RegistryRefusal> {
    match text.filter(|text| !text.is_empty()) {
        None => Ok(absent),
        Some(text) => text.parse().map_err(|_| RegistryRefusal::bad(wrong)),
    }
}

/// What is collected for one answer.
#[derive(Default)]
struct ExportBatch {
    files: Vec<(String, Vec<u8>)>,
    bytes: usize,
    items: Vec<Value>,
    errors: Vec<Value>,
    /// How many skills were looked at, and the last of them.
    looked: usize,
    last: String,
}

impl ExportBatch {
    /// Adds a skill; one that cannot be read is reported as an error, and the others still come.
    fn add(&mut self, registry: &TeamRegistry, skill: &SkillDoc) {
        self.looked += 1;
        self.last = skill.key();
        match read(registry, skill) {
            Ok((version, files)) => self.take_in(skill, &version, files),
            Err(refusal) => self.errors.push(json!({
                "publisher": skill.owner, "slug": skill.slug, "error": refusal.message(),
            })),
        }
    }

    fn take_in(&mut self, skill: &SkillDoc, version: &VersionDoc, files: Vec<TreeFile>) {
        let folder = format!("{}/{}", skill.owner, skill.slug);
        let item = json!({
            "publisher": skill.owner,
            "slug": skill.slug,
            "displayName": skill.display_name,
            "summary": skill.summary,
            "version": version.version,
            "createdAt": skill.created_at,
            "updatedAt": skill.updated_at,
            "spdx": version.spdx,
            "sourceRef": "public-clawhub",
            "path": folder,
            "files": files.len(),
            "archiveSha256": version.archive.sha256,
        });
        for file in files {
            self.bytes += file.bytes.len();
            self.files.push((format!("{folder}/{}", file.path), file.bytes));
        }
        self.files.push((format!("{folder}/{SKILL_META}"), pretty(&item)));
        self.items.push(item);
    }

    /// The archive, and where the next page begins if `found` skills are more than were looked at.
    fn answer(mut self, found: usize) -> RegistryReply {
        let (returned, failed, more) = (self.items.len(), self.errors.len(), found > self.looked);
        self.files.push((MANIFEST.to_owned(), pretty(&json!({ "skills": self.items }))));
        if failed > 0 {
            self.files.push((ERRORS.to_owned(), pretty(&json!({ "errors": self.errors }))));
        }
        let files = self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
        let packed = version_archive::pack(files, None);
        let bytes =
            packed.map_err(|_| RegistryRefusal::unavailable("The export could not be packed"))?;
        let mut response = ([(CONTENT_TYPE, "application/zip")], bytes).into_response();
        header(&mut response, "content-disposition", "attachment; filename=\"skills-export.zip\"");
        header(&mut response, "x-has-more", if more { "true" } else { "false" });
        if more {
            header(&mut response, "x-next-cursor", &self.last);
        }
        header(&mut response, "x-total-returned", &returned.to_string());
        header(&mut response, "x-export-errors", &failed.to_string());
        Ok(response)
    }
}

/// The latest version of a skill, and the files that a download of it holds.
fn read(
    registry: &TeamRegistry,
    skill: &SkillDoc,
) -> Result<(VersionDoc, Vec<TreeFile>), RegistryRefusal> {
    let version = registry.version_of(skill, &VersionOrTag::default())?;
    let archive = registry.blobs.get(&version.archive.sha256)?;
    let tree = SkillTree::from_archive(&archive, 0);
    let tree = tree.map_err(|error| RegistryRefusal::unavailable(error.to_string()))?;
    Ok((version, tree.files().to_vec()))
}

fn pretty(value: &Value) -> Vec<u8> {
    serde_json::to_vec_pretty(value).unwrap_or_default()
}
