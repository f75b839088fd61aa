//! Fetching the files of one version, and checking them against what its source says about them.

use std::collections::BTreeMap;

use sinew_guard::Untrusted;
use sinew_settings::ErrorCode;
use sinew_skill::content_hash as sha256_hex;

use crate::digest::{META_FILE, content_hash, is_record};
use crate::error::HubError;
use crate::hub::Hub;
use crate::lock::ArtifactRecord;
use crate::net::{DownloadProgress, NetworkAccess};
use crate::reference::GitHubRef;
use crate::registry::{QualifiedSlug, RegistryDownload};
use crate::resolve::{FetchPlan, ResolvedVersion};
use crate::settings::parse_address;
use crate::source::find::{self, RepositorySkill};
use crate::source::github::{GitHubClient, page_url};
use crate::source::{git, local, well_known};
use crate::tree::{SkillTree, TreeFile};
use crate::wire::{VersionDocumentWire, VersionFileWire};

/// Names that registries accept for a skill file, the real one first.
const MARKERS: &[&str] = &["SKILL.md", "skill.md", "skills.md", "SKILL.MD"];

/// The files of one version, verified as far as its source allows.
#[derive(Debug)]
pub(crate) struct FetchedVersion {
    pub(crate) tree: SkillTree,
    pub(crate) artifact: Option<ArtifactRecord>,
    pub(crate) content_hash: Option<String>,
    /// The source does not say what the files should be.
    pub(crate) unverified: bool,
    /// The index and the host that serves the bytes, if they differ.
    pub(crate) foreign: Option<(String, String)>,
    /// What the skill calls itself.
    pub(crate) found: RepositorySkill,
    /// The name its skill file had in the archive, if that was not `SKILL.md`.
    pub(crate) renamed: Option<String>,
}

impl Hub {
    /// Fetches what was resolved; details that only the files have are added to `resolved`.
    pub(crate) fn fetch(
        &self,
        resolved: &mut ResolvedVersion,
        progress: DownloadProgress<'_>,
    ) -> Result<FetchedVersion, HubError> {
        match resolved.from.clone() {
            FetchPlan::Registry { registry, owner, slug, version } => {
                let skill = QualifiedSlug { slug: &slug, owner: owner.as_deref() };
                self.fetch_registry(resolved, &registry, skill, &version, progress)
            }
            FetchPlan::GitHub { at, commit, content_hash: expected } => {
                // If the folder is known, the skill is there or nowhere.
                let folder = match expected.is_some() || resolved.version.is_some() {
                    true => FolderLookup::Known,
                    false => FolderLookup::Sought,
                };
                let skill = self.github().pick_skill(&at, &commit, folder, progress)?;
                if let Some(expected) = expected {
                    skill.check(&expected)?;
                }
                let GitHubSkill { found, tree, content_hash: hash, archive, .. } = skill;
                resolved.source.path = Some(found.folder.clone());
                resolved.source.url = Some(page_url(&at.owner, &at.repo, &commit, &found.folder));
                resolved.version = Some(commit);
                Ok(fetched(tree, Some(archive), Some(hash), found))
            }
            FetchPlan::Git { at, commit } => {
                let checkout = git::fetch(&at, commit.as_deref(), &self.env, self.network())?;
                let under = resolved.source.path.clone().unwrap_or_default();
                let take = |folder: &str| checkout.subtree(folder);
                let found = pick(&checkout.paths, &under, at.skill.as_deref(), &take)?;
                let tree = checkout.subtree(&found.folder)?;
                let hash = content_hash(&tree.records());
                resolved.source.path = Some(found.folder.clone());
                resolved.source.commit = Some(checkout.commit.clone());
                resolved.version = Some(checkout.commit.clone());
                Ok(fetched(tree, None, Some(hash), found))
            }
            FetchPlan::WellKnown(wanted) => {
                let base = parse_address("the address", &wanted.url)?;
                let index = well_known::index(&self.http, &base)?;
                let (offered, foreign) = choose_offered(&index, wanted.skill.as_deref())?;
                let got = offered.fetch(&self.http, progress)?;
                let found = only("", &got.tree)?;
                resolved.source.slug = Some(offered.name.clone());
                let digest = got.artifact.clone();
                resolved.version = digest
                    .as_ref()
                    .map(|(sha256, _)| sha256[..12].to_owned())
                    .or(resolved.version.take());
                let unverified = got.artifact.is_none();
                let artifact = digest.map(|(sha256, size)| ArtifactRecord {
                    kind: "artifact".to_owned(),
                    sha256,
                    size,
                });
                Ok(FetchedVersion {
                    unverified,
                    foreign,
                    ..fetched(got.tree, artifact, None, found)
                })
            }
            FetchPlan::Local(path) => {
                let got = local::read_files(&path)?;
                let found = only("", &got.tree)?;
                let artifact = got.archive.map(|(sha256, size)| ArtifactRecord {
                    kind: "archive".to_owned(),
                    sha256,
                    size,
                });
                Ok(fetched(got.tree, artifact, None, found))
            }
        }
    }

    fn fetch_registry(
        &self,
        resolved: &mut ResolvedVersion,
        registry: &str,
        skill: QualifiedSlug<'_>,
        version: &str,
        progress: DownloadProgress<'_>,
    ) -> Result<FetchedVersion, HubError> {
        let registry = self.registry(Some(registry))?;
        let owner = skill.owner.unwrap_or_default();
        let key = format!("{}/@{owner}/{}@{version}", registry.address(), skill.slug);
        if self.network() == NetworkAccess::Off {
            let Some((bytes, known)) = self.cache.get::<Option<Vec<VersionFileWire>>>(&key) else {
                let message = format!("{}@{version} is not cached", skill.slug);
                return Err(
                    HubError::new(ErrorCode::Offline, message).hint("run it once while online")
                );
            };
            return verified_archive(&bytes, known.said.as_deref());
        }
        let document: VersionDocumentWire = registry.version(skill, version)?;
        let files = document.version.files.filter(|files| !files.is_empty());
        let cached = self.cache.get::<Option<Vec<VersionFileWire>>>(&key);
        if let Some((bytes, known)) =
            cached.filter(|(_, known)| known.said == files && files.is_some())
        {
            return verified_archive(&bytes, known.said.as_deref());
        }
        let bytes = match registry.download(skill, version, progress)? {
            RegistryDownload::Archive(bytes) => bytes,
            RegistryDownload::GitHub(source) => {
                let mut backed = self.resolve_vouched(&source, &resolved.source.requested)?;
                let fetched = self.fetch(&mut backed, progress)?;
                resolved.source.commit = backed.source.commit;
                resolved.source.repo = backed.source.repo;
                resolved.source.path = backed.source.path;
                resolved.source.url = backed.source.url;
                return Ok(fetched);
            }
        };
        let fetched = verified_archive(&bytes, files.as_deref())?;
        self.cache.put(&key, &bytes, &files);
        Ok(fetched)
    }
}

/// Whether a skill's folder is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderLookup {
    /// It is the path in the reference.
    Known,
    /// It is somewhere below that path, under the skill's name if the reference has one.
    Sought,
}

/// A skill at a commit on GitHub.
#[derive(Debug)]
pub struct GitHubSkill {
    /// Its origin, for messages.
    pub from: String,
    /// What it calls itself, and its folder.
    pub found: RepositorySkill,
    /// Its files.
    pub tree: SkillTree,
    /// Their content hash.
    pub content_hash: String,
    /// The archive of the whole commit.
    pub archive: ArtifactRecord,
}

impl GitHubSkill {
    /// Checks that the files are those that the registry vouches for.
    pub fn check(&self, expected: &str) -> Result<(), HubError> {
        if self.content_hash == expected {
            return Ok(());
        }
        let message = format!("{} hashes to {}, not to {expected}", self.from, self.content_hash);
        Err(HubError::new(ErrorCode::IntegrityMismatch, message))
    }
}

impl GitHubClient<'_> {
    /// The one skill of a commit that is meant.
    pub fn pick_skill(
        &self,
        at: &GitHubRef,
        commit: &str,
        folder: FolderLookup,
        progress: DownloadProgress<'_>,
    ) -> Result<GitHubSkill, HubError> {
        let archive = self.fetch(at, commit, progress)?;
        let under = at.path.as_deref().unwrap_or_default();
        let found = match folder {
            FolderLookup::Known => {
                let tree = archive.subtree(under)?;
                if tree.get(MARKERS[0]).is_none() {
                    let message = format!("{}/{} has no skill there any more", at.owner, at.repo);
                    return Err(HubError::new(ErrorCode::NotFound, message));
                }
                only(under, &tree)?
            }
            FolderLookup::Sought => {
                let take = |folder: &str| archive.subtree(folder);
                pick(&archive.paths()?, under, at.skill.as_deref(), &take)?
            }
        };
        let tree = archive.subtree(&found.folder)?;
        Ok(GitHubSkill {
            from: format!("{}/{} at {commit}", at.owner, at.repo),
            content_hash: content_hash(&tree.records()),
            found,
            tree,
            archive: ArtifactRecord {
                kind: "zip".to_owned(),
                sha256: sha256_hex(&archive.bytes),
                size: archive.bytes.len() as u64,
            },
        })
    }
}

/// A registry's archive, with each file checked against the registry's list.
fn verified_archive(
    bytes: &[u8],
    files: Option<&[VersionFileWire]>,
) -> Result<FetchedVersion, HubError> {
    let tree = SkillTree::from_archive(bytes, 0)?;
    let unverified = files.is_none();
    if let Some(files) = files {
        compare(&tree, files)?;
    }
    let (tree, renamed) = with_skill_file(tree)?;
    let found = only("", &tree)?;
    let artifact = ArtifactRecord {
        kind: "zip".to_owned(),
        sha256: sha256_hex(bytes),
        size: bytes.len() as u64,
    };
    Ok(FetchedVersion { unverified, renamed, ..fetched(tree, Some(artifact), None, found) })
}

fn compare(tree: &SkillTree, files: &[VersionFileWire]) -> Result<(), HubError> {
    let mismatch = |path: &str, what: &str| {
        let path = Untrusted::new(path).for_terminal();
        Err(HubError::new(ErrorCode::IntegrityMismatch, format!("`{path}` {what}"))
            .hint("nothing was installed; report it to the registry"))
    };
    let listed: BTreeMap<&str, &VersionFileWire> =
        files.iter().map(|file| (file.path.as_str(), file)).collect();
    for file in tree.records().iter().filter(|file| file.path != META_FILE) {
        match listed.get(file.path.as_str()) {
            None => return mismatch(&file.path, "is not in the registry's list"),
            Some(listed)
                if listed.size != file.size
                    || !listed.sha256.eq_ignore_ascii_case(&file.sha256) =>
            {
                return mismatch(&file.path, "does not have the digest that the registry gives");
            }
            Some(_) => {}
        }
    }
    match listed.keys().find(|path| tree.get(path).is_none()) {
        Some(path) => mismatch(path, "is missing from the archive"),
        None => Ok(()),
    }
}

/// The tree with its skill file renamed to `SKILL.md`.
fn with_skill_file(tree: SkillTree) -> Result<(SkillTree, Option<String>), HubError> {
    let Some(marker) = MARKERS.iter().find(|marker| tree.get(marker).is_some()) else {
        return Err(HubError::new(ErrorCode::Invalid, "the archive holds no SKILL.md at its root"));
    };
    if *marker == MARKERS[0] {
        return Ok((tree, None));
    }
    let files = tree.files().iter().map(|file| match file.path == *marker {
        true => TreeFile { path: MARKERS[0].to_owned(), ..file.clone() },
        false => file.clone(),
    });
    Ok((SkillTree::new(files.collect())?, Some((*marker).to_owned())))
}

fn fetched(
    tree: SkillTree,
    artifact: Option<ArtifactRecord>,
    content_hash: Option<String>,
    found: RepositorySkill,
) -> FetchedVersion {
    // Records inside a foreign archive would pass for our own.
    let tree = tree.without(is_record);
    FetchedVersion {
        tree,
        artifact,
        content_hash,
        unverified: false,
        foreign: None,
        found,
        renamed: None,
    }
}

/// The skill of a tree that is a single skill.
fn only(folder: &str, tree: &SkillTree) -> Result<RepositorySkill, HubError> {
    let Some(file) = tree.get(MARKERS[0]) else {
        return Err(HubError::new(ErrorCode::Invalid, "there is no SKILL.md at its root"));
    };
    find::describe(folder, &file.bytes).ok_or_else(|| {
        let reasons =
            sinew_skill::read(&file.bytes, &sinew_skill::ReadOptions::openclaw("")).reasons;
        let why = reasons.first().map(|reason| reason.detail.clone());
        let why = why.unwrap_or_else(|| "it needs a name and a description".to_owned());
        HubError::new(ErrorCode::Invalid, format!("SKILL.md cannot be read: {why}"))
    })
}

/// The skill of a repository that is meant.
fn pick(
    paths: &[String],
    under: &str,
    named: Option<&str>,
    take: &dyn Fn(&str) -> Result<SkillTree, HubError>,
) -> Result<RepositorySkill, HubError> {
    let mut found = Vec::new();
    for folder in find::folders(paths, under) {
        // A folder that cannot be read is not a skill; the others still are.
        let tree = take(&folder).ok();
        let skill = tree.and_then(|tree| find::describe(&folder, &tree.get(MARKERS[0])?.bytes));
        found.extend(skill);
    }
    find::choose(&found, named)
}

fn choose_offered(
    index: &well_known::WellKnownIndex,
    named: Option<&str>,
) -> Result<(well_known::WellKnownSkill, Option<(String, String)>), HubError> {
    let names = || -> Vec<String> {
        let all = index.entries.iter().map(|offered| Untrusted::new(&offered.name).for_terminal());
        all.take(20).collect()
    };
    let matching: Vec<&well_known::WellKnownSkill> = index
        .entries
        .iter()
        .filter(|offered| named.is_none_or(|name| offered.name == name))
        .collect();
    match matching.as_slice() {
        [one] => {
            let foreign = one
                .foreign_host(index)
                .map(|host| (index.url.host_str().unwrap_or_default().to_owned(), host));
            Ok(((*one).clone(), foreign))
        }
        [] => {
            let what = named.map_or("nothing to install".to_owned(), |name| format!("no `{name}`"));
            let mut error =
                HubError::new(ErrorCode::NotFound, format!("{} offers {what}", index.url));
            error.hints.extend(index.problems.iter().take(5).cloned());
            Err(error)
        }
        several => {
            let mut error = HubError::new(
                ErrorCode::Ambiguous,
                format!("{} offers {} skills", index.url, several.len()),
            )
            .hint(format!("name one of them after `#`: {}", names().join(", ")));
            error.matches = names();
            Err(error)
        }
    }
}
