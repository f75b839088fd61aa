//! The workshop of one workspace: what everything else in this crate hangs on.

use std::path::{Path, PathBuf};

use sinew_catalog::Clock;
use sinew_guard::atomic::Lock;
use sinew_guard::scan::Scanner;
use sinew_route::Document;
use sinew_store::Store;

use crate::book::{Book, ReviewState, workspace_hash};
use crate::by::By;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind};
use crate::gates::{Owner, StoredQuery};
use crate::history::Version;
use crate::probation::Trials;
use crate::proposal::{Proposal, Step};
use crate::settings::Settings;
use crate::status::Status;

/// A skill that exists already.
#[derive(Debug, Clone)]
pub struct Neighbour {
    /// As the router reads it.
    pub document: Document,
    /// Messages whose right answer its author knows.
    pub queries: Vec<StoredQuery>,
}

/// What the workshop has to know of the skills around it. The engine answers from its catalog.
pub trait Surroundings {
    /// Where a skill of this name lies, if it lies anywhere else than in the workspace's own folder.
    fn owner_elsewhere(&self, name: &str) -> Option<Owner>;
    /// Every skill there is.
    fn skills(&self) -> Vec<Neighbour>;
    /// Skills that would lose their place in the prompt if this one were there.
    fn pushed_out(&self, name: &str, description: &str) -> Vec<String>;
    /// How uses of a skill ended since a moment (milliseconds since 1970); none where nobody keeps
    /// count.
    fn trials(&self, name: &str, since: u64) -> Option<Trials>;
    /// A file below the workspace was written: look again.
    fn refresh(&self);
}

/// What a workshop works with.
pub struct Parts<'a> {
    /// Where proposals and history are kept.
    pub store: &'a dyn Store,
    /// The workspace, absolute.
    pub workspace: &'a Path,
    /// A folder for locks, outside the workspace: a queued proposal leaves no trace in it.
    pub locks: &'a Path,
    /// How it works.
    pub settings: &'a Settings,
    /// The scanner.
    pub scanner: &'a Scanner,
    /// The skills around it.
    pub surroundings: &'a dyn Surroundings,
    /// The time.
    pub clock: &'a dyn Clock,
}

/// The workshop of one workspace.
pub struct Workshop<'a> {
    pub(crate) parts: Parts<'a>,
    pub(crate) workspace_text: String,
    pub(crate) hash: String,
}

impl std::fmt::Debug for Workshop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workshop({})", self.workspace_text)
    }
}

/// How many proposals stand where.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
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
    pub fn new(parts: Parts<'a>) -> Self {
        let workspace_text = parts.workspace.to_string_lossy().into_owned();
        let hash = workspace_hash(parts.workspace);
        Self { parts, workspace_text, hash }
    }

    /// How it works.
    pub fn settings(&self) -> &Settings {
        self.parts.settings
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        self.parts.workspace
    }

    pub(crate) fn now(&self) -> u64 {
        self.parts.clock.now_ms()
    }

    /// The book as it is, without a write that was cut short.
    pub(crate) fn book(&self) -> Result<Book<'_>> {
        let book = self.raw_book();
        if book.change()?.state.intent.is_some() {
            drop(self.lock()?);
        }
        Ok(book)
    }

    pub(crate) fn raw_book(&self) -> Book<'_> {
        Book::new(self.parts.store, &self.workspace_text, &self.hash)
    }

    /// Keeps others from writing to this workspace, and cleans up after whoever was cut short.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let path = self.lock_path("lock");
        let lock = Lock::acquire(&path).map_err(Error::io(&path))?;
        self.recover()?;
        Ok(lock)
    }

    pub(crate) fn lock_path(&self, kind: &str) -> PathBuf {
        self.parts.locks.join(format!("{}.{kind}", self.hash))
    }

    /// Every proposal, newest first.
    pub fn proposals(&self) -> Result<Vec<Proposal>> {
        self.book()?.proposals()
    }

    /// Proposals with this status, newest first.
    pub fn list(&self, status: &str) -> Result<Vec<Proposal>> {
        let mut proposals = self.proposals()?;
        proposals.retain(|proposal| proposal.status.as_str() == status);
        Ok(proposals)
    }

    /// One proposal.
    pub fn inspect(&self, id: &str) -> Result<Proposal> {
        self.book()?.proposal(id)
    }

    /// How many proposals stand where.
    pub fn status(&self) -> Result<Counts> {
        let mut counts = Counts {
            workspace_dir: self.workspace_text.clone(),
            pending: 0,
            quarantined: 0,
            applied: 0,
            rejected: 0,
            stale: 0,
        };
        for proposal in self.proposals()? {
            *match proposal.status {
                Status::Pending => &mut counts.pending,
                Status::Quarantined { .. } => &mut counts.quarantined,
                Status::Applied => &mut counts.applied,
                Status::Rejected { .. } => &mut counts.rejected,
                Status::Stale { .. } => &mut counts.stale,
            } += 1;
        }
        Ok(counts)
    }

    /// When the reviewer ran, and what happened since.
    pub fn review_state(&self) -> Result<ReviewState> {
        Ok(self.raw_book().change()?.state.review)
    }

    /// The versions of a skill, newest first.
    pub fn history(&self, skill: &str) -> Result<Vec<Version>> {
        self.book()?.versions(&crate::name::writable(skill)?)
    }

    /// A content that some version speaks of, by its SHA-256.
    pub fn content(&self, sha256: &str) -> Result<String> {
        self.book()?.content(sha256)
    }

    /// What a version changed, as a unified diff of each of its files.
    pub fn version_diff(&self, version: &Version) -> Result<String> {
        let book = self.book()?;
        let held = |sha256: &Option<String>| match sha256 {
            Some(sha256) => book.content(sha256),
            None => Ok(String::new()),
        };
        let each = version.files.iter().map(|file| {
            let (before, after) = (held(&file.before)?, held(&file.after)?);
            Ok(crate::apply::unified(&file.path, &before, &after))
        });
        each.collect()
    }

    /// What happened, oldest first.
    pub fn events(&self) -> Result<Vec<Event>> {
        self.raw_book().events()
    }

    /// Records something that happened to no proposal.
    pub fn note(&self, kind: EventKind, reason: impl Into<String>) -> Result<Vec<Event>> {
        let mut change = self.raw_book().change()?;
        change.event(Event {
            at: self.now(),
            kind,
            skill: String::new(),
            proposal: None,
            reason: Some(reason.into()),
        });
        change.save()
    }

    pub(crate) fn step(&self, what: &str, by: &By, why: Option<String>) -> Step {
        Step { at: self.now(), what: what.to_owned(), by: by.shown(), why }
    }

    pub(crate) fn event(
        &self,
        kind: EventKind,
        proposal: &Proposal,
        reason: Option<String>,
    ) -> Event {
        Event {
            at: self.now(),
            kind,
            skill: proposal.skill_name.clone(),
            proposal: Some(proposal.id.clone()),
            reason,
        }
    }
}
