//! Skills that an installed one needs: found where it came from, and installed like any other, each
//! with a question of its own.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use sinew_hub::install::SkillInstallRequest;
use sinew_hub::lock::{LockEntry, SourceKind};
use sinew_hub::reference::{
    GitHubRef, GitRef, RegistryRef, RequestedVersion, ShorthandMeaning, SkillReference,
    SkillsShRef, WellKnownRef,
};
use sinew_hub::{HubError, Workdir};
use sinew_settings::{ErrorCode, path_text};
use sinew_skill::{ReadOptions, read, required_skill_name};

use super::policy::PolicyHub;
use super::record::{HubRecord, NeededRecord};
use crate::approval::Approver;

/// A chain of needs that is longer is a mistake or an attack.
const MAX_NEEDS: usize = 50;

/// A skill that was asked for because another one needs it.
#[derive(Debug)]
pub struct NeededSkill {
    /// Its folder below the skills root.
    pub key: String,
    /// The skill that needs it.
    pub needed_by: String,
    /// What became of it.
    pub record: HubRecord,
}

impl From<NeededSkill> for NeededRecord {
    fn from(needed: NeededSkill) -> Self {
        let NeededSkill { needed_by, record, .. } = needed;
        let HubRecord { reference, status, reason, message, .. } = record;
        Self { reference, needed_by, status, reason, message }
    }
}

/// The skills that the skill in a folder says it needs, as its author wrote them.
pub(crate) fn declared_needs(folder: &Path) -> Vec<String> {
    let Ok(bytes) = std::fs::read(folder.join("SKILL.md")) else { return Vec::new() };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    needs_in(&bytes, &name)
}

/// The same for the text of a skill.
pub(super) fn needs_in(bytes: &[u8], name: &str) -> Vec<String> {
    let parsed = read(bytes, &ReadOptions::openclaw(name));
    let metadata = parsed.skill.and_then(|skill| skill.metadata);
    metadata.map(|metadata| metadata.requires.skills).unwrap_or_default()
}

impl PolicyHub<'_> {
    /// Installs what an installed skill needs and what that needs in turn, as far as it is not here.
    /// `skip` names skills that come in another way.
    pub fn install_needs(
        &self,
        key: &str,
        workdir: &Workdir,
        request: &SkillInstallRequest,
        skip: &BTreeSet<String>,
        approver: &mut dyn Approver,
    ) -> Vec<NeededSkill> {
        let mut done = Vec::new();
        let mut asked = BTreeSet::new();
        let mut waiting = VecDeque::from([key.to_owned()]);
        while let Some(parent) = waiting.pop_front() {
            for need in declared_needs(&workdir.target(&parent)) {
                let name = required_skill_name(&need).to_ascii_lowercase();
                if skip.contains(&name)
                    || !asked.insert(name.clone())
                    || self.is_here(&name, workdir)
                {
                    continue;
                }
                let record = match done.len() < MAX_NEEDS {
                    true => self.install_need(&parent, &need, &name, workdir, request, approver),
                    false => Err(HubError::new(
                        ErrorCode::Invalid,
                        format!("{parent} needs more than {MAX_NEEDS} other skills"),
                    )),
                };
                let record = record.unwrap_or_else(|error| {
                    HubRecord::failed(
                        &need,
                        error.hint(format!("{parent} is not ready without it")),
                    )
                });
                if record.reason.is_none() {
                    waiting.push_back(name.clone());
                }
                done.push(NeededSkill { key: name, needed_by: parent.clone(), record });
            }
        }
        done
    }

    /// Whether a skill of that name is on this machine.
    pub(super) fn is_here(&self, name: &str, workdir: &Workdir) -> bool {
        workdir.target(name).join("SKILL.md").is_file()
            || self.engine.hub().existing_skills().iter().any(|skill| {
                let folder = skill.folder.file_name().unwrap_or_default().to_string_lossy();
                skill.name.eq_ignore_ascii_case(name) || folder.eq_ignore_ascii_case(name)
            })
    }

    fn install_need(
        &self,
        parent: &str,
        need: &str,
        name: &str,
        workdir: &Workdir,
        request: &SkillInstallRequest,
        approver: &mut dyn Approver,
    ) -> Result<HubRecord, HubError> {
        let lock = workdir.lock(&self.engine.env)?;
        let reference = need_reference(need, lock.skills.get(parent))?;
        let mut request = SkillInstallRequest { reference, ..request.clone() };
        request.name = Some(name.to_owned());
        request.overwrite = false;
        request.acceptance = Vec::new();
        let receipt = self.install(&request, workdir, approver)?;
        Ok(HubRecord::installed(need, &receipt))
    }
}

/// Where a needed skill comes from: as it is written, or from where the skill that needs it came.
fn need_reference(need: &str, parent: Option<&LockEntry>) -> Result<SkillReference, HubError> {
    let parsed = SkillReference::parse(need, ShorthandMeaning::GitHub)?;
    if let SkillReference::Local(_) = parsed {
        let shown = sinew_guard::Untrusted::new(need).for_terminal();
        let message =
            format!("`{shown}` is a path, and a skill may not choose folders of this machine");
        return Err(HubError::new(ErrorCode::BadReference, message));
    }
    let SkillReference::Registry(RegistryRef { registry: None, owner: None, slug, wanted }) =
        parsed
    else {
        return Ok(parsed);
    };
    let plain = |registry: Option<String>, wanted| {
        SkillReference::Registry(RegistryRef { registry, owner: None, slug: slug.clone(), wanted })
    };
    let Some(source) = parent.map(|entry| &entry.source) else { return Ok(plain(None, wanted)) };
    let requested = SkillReference::parse(&source.requested, ShorthandMeaning::GitHub)?;
    // A version is one of a registry.
    let versioned = wanted != RequestedVersion::Latest;
    let beside = match (source.kind, requested) {
        (_, SkillReference::Registry(of)) => return Ok(plain(of.registry, wanted)),
        (SourceKind::Local, SkillReference::Local(_)) => {
            let folder = source.url.as_deref().map(Path::new).and_then(Path::parent);
            let beside = folder.map(|folder| folder.join(&slug));
            let beside = beside.filter(|folder| folder.join("SKILL.md").is_file());
            beside.map(|folder| SkillReference::Local(path_text(&folder)))
        }
        (_, SkillReference::GitHub(of)) => {
            let (skill, path) = (Some(slug.clone()), None);
            Some(SkillReference::GitHub(GitHubRef { skill, path, ..of }))
        }
        (_, SkillReference::Git(of)) => {
            Some(SkillReference::Git(GitRef { skill: Some(slug.clone()), ..of }))
        }
        (_, SkillReference::WellKnown(of)) => {
            Some(SkillReference::WellKnown(WellKnownRef { skill: Some(slug.clone()), ..of }))
        }
        (_, SkillReference::SkillsSh(of)) => {
            Some(SkillReference::SkillsSh(SkillsShRef { slug: slug.clone(), ..of }))
        }
        (_, SkillReference::Local(_)) => None,
    };
    Ok(beside.filter(|_| !versioned).unwrap_or_else(|| plain(None, wanted)))
}
