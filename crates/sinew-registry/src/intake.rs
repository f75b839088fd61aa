//! How a version is stored, published or mirrored: its name is checked, the bundle is scanned, and
//! then everything is stored in one transaction, or nothing.

use axum::http::StatusCode;
use serde_json::Value;
use sinew_guard::scan::{ScanReport, SkillBundle, Verdict};
use sinew_hub::digest::{FileRecord, FingerprintOrder, fingerprint, tree_sha256};
use sinew_hub::version_archive::{self, ArchiveMeta};
use sinew_store::{DocumentVersion, ExpectedVersion, JsonText, StoreError, StoreOp};

use super::bundle::{
    BundleFacts, MAX_WORDS, RegistryBundleFile, SKILL_FILES, blocked, check_files, file_docs,
    fingerprints, scan_doc, skill_file,
};
use super::lookup::LoadedDoc;
use super::model::{
    BlobRef, MirrorOrigin, RegistryAuditEntry, SKILLS, SkillDoc, TICKETS, VERSIONS, VersionDoc,
    VersionSummary, version_key,
};
use super::refusal::RegistryRefusal;
use super::upload::new_id;
use super::{TeamRegistry, audit, names};

/// Versions of one skill: its document names each.
const MAX_VERSIONS: usize = 5_000;

/// A version that is to be stored, published here or mirrored.
#[derive(Debug)]
pub(crate) struct IncomingVersion {
    pub(crate) owner: String,
    pub(crate) slug: String,
    pub(crate) display_name: String,
    pub(crate) version: String,
    pub(crate) changelog: String,
    pub(crate) tags: Vec<String>,
    pub(crate) topics: Vec<String>,
    pub(crate) source: Option<Value>,
    pub(crate) files: Vec<RegistryBundleFile>,
    pub(crate) created_at: u64,
    /// Whether near names are checked: not for an admin, nor for what was named elsewhere.
    pub(crate) is_free_to_name: bool,
    pub(crate) mirrored: Option<MirrorOrigin>,
    /// Documents that this consumes, and their versions.
    pub(crate) used: Vec<(String, DocumentVersion)>,
    /// Who does it, from where.
    pub(crate) by: RegistryAuditEntry,
}

impl TeamRegistry {
    /// Checks, scans and stores a version; answers the ids of skill and version.
    pub(crate) fn store_version(
        &self,
        incoming: IncomingVersion,
    ) -> Result<(String, String), RegistryRefusal> {
        check_files(&incoming.files)?;
        let records: Vec<FileRecord> =
            incoming.files.iter().map(|file| FileRecord::of(&*file.path, &file.bytes)).collect();
        let tree = tree_sha256(&records);
        let existing = self.skill(&incoming.slug, &incoming.owner)?;
        if existing.is_none() {
            self.check_not_moved(&incoming.slug, &incoming.owner)?;
        }
        if let Some(found) = &existing {
            if let Some(ids) = self.already(&found.value, &incoming, &tree)? {
                self.use_up(&incoming.used)?;
                return Ok(ids);
            }
        } else if !incoming.is_free_to_name {
            self.check_name(&incoming.slug, &incoming.owner)?;
        }
        let report = self.scan(&incoming);
        if report.verdict == Verdict::Block {
            let entry = RegistryAuditEntry {
                skill: None,
                version: Some(incoming.version.clone()),
                digest: Some(tree),
                note: Some(format!("@{}/{}", incoming.owner, incoming.slug)),
                ..incoming.by
            };
            self.transact(&[audit::append_op("publish-refused", &entry, self.now())?], None)?;
            return Err(RegistryRefusal::bad(blocked(&report)));
        }
        self.commit(incoming, &records, tree, &report, existing)
    }

    /// What was published under this number before, if it is the same.
    fn already(
        &self,
        skill: &SkillDoc,
        incoming: &IncomingVersion,
        tree: &str,
    ) -> Result<Option<(String, String)>, RegistryRefusal> {
        if skill.deleted.is_some() {
            return Err(RegistryRefusal::bad("The skill is deleted; undelete it first"));
        }
        if skill.mirrored.is_some() != incoming.mirrored.is_some() {
            return Err(RegistryRefusal::bad("The name is taken by a skill of another registry"));
        }
        if skill.version(&incoming.version).is_none() {
            if skill.versions.len() >= MAX_VERSIONS {
                return Err(RegistryRefusal::bad("The skill has too many versions"));
            }
            return Ok(None);
        }
        let key = version_key(&skill.slug, &skill.owner, &incoming.version);
        let document = self.store.get(VERSIONS, &key)?;
        let version: VersionDoc = match document {
            Some(document) => document.body.read()?,
            None => return Err(RegistryRefusal::bad("Version already exists")),
        };
        match version.tree == tree {
            true => Ok(Some((skill.id.clone(), version.id))),
            false => Err(RegistryRefusal::bad("Version already exists with other files")),
        }
    }

    fn use_up(&self, used: &[(String, DocumentVersion)]) -> Result<(), RegistryRefusal> {
        let ops: Vec<StoreOp> = used
            .iter()
            .map(|(id, version)| StoreOp::delete(TICKETS, id, ExpectedVersion::Version(*version)))
            .collect();
        match self.store.transact(&ops) {
            Err(StoreError::Conflict { .. }) => Err(used_meanwhile()),
            other => Ok(other.map(drop)?),
        }
    }

    /// Refuses a new name that is too close to another owner's, or to one that was just given up.
    pub(super) fn check_name(&self, slug: &str, owner: &str) -> Result<(), RegistryRefusal> {
        let now = self.now();
        let reserved = self
            .owners_of(slug)?
            .into_iter()
            .any(|found| found.value.deleted.is_some_and(|deleted| now < deleted.reserved_until));
        if reserved {
            return Err(RegistryRefusal::bad(format!("Slug \"{slug}\" is reserved")));
        }
        // Names of other servers count as well.
        self.catch_up()?;
        let index = self.index();
        let others = index.iter().filter(|entry| entry.skill.owner != owner);
        match names::mistaken_for(slug, others.map(|entry| entry.skill.slug.as_str())) {
            None => Ok(()),
            Some(near) => Err(RegistryRefusal::bad(format!(
                "Slug \"{slug}\" is too close to \"{near}\" of another owner; an admin can publish it"
            ))),
        }
    }

    fn scan(&self, incoming: &IncomingVersion) -> ScanReport {
        let files = incoming.files.iter().map(|file| (file.path.clone(), file.bytes.clone()));
        self.scanner.scan_bundle(&SkillBundle::from_files(files).with_name(&incoming.slug))
    }

    fn commit(
        &self,
        incoming: IncomingVersion,
        records: &[FileRecord],
        tree: String,
        report: &ScanReport,
        existing: Option<LoadedDoc<SkillDoc>>,
    ) -> Result<(String, String), RegistryRefusal> {
        let meta = ArchiveMeta {
            owner_id: incoming.owner.clone(),
            slug: incoming.slug.clone(),
            version: incoming.version.clone(),
            published_at: i64::try_from(incoming.created_at).unwrap_or(i64::MAX),
        };
        for file in &incoming.files {
            self.blobs.put(&file.bytes)?;
        }
        let pairs = || incoming.files.iter().map(|file| (file.path.as_str(), &*file.bytes));
        let archive = self.put_archive(version_archive::pack(pairs(), Some(&meta)))?;
        let exact = pairs().map(|(path, bytes)| match path == skill_file(&incoming.files) {
            true => (SKILL_FILES[0], bytes),
            false => (path, bytes),
        });
        let plain = self.put_archive(version_archive::pack(exact, None))?;
        let skill_md = skill_file(&incoming.files);
        let only_file = match incoming.files.as_slice() {
            [one] if one.path == skill_md => records.first().map(|record| record.sha256.clone()),
            _ => None,
        };
        let about = BundleFacts::read(&incoming.files, &incoming.slug);
        let (mut skill, expect) = match existing {
            Some(found) => (found.value, ExpectedVersion::Version(found.version)),
            None => (fresh(&incoming)?, ExpectedVersion::Absent),
        };
        let version = VersionDoc {
            id: new_id()?,
            version: incoming.version.clone(),
            created_at: incoming.created_at,
            changelog: incoming.changelog.clone(),
            by: incoming.by.who.clone(),
            files: file_docs(&incoming.files, records),
            tree: tree.clone(),
            fingerprint: fingerprint(records, FingerprintOrder::Collation),
            spdx: about.spdx.clone(),
            archive,
            scan: scan_doc(report, self.now()),
            source: incoming.source.clone(),
        };
        let line = VersionSummary {
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
        let entry = RegistryAuditEntry {
            skill: Some(skill.key()),
            version: Some(incoming.version.clone()),
            digest: Some(tree),
            ..incoming.by
        };
        let kind = if incoming.mirrored.is_some() { "mirror" } else { "publish" };
        let key = version_key(&skill.slug, &skill.owner, &incoming.version);
        let mut ops = vec![
            StoreOp::put(SKILLS, &skill.key(), expect, JsonText::of(&skill)?),
            StoreOp::put(VERSIONS, &key, ExpectedVersion::Absent, JsonText::of(&version)?),
            audit::append_op(kind, &entry, self.now())?,
        ];
        ops.extend(
            incoming
                .used
                .iter()
                .map(|(id, at)| StoreOp::delete(TICKETS, id, ExpectedVersion::Version(*at))),
        );
        match self.transact(&ops, Some(&skill.key())) {
            Err(StoreError::Conflict { .. }) => Err(used_meanwhile()),
            other => Ok(other.map(|()| (skill.id, version.id))?),
        }
    }

    fn put_archive(&self, packed: std::io::Result<Vec<u8>>) -> Result<BlobRef, RegistryRefusal> {
        let bytes =
            packed.map_err(|_| RegistryRefusal::unavailable("The bundle could not be packed"))?;
        Ok(BlobRef { sha256: self.blobs.put(&bytes)?, size: bytes.len() as u64 })
    }
}

fn used_meanwhile() -> RegistryRefusal {
    RegistryRefusal::text(
        StatusCode::CONFLICT,
        "The skill or an upload ticket changed meanwhile; publish again",
    )
}

fn fresh(incoming: &IncomingVersion) -> Result<SkillDoc, RegistryRefusal> {
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
fn take_in(
    skill: &mut SkillDoc,
    incoming: &IncomingVersion,
    line: VersionSummary,
    about: BundleFacts,
) {
    let number = |version: &str| semver::Version::parse(version).ok();
    let newest =
        skill.latest().is_none_or(|latest| number(&latest.version) <= number(&line.version));
    let version = line.version.clone();
    skill.versions.push(line);
    skill.updated_at = incoming.created_at.max(skill.updated_at);
    for tag in incoming.tags.iter().filter(|tag| *tag != "latest").take(MAX_WORDS) {
        skill.tags.insert(tag.clone(), version.clone());
    }
    // A new version of an older line does not replace the newest one.
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
