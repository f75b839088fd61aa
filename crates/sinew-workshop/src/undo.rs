//! Taking a write back, and going back to an earlier version.

use sinew_settings::Actor;

use crate::apply::{PlannedWrite, unified};
use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::files;
use crate::history::{self, SkillVersion, VersionCause, WrittenFile};
use crate::name;
use crate::proposal::{Proposal, ProposalChange, TriggerQueries};
use crate::status::{ProposalState, ProposalTransition};
use crate::workshop::Workshop;

/// What is to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// The newest write to a skill that is not undone.
    Skill(String),
    /// The write of a proposal, or a version, by its id.
    Id(String),
    /// Everything after a version of a skill.
    BackTo {
        /// The skill.
        skill: String,
        /// The version's id.
        version: String,
    },
}

/// Whether a file that was changed by hand is overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UndoForce {
    /// It is not.
    #[default]
    No,
    /// It is, and what it held is kept as a version first.
    Yes,
}

/// What was taken back.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UndoReport {
    /// Always `undone`.
    pub status: &'static str,
    /// The skill's file.
    pub skill_path: String,
    /// SHA-256 of what it holds now, or `absent`.
    pub restored: String,
    /// What happened, for the log.
    #[serde(skip)]
    pub events: Vec<WorkshopEvent>,
}

impl Workshop<'_> {
    /// Takes a write back, or goes back to a version.
    pub fn undo(&self, wish: &UndoTarget, force: UndoForce, by: &Actor) -> Result<UndoReport> {
        self.check_may_undo(by)?;
        let _lock = self.lock()?;
        match wish {
            UndoTarget::Skill(skill) => {
                let name = name::writable_name(skill)?;
                let versions = self.raw_records().versions(&name)?;
                let version = history::newest_standing(&versions)
                    .ok_or_else(|| WorkshopError::NothingToUndo(name.clone()))?;
                self.take_back(version, force, by)
            }
            UndoTarget::Id(id) => {
                let version = self.version_of(id)?;
                self.take_back(&version, force, by)
            }
            UndoTarget::BackTo { skill, version } => self.roll_to(skill, version, force, by),
        }
    }

    /// The write of a proposal that is not undone, or the version of this id.
    pub(crate) fn version_of(&self, id: &str) -> Result<SkillVersion> {
        let records = self.raw_records();
        match records.proposal(id) {
            Ok(proposal) => {
                proposal.status.clone().after(ProposalTransition::Undo)?;
                let versions = records.versions(&proposal.skill_name)?;
                let undone = history::undone_versions(&versions);
                let written = versions.into_iter().find(|version| {
                    matches!(
                        version.action,
                        VersionCause::Apply | VersionCause::Retire | VersionCause::Promote
                    ) && version.proposal_id.as_deref() == Some(id)
                        && !undone.contains(&version.id)
                });
                written.ok_or(WorkshopError::NothingToUndo(proposal.skill_name))
            }
            Err(WorkshopError::NotFound(shown)) => {
                let versions = records.versions("")?;
                let undone = history::undone_versions(&versions);
                let found = versions.into_iter().find(|version| version.id == id);
                match found {
                    Some(version) if undone.contains(&version.id) => {
                        Err(WorkshopError::NothingToUndo(version.skill_name))
                    }
                    Some(version) => Ok(version),
                    None => Err(WorkshopError::NotFound(shown)),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn take_back(
        &self,
        version: &SkillVersion,
        force: UndoForce,
        by: &Actor,
    ) -> Result<UndoReport> {
        self.check_unchanged(&version.files, force, by, &version.skill_name)?;
        let undone_again = version.action == VersionCause::Undo;
        let (life, kind) = match undone_again {
            true => (ProposalTransition::Redo, WorkshopEventKind::Redone),
            false => (ProposalTransition::Undo, WorkshopEventKind::Undone),
        };
        let ids = version.proposal_id.iter().cloned().collect();
        let proposals = match self.is_promotion(version)? {
            true => self.toggle_promotion(version, by)?,
            false => {
                let mut proposals = self.moved(ids, &life, by)?;
                proposals.extend(self.unretired(&proposals, by)?);
                proposals
            }
        };
        let back: Vec<(String, Option<String>)> =
            version.files.iter().map(|w| (w.path.clone(), w.before.clone())).collect();
        let planned = PlannedWrite {
            skill: version.skill_name.clone(),
            action: VersionCause::Undo,
            proposal_id: version.proposal_id.clone(),
            undoes: Some(version.id.clone()),
            events: vec![self.said(kind, &version.skill_name, version.proposal_id.clone(), None)],
            queries: TriggerQueries::default(),
            proposals,
        };
        self.put_back(planned, back, by)
    }

    fn roll_to(
        &self,
        skill: &str,
        version: &str,
        force: UndoForce,
        by: &Actor,
    ) -> Result<UndoReport> {
        let name = name::writable_name(skill)?;
        let versions = self.raw_records().versions(&name)?;
        if !versions.iter().any(|known| known.id == version) {
            return Err(WorkshopError::NoSuchVersion(version.to_owned()));
        }
        let back = history::contents_at(&versions, version);
        if back.is_empty() {
            return Err(WorkshopError::NothingToUndo(name));
        }
        let left: Vec<WrittenFile> = back
            .keys()
            .filter_map(|path| history::last_written(&versions, path).cloned())
            .collect();
        self.check_unchanged(&left, force, by, &name)?;
        let undone = history::undone_versions(&versions);
        let later = versions.iter().take_while(|later| later.id != version);
        let ids = later
            .filter(|later| later.action == VersionCause::Apply && !undone.contains(&later.id))
            .filter_map(|later| later.proposal_id.clone())
            .collect();
        let why = Some(format!("back to version {version}"));
        let planned = PlannedWrite {
            skill: name.clone(),
            action: VersionCause::Rollback,
            proposal_id: None,
            undoes: None,
            events: vec![self.said(WorkshopEventKind::Undone, &name, None, why)],
            queries: TriggerQueries::default(),
            proposals: self.moved(ids, &ProposalTransition::Undo, by)?,
        };
        self.put_back(planned, back.into_iter().collect(), by)
    }

    /// Refuses where a file is not what the workshop left, or keeps what it holds first.
    fn check_unchanged(
        &self,
        left: &[WrittenFile],
        force: UndoForce,
        by: &Actor,
        skill: &str,
    ) -> Result<()> {
        let records = self.raw_records();
        for written in left {
            let found = files::read(self.workspace(), &written.path)?;
            let now = found.as_ref().map(|found| found.sha256.clone());
            if now == written.after {
                continue;
            }
            let was = match &written.after {
                Some(hash) => records.content(hash)?,
                None => String::new(),
            };
            let is = found.map(|found| found.text).unwrap_or_default();
            if force == UndoForce::No {
                let diff = unified(&written.path, &was, &is);
                return Err(WorkshopError::ChangedSince { path: written.path.clone(), diff });
            }
            let mut entry = records.change()?;
            if let Some(hash) = &now {
                entry.keep_content(hash, &is)?;
            }
            let number = entry.next_number();
            entry.add_version(&SkillVersion {
                id: crate::id::uuid()?,
                number,
                at: self.now(),
                skill_name: skill.to_owned(),
                action: VersionCause::Save,
                proposal_id: None,
                undoes: None,
                by: by.to_string(),
                files: vec![WrittenFile {
                    path: written.path.clone(),
                    before: written.after.clone(),
                    after: now,
                }],
            })?;
            entry.save()?;
        }
        Ok(())
    }

    /// Proposals as they are once their writes are taken back, or made again.
    fn moved(
        &self,
        ids: Vec<String>,
        life: &ProposalTransition,
        by: &Actor,
    ) -> Result<Vec<Proposal>> {
        let records = self.raw_records();
        let what = if *life == ProposalTransition::Redo { "redone" } else { "undone" };
        let mut moved = Vec::new();
        for id in ids {
            let mut proposal = records.proposal(&id)?;
            let fits = match life {
                ProposalTransition::Redo => {
                    proposal.status == ProposalState::Rejected { undone: true }
                }
                _ => proposal.status == ProposalState::Applied,
            };
            if fits {
                proposal.advance(life.clone(), self.step(what, by, None))?;
                moved.push(proposal);
            }
        }
        Ok(moved)
    }

    /// Whether a version moved a draft: a promotion, or one that was taken back.
    fn is_promotion(&self, version: &SkillVersion) -> Result<bool> {
        let undoes = version.undoes.as_deref().filter(|_| version.action == VersionCause::Undo);
        let Some(undoes) = undoes else { return Ok(version.action == VersionCause::Promote) };
        let versions = self.raw_records().versions(&version.skill_name)?;
        Ok(versions.iter().any(|known| known.id == undoes && known.action == VersionCause::Promote))
    }

    /// Restores what was retired by proposals that are taken back.
    fn unretired(&self, taken_back: &[Proposal], by: &Actor) -> Result<Vec<Proposal>> {
        let tried = taken_back.iter().filter_map(|proposal| match &proposal.change {
            ProposalChange::Retire { of } => Some(of.clone()),
            _ => None,
        });
        self.moved(tried.collect(), &ProposalTransition::Redo, by)
    }

    fn put_back(
        &self,
        planned: PlannedWrite,
        back: Vec<(String, Option<String>)>,
        by: &Actor,
    ) -> Result<UndoReport> {
        let records = self.raw_records();
        let skill = planned.skill.clone();
        // The user is shown the skill's own file, where it is among them.
        let shown = back
            .iter()
            .find(|(path, _)| path.ends_with("/SKILL.md") || path.ends_with("/LEARNED.md"))
            .or(back.first())
            .cloned();
        let mut wanted = Vec::with_capacity(back.len());
        for (path, hash) in back {
            let text = hash.as_deref().map(|hash| records.content(hash)).transpose()?;
            wanted.push((path, text));
        }
        let events = self.commit(planned, &wanted, by)?;
        let (path, hash) = shown.unwrap_or_else(|| (files::skill_path(&skill), None));
        Ok(UndoReport {
            status: "undone",
            skill_path: self.workspace().join(path).to_string_lossy().into_owned(),
            restored: hash.unwrap_or_else(|| "absent".to_owned()),
            events,
        })
    }

    fn said(
        &self,
        kind: WorkshopEventKind,
        skill: &str,
        proposal: Option<String>,
        reason: Option<String>,
    ) -> WorkshopEvent {
        WorkshopEvent { at: self.now(), kind, skill: skill.to_owned(), proposal, reason }
    }
}
