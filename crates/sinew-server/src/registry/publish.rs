//! Publishing: names and files are checked, the bundle is scanned, and then everything is stored in
//! one transaction, or nothing.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{FromRequest as _, Multipart, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::{Json, RequestExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_guard::archive;
use sinew_guard::scan::{Bundle, MAX_FILE, MAX_FILES, MAX_SKILL, ScanReport, Severity, Verdict};
use sinew_hub::digest::{FileRecord, META_FILE, Order, fingerprint, tree_sha256};
use sinew_hub::tree::{Tree, TreeFile};
use sinew_hub::zipped::{self, Meta};
use sinew_skill::{ReadOptions, Skill};
use sinew_store::{Expect, Json as Body, Op, StoreError, Version};

use super::access::Caller;
use super::answer::{Answer, Refusal, json_answer};
use super::model::{
    AuditEntry, FileDoc, FindingDoc, Mirrored, SKILLS, ScanDoc, Setup, SkillDoc, Stored, TICKETS,
    VERSIONS, VersionDoc, VersionLine, version_key,
};
use super::shelf::Found;
use super::token::Role;
use super::upload::{content_type, new_id, storage_id};
use super::{Registry, audit, names};

/// The longest path of a file.
const MAX_PATH: usize = 500;
/// The longest name, changelog and summary that are kept.
const MAX_NAME: usize = 120;
const MAX_CHANGELOG: usize = 20_000;
const MAX_SUMMARY: usize = 1_024;
/// Topics and tags of one skill.
const MAX_WORDS: usize = 20;
/// Findings that are kept and told; the gravest come first.
const MAX_FINDINGS: usize = 50;
/// Versions of one skill: its document names each.
const MAX_VERSIONS: usize = 5_000;

/// What may be the skill's own file, in the order in which it is looked for.
const SKILL_FILES: &[&str] = &["SKILL.md", "skill.md", "skills.md", "SKILL.MD"];
/// Made by registries; nobody may bring one.
const CARD_FILE: &str = "skill-card.md";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payload {
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
    files: Vec<Named>,
}

/// A file that was uploaded before.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    path: String,
    size: u64,
    storage_id: String,
    sha256: String,
    content_type: Option<String>,
    upload_ticket: Option<String>,
}

/// A file of a bundle.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_type: String,
}

/// A version that is to be stored, whoever brings it.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) owner: String,
    pub(crate) slug: String,
    pub(crate) display_name: String,
    pub(crate) version: String,
    pub(crate) changelog: String,
    pub(crate) tags: Vec<String>,
    pub(crate) topics: Vec<String>,
    pub(crate) source: Option<Value>,
    pub(crate) files: Vec<Upload>,
    pub(crate) created_at: u64,
    /// Whether near names are checked: not for an admin, nor for what was named elsewhere.
    pub(crate) is_free_to_name: bool,
    pub(crate) mirrored: Option<Mirrored>,
    /// Documents that are used up by this, and their states.
    pub(crate) used: Vec<(String, Version)>,
    /// Who does it, from where.
    pub(crate) by: AuditEntry,
}

pub(crate) async fn publish(State(registry): State<Arc<Registry>>, request: Request) -> Answer {
    let caller = request.extensions().get::<Caller>().cloned().ok_or_else(Refusal::no_token)?;
    // Before the body is read: strangers do not get to send fifty megabytes.
    caller.publisher()?;
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let (payload, files) = match kind.map(|kind| kind.split(';').next().unwrap_or(kind).trim()) {
        Some("application/json") => {
            let payload = request.extract::<Json<Payload>, _>().await;
            let Json(payload) =
                payload.map_err(|error| Refusal::text(error.status(), error.body_text()))?;
            (payload, None)
        }
        Some("multipart/form-data") => {
            let form = Multipart::from_request(request, &()).await;
            let (payload, files) =
                read_form(form.map_err(|e| Refusal::bad(e.body_text()))?).await?;
            (payload, Some(files))
        }
        _ => {
            let text = "Content-Type must be application/json or multipart/form-data";
            return Err(Refusal::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
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

async fn read_form(mut form: Multipart) -> Result<(Payload, Vec<Upload>), Refusal> {
    let bad = |error: axum::extract::multipart::MultipartError| {
        Refusal::text(error.status(), error.body_text())
    };
    let (mut payload, mut files, mut total) = (None, Vec::new(), 0u64);
    while let Some(field) = form.next_field().await.map_err(bad)? {
        let (name, path) = (field.name().map(str::to_owned), field.file_name().map(str::to_owned));
        let kind = content_type(field.content_type());
        let bytes = field.bytes().await.map_err(bad)?;
        match (name.as_deref(), path) {
            (Some("payload"), _) => {
                let read = serde_json::from_slice::<Payload>(&bytes);
                payload = Some(read.map_err(|error| Refusal::bad(format!("payload: {error}")))?);
            }
            (Some("files"), Some(path)) => {
                total += bytes.len() as u64;
                if files.len() >= MAX_FILES || total > MAX_SKILL {
                    return Err(Refusal::too_large("Skill bundle exceeds 50MB limit"));
                }
                files.push(Upload { path, bytes: bytes.to_vec(), content_type: kind });
            }
            _ => return Err(Refusal::bad("Unexpected part of the form")),
        }
    }
    Ok((payload.ok_or_else(|| Refusal::bad("The part `payload` is missing"))?, files))
}

impl Registry {
    /// Checks what was sent, and gathers its bytes.
    fn incoming(
        &self,
        caller: &Caller,
        payload: Payload,
        sent: Option<Vec<Upload>>,
    ) -> Result<Incoming, Refusal> {
        if !payload.accept_license_terms {
            return Err(Refusal::bad("License terms must be accepted"));
        }
        let slug = names::publish_slug(&payload.slug).map_err(Refusal::bad)?;
        let holder = caller.publisher()?;
        let owner = match payload.owner_handle.as_deref().filter(|owner| !owner.trim().is_empty()) {
            None => holder.handle.clone(),
            Some(owner) => {
                names::handle(owner).ok_or_else(|| Refusal::bad("Invalid owner handle"))?
            }
        };
        caller.owner_of(&owner)?;
        let version = semver::Version::parse(payload.version.trim());
        let version = version.map_err(|_| Refusal::bad("Version must be valid semver"))?;
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
        Ok(Incoming {
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
            is_free_to_name: holder.role == Role::Admin,
            mirrored: None,
            used,
            by: AuditEntry {
                who: holder.handle.clone(),
                address: Some(caller.address.to_string()),
                ..audit::nothing()
            },
        })
    }

    /// The bytes behind tickets.
    fn uploaded(
        &self,
        caller: &Caller,
        named: Vec<Named>,
        used: &mut Vec<(String, Version)>,
    ) -> Result<Vec<Upload>, Refusal> {
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
                return Err(Refusal::bad(text));
            }
            let bytes = self
                .blobs
                .get(&ticket.value.sha256)
                .map_err(|_| Refusal::bad(format!("{}: upload it again", file.path)))?;
            used.push((id, ticket.version));
            files.push(Upload { path: file.path, bytes, content_type: kind });
        }
        Ok(files)
    }

    /// Checks, scans and stores a version; answers the ids of skill and version.
    pub(crate) fn store_version(&self, incoming: Incoming) -> Result<(String, String), Refusal> {
        check_files(&incoming.files)?;
        let records: Vec<FileRecord> =
            incoming.files.iter().map(|file| FileRecord::of(&*file.path, &file.bytes)).collect();
        let tree = tree_sha256(&records);
        let existing = self.skill(&incoming.slug, &incoming.owner)?;
        if let Some(found) = &existing {
            if let Some(ids) = self.already(&found.value, &incoming, &tree)? {
                self.use_up(&incoming.used)?;
                return Ok(ids);
            }
        } else {
            self.check_name(&incoming)?;
        }
        let report = self.scan(&incoming);
        if report.verdict == Verdict::Block {
            let entry = AuditEntry {
                skill: None,
                version: Some(incoming.version.clone()),
                digest: Some(tree),
                note: Some(format!("@{}/{}", incoming.owner, incoming.slug)),
                ..incoming.by
            };
            self.store.transact(&[audit::op("publish-refused", &entry, self.now())?])?;
            return Err(Refusal::bad(blocked(&report)));
        }
        self.commit(incoming, &records, tree, &report, existing)
    }

    /// What was published under this number before, if it is the same.
    fn already(
        &self,
        skill: &SkillDoc,
        incoming: &Incoming,
        tree: &str,
    ) -> Result<Option<(String, String)>, Refusal> {
        if skill.deleted.is_some() {
            return Err(Refusal::bad("The skill is deleted; undelete it first"));
        }
        if skill.mirrored.is_some() != incoming.mirrored.is_some() {
            return Err(Refusal::bad("The name is taken by a skill of another registry"));
        }
        if skill.version(&incoming.version).is_none() {
            if skill.versions.len() >= MAX_VERSIONS {
                return Err(Refusal::bad("The skill has too many versions"));
            }
            return Ok(None);
        }
        let key = version_key(&skill.slug, &skill.owner, &incoming.version);
        let document = self.store.get(VERSIONS, &key)?;
        let version: VersionDoc = match document {
            Some(document) => document.body.read()?,
            None => return Err(Refusal::bad("Version already exists")),
        };
        match version.tree == tree {
            true => Ok(Some((skill.id.clone(), version.id))),
            false => Err(Refusal::bad("Version already exists with other files")),
        }
    }

    fn use_up(&self, used: &[(String, Version)]) -> Result<(), Refusal> {
        let ops: Vec<Op> = used
            .iter()
            .map(|(id, version)| Op::delete(TICKETS, id, Expect::Version(*version)))
            .collect();
        match self.store.transact(&ops) {
            Err(StoreError::Conflict { .. }) => Err(used_meanwhile()),
            other => Ok(other.map(drop)?),
        }
    }

    /// A new name must not be mistaken for another owner's, nor for one that was just given up.
    fn check_name(&self, incoming: &Incoming) -> Result<(), Refusal> {
        if incoming.is_free_to_name {
            return Ok(());
        }
        let now = self.now();
        let reserved = self
            .owners_of(&incoming.slug)?
            .into_iter()
            .any(|found| found.value.deleted.is_some_and(|deleted| now < deleted.reserved_until));
        if reserved {
            return Err(Refusal::bad(format!("Slug \"{}\" is reserved", incoming.slug)));
        }
        let index = self.index();
        let others = index.iter().filter(|entry| entry.skill.owner != incoming.owner);
        match names::mistaken_for(&incoming.slug, others.map(|entry| entry.skill.slug.as_str())) {
            None => Ok(()),
            Some(near) => Err(Refusal::bad(format!(
                "Slug \"{}\" is too close to \"{near}\" of another owner; an admin can publish it",
                incoming.slug
            ))),
        }
    }

    fn scan(&self, incoming: &Incoming) -> ScanReport {
        let files = incoming.files.iter().map(|file| (file.path.clone(), file.bytes.clone()));
        self.scanner.scan_bundle(&Bundle::from_files(files).named(&incoming.slug))
    }

    fn commit(
        &self,
        incoming: Incoming,
        records: &[FileRecord],
        tree: String,
        report: &ScanReport,
        existing: Option<Found<SkillDoc>>,
    ) -> Result<(String, String), Refusal> {
        let meta = Meta {
            owner_id: incoming.owner.clone(),
            slug: incoming.slug.clone(),
            version: incoming.version.clone(),
            published_at: i64::try_from(incoming.created_at).unwrap_or(i64::MAX),
        };
        for file in &incoming.files {
            self.blobs.put(&file.bytes)?;
        }
        let pairs = || incoming.files.iter().map(|file| (file.path.as_str(), &*file.bytes));
        let archive = self.put_archive(zipped::pack(pairs(), Some(&meta)))?;
        let exact = pairs().map(|(path, bytes)| match path == skill_file(&incoming.files) {
            true => (SKILL_FILES[0], bytes),
            false => (path, bytes),
        });
        let plain = self.put_archive(zipped::pack(exact, None))?;
        let skill_md = skill_file(&incoming.files);
        let only_file = match incoming.files.as_slice() {
            [one] if one.path == skill_md => records.first().map(|record| record.sha256.clone()),
            _ => None,
        };
        let about = About::read(&incoming.files, &incoming.slug);
        let (mut skill, expect) = match existing {
            Some(found) => (found.value, Expect::Version(found.version)),
            None => (fresh(&incoming)?, Expect::Absent),
        };
        let version = VersionDoc {
            id: new_id()?,
            version: incoming.version.clone(),
            created_at: incoming.created_at,
            changelog: incoming.changelog.clone(),
            by: incoming.by.who.clone(),
            files: file_docs(&incoming.files, records),
            tree: tree.clone(),
            fingerprint: fingerprint(records, Order::Collation),
            spdx: about.spdx.clone(),
            archive,
            scan: scan_doc(report, self.now()),
            source: incoming.source.clone(),
        };
        let line = VersionLine {
            version: incoming.version.clone(),
            created_at: incoming.created_at,
            changelog: incoming.changelog.clone(),
            spdx: about.spdx.clone(),
            fingerprints: fingerprints(records, &meta),
            has_warnings: version.scan.has_warnings,
            plain,
            only_file,
            withdrawn: false,
        };
        take_in(&mut skill, &incoming, line, about);
        let entry = AuditEntry {
            skill: Some(skill.key()),
            version: Some(incoming.version.clone()),
            digest: Some(tree),
            ..incoming.by
        };
        let kind = if incoming.mirrored.is_some() { "mirror" } else { "publish" };
        let key = version_key(&skill.slug, &skill.owner, &incoming.version);
        let mut ops = vec![
            Op::put(SKILLS, &skill.key(), expect, Body::of(&skill)?),
            Op::put(VERSIONS, &key, Expect::Absent, Body::of(&version)?),
            audit::op(kind, &entry, self.now())?,
        ];
        ops.extend(
            incoming.used.iter().map(|(id, at)| Op::delete(TICKETS, id, Expect::Version(*at))),
        );
        match self.store.transact(&ops) {
            Err(StoreError::Conflict { .. }) => return Err(used_meanwhile()),
            other => other?,
        };
        self.refresh(&skill.key())?;
        Ok((skill.id, version.id))
    }

    fn put_archive(&self, packed: std::io::Result<Vec<u8>>) -> Result<Stored, Refusal> {
        let bytes = packed.map_err(|_| Refusal::unavailable("The bundle could not be packed"))?;
        Ok(Stored { sha256: self.blobs.put(&bytes)?, size: bytes.len() as u64 })
    }
}

fn used_meanwhile() -> Refusal {
    Refusal::text(
        StatusCode::CONFLICT,
        "The skill or an upload ticket changed meanwhile; publish again",
    )
}

/// What the skill's own file says of it.
#[derive(Debug, Default)]
struct About {
    summary: Option<String>,
    spdx: Option<String>,
    setup: Vec<Setup>,
    os: Vec<String>,
}

impl About {
    fn read(files: &[Upload], slug: &str) -> Self {
        let path = skill_file(files);
        let Some(file) = files.iter().find(|file| file.path == path) else {
            return Self::default();
        };
        let read = sinew_skill::read(&file.bytes, &ReadOptions::openclaw(slug));
        let Some(skill) = read.skill else { return Self::default() };
        let summary = plain(&skill.description, MAX_SUMMARY);
        let license = skill.frontmatter.get("license").and_then(|value| value.as_str());
        Self {
            summary: Some(summary).filter(|text| !text.is_empty()),
            spdx: license.map(|text| plain(text, 100)).filter(|text| !text.is_empty()),
            setup: setup(&skill),
            os: skill.metadata.map(|metadata| metadata.os).unwrap_or_default(),
        }
    }
}

/// Variables and settings that the skill wants, the required ones first.
fn setup(skill: &Skill) -> Vec<Setup> {
    let mut setup: Vec<Setup> = Vec::new();
    let Some(metadata) = &skill.metadata else { return setup };
    let required = metadata.requires.env.iter().chain(&metadata.requires.config);
    let optional = metadata.requires.any_env.iter().chain(&metadata.primary_env);
    let keys = required.map(|key| (key, true)).chain(optional.map(|key| (key, false)));
    for (key, required) in keys {
        if !setup.iter().any(|known| known.key == *key) {
            setup.push(Setup { key: key.clone(), required });
        }
    }
    setup
}

fn fresh(incoming: &Incoming) -> Result<SkillDoc, Refusal> {
    Ok(SkillDoc {
        id: new_id()?,
        owner: incoming.owner.clone(),
        slug: incoming.slug.clone(),
        display_name: String::new(),
        summary: None,
        topics: Vec::new(),
        tags: Default::default(),
        versions: Vec::new(),
        setup: Vec::new(),
        os: Vec::new(),
        stars: 0,
        created_at: incoming.created_at,
        updated_at: incoming.created_at,
        deleted: None,
        mirrored: incoming.mirrored.clone(),
    })
}

/// Adds a version to its skill. What is shown of the skill follows its latest version.
fn take_in(skill: &mut SkillDoc, incoming: &Incoming, line: VersionLine, about: About) {
    let number = |version: &str| semver::Version::parse(version).ok();
    let newest =
        skill.latest().is_none_or(|latest| number(&latest.version) <= number(&line.version));
    let version = line.version.clone();
    skill.versions.push(line);
    skill.updated_at = incoming.created_at.max(skill.updated_at);
    for tag in incoming.tags.iter().filter(|tag| *tag != "latest").take(MAX_WORDS) {
        skill.tags.insert(tag.clone(), version.clone());
    }
    // An older line that is kept up does not take the place of the newest.
    if newest {
        skill.tags.insert("latest".to_owned(), version);
        skill.display_name.clone_from(&incoming.display_name);
        skill.summary = about.summary;
        skill.setup = about.setup;
        skill.os = about.os;
        if !incoming.topics.is_empty() {
            skill.topics.clone_from(&incoming.topics);
        }
    }
    if incoming.mirrored.is_some() {
        skill.mirrored.clone_from(&incoming.mirrored);
    }
}

/// Of the files as published and as installed, in both orders, without repetitions.
fn fingerprints(records: &[FileRecord], meta: &Meta) -> Vec<String> {
    let mut installed = records.to_vec();
    installed.push(FileRecord::of(META_FILE, &meta.to_bytes()));
    let mut all = Vec::new();
    for files in [records, &installed] {
        for order in [Order::Collation, Order::Bytes] {
            let found = fingerprint(files, order);
            if !all.contains(&found) {
                all.push(found);
            }
        }
    }
    all
}

fn file_docs(files: &[Upload], records: &[FileRecord]) -> Vec<FileDoc> {
    let doc = |(file, record): (&Upload, &FileRecord)| FileDoc {
        path: file.path.clone(),
        size: record.size,
        sha256: record.sha256.clone(),
        content_type: file.content_type.clone(),
    };
    let mut docs: Vec<FileDoc> = files.iter().zip(records).map(doc).collect();
    docs.sort_by(|a, b| Order::Collation.compare(&a.path, &b.path));
    docs
}

fn scan_doc(report: &ScanReport, now: u64) -> ScanDoc {
    let finding = |finding: &sinew_guard::scan::Finding| FindingDoc {
        code: finding.rule.clone(),
        severity: finding.severity,
        file: finding.file.clone(),
        line: finding.line,
        message: finding.message.clone(),
        evidence: finding.evidence.clone(),
    };
    ScanDoc {
        ruleset: report.ruleset.clone(),
        checked_at: now,
        has_warnings: report.verdict == Verdict::Warn,
        findings: report.at_least(Severity::Warn).take(MAX_FINDINGS).map(finding).collect(),
    }
}

/// Why a bundle was refused, for the person who wrote it.
fn blocked(report: &ScanReport) -> String {
    let mut text = "Blocked by the security scan; nothing was published.".to_owned();
    for finding in report.at_least(Severity::Critical).take(MAX_FINDINGS) {
        let place = match finding.line {
            0 => finding.file.clone(),
            line => format!("{}:{line}", finding.file),
        };
        let _ = write!(text, "\n- {} {place}: {}", finding.rule, finding.message);
    }
    text
}

/// The path of the skill's own file.
fn skill_file(files: &[Upload]) -> &'static str {
    let has = |name: &&&str| files.iter().any(|file| file.path == **name);
    SKILL_FILES.iter().find(has).copied().unwrap_or(SKILL_FILES[0])
}

fn check_sizes(sizes: impl Iterator<Item = u64>) -> Result<(), Refusal> {
    let mut total = 0u64;
    for (count, size) in sizes.enumerate() {
        total = total.saturating_add(size);
        if size > MAX_FILE {
            return Err(Refusal::too_large("File exceeds 10MB limit"));
        }
        if total > MAX_SKILL {
            return Err(Refusal::too_large("Skill bundle exceeds 50MB limit"));
        }
        if count >= MAX_FILES {
            return Err(Refusal::too_large(format!("A skill has at most {MAX_FILES} files")));
        }
    }
    Ok(())
}

/// Whether the files make a skill that every client can unpack.
fn check_files(files: &[Upload]) -> Result<(), Refusal> {
    check_sizes(files.iter().map(|file| file.bytes.len() as u64))?;
    for file in files {
        check_path(&file.path)?;
        if file.path.eq_ignore_ascii_case(CARD_FILE) || file.path == META_FILE {
            return Err(Refusal::bad(format!("{}: the registry makes this file", file.path)));
        }
    }
    // Only the names matter here: whether any two are one file on some machine.
    let named = files.iter().map(|file| TreeFile::new(&*file.path, Vec::new())).collect();
    Tree::new(named).map_err(|error| Refusal::bad(error.to_string()))?;
    if !SKILL_FILES.iter().any(|name| files.iter().any(|file| file.path == *name)) {
        return Err(Refusal::bad("SKILL.md is required"));
    }
    Ok(())
}

/// Whether a path can be unpacked anywhere without leaving its folder.
pub(crate) fn check_path(path: &str) -> Result<(), Refusal> {
    let bad = |why: &str| Err(Refusal::bad(format!("{}: {why}", plain(path, 100))));
    if path.is_empty() || path.chars().count() > MAX_PATH {
        return bad("a path has 1 to 500 characters");
    }
    if path.contains('\\') || path.starts_with('/') {
        return bad("paths are relative, with /");
    }
    if path.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return bad("no part of a path is empty or begins with a dot");
    }
    match archive::components(path) {
        Ok(_) => Ok(()),
        Err(error) => bad(&error.to_string()),
    }
}

/// One line of text without anything that is not seen.
fn plain(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(most).collect()
}
