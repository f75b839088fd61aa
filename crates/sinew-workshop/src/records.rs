//! The records: proposals, versions and contents of one workspace in the store.
//!
//! Every change names the version of the workspace's state that it is based on, so that of two
//! concurrent writers one fails. Nothing here knows why something is written.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sinew_skill::content_hash;
use sinew_store::{
    ExpectedVersion, JsonText, KeyRange, NewStreamRecord, RecordSeq, Store, StoreError, StoreOp,
    StoredDocument, StreamTail,
};

use crate::error::{Result, WorkshopError};
use crate::event::WorkshopEvent;
use crate::gates::StoredQuery;
use crate::history::{self, SkillVersion};
use crate::id;
use crate::proposal::{Proposal, TriggerQueries};
use sinew_traces::{CleanRun, LearnedRun};

const STATE: &str = "workshop.state";
const PROPOSALS: &str = "workshop.proposals";
const VERSIONS: &str = "workshop.versions";
const CONTENTS: &str = "workshop.contents";
const PRUNED: &str = "workshop.pruned";
const QUERIES: &str = "workshop.queries";
const PARTED: &str = "workshop.parted";
const RUNS: &str = "workshop.runs";
const RUN_STEPS: &str = "workshop.run-steps";

/// How long the content of a pruned proposal is kept.
const PRUNED_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// Documents per page: a proposal has a few kilobytes.
const PAGE: usize = 500;

/// When the reviewer ran, and what happened since.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewState {
    /// Successful turns since then.
    pub turns_since_review: u64,
    /// Tool calls since then.
    pub tool_calls_since_review: u64,
    /// When it ran last, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_review_at: Option<u64>,
}

/// What is about to be written, so that the next start can finish or undo it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WriteIntent {
    /// The version that the write makes.
    pub(crate) version: SkillVersion,
    /// Proposals as they are once it is done.
    pub(crate) proposals: Vec<Proposal>,
    /// Messages that the trigger gate uses from then on.
    #[serde(default, skip_serializing_if = "TriggerQueries::is_empty")]
    pub(crate) queries: TriggerQueries,
    /// Events to record when it is done.
    pub(crate) events: Vec<WorkshopEvent>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkshopState {
    /// The number of the last proposal or version.
    pub(crate) last_number: u64,
    #[serde(default)]
    pub(crate) review: ReviewState,
    /// When the learned skills were looked through last, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tended_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<Box<WriteIntent>>,
    /// The workspace, for people who inspect the database.
    pub(crate) workspace: String,
}

/// The name of a workspace's store file in OpenClaw, and of its records here.
pub fn workspace_hash(workspace: &Path) -> String {
    content_hash(workspace.to_string_lossy().as_bytes())[..16].to_owned()
}

/// The records of one workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkshopRecords<'s> {
    store: &'s dyn Store,
    workspace: &'s str,
    hash: &'s str,
}

impl<'s> WorkshopRecords<'s> {
    pub(crate) fn new(store: &'s dyn Store, workspace: &'s str, hash: &'s str) -> Self {
        Self { store, workspace, hash }
    }

    fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.hash)
    }

    fn stream(&self) -> String {
        format!("workshop.{}", self.hash)
    }

    /// Reads the state, and begins a change based on it.
    pub(crate) fn change(&self) -> Result<RecordsChange<'s>> {
        let found = self.store.get(STATE, self.hash)?;
        let (state, expect) = match found {
            Some(document) => (read(&document)?, ExpectedVersion::Version(document.version)),
            None => {
                let state = WorkshopState {
                    workspace: self.workspace.to_owned(),
                    ..WorkshopState::default()
                };
                (state, ExpectedVersion::Absent)
            }
        };
        Ok(RecordsChange { records: *self, state, expect, ops: Vec::new(), events: Vec::new() })
    }

    /// Every proposal, newest first.
    pub(crate) fn proposals(&self) -> Result<Vec<Proposal>> {
        let mut proposals: Vec<Proposal> = self.all(PROPOSALS, "")?;
        proposals.sort_by(|a, b| b.number.cmp(&a.number).then_with(|| a.id.cmp(&b.id)));
        Ok(proposals)
    }

    pub(crate) fn proposal(&self, id: &str) -> Result<Proposal> {
        let missing = || WorkshopError::NotFound(sinew_skill::ecmascript::short(id, 80));
        // An id that cannot be a key belongs to no proposal.
        if id.is_empty() || id.len() > 200 || id.chars().any(char::is_control) {
            return Err(missing());
        }
        match self.store.get(PROPOSALS, &self.key(id))? {
            Some(document) => read(&document),
            None => Err(missing()),
        }
    }

    /// The versions of a skill, newest first; of every skill for an empty name.
    pub(crate) fn versions(&self, skill: &str) -> Result<Vec<SkillVersion>> {
        let under = if skill.is_empty() { String::new() } else { format!("{skill}/") };
        let mut versions: Vec<SkillVersion> = self.all(VERSIONS, &under)?;
        versions.sort_by_key(|version| std::cmp::Reverse(version.number));
        Ok(versions)
    }

    /// A content by its hash.
    pub(crate) fn content(&self, sha256: &str) -> Result<String> {
        match self.store.get(CONTENTS, &self.key(sha256))? {
            Some(document) => read(&document),
            None => Err(WorkshopError::BadRecord {
                key: self.key(sha256),
                detail: "the content is not there any more".to_owned(),
            }),
        }
    }

    /// Messages that came with accepted proposals.
    pub(crate) fn queries(&self) -> Result<Vec<StoredQuery>> {
        let lists: Vec<Vec<StoredQuery>> = self.all(QUERIES, "")?;
        Ok(lists.into_iter().flatten().collect())
    }

    /// Whether a person marked this pair of bodies as distinct.
    pub(crate) fn is_marked_distinct(&self, pair: &str) -> bool {
        matches!(self.store.get(PARTED, &self.key(pair)), Ok(Some(_)))
    }

    /// The runs that were learned from, oldest first.
    pub(crate) fn runs(&self) -> Result<Vec<LearnedRun>> {
        let mut runs: Vec<LearnedRun> = self.all(RUNS, "")?;
        runs.sort_by(|a, b| (a.number, &a.key).cmp(&(b.number, &b.key)));
        Ok(runs)
    }

    /// A cleaned run by its key; none where it is not kept any more.
    pub(crate) fn run(&self, key: &str) -> Result<Option<CleanRun>> {
        self.store.get(RUN_STEPS, &self.key(key))?.as_ref().map(read).transpose()
    }

    /// What happened, oldest first.
    pub(crate) fn events(&self) -> Result<Vec<WorkshopEvent>> {
        let stream = self.stream();
        let records = StreamTail::new(self.store, &stream, RecordSeq::START);
        records.map(|record| Ok(record?.body.read()?)).collect()
    }

    fn all<T: DeserializeOwned>(&self, collection: &str, under: &str) -> Result<Vec<T>> {
        let prefix = self.key(under);
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let page =
                self.store.list(collection, KeyRange::with_prefix(&prefix).after(&after), PAGE)?;
            let Some(last) = page.last() else { return Ok(found) };
            after.clone_from(&last.key);
            for document in &page {
                found.push(read(document)?);
            }
        }
    }
}

fn read<T: DeserializeOwned>(document: &StoredDocument) -> Result<T> {
    document.body.read().map_err(|error| WorkshopError::BadRecord {
        key: document.key.clone(),
        detail: error.to_string(),
    })
}

/// A change to the records: all of it is saved, or nothing.
#[derive(Debug)]
pub(crate) struct RecordsChange<'s> {
    records: WorkshopRecords<'s>,
    pub(crate) state: WorkshopState,
    expect: ExpectedVersion,
    ops: Vec<StoreOp>,
    events: Vec<WorkshopEvent>,
}

impl RecordsChange<'_> {
    /// The number of the next proposal or version.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.state.last_number += 1;
        self.state.last_number
    }

    pub(crate) fn put(&mut self, proposal: &Proposal) -> Result<()> {
        let key = self.records.key(&proposal.id);
        self.ops.push(StoreOp::put(PROPOSALS, &key, ExpectedVersion::Any, JsonText::of(proposal)?));
        Ok(())
    }

    /// Removes a proposal, and keeps its content for a while.
    pub(crate) fn prune(&mut self, proposal: &Proposal, now: u64) -> Result<()> {
        let key = self.records.key(&proposal.id);
        self.ops.push(StoreOp::delete(PROPOSALS, &key, ExpectedVersion::Any));
        self.ops.push(StoreOp::put(
            PRUNED,
            &key,
            ExpectedVersion::Any,
            JsonText::of(&(now, proposal))?,
        ));
        let kept: Vec<(u64, Proposal)> = self.records.all(PRUNED, "")?;
        for (_, old) in kept.iter().filter(|(at, _)| now.saturating_sub(*at) > PRUNED_MS) {
            self.ops.push(StoreOp::delete(
                PRUNED,
                &self.records.key(&old.id),
                ExpectedVersion::Any,
            ));
        }
        Ok(())
    }

    pub(crate) fn keep_content(&mut self, sha256: &str, text: &str) -> Result<()> {
        let key = self.records.key(sha256);
        self.ops.push(StoreOp::put(CONTENTS, &key, ExpectedVersion::Any, JsonText::of(text)?));
        Ok(())
    }

    pub(crate) fn add_version(&mut self, version: &SkillVersion) -> Result<()> {
        let key = self.version_key(version);
        self.ops.push(StoreOp::put(VERSIONS, &key, ExpectedVersion::Any, JsonText::of(version)?));
        self.forget_outdated(version)
    }

    fn version_key(&self, version: &SkillVersion) -> String {
        self.records.key(&format!("{}/{:012}", version.skill_name, version.number))
    }

    /// Removes outdated versions, and contents that only they needed.
    fn forget_outdated(&mut self, newest: &SkillVersion) -> Result<()> {
        let versions = self.records.versions(&newest.skill_name)?;
        let gone = history::prunable_versions(&versions, newest.at);
        if gone.is_empty() {
            return Ok(());
        }
        let every = self.records.versions("")?;
        let hashes = |version: &SkillVersion| -> Vec<String> {
            let files = version.files.iter();
            files.flat_map(|f| [f.before.clone(), f.after.clone()]).flatten().collect()
        };
        let stays = |version: &&SkillVersion| !gone.iter().any(|gone| gone.id == version.id);
        let needed: Vec<String> =
            every.iter().filter(stays).chain([newest]).flat_map(hashes).collect();
        for version in &gone {
            self.ops.push(StoreOp::delete(
                VERSIONS,
                &self.version_key(version),
                ExpectedVersion::Any,
            ));
            for hash in hashes(version).into_iter().filter(|hash| !needed.contains(hash)) {
                self.ops.push(StoreOp::delete(
                    CONTENTS,
                    &self.records.key(&hash),
                    ExpectedVersion::Any,
                ));
            }
        }
        Ok(())
    }

    /// Remembers the messages of an accepted proposal.
    pub(crate) fn keep_queries(&mut self, skill: &str, queries: &TriggerQueries) -> Result<()> {
        let stored = |query: &String, should_trigger| StoredQuery {
            query: query.clone(),
            skill: skill.to_owned(),
            should_trigger,
        };
        let positive = queries.positive.iter().map(|query| stored(query, true));
        let near = queries.near_miss.iter().map(|query| stored(query, false));
        let stored: Vec<StoredQuery> = positive.chain(near).collect();
        if !stored.is_empty() {
            let key = self.records.key(skill);
            self.ops.push(StoreOp::put(
                QUERIES,
                &key,
                ExpectedVersion::Any,
                JsonText::of(&stored)?,
            ));
        }
        Ok(())
    }

    /// Stores that a person marked two bodies as distinct.
    pub(crate) fn mark_distinct(&mut self, pair: &str, by: &str) -> Result<()> {
        self.ops.push(StoreOp::put(
            PARTED,
            &self.records.key(pair),
            ExpectedVersion::Any,
            JsonText::of(by)?,
        ));
        Ok(())
    }

    /// Stores a run, and removes the oldest once there are more than `most`.
    pub(crate) fn keep_run(
        &mut self,
        known: &LearnedRun,
        clean: Option<&CleanRun>,
        most: usize,
    ) -> Result<()> {
        let key = self.records.key(&known.key);
        self.ops.push(StoreOp::put(RUNS, &key, ExpectedVersion::Any, JsonText::of(known)?));
        if let Some(clean) = clean {
            self.ops.push(StoreOp::put(
                RUN_STEPS,
                &key,
                ExpectedVersion::Any,
                JsonText::of(clean)?,
            ));
        }
        let runs = self.records.runs()?;
        let others = runs.iter().filter(|run| run.key != known.key);
        let too_many = (runs.len() + 1).saturating_sub(most);
        for old in others.take(too_many) {
            let key = self.records.key(&old.key);
            self.ops.push(StoreOp::delete(RUNS, &key, ExpectedVersion::Any));
            self.ops.push(StoreOp::delete(RUN_STEPS, &key, ExpectedVersion::Any));
        }
        Ok(())
    }

    /// Removes the steps of a run.
    pub(crate) fn forget_steps(&mut self, key: &str) {
        self.ops.push(StoreOp::delete(RUN_STEPS, &self.records.key(key), ExpectedVersion::Any));
    }

    pub(crate) fn event(&mut self, event: WorkshopEvent) {
        self.events.push(event);
    }

    /// Saves everything; returns the events for the log.
    pub(crate) fn save(mut self) -> Result<Vec<WorkshopEvent>> {
        let mut records = Vec::with_capacity(self.events.len());
        for event in &self.events {
            records.push(NewStreamRecord {
                id: id::uuid()?,
                ts: i64::try_from(event.at).unwrap_or(i64::MAX),
                kind: "workshop".to_owned(),
                body: JsonText::of(event)?,
            });
        }
        if !records.is_empty() {
            self.ops.push(StoreOp::append(&self.records.stream(), records));
        }
        let state = JsonText::of(&self.state)?;
        self.ops.push(StoreOp::put(STATE, self.records.hash, self.expect, state));
        match self.records.store.transact(&self.ops) {
            Ok(_) => Ok(self.events),
            Err(StoreError::Conflict { .. }) => Err(WorkshopError::Busy),
            Err(error) => Err(error.into()),
        }
    }
}
