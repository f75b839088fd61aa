//! From a reference to exactly one version or commit, and what its source says about it.

use semver::{Version, VersionReq};
use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::hub::Hub;
use crate::lock::{SourceKind, SourceRecord};
use crate::net::NetworkAccess;
use crate::reference::{
    GitHubRef, GitRef, RegistryRef, RequestedVersion, ShorthandMeaning, SkillReference,
    SkillsShRef, WellKnownRef, parse_handle, parse_slug,
};
use crate::registry::{QualifiedSlug, RegistryClient};
use crate::settings::{DEFAULT_NAME, parse_address};
use crate::wire::{GitHubSourceWire, ModerationWire, SetupKeyWire, SkillDetailWire};

/// Exactly one version, not yet fetched.
#[derive(Debug, Clone)]
pub struct ResolvedVersion {
    /// Where it comes from, for the lock.
    pub source: SourceRecord,
    /// Its folder below the skills root, if that is known before its files are.
    pub key: Option<String>,
    /// The version, if the source has versions.
    pub version: Option<String>,
    /// The registry's moderation verdict.
    pub moderation: Option<ModerationWire>,
    /// What it needs before it works.
    pub setup: Vec<SetupKeyWire>,
    /// How to get its files.
    pub(crate) from: FetchPlan,
}

/// How to get the files.
#[derive(Debug, Clone)]
pub(crate) enum FetchPlan {
    Registry { registry: String, owner: Option<String>, slug: String, version: String },
    GitHub { at: GitHubRef, commit: String, content_hash: Option<String> },
    Git { at: GitRef, commit: Option<String> },
    WellKnown(WellKnownRef),
    Local(std::path::PathBuf),
}

impl ResolvedVersion {
    /// A skill that no registry lists: it has no moderation, and its folder and version come from
    /// its files.
    fn unlisted(source: SourceRecord, from: FetchPlan) -> Self {
        Self { source, key: None, version: None, moderation: None, setup: Vec::new(), from }
    }

    /// `clean`, `suspicious`, `malicious`, or `unknown` if no moderator has looked at it.
    pub fn verdict(&self) -> &str {
        match &self.moderation {
            Some(moderation) if moderation.is_malware_blocked => "malicious",
            Some(moderation) if moderation.is_suspicious => "suspicious",
            Some(moderation) => moderation.verdict.as_deref().unwrap_or("clean"),
            None if self.source.kind.is_reviewed() => "clean",
            None => "unknown",
        }
    }
}

impl Hub {
    /// The one version that a reference stands for now.
    pub fn resolve(&self, reference: &SkillReference) -> Result<ResolvedVersion, HubError> {
        self.resolve_with(reference, false)
    }

    /// The same; `force` also accepts a version whose scan is not finished.
    pub(crate) fn resolve_with(
        &self,
        reference: &SkillReference,
        force: bool,
    ) -> Result<ResolvedVersion, HubError> {
        let requested = reference.to_string();
        match reference {
            SkillReference::Registry(wanted) => self.resolve_registry(wanted, &requested, force),
            SkillReference::GitHub(at) => {
                let commit = self.github().commit(at)?;
                Ok(github(at.clone(), commit, None, &requested))
            }
            SkillReference::SkillsSh(entry) => self.resolve_skills_sh(entry, &requested),
            SkillReference::Git(at) => {
                let mut source = SourceRecord::new(SourceKind::Git, &requested);
                source.url = Some(at.url.clone());
                source.at = at.at.clone();
                let from = FetchPlan::Git { at: at.clone(), commit: None };
                Ok(ResolvedVersion::unlisted(source, from))
            }
            SkillReference::WellKnown(index) => {
                let mut source = SourceRecord::new(SourceKind::WellKnown, &requested);
                source.url = Some(index.url.clone());
                let from = FetchPlan::WellKnown(index.clone());
                Ok(ResolvedVersion::unlisted(source, from))
            }
            SkillReference::Local(text) => {
                let path = self.env.expand_home(text);
                let mut source = SourceRecord::new(SourceKind::Local, &requested);
                source.url = Some(path.to_string_lossy().into_owned());
                let from = FetchPlan::Local(path);
                Ok(ResolvedVersion::unlisted(source, from))
            }
        }
    }

    fn resolve_registry(
        &self,
        wanted: &RegistryRef,
        requested: &str,
        force: bool,
    ) -> Result<ResolvedVersion, HubError> {
        let registry = self.registry(wanted.registry.as_deref())?;
        if self.network() == NetworkAccess::Off
            && let RequestedVersion::Version(version) = &wanted.wanted
        {
            // An exact version may be in the cache, keyed by the owner that was requested.
            return Ok(self.hosted(
                &registry,
                wanted,
                wanted.owner.clone(),
                wanted.slug.clone(),
                version,
                None,
                requested,
            ));
        }
        let skill = QualifiedSlug { slug: &wanted.slug, owner: wanted.owner.as_deref() };
        let detail = registry.detail(skill)?;
        // Names in an answer become folders and paths, so they must match the grammar as well.
        let strange =
            |what| HubError::new(ErrorCode::Network, format!("{}: {what}", registry.name));
        let owner = detail.owner.as_ref().and_then(|owner| owner.handle.as_deref());
        let owner = match (owner, &wanted.owner) {
            (Some(owner), _) => Some(parse_handle(owner).map_err(strange)?),
            (None, owner) => owner.clone(),
        };
        let slug = parse_slug(&detail.skill.slug).map_err(strange)?;
        let named = QualifiedSlug { slug: &slug, owner: owner.as_deref() };
        match self.version_of(&registry, named, &detail, &wanted.wanted)? {
            Some(version) => Ok(self.hosted(
                &registry,
                wanted,
                owner.clone(),
                slug.clone(),
                &version,
                Some(&detail),
                requested,
            )),
            None => {
                // It has no version of its own; the registry knows where it is on GitHub.
                let answer = registry.install(named, force)?;
                let source = answer.github.filter(|_| answer.ok).ok_or_else(|| {
                    HubError::new(ErrorCode::NotFound, format!("{slug} has no version to install"))
                })?;
                let mut resolved = self.resolve_vouched(&source, requested)?;
                resolved.source.registry = Some(registry.address());
                resolved.source.owner.clone_from(&owner);
                resolved.source.slug = Some(slug.clone());
                resolved.key = Some(key(wanted.owner.as_deref(), &slug));
                resolved.moderation = detail.moderation;
                resolved.setup = detail.metadata.map(|needs| needs.setup).unwrap_or_default();
                Ok(resolved)
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one place that puts the pieces together")]
    fn hosted(
        &self,
        registry: &RegistryClient,
        wanted: &RegistryRef,
        owner: Option<String>,
        slug: String,
        version: &str,
        detail: Option<&SkillDetailWire>,
        requested: &str,
    ) -> ResolvedVersion {
        let kind = match registry.name.as_str() {
            DEFAULT_NAME => SourceKind::Clawhub,
            _ => SourceKind::Registry,
        };
        let mut source = SourceRecord::new(kind, requested);
        source.registry = Some(registry.address());
        source.owner.clone_from(&owner);
        source.slug = Some(slug.clone());
        ResolvedVersion {
            key: Some(key(wanted.owner.as_deref(), &slug)),
            version: Some(version.to_owned()),
            moderation: detail.and_then(|detail| detail.moderation.clone()),
            setup: detail
                .and_then(|detail| detail.metadata.clone())
                .map(|needs| needs.setup)
                .unwrap_or_default(),
            from: FetchPlan::Registry {
                registry: registry.name.clone(),
                owner,
                slug,
                version: version.to_owned(),
            },
            source,
        }
    }

    /// A folder on GitHub that a registry vouches for.
    pub(crate) fn resolve_vouched(
        &self,
        source: &GitHubSourceWire,
        requested: &str,
    ) -> Result<ResolvedVersion, HubError> {
        let (at, hash) = vouched_folder(source)?;
        let commit = self.github().commit(&at)?;
        Ok(github(at, commit, Some(hash), requested))
    }

    fn resolve_skills_sh(
        &self,
        entry: &SkillsShRef,
        requested: &str,
    ) -> Result<ResolvedVersion, HubError> {
        let at = GitHubRef {
            owner: entry.owner.clone(),
            repo: entry.repo.clone(),
            path: None,
            skill: Some(entry.slug.clone()),
            at: None,
        };
        // A registry that mirrors skills.sh knows a hash; if this one does not, the install goes on
        // without it.
        let registry = self.registry(None)?;
        let mirrored = registry.skills_sh(&entry.owner, &entry.repo, &entry.slug).ok();
        // A registry with its own copy serves it, and GitHub is not needed.
        let here = mirrored.as_ref().filter(|answer| answer.ok && answer.github.is_none());
        if let Some(here) = here.and_then(|answer| answer.canonical_ref.as_deref())
            && let SkillReference::Registry(wanted) =
                SkillReference::parse(here, ShorthandMeaning::Registry)?
            && wanted.registry.is_none()
        {
            return self.resolve_registry(&wanted, requested, false);
        }
        let mut resolved = match mirrored.and_then(|answer| answer.github.filter(|_| answer.ok)) {
            Some(source) if source.content_hash.is_some() => {
                self.resolve_vouched(&source, requested)?
            }
            _ => github(at.clone(), self.github().commit(&at)?, None, requested),
        };
        resolved.source.kind = SourceKind::SkillsSh;
        resolved.source.registry = Some(registry.address());
        resolved.source.slug = Some(entry.slug.clone());
        resolved.key = Some(entry.slug.clone());
        Ok(resolved)
    }

    fn version_of(
        &self,
        registry: &RegistryClient,
        skill: QualifiedSlug<'_>,
        detail: &SkillDetailWire,
        wanted: &RequestedVersion,
    ) -> Result<Option<String>, HubError> {
        let none = |what: &str| {
            HubError::new(ErrorCode::NotFound, format!("{} has no version {what}", skill.slug))
                .hint(format!("sinew info {} --versions", skill.slug))
        };
        match wanted {
            RequestedVersion::Latest => {
                Ok(detail.latest_version.as_ref().map(|latest| latest.version.clone()))
            }
            RequestedVersion::Version(version) => Ok(Some(version.clone())),
            RequestedVersion::Tag(tag) => {
                detail.skill.tags.get(tag).cloned().map(Some).ok_or_else(|| none(tag))
            }
            RequestedVersion::Range(range) => {
                let fits = VersionReq::parse(range).map_err(|_| none(range))?;
                let versions = registry.versions(skill)?;
                let best = versions
                    .iter()
                    .filter_map(|row| Version::parse(&row.version).ok())
                    .filter(|version| fits.matches(version))
                    .max();
                best.map(|best| Some(best.to_string())).ok_or_else(|| none(range))
            }
        }
    }

    /// Exactly what a lock entry names, nothing newer.
    pub(crate) fn resolve_locked(
        &self,
        entry: &crate::lock::LockEntry,
    ) -> Result<ResolvedVersion, HubError> {
        let source = entry.source.clone();
        let missing =
            |what: &str| HubError::new(ErrorCode::Lock, format!("the lock names no {what}"));
        let from = match source.kind {
            SourceKind::Clawhub | SourceKind::Registry => FetchPlan::Registry {
                registry: self
                    .registry_at(source.registry.as_deref().ok_or_else(|| missing("registry"))?)?
                    .name
                    .clone(),
                owner: source.owner.clone(),
                slug: source.slug.clone().ok_or_else(|| missing("slug"))?,
                version: entry.version.clone(),
            },
            SourceKind::Github | SourceKind::SkillsSh => {
                let repo = source.repo.as_deref().ok_or_else(|| missing("repository"))?;
                let (owner, repo) = repo.split_once('/').ok_or_else(|| missing("repository"))?;
                let commit = source.commit.clone().ok_or_else(|| missing("commit"))?;
                let at = GitHubRef {
                    owner: owner.to_owned(),
                    repo: repo.to_owned(),
                    path: Some(source.path.clone().unwrap_or_default()),
                    skill: None,
                    at: Some(commit.clone()),
                };
                FetchPlan::GitHub { at, commit, content_hash: entry.content_hash.clone() }
            }
            SourceKind::Git => {
                let url = source.url.clone().ok_or_else(|| missing("address"))?;
                let at = GitRef { url, at: source.at.clone(), skill: None };
                FetchPlan::Git { at, commit: source.commit.clone() }
            }
            SourceKind::WellKnown => {
                let url = source.url.clone().ok_or_else(|| missing("address"))?;
                parse_address("the lock's address", &url)?;
                FetchPlan::WellKnown(WellKnownRef { url, skill: source.slug.clone() })
            }
            SourceKind::Local => {
                FetchPlan::Local(source.url.clone().ok_or_else(|| missing("path"))?.into())
            }
        };
        Ok(ResolvedVersion {
            source,
            key: None,
            version: Some(entry.version.clone()),
            moderation: None,
            setup: Vec::new(),
            from,
        })
    }
}

/// The folder on GitHub that a registry vouches for, and the hash its files must have.
pub fn vouched_folder(source: &GitHubSourceWire) -> Result<(GitHubRef, String), HubError> {
    let hash = source.content_hash.as_deref().unwrap_or_default();
    let usable = sinew_guard::digest::from_hex(hash).is_some_and(|hash| hash != [0; 32]);
    if !usable {
        let message = format!("the registry names no usable hash for {}", source.repo);
        return Err(HubError::new(
            ErrorCode::IntegrityMismatch,
            sinew_guard::Untrusted::new(&message).for_terminal(),
        ));
    }
    let path = source.path.as_deref().map(|path| path.trim_matches('/')).unwrap_or_default();
    let text = match path {
        "" | "." => format!("github:{}#{}", source.repo, source.commit),
        path => format!("github:{}/{path}#{}", source.repo, source.commit),
    };
    match SkillReference::parse(&text, ShorthandMeaning::GitHub)? {
        SkillReference::GitHub(at) => Ok((at, hash.to_ascii_lowercase())),
        _ => Err(HubError::new(ErrorCode::Network, "the registry names no folder on GitHub")),
    }
}

fn github(
    at: GitHubRef,
    commit: String,
    content_hash: Option<String>,
    requested: &str,
) -> ResolvedVersion {
    let mut source = SourceRecord::new(SourceKind::Github, requested);
    source.repo = Some(format!("{}/{}", at.owner, at.repo));
    source.at.clone_from(&at.at);
    source.commit = Some(commit.clone());
    ResolvedVersion {
        source,
        key: None,
        version: None,
        moderation: None,
        setup: Vec::new(),
        from: FetchPlan::GitHub { at, commit, content_hash },
    }
}

/// The key of a registry's skill: below its owner only if the reference named the owner.
fn key(owner: Option<&str>, slug: &str) -> String {
    match owner {
        Some(owner) => format!("@{owner}/{slug}"),
        None => slug.to_owned(),
    }
}
