//! The workshop of one workspace: the entry point of this crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_guard::atomic::FileLock;
use sinew_guard::scan::Scanner;
use sinew_route::{Embedder, RouteDocument};
use sinew_settings::config::WorkshopSettings;
use sinew_settings::{Actor, Clock};
use sinew_store::Store;

use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::gates::{SkillOwner, StoredQuery};
use crate::history::SkillVersion;
use crate::probation::TrialRecord;
use crate::proposal::{Proposal, ProposalStep};
use crate::records::{ReviewState, WorkshopRecords, workspace_hash};
use crate::status::ProposalState;

/// A skill that exists already.
#[derive(Debug, Clone)]
pub struct NeighbourSkill {
    /// As the router reads it.
    pub document: RouteDocument,
    /// Messages whose right answer its author knows.
    pub queries: Vec<StoredQuery>,
}

/// What the workshop has to know about the other skills. The engine answers from its catalog.
pub trait SkillSurroundings {
    /// Who owns a skill of this name outside the workspace's own folder, if there is one.
    fn owner_elsewhere(&self, name: &str) -> Option<SkillOwner>;
    /// Every skill there is.
    fn skills(&self) -> Vec<NeighbourSkill>;
    /// Skills that would no longer fit into the prompt if this one existed.
    fn displaced_skills(&self, name: &str, description: &str) -> Vec<String>;
    /// How uses of a skill ended since a moment (milliseconds since 1970); none where uses
    /// are not counted.
    fn trials(&self, name: &str, since: u64) -> Option<TrialRecord>;
    /// A file below the workspace was written: read the skills again.
    fn refresh(&self);
    /// Whether this machine has a program of that name.
    fn has_program(&self, _name: &str) -> bool {
        true
    }
    /// The encoder that messages are routed with, where there is one.
    fn encoder(&self) -> Option<Arc<dyn Embedder>> {
        None
    }
}

/// What a workshop works with.
pub struct WorkshopParts<'a> {
    /// Where proposals and history are kept.
    pub store: &'a dyn Store,
    /// The workspace, absolute.
    pub workspace: &'a Path,
    /// A folder for locks, outside the workspace: a queued proposal leaves no file there.
    pub locks: &'a Path,
    /// How it works.
    pub settings: &'a WorkshopSettings,
    /// The scanner.
    pub scanner: &'a Scanner,
    /// The other skills.
    pub surroundings: &'a dyn SkillSurroundings,
    /// The time.
    pub clock: &'a dyn Clock,
}

/// The workshop of one workspace.
pub struct Workshop<'a> {
    pub(crate) parts: WorkshopParts<'a>,
    pub(crate) workspace_text: String,
    pub(crate) hash: String,
}

impl std::fmt::Debug for Workshop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workshop({})", self.workspace_text)
    }
}

/// How many proposals are in which state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProposalCounts {
    /// The workspace.
    pub workspace_dir: String,
    /// Waiting.
    pub pending: usize,
    /// Held by a finding.
    pub quarantined: usize,
    /// Written.
    pub applied: usize,
    /// Turned down.
    pub rejected: usize,
    /// Made for a target that is no longer the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub stale: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl<'a> Workshop<'a> {
    /// A workshop from its parts.
    pub fn new(parts: WorkshopParts<'a>) -> Self {
        let workspace_text = parts.workspace.to_string_lossy().into_owned();
        let hash = workspace_hash(parts.workspace);
        Self { parts, workspace_text, hash }
    }

    /// How it works.
    pub fn settings(&self) -> &WorkshopSettings {
        self.parts.settings
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        self.parts.workspace
    }

    pub(crate) fn now(&self) -> u64 {
        self.parts.clock.now_ms()
    }

    /// The records, after recovering an interrupted write.
    pub(crate) fn records(&self) -> Result<WorkshopRecords<'_>> {
        let records = self.raw_records();
        if records.change()?.state.intent.is_some() {
            drop(self.lock()?);
        }
        Ok(records)
    }

    pub(crate) fn raw_records(&self) -> WorkshopRecords<'_> {
        WorkshopRecords::new(self.parts.store, &self.workspace_text, &self.hash)
    }

    /// Keeps other processes from writing to this workspace, and recovers an interrupted write.
    pub(crate) fn lock(&self) -> Result<FileLock> {
        let path = self.lock_path("lock");
        let lock = FileLock::acquire(&path).map_err(WorkshopError::io(&path))?;
        self.recover()?;
        Ok(lock)
    }

    pub(crate) fn lock_path(&self, kind: &str) -> PathBuf {
        self.parts.locks.join(format!("{}.{kind}", self.hash))
    }

    /// Every proposal, newest first.
    pub fn proposals(&self) -> Result<Vec<Proposal>> {
        self.records()?.proposals()
    }

    /// Proposals with this status, newest first.
    pub fn list(&self, status: &str) -> Result<Vec<Proposal>> {
        let mut proposals = self.proposals()?;
        proposals.retain(|proposal| proposal.status.as_str() == status);
        Ok(proposals)
    }

    /// One proposal.
    pub fn inspect(&self, id: &str) -> Result<Proposal> {
        self.records()?.proposal(id)
    }

    /// How many proposals are in which state.
    pub fn status(&self) -> Result<ProposalCounts> {
        let mut counts = ProposalCounts {
            workspace_dir: self.workspace_text.clone(),
            pending: 0,
            quarantined: 0,
            applied: 0,
            rejected: 0,
            stale: 0,
        };
        for proposal in self.proposals()? {
            *match proposal.status {
                ProposalState::Pending => &mut counts.pending,
                ProposalState::Quarantined { .. } => &mut counts.quarantined,
                ProposalState::Applied => &mut counts.applied,
                ProposalState::Rejected { .. } => &mut counts.rejected,
                ProposalState::Stale { .. } => &mut counts.stale,
            } += 1;
        }
        Ok(counts)
    }

    /// When the reviewer ran, and what happened since.
    pub fn review_state(&self) -> Result<ReviewState> {
        Ok(self.raw_records().change()?.state.review)
    }

    /// The versions of a skill, newest first.
    pub fn history(&self, skill: &str) -> Result<Vec<SkillVersion>> {
        let name = crate::name::writable_name(skill)?;
        let path = crate::files::skill_path(&name);
        let mut versions = self.records()?.versions("")?;
        versions.retain(|version| {
            version.skill_name == name || version.files.iter().any(|file| file.path == path)
        });
        Ok(versions)
    }

    /// A content that a version refers to, by its SHA-256.
    pub fn content(&self, sha256: &str) -> Result<String> {
        self.records()?.content(sha256)
    }

    /// What a version changed, as a unified diff of each of its files.
    pub fn version_diff(&self, version: &SkillVersion) -> Result<String> {
        let records = self.records()?;
        let held = |sha256: &Option<String>| match sha256 {
            Some(sha256) => records.content(sha256),
            None => Ok(String::new()),
        };
        let each = version.files.iter().map(|file| {
            let (before, after) = (held(&file.before)?, held(&file.after)?);
            Ok(crate::apply::unified(&file.path, &before, &after))
        });
        each.collect()
    }

    /// What happened, oldest first.
    pub fn events(&self) -> Result<Vec<WorkshopEvent>> {
        self.raw_records().events()
    }

    /// Records an event that belongs to no proposal.
    pub fn note(
        &self,
        kind: WorkshopEventKind,
        reason: impl Into<String>,
    ) -> Result<Vec<WorkshopEvent>> {
        let mut change = self.raw_records().change()?;
        change.event(WorkshopEvent {
            at: self.now(),
            kind,
            skill: String::new(),
            proposal: None,
            reason: Some(reason.into()),
        });
        change.save()
    }

    pub(crate) fn step(&self, what: &str, by: &Actor, why: Option<String>) -> ProposalStep {
        ProposalStep { at: self.now(), what: what.to_owned(), by: by.to_string(), why }
    }

    pub(crate) fn event(
        &self,
        kind: WorkshopEventKind,
        proposal: &Proposal,
        reason: Option<String>,
    ) -> WorkshopEvent {
        WorkshopEvent {
            at: self.now(),
            kind,
            skill: proposal.skill_name.clone(),
            proposal: Some(proposal.id.clone()),
            reason,
        }
    }
}
