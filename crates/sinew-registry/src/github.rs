//! Skills of GitHub, brought in by commit: fetched once, scanned, and kept here, so that installs need
//! no other network than this registry.
//!
//! The owner here is `github.` and the account there, because an account is not a handle of this or
//! another registry. The slug is the skill's name, with its repository's before it where the name is
//! taken or not a valid slug. A folder that changed is the next version, `0.0.1`, `0.0.2` and so on; the tag
//! `commit-<commit>` names the one that a commit brought.
//!
//! **Must never happen here:** a repository that the allow-list does not name; a branch that is
//! fetched without its commit; bytes that were not scanned.

use std::sync::Arc;

use axum::extract::{Path, State};
use serde_json::json;
use sinew_hub::digest::{META_FILE, tree_sha256};
use sinew_hub::reference::{GitHubRef, ShorthandMeaning, SkillReference};
use sinew_hub::source::github::{is_commit, page_url};
use sinew_hub::tree::SkillTree;
use sinew_hub::{FolderLookup, GitHubSkill, HubError};
use sinew_settings::ErrorCode;

use super::caller::RegistryCaller;
use super::download::archive_of;
use super::intake::IncomingVersion;
use super::lookup::SkillDocChange;
use super::mirror::{MirrorResult, RegistryMirror, by_mirror};
use super::model::{GitHubFolder, MirrorOrigin, RegistryAuditEntry, SkillDoc};
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};
use super::upstream_claims::uploads;
use super::{TeamRegistry, audit, names};

/// The prefix that makes an account an owner.
const OWNER: &str = "github.";

/// A skill of a commit that is being imported.
pub(super) struct GitHubImport {
    /// The owner and the slug here.
    pub(super) owner: String,
    pub(super) slug: String,
    /// The number that it has elsewhere, if any.
    pub(super) version: Option<String>,
    pub(super) at: GitHubRef,
    pub(super) commit: String,
    pub(super) taken: GitHubSkill,
    pub(super) mirrored: MirrorOrigin,
}

impl RegistryMirror {
    /// Whether a repository may be brought in. Permission for other registries does not imply it.
    fn allows_github(&self, owner: &str, repo: &str) -> bool {
        let names = |pattern: &String| match pattern.strip_prefix("github:") {
            None => false,
            Some(pattern) => match pattern.split_once('/') {
                None => pattern.eq_ignore_ascii_case(owner),
                Some((whose, which)) => {
                    whose.eq_ignore_ascii_case(owner)
                        && (which == "*" || which.eq_ignore_ascii_case(repo))
                }
            },
        };
        self.settings.allow.iter().any(names) && !self.settings.deny.iter().any(names)
    }
}

impl TeamRegistry {
    /// Brings a skill of GitHub in: as it is at the commit that the reference means now.
    pub fn mirror_github(&self, at: &GitHubRef) -> MirrorResult {
        match self.try_bring_github(at, FolderLookup::Sought) {
            Ok((owner, slug, version)) => MirrorResult::Here { owner, slug, version },
            Err(refusal) => MirrorResult::Not(refusal.message()),
        }
    }

    fn try_bring_github(
        &self,
        at: &GitHubRef,
        folder: FolderLookup,
    ) -> Result<(String, String, String), RegistryRefusal> {
        let off = || RegistryRefusal::bad("registry.mirror.mode is off");
        let mirror = self.mirror.as_ref().ok_or_else(off)?;
        if !mirror.allows_github(&at.owner, &at.repo) {
            let text =
                format!("registry.mirror.allow does not name github:{}/{}", at.owner, at.repo);
            return Err(RegistryRefusal::forbidden(text));
        }
        let owner = names::handle(&format!("{OWNER}{}", at.owner));
        let owner =
            owner.ok_or_else(|| RegistryRefusal::bad("The account cannot be an owner's name"))?;
        self.check_no_shadow(&owner)?;
        let github = mirror.github();
        let commit = github.commit(at).map_err(github_refusal)?;
        let taken =
            github.pick_skill(at, &commit, folder, &mut |_, _| {}).map_err(github_refusal)?;
        let slug = self.slug_of(&owner, at, &taken)?;
        let mirrored = MirrorOrigin {
            upstream: format!("https://github.com/{}/{}", at.owner, at.repo),
            owner: at.owner.clone(),
            checked_at: self.now(),
            hidden: None,
            suspicious: false,
            github: Some(GitHubFolder {
                owner: at.owner.clone(),
                repo: at.repo.clone(),
                path: taken.found.folder.clone(),
                at: at.at.clone(),
                commit: commit.clone(),
            }),
        };
        let (at, version) = (at.clone(), None);
        let (o, s) = (owner.clone(), slug.clone());
        let version =
            self.store_commit(GitHubImport { owner, slug, version, at, commit, taken, mirrored })?;
        Ok((o, s, version))
    }

    /// The slug of a folder: the one that it has, or the first of its names that is free.
    fn slug_of(
        &self,
        owner: &str,
        at: &GitHubRef,
        taken: &GitHubSkill,
    ) -> Result<String, RegistryRefusal> {
        let name = &taken.found.name;
        for name in [name.clone(), format!("{}-{name}", at.repo)] {
            let Ok(slug) = names::publish_slug(&name) else { continue };
            let same = |skill: &SkillDoc| {
                let known = skill.mirrored.as_ref().and_then(|mirrored| mirrored.github.as_ref());
                known.is_some_and(|known| known.is(at, &taken.found.folder))
            };
            if self.skill(&slug, owner)?.is_none_or(|found| same(&found.value)) {
                return Ok(slug);
            }
        }
        Err(RegistryRefusal::bad(format!("{}: its name does not make a valid slug", taken.from)))
    }

    /// Stores a skill of a commit, unless it is here already; returns its version.
    pub(super) fn store_commit(&self, new: GitHubImport) -> Result<String, RegistryRefusal> {
        let tag = format!("commit-{}", new.commit);
        let tree = new.taken.tree.publishable().without(|path| path == META_FILE);
        let existing = self.skill(&new.slug, &new.owner)?.map(|found| found.value);
        let mut number = 1;
        if let Some(skill) = &existing {
            number += skill.versions.len();
            let known = match skill.tags.get(&tag) {
                Some(version) => Some(version.clone()),
                None => self.latest_if(skill, &tree)?,
            };
            if let Some(version) = known {
                self.note_commit(&new)?;
                return Ok(version);
            }
        }
        let version = new.version.unwrap_or_else(|| format!("0.0.{number}"));
        let GitHubRef { owner, repo, at, .. } = &new.at;
        let folder = &new.taken.found.folder;
        self.store_version(IncomingVersion {
            owner: new.owner,
            slug: new.slug,
            display_name: new.taken.found.name.clone(),
            version: version.clone(),
            changelog: new.taken.from.clone(),
            tags: vec![tag],
            topics: Vec::new(),
            source: Some(json!({
                "kind": "github",
                "url": page_url(owner, repo, &new.commit, folder),
                "repo": format!("{owner}/{repo}"),
                "ref": at,
                "commit": new.commit,
                "path": folder,
                "contentHash": new.taken.content_hash,
                "importedAt": self.now(),
            })),
            files: uploads(&tree),
            created_at: self.now(),
            is_free_to_name: true,
            mirrored: Some(new.mirrored),
            used: Vec::new(),
            by: RegistryAuditEntry { who: "mirror".to_owned(), ..audit::empty_entry() },
        })?;
        Ok(version)
    }

    /// The latest version, if it has these files: a commit that changed something else.
    fn latest_if(
        &self,
        skill: &SkillDoc,
        tree: &SkillTree,
    ) -> Result<Option<String>, RegistryRefusal> {
        let Ok(latest) = self.version_of(skill, &Default::default()) else { return Ok(None) };
        Ok((latest.tree == tree_sha256(&tree.records())).then_some(latest.version))
    }

    fn note_commit(&self, new: &GitHubImport) -> Result<(), RegistryRefusal> {
        self.change(&new.slug, &new.owner, |skill| {
            skill.mirrored = Some(new.mirrored.clone());
            Ok(SkillDocChange::with_audit("mirror-check", by_mirror(skill)))
        })
        .map(drop)
    }

    /// Checks whether GitHub has a newer version of a skill, or has removed it.
    pub(super) fn recheck_github(
        &self,
        caller: Option<&RegistryCaller>,
        skill: &SkillDoc,
        known: &GitHubFolder,
    ) -> Result<(), RegistryRefusal> {
        let Some(mirror) = &self.mirror else { return Ok(()) };
        // A commit does not move; only whether its repository still exists is in question.
        let pinned = known.at.as_deref().is_some_and(is_commit);
        let at = GitHubRef {
            owner: known.owner.clone(),
            repo: known.repo.clone(),
            path: Some(known.path.clone()).filter(|path| !path.is_empty()),
            skill: None,
            at: known.at.clone().filter(|_| !pinned),
        };
        let now = match mirror.github().commit(&at) {
            Ok(commit) => commit,
            Err(error) if is_gone(&error) => {
                return self.hide(&skill.slug, &skill.owner, "GitHub no longer has it");
            }
            Err(_) => {
                if let Some(caller) = caller {
                    caller.note_stale();
                }
                return Ok(());
            }
        };
        self.record_check(&skill.slug, &skill.owner, false)?;
        if pinned || now == known.commit {
            return Ok(());
        }
        match mirror.github().pick_skill(&at, &now, FolderLookup::Known, &mut |_, _| {}) {
            Err(error) if is_gone(&error) => {
                self.hide(&skill.slug, &skill.owner, "GitHub no longer has it")
            }
            _ => {
                // Where a newer commit cannot be fetched, or is blocked, the older version stays.
                if let Err(error) = self.try_bring_github(&at, FolderLookup::Known) {
                    tracing::warn!(slug = skill.slug, ?error, "a newer commit was not imported");
                }
                Ok(())
            }
        }
    }

    /// The skill of an entry of skills.sh, brought in where that is allowed.
    fn of_skills_sh(
        &self,
        caller: &RegistryCaller,
        at: &GitHubRef,
    ) -> Result<SkillDoc, RegistryRefusal> {
        let named = at.skill.as_deref().unwrap_or_default();
        let here = {
            let index = self.index();
            let skill = index.iter().map(|entry| &entry.skill).find(|skill| {
                let known = skill.mirrored.as_ref().and_then(|mirrored| mirrored.github.as_ref());
                known.is_some_and(|known| {
                    let folder = known.path.rsplit('/').next().unwrap_or_default();
                    let is_named = [folder, &*skill.display_name, &*skill.slug];
                    known.is(at, &known.path)
                        && is_named.iter().any(|name| name.eq_ignore_ascii_case(named))
                })
            });
            skill.cloned()
        };
        if let Some(skill) = here {
            // Checked again when it is due, like any other.
            let (slug, owner) = (&skill.slug, Some(skill.owner.as_str()));
            return Ok(self.find(caller, slug, owner, super::refusal::RefusalFormat::Text)?.value);
        }
        let mirror = self.mirror.as_ref().filter(|mirror| mirror.settings.on_demand);
        let mirror = mirror.ok_or_else(RegistryRefusal::skill_not_found)?;
        let key = format!("github:{}/{}/{named}", at.owner, at.repo);
        if mirror.is_known_miss(&key) {
            return Err(RegistryRefusal::skill_not_found());
        }
        match self.try_bring_github(at, FolderLookup::Sought) {
            Ok((owner, slug, _)) => {
                let found =
                    self.skill(&slug, &owner)?.ok_or_else(RegistryRefusal::skill_not_found)?;
                Ok(found.value)
            }
            Err(_) => {
                mirror.note_miss(key);
                Err(RegistryRefusal::skill_not_found())
            }
        }
    }
}

/// How an entry of skills.sh is installed from here.
pub(crate) async fn skills_sh_install(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Path((owner, repo, slug)): Path<(String, String, String)>,
) -> RegistryReply {
    registry
        .work(move |registry| {
            let reference = format!("skills-sh:{owner}/{repo}/{slug}");
            let Ok(SkillReference::SkillsSh(entry)) =
                SkillReference::parse(&reference, ShorthandMeaning::GitHub)
            else {
                return Err(RegistryRefusal::bad("Invalid reference"));
            };
            let at = GitHubRef {
                owner: entry.owner,
                repo: entry.repo,
                path: None,
                skill: Some(entry.slug),
                at: None,
            };
            let skill = registry.of_skills_sh(&caller, &at)?;
            let version = registry.version_of(&skill, &Default::default())?;
            let mut answer = archive_of(&caller.base, &skill, &version.version);
            answer["canonicalRef"] = json!(format!("@{}/{}", skill.owner, skill.slug));
            answer["provenance"] = json!({ "source": "skills.sh", "reference": reference });
            answer["trust"] =
                json!({ "clawhubScan": "scanned", "label": "scanned by this registry" });
            json_answer(&answer)
        })
        .await
}

impl GitHubFolder {
    /// Whether it is this folder of the repository that a reference names.
    fn is(&self, at: &GitHubRef, folder: &str) -> bool {
        self.owner.eq_ignore_ascii_case(&at.owner)
            && self.repo.eq_ignore_ascii_case(&at.repo)
            && self.path == folder
    }
}

fn is_gone(error: &HubError) -> bool {
    matches!(error.code, ErrorCode::NotFound | ErrorCode::Gone)
}

fn github_refusal(error: HubError) -> RegistryRefusal {
    match error.hints.first() {
        Some(hint) => RegistryRefusal::bad(format!("{} ({hint})", error.message)),
        None => RegistryRefusal::bad(error.message),
    }
}
