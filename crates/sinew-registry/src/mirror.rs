//! Skills of another registry, brought in: fetched once, verified, scanned, and kept here.
//!
//! Upstream is not trusted: each file must have the digest that upstream announced, and the scan decides
//! as it does for every upload. What upstream takes back, or calls malicious, is hidden at the next
//! check; while upstream cannot be reached, the copy is served and marked as old.
//!
//! **Must never happen here:** an owner of the other registry that takes the place of one of ours;
//! a skill that the allow-list does not name; bytes that were not scanned.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use sinew_exec::install::NameResolution;
use sinew_hub::cache::HubCache;
use sinew_hub::net::{HttpClient, HttpOptions, NetworkAccess, RequestLimits, host_and_port};
use sinew_hub::registry::{QualifiedSlug, RegistryClient, RegistryDownload};
use sinew_hub::settings::parse_address;
use sinew_hub::source::github::GitHubClient;
use sinew_hub::wire::GitHubSourceWire;
use sinew_hub::{FolderLookup, HubError, vouched_folder};
use sinew_settings::{Environment, ErrorCode};

use super::caller::RegistryCaller;
use super::github::GitHubImport;
use super::intake::IncomingVersion;
use super::lookup::SkillDocChange;
use super::model::{MirrorOrigin, RegistryAuditEntry, SkillDoc};
use super::refusal::RegistryRefusal;
use super::settings::MirrorSettings;
use super::upstream_claims::{UpstreamFlag, upstream_flag, verified_files};
use super::{TeamRegistry, audit, names};

/// How long a skill that upstream does not have is not asked for again.
const MISSES: Duration = Duration::from_secs(60);
/// Misses that are remembered.
const MAX_MISSES: usize = 10_000;
/// Skills that are checked again in one round.
const ROUND: usize = 20;

/// The connection to another registry.
pub(super) struct RegistryMirror {
    pub(super) settings: MirrorSettings,
    base: url::Url,
    http: Arc<HttpClient>,
    cache: HubCache,
    misses: Mutex<HashMap<String, Instant>>,
}

impl fmt::Debug for RegistryMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mirror({})", self.settings.upstream)
    }
}

/// What became of a skill that was to be brought in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MirrorResult {
    /// It is here now, or was here already.
    Here {
        /// The owner here.
        owner: String,
        /// The skill.
        slug: String,
        /// The version.
        version: String,
    },
    /// It is not, and why.
    Not(String),
}

impl RegistryMirror {
    pub(super) fn open(settings: &MirrorSettings, env: &Environment) -> Result<Self, HubError> {
        let base = parse_address("registry.mirror.upstream", &settings.upstream)?;
        let options = HttpOptions {
            network: NetworkAccess::On,
            trusted: host_and_port(&base).into_iter().chain(settings.github.trusted()).collect(),
            authorities: None,
            names: NameResolution::System,
            times: RequestLimits::default(),
        };
        let http = Arc::new(HttpClient::new(options, Arc::clone(&env.clock))?);
        let cache = HubCache::in_home(&env.sinew_home());
        Ok(Self { settings: settings.clone(), base, http, cache, misses: Mutex::default() })
    }

    pub(super) fn github(&self) -> GitHubClient<'_> {
        GitHubClient::new(&self.http, &self.settings.github, &self.cache)
    }

    fn upstream(&self) -> RegistryClient {
        RegistryClient::new("upstream".to_owned(), self.base.clone(), None, Arc::clone(&self.http))
    }

    fn is_allowed(&self, owner: &str, slug: &str) -> bool {
        let names = |pattern: &String| match pattern.split_once('/') {
            None => pattern == "*" || pattern == owner,
            Some((whose, which)) => {
                (whose == "*" || whose == owner) && (which == "*" || which == slug)
            }
        };
        self.settings.allow.iter().any(names) && !self.settings.deny.iter().any(names)
    }

    /// The owner upstream of one here.
    fn owner_there<'a>(&self, owner: &'a str) -> Option<&'a str> {
        owner.strip_prefix(self.settings.prefix.as_str()).filter(|owner| !owner.is_empty())
    }

    pub(super) fn is_known_miss(&self, key: &str) -> bool {
        let misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        misses.get(key).is_some_and(|at| at.elapsed() < MISSES)
    }

    pub(super) fn note_miss(&self, key: String) {
        let mut misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        if misses.len() >= MAX_MISSES {
            misses.clear();
        }
        misses.insert(key, Instant::now());
    }
}

impl TeamRegistry {
    /// Brings a skill in by its upstream name; the version that is the latest there, unless one is
    /// named.
    pub fn mirror_skill(
        &self,
        owner: Option<&str>,
        slug: &str,
        version: Option<&str>,
    ) -> MirrorResult {
        match self.try_bring(owner, slug, version) {
            Ok((owner, version)) => MirrorResult::Here { owner, slug: slug.to_owned(), version },
            Err(refusal) => MirrorResult::Not(refusal.message()),
        }
    }

    /// Looks upstream for a skill that is not here. Says whether it is here now.
    pub(super) fn fetch_missing(&self, slug: &str, owner: Option<&str>) -> bool {
        let Some(mirror) = self.mirror.as_ref().filter(|mirror| mirror.settings.on_demand) else {
            return false;
        };
        let there = match owner {
            None => None,
            Some(owner) => match mirror.owner_there(owner) {
                None => return false,
                there => there,
            },
        };
        let key = format!("{}/{slug}", owner.unwrap_or("*"));
        if mirror.is_known_miss(&key) {
            return false;
        }
        let fetched = self.try_bring(there, slug, None).is_ok();
        if !fetched {
            mirror.note_miss(key);
        }
        fetched
    }

    /// Fetches a version of a mirrored skill that is not here yet.
    pub(super) fn fetch_version(&self, skill: &SkillDoc, version: &str) -> bool {
        let on_demand = self.mirror.as_ref().is_some_and(|mirror| mirror.settings.on_demand);
        match &skill.mirrored {
            Some(mirrored) if on_demand && mirrored.github.is_none() => {
                self.try_bring(Some(&mirrored.owner), &skill.slug, Some(version)).is_ok()
            }
            _ => false,
        }
    }

    fn try_bring(
        &self,
        owner: Option<&str>,
        slug: &str,
        version: Option<&str>,
    ) -> Result<(String, String), RegistryRefusal> {
        let off = || RegistryRefusal::bad("registry.mirror.mode is off");
        let mirror = self.mirror.as_ref().ok_or_else(off)?;
        let upstream = mirror.upstream();
        let detail = upstream.detail(QualifiedSlug { slug, owner }).map_err(upstream_refusal)?;
        let there = detail.owner.as_ref().and_then(|owner| owner.handle.clone());
        let there = there.as_deref().or(owner).and_then(names::handle);
        let there =
            there.ok_or_else(|| RegistryRefusal::bad("upstream does not say whose it is"))?;
        let slug =
            names::read_slug(&detail.skill.slug).ok_or_else(RegistryRefusal::skill_not_found)?;
        if !mirror.is_allowed(&there, &slug) {
            return Err(RegistryRefusal::skill_not_found());
        }
        let here = format!("{}{there}", mirror.settings.prefix);
        self.check_no_shadow(&here)?;
        if upstream_flag(&detail) == Some(UpstreamFlag::Malicious) {
            self.hide(&slug, &here, "upstream calls it malicious")?;
            return Err(RegistryRefusal::forbidden("upstream calls it malicious"));
        }
        let latest = detail.latest_version.as_ref().map(|latest| latest.version.clone());
        let suspicious = upstream_flag(&detail) == Some(UpstreamFlag::Suspicious);
        let mirrored = MirrorOrigin {
            upstream: mirror.settings.upstream.clone(),
            owner: there.clone(),
            checked_at: self.now(),
            hidden: None,
            suspicious,
            github: None,
        };
        let named = QualifiedSlug { slug: &slug, owner: Some(&there) };
        let Some(wanted) = version.map(str::to_owned).or(latest) else {
            // No version of its own: upstream knows where it is on GitHub.
            let answer = upstream.install(named, false).map_err(upstream_refusal)?;
            let source = answer.github.filter(|_| answer.ok);
            let source = source.ok_or_else(|| RegistryRefusal::not_found("Version not found"))?;
            let version = self.bring_backed(&source, &here, &slug, None, mirrored)?;
            return Ok((here, version));
        };
        let known = self.skill(&slug, &here)?;
        if known.is_some_and(|known| known.value.version(&wanted).is_some()) {
            self.record_check(&slug, &here, suspicious)?;
            return Ok((here, wanted));
        }
        let document = upstream.version(named, &wanted).map_err(upstream_refusal)?.version;
        let archive =
            match upstream.download(named, &wanted, &mut |_, _| {}).map_err(upstream_refusal)? {
                RegistryDownload::Archive(bytes) => bytes,
                RegistryDownload::GitHub(source) => {
                    let version =
                        self.bring_backed(&source, &here, &slug, Some(wanted), mirrored)?;
                    return Ok((here, version));
                }
            };
        let files = verified_files(&document, &archive)?;
        let now = self.now();
        self.store_version(IncomingVersion {
            owner: here.clone(),
            slug,
            display_name: detail.skill.display_name.clone().unwrap_or_default(),
            version: wanted.clone(),
            changelog: document.changelog.clone().unwrap_or_default(),
            tags: Vec::new(),
            topics: Vec::new(),
            source: None,
            files,
            created_at: document.created_at.map_or(now, |at| at.max(0.0) as u64),
            is_free_to_name: true,
            mirrored: Some(mirrored),
            used: Vec::new(),
            by: RegistryAuditEntry { who: "mirror".to_owned(), ..audit::empty_entry() },
        })?;
        Ok((here, wanted))
    }

    /// Brings in a folder on GitHub that upstream vouches for by its hash.
    fn bring_backed(
        &self,
        source: &GitHubSourceWire,
        owner: &str,
        slug: &str,
        version: Option<String>,
        mirrored: MirrorOrigin,
    ) -> Result<String, RegistryRefusal> {
        let off = || RegistryRefusal::bad("registry.mirror.mode is off");
        let github = self.mirror.as_ref().ok_or_else(off)?.github();
        let (at, hash) = vouched_folder(source).map_err(upstream_refusal)?;
        let commit = github.commit(&at).map_err(upstream_refusal)?;
        let taken = github
            .pick_skill(&at, &commit, FolderLookup::Known, &mut |_, _| {})
            .map_err(upstream_refusal)?;
        taken.check(&hash).map_err(upstream_refusal)?;
        let (owner, slug) = (owner.to_owned(), slug.to_owned());
        self.store_commit(GitHubImport { owner, slug, version, at, commit, taken, mirrored })
    }

    /// An owner upstream must not pass for one of ours.
    pub(super) fn check_no_shadow(&self, here: &str) -> Result<(), RegistryRefusal> {
        let ours = self
            .index()
            .iter()
            .any(|entry| entry.skill.owner == here && entry.skill.mirrored.is_none());
        let held = self.tokens.list().map_err(|_| RegistryRefusal::unavailable("no tokens"))?;
        if ours || held.iter().any(|token| token.handle == here) {
            let text = format!("@{here} is an owner of this registry; set registry.mirror.prefix");
            return Err(RegistryRefusal::bad(text));
        }
        Ok(())
    }

    /// Asks upstream again about a skill whose last answer is too old. Where upstream cannot be asked,
    /// the copy is served and marked as old.
    pub(super) fn recheck_upstream(
        &self,
        caller: Option<&RegistryCaller>,
        skill: &SkillDoc,
    ) -> Result<(), RegistryRefusal> {
        let (Some(mirror), Some(mirrored)) = (&self.mirror, &skill.mirrored) else { return Ok(()) };
        let age = self.now().saturating_sub(mirrored.checked_at);
        if age <= mirror.settings.interval_ms {
            return Ok(());
        }
        if let Some(github) = &mirrored.github {
            return self.recheck_github(caller, skill, github);
        }
        let named = QualifiedSlug { slug: &skill.slug, owner: Some(&mirrored.owner) };
        match mirror.upstream().detail(named) {
            Ok(detail) if upstream_flag(&detail) == Some(UpstreamFlag::Malicious) => {
                self.hide(&skill.slug, &skill.owner, "upstream calls it malicious")
            }
            Ok(detail) => {
                let suspicious = upstream_flag(&detail) == Some(UpstreamFlag::Suspicious);
                self.record_check(&skill.slug, &skill.owner, suspicious)?;
                let latest = detail.latest_version.map(|latest| latest.version);
                if latest.as_ref().is_none_or(|latest| skill.version(latest).is_none()) {
                    // Where a newer version cannot be fetched, or is blocked, the older one stays.
                    let brought =
                        self.try_bring(Some(&mirrored.owner), &skill.slug, latest.as_deref());
                    if let Err(error) = brought {
                        tracing::warn!(
                            slug = skill.slug,
                            ?error,
                            "a newer version was not imported"
                        );
                    }
                }
                Ok(())
            }
            Err(error)
                if matches!(
                    error.code,
                    ErrorCode::NotFound | ErrorCode::Gone | ErrorCode::BlockedUpstream
                ) =>
            {
                self.hide(&skill.slug, &skill.owner, "upstream took it back")
            }
            Err(_) => {
                if let Some(caller) = caller {
                    caller.note_stale();
                }
                Ok(())
            }
        }
    }

    /// Checks some of the mirrored skills that are due again.
    pub(super) fn recheck_due_skills(&self) {
        let Some(mirror) = &self.mirror else { return };
        let (now, interval) = (self.now(), mirror.settings.interval_ms);
        let due: Vec<SkillDoc> = self
            .index()
            .iter()
            .map(|entry| &entry.skill)
            .filter(|skill| {
                let mirrored = skill.mirrored.as_ref();
                mirrored.is_some_and(|m| now.saturating_sub(m.checked_at) > interval)
            })
            .take(ROUND)
            .cloned()
            .collect();
        for skill in due {
            // The next round tries again.
            if let Err(error) = self.recheck_upstream(None, &skill) {
                tracing::warn!(slug = skill.slug, ?error, "a mirrored skill was not checked again");
            }
        }
    }

    /// Notes that upstream still has it, and whether it is flagged as suspicious there.
    pub(super) fn record_check(
        &self,
        slug: &str,
        owner: &str,
        suspicious: bool,
    ) -> Result<(), RegistryRefusal> {
        let now = self.now();
        self.change(slug, owner, |skill| {
            if let Some(mirrored) = &mut skill.mirrored {
                mirrored.checked_at = now;
                mirrored.hidden = None;
                mirrored.suspicious = suspicious;
            }
            Ok(SkillDocChange::with_audit("mirror-check", by_mirror(skill)))
        })
        .map(drop)
    }

    pub(super) fn hide(&self, slug: &str, owner: &str, why: &str) -> Result<(), RegistryRefusal> {
        let now = self.now();
        let hidden = self.change(slug, owner, |skill| {
            let Some(mirrored) = &mut skill.mirrored else {
                return Ok(SkillDocChange::unchanged());
            };
            mirrored.checked_at = now;
            mirrored.hidden = Some(why.to_owned());
            let entry = RegistryAuditEntry { note: Some(why.to_owned()), ..by_mirror(skill) };
            Ok(SkillDocChange::with_audit("mirror-hide", entry))
        });
        match hidden {
            // It was never here.
            Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Ok(()),
            other => other.map(drop),
        }
    }
}

pub(super) fn by_mirror(skill: &SkillDoc) -> RegistryAuditEntry {
    RegistryAuditEntry {
        who: "mirror".to_owned(),
        skill: Some(skill.key()),
        ..audit::empty_entry()
    }
}

fn upstream_refusal(error: HubError) -> RegistryRefusal {
    match error.code {
        ErrorCode::NotFound | ErrorCode::Gone => RegistryRefusal::skill_not_found(),
        _ => RegistryRefusal::unavailable(error.message),
    }
}
