//! Runs that were learned from, as they are remembered, and drafts from one of them on request.

use serde::Serialize;

use crate::error::{Result, WorkshopError};
use crate::learn::{LearnContext, LearnResult, failed_steps};
use crate::workshop::Workshop;
use sinew_settings::config::PublishMode;
use sinew_traces::{CleanRun, LearnedRun, RunJudgement, TraceSettings};

/// A run as it is remembered.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RememberedRun {
    /// Its id.
    pub id: String,
    /// Its sequence number; later runs have higher ones.
    pub number: u64,
    /// Whose run it was, where its steps are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What was asked for, cleaned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// How many steps are kept of it.
    pub steps: usize,
    /// Whether it succeeded, and the evidence for that.
    #[serde(flatten)]
    pub judgement: RunJudgement,
    /// OpenPocket's hash of what was done.
    pub behavior_fingerprint: String,
    /// The skill that it was drafted as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The proposal that it led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
}

impl RememberedRun {
    fn of(known: LearnedRun, clean: Option<&CleanRun>) -> Self {
        let run = clean.map(|clean| &clean.run);
        Self {
            id: known.key,
            number: known.number,
            agent: run.map(|run| run.agent.clone()),
            session: run.map(|run| run.session.clone()),
            task: run.map(|run| run.task.clone()),
            steps: run.map_or(0, |run| run.steps.len()),
            judgement: known.judgement,
            behavior_fingerprint: known.fingerprint,
            skill: known.skill,
            proposal: known.proposal,
        }
    }
}

impl Workshop<'_> {
    /// Runs that are remembered, oldest first.
    pub fn remembered_runs(&self) -> Result<Vec<RememberedRun>> {
        let records = self.records()?;
        let kept = |known: LearnedRun| {
            let clean = records.run(&known.key)?;
            Ok(RememberedRun::of(known, clean.as_ref()))
        };
        records.runs()?.into_iter().map(kept).collect()
    }

    /// One of them with its steps, cleaned; without them where they are not kept.
    pub fn remembered_run(&self, id: &str) -> Result<(RememberedRun, Option<CleanRun>)> {
        let (known, clean) = self.find_run(id)?;
        Ok((RememberedRun::of(known, clean.as_ref()), clean))
    }

    /// Makes a draft from a stored run, and proposes it. A run that led to a draft before leads to the
    /// same one.
    pub fn draft_remembered_run(&self, id: &str, settings: &TraceSettings) -> Result<LearnResult> {
        let (known, clean) = self.find_run(id)?;
        let clean = clean.ok_or_else(|| WorkshopError::RunNotKept(id.to_owned()))?;
        // The user asked for a draft, so one is made even where automatic drafts are off.
        let publish = match settings.publish {
            PublishMode::Off => PublishMode::Proposal,
            other => other,
        };
        let settings = TraceSettings { publish, ..*settings };
        let failed = failed_steps(&clean.run);
        let learned = LearnResult::undecided(&clean, failed, known.judgement, &known.fingerprint);
        let found = LearnContext { clean, known: known.clone(), settings: &settings };
        match known.skill {
            Some(_) => self.report_known_run(&known, &found, learned),
            None => self.draft_run(&found, &self.records()?.runs()?, learned),
        }
    }

    /// Removes the steps of a run. The run itself stays known, so that it is not learned from again; a
    /// proposal that it led to stays.
    pub fn forget_run(&self, id: &str) -> Result<RememberedRun> {
        let (known, _) = self.find_run(id)?;
        let _lock = self.lock()?;
        let mut entry = self.raw_records().change()?;
        entry.forget_steps(&known.key);
        entry.save()?;
        Ok(RememberedRun::of(known, None))
    }

    fn find_run(&self, id: &str) -> Result<(LearnedRun, Option<CleanRun>)> {
        let records = self.records()?;
        let known = records.runs()?.into_iter().find(|run| run.key == id);
        let known =
            known.ok_or_else(|| WorkshopError::UnknownRun(id.chars().take(64).collect()))?;
        let clean = records.run(&known.key)?;
        Ok((known, clean))
    }
}
