//! A finished run is learned from: drafted, compared with earlier ones, and proposed.
//!
//! A run comes in raw and is cleaned before anything else looks at it. Nothing is written here: a
//! draft is a proposal like any other and goes through the same gates.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use crate::capture::{self, CaptureGuards, CaptureVerdict};
use crate::error::Result;
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::proposal::{Proposal, ProposalSource};
use crate::publish::{PublishResult, title_of};
use crate::status::ProposalState;
use crate::turn::FinishedTurn;
use crate::workshop::Workshop;
use sinew_settings::config::PublishMode;
use sinew_traces::{
    AgentRun, CleanRun, DraftConfidence, DraftContext, JudgementEvidence, LearnedRun, MAX_MERGED,
    PrivateNames, RunJudgement, RunRelation, SkillDraft, TraceSettings, WeakRunPolicy, clean,
    draft, fingerprint, judge_run, keep_consents, kept_of, key_of, merge,
};

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum LearnStatus {
    /// A new proposal.
    Proposed,
    /// A new revision of the proposal of an earlier run.
    Revised,
    /// A skill that was written at once.
    Written,
    /// A proposal that a finding holds.
    Quarantined,
    /// Nothing new: the run was learned from before, or says what its skill says already.
    Known,
    /// Nothing, for a reason.
    Skipped,
}

/// What was learned from a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LearnResult {
    /// Whose run it was.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// What was asked for, cleaned.
    pub task: String,
    /// How many steps it took.
    pub steps: usize,
    /// Which of them failed, from 1.
    pub failed_steps: Vec<usize>,
    /// Whether it succeeded, and the evidence for that.
    #[serde(flatten)]
    pub judgement: RunJudgement,
    /// OpenPocket's hash of what was done.
    pub behavior_fingerprint: String,
    /// What became of it.
    pub became: LearnStatus,
    /// Why, where it became nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The draft.
    pub draft: Option<SkillDraft>,
    /// How many values of each kind were redacted.
    pub redactions: BTreeMap<String, u64>,
    /// The proposal that it is in.
    pub proposal: Option<Proposal>,
    /// The file that was written, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_path: Option<String>,
    /// The proposal that the user's correction made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Proposal>,
    /// What happened, for the log.
    #[serde(skip)]
    pub events: Vec<WorkshopEvent>,
}

impl LearnResult {
    /// The details of a run before it is decided what becomes of it.
    pub(crate) fn undecided(
        clean: &CleanRun,
        failed_steps: Vec<usize>,
        judgement: RunJudgement,
        fingerprint: &str,
    ) -> Self {
        Self {
            agent: clean.run.agent.clone(),
            session: clean.run.session.clone(),
            task: clean.run.task.clone(),
            steps: clean.run.steps.len(),
            failed_steps,
            judgement,
            behavior_fingerprint: fingerprint.to_owned(),
            became: LearnStatus::Skipped,
            reason: None,
            draft: None,
            redactions: clean.redactions.clone(),
            proposal: None,
            skill_path: None,
            correction: None,
            events: Vec::new(),
        }
    }

    fn skipped(mut self, why: impl Into<String>) -> Self {
        self.became = LearnStatus::Skipped;
        self.reason = Some(why.into());
        self
    }
}

/// A run and what the ones before it say about it.
pub(crate) struct LearnContext<'f> {
    pub(crate) clean: CleanRun,
    pub(crate) known: LearnedRun,
    pub(crate) settings: &'f TraceSettings,
}

/// The runs that a draft stands for.
#[derive(Debug, Clone, Copy)]
struct RunTally {
    count: usize,
    /// How many of them count towards the confidence.
    trusted: usize,
    /// The strongest evidence for any of them.
    evidence: JudgementEvidence,
}

impl RunTally {
    fn one(found: &LearnContext<'_>) -> Self {
        Self { count: 1, trusted: 1, evidence: found.known.judgement.evidence }
    }
}

/// The steps that failed, counted from 1.
pub(crate) fn failed_steps(run: &AgentRun) -> Vec<usize> {
    let failed = run.steps.iter().enumerate().filter(|(_, step)| step.failed);
    failed.map(|(at, _)| at + 1).collect()
}

impl Workshop<'_> {
    /// Learns from a run.
    pub fn learn(
        &self,
        run: AgentRun,
        settings: &TraceSettings,
        private: &PrivateNames,
    ) -> Result<LearnResult> {
        let judgement = judge_run(&run);
        let failed_steps = failed_steps(&run);
        let key = key_of(&run);
        let clean = clean(run, private, settings.typed);
        let behaviour = fingerprint(&clean.run.steps);
        let mut learned = LearnResult::undecided(&clean, failed_steps, judgement, &behaviour);
        if !settings.enabled {
            return Ok(learned.skipped("traces.enabled is false"));
        }
        if clean.run.steps.is_empty() || clean.run.task.trim().is_empty() {
            return Ok(learned.skipped("there are no steps, or no task"));
        }
        if clean.run.steps.len() < settings.min_steps {
            return Ok(learned.skipped("it has fewer steps than traces.minSteps"));
        }
        let mut known = LearnedRun::of(key, &clean, &behaviour, judgement);
        let runs = self.records()?.runs()?;
        let before = known.find_same_run(&runs);
        match before {
            Some(before) => known.key.clone_from(&before.key),
            None => self.learn_correction(&clean, &mut learned)?,
        }
        if clean.run.held_back {
            return Ok(learned.skipped(
                "something in it was taken out as it happened; its transcript can be learned from",
            ));
        }
        let is_weak = judgement.evidence == JudgementEvidence::Weak;
        let why_not = match judgement.ok {
            Some(true) if is_weak && settings.weak == WeakRunPolicy::Skip => {
                Some("the user did not confirm that it worked")
            }
            Some(true) => None,
            Some(false) => Some("the run did not succeed"),
            None => Some("nothing says that the run succeeded"),
        };
        if let Some(why) = why_not {
            self.keep(known, None, settings)?;
            return Ok(learned.skipped(why));
        }
        let is_repeated = || succeeded_alike(&known, &runs).next().is_some();
        let waits = match settings.publish {
            PublishMode::Off => Some("traces.publish is off"),
            _ if is_weak && settings.weak == WeakRunPolicy::WhenRepeated && !is_repeated() => {
                Some("the user did not confirm that it worked, and nothing like it was done before")
            }
            _ => None,
        };
        if let Some(why) = waits {
            self.keep(known, Some(&kept_of(&clean)), settings)?;
            return Ok(learned.skipped(why));
        }
        let same_verdict = |run: &&LearnedRun| run.judgement == judgement && run.skill.is_some();
        if let Some(before) = before.filter(same_verdict) {
            return self.report_known_run(
                before,
                &LearnContext { clean, known: known.clone(), settings },
                learned,
            );
        }
        let found = LearnContext { clean, known, settings };
        self.draft_run(&found, &runs, learned)
    }

    /// A run that was learned from before: reports what it led to again.
    pub(crate) fn report_known_run(
        &self,
        before: &LearnedRun,
        found: &LearnContext<'_>,
        mut learned: LearnResult,
    ) -> Result<LearnResult> {
        learned.became = LearnStatus::Known;
        learned.reason = Some("this run was learned from before".to_owned());
        let id = before.proposal.as_deref().unwrap_or_default();
        learned.proposal = self.records()?.proposal(id).ok();
        let mut made = self.made(&found.clean, RunTally::one(found), found);
        if let Some(skill) = &before.skill {
            made.name.clone_from(skill);
        }
        learned.draft = Some(made);
        Ok(learned)
    }

    fn made(&self, clean: &CleanRun, runs: RunTally, found: &LearnContext<'_>) -> SkillDraft {
        let making = DraftContext {
            runs: runs.count,
            confidence: DraftConfidence::of(&clean.run.steps, runs.evidence, runs.trusted),
            now: self.now(),
            exact: found.settings.reference_exact,
            max_script: found.settings.scripts.then(|| self.settings().max_skill_bytes),
        };
        let scanner = self.parts.scanner;
        let dangerous = |command: &str| {
            let report = scanner.scan_proposal_text(command);
            report.at_least(sinew_guard::scan::FindingSeverity::Warn).next().is_some()
        };
        draft(clean, &making, &dangerous)
    }

    /// Drafts a run together with those that took the same steps, and proposes it.
    pub(crate) fn draft_run(
        &self,
        found: &LearnContext<'_>,
        runs: &[LearnedRun],
        mut learned: LearnResult,
    ) -> Result<LearnResult> {
        let others = || runs.iter().rev().filter(|run| run.key != found.known.key);
        let drafted = || others().filter(|run| run.skill.is_some());
        let relation = |run: &&LearnedRun| found.known.relation(run);
        let is_alike = |run: &&LearnedRun| {
            matches!(relation(run), RunRelation::SameBehaviour | RunRelation::Near)
        };
        let leader = drafted().find(|run| is_alike(run));
        let group: Vec<&LearnedRun> = match leader {
            Some(leader) => drafted().filter(|run| run.skill == leader.skill).collect(),
            None => succeeded_alike(&found.known, runs).collect(),
        };
        let mut older = Vec::new();
        let records = self.records()?;
        for run in group.iter().filter(|run| is_alike(run)).take(MAX_MERGED - 1) {
            older.extend(records.run(&run.key)?);
        }
        // A failed run with the same steps removes the confidence.
        let failed_lately =
            others().filter(|run| is_alike(run)).take(2).any(|run| run.judgement.ok == Some(false));
        let count = older.len() + 1;
        let exact = found.settings.reference_exact;
        let mut merged = match exact || older.is_empty() {
            true => found.clean.clone(),
            false => merge(&found.clean, &older),
        };
        if !exact {
            keep_consents(&mut merged, &self.asked_before(&group)?);
        }
        let all = group.iter().filter(|run| is_alike(run)).map(|run| run.judgement.evidence);
        let evidence = all.chain([found.known.judgement.evidence]);
        let runs_of = RunTally {
            count,
            trusted: if failed_lately { count.min(2) } else { count },
            evidence: evidence
                .into_iter()
                .find(|e| *e != JudgementEvidence::Weak)
                .unwrap_or(JudgementEvidence::Weak),
        };
        let mut made = self.made(&merged, runs_of, found);
        let risky =
            |run: &&LearnedRun| run.fingerprint == found.known.fingerprint && made.risk.is_some();
        // Risky drafts of the same behaviour are one question to a person, not many.
        let leader = leader.or_else(|| drafted().find(risky));
        let group = match group.is_empty() {
            true => leader.into_iter().collect(),
            false => group,
        };
        if let Some(skill) = leader.and_then(|leader| leader.skill.clone()) {
            made.name = self.merged_name(skill, &made, &group, found, runs)?;
        } else if let Some(proposal) = self.interrupted_proposal(&made.task, found, runs)? {
            return self.adopt(proposal, made, found, learned);
        } else {
            made.name = self.free_name(&made.name, found, runs)?;
        }
        learned.draft = Some(made.clone());
        let done = match self.publish(&made, found, &group) {
            Ok(done) => done,
            Err(error) if error.is_of_machine() => return Err(error),
            Err(error) => {
                // A draft that the gates refuse is not shown either.
                learned.draft = None;
                return Ok(learned.skipped(error.to_string()));
            }
        };
        self.rename_runs(&group, &made.name, found.settings)?;
        let mut known = found.known.clone();
        known.skill = Some(made.name.clone());
        match done {
            PublishResult::Done(done, became) => {
                known.proposal = Some(done.proposal.id.clone());
                learned.became = match done.proposal.status {
                    ProposalState::Quarantined { .. } => LearnStatus::Quarantined,
                    ProposalState::Applied => LearnStatus::Written,
                    _ => became,
                };
                learned.proposal = Some(done.proposal);
                learned.skill_path = done.skill_path;
                learned.events.extend(done.events);
            }
            PublishResult::Nothing(proposal, why) => {
                known.proposal = proposal.as_ref().map(|proposal| proposal.id.clone());
                learned.became = LearnStatus::Known;
                learned.reason = Some(why);
                learned.proposal = proposal;
            }
        }
        self.keep(known, Some(&kept_of(&found.clean)), found.settings)?;
        Ok(learned)
    }

    /// What earlier runs of a draft asked a person for, those whose steps are not kept any more included.
    fn asked_before(&self, group: &[&LearnedRun]) -> Result<Vec<String>> {
        let mut asked: Vec<String> = group.iter().flat_map(|run| run.asked()).collect();
        let records = self.records()?;
        for run in group {
            let Some(id) = run.proposal.as_deref() else { continue };
            let Ok(proposal) = records.proposal(id) else { continue };
            let told = proposal.change.generated().and_then(|made| made.metadata.as_ref());
            let told = told.and_then(|told| told.pointer("/openclaw/generated/consent"));
            let told = told.and_then(serde_json::Value::as_array).into_iter().flatten();
            asked.extend(told.filter_map(|what| what.as_str().map(str::to_owned)));
        }
        Ok(asked)
    }

    /// What a draft of several runs is called: a draft that waits for a person and was called after one run's
    /// value gets a name that has the parameter instead. What was written keeps its name.
    fn merged_name(
        &self,
        skill: String,
        made: &SkillDraft,
        group: &[&LearnedRun],
        found: &LearnContext<'_>,
        runs: &[LearnedRun],
    ) -> Result<String> {
        let records = self.records()?;
        let proposals: Vec<Proposal> = group
            .iter()
            .filter_map(|run| records.proposal(run.proposal.as_deref()?).ok())
            .collect();
        let all_open = proposals.iter().all(|proposal| proposal.status.is_open());
        if made.name == skill || !made.task.contains("{{") || proposals.is_empty() || !all_open {
            return Ok(skill);
        }
        // A process that was killed may have renamed the proposal and not the runs.
        let named = |name: &str| {
            let rest = name.strip_prefix(made.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || is_number(rest))
        };
        let there = proposals.into_iter().map(|proposal| proposal.skill_name);
        match there.chain([skill]).find(|name| named(name)) {
            Some(name) => Ok(name),
            None => self.free_name(&made.name, found, runs),
        }
    }

    /// Lets the runs of a draft know its new name.
    fn rename_runs(
        &self,
        group: &[&LearnedRun],
        name: &str,
        settings: &TraceSettings,
    ) -> Result<()> {
        for run in group.iter().filter(|run| run.skill.as_deref().is_some_and(|own| own != name)) {
            let known = LearnedRun { skill: Some(name.to_owned()), ..(*run).clone() };
            let _lock = self.lock()?;
            let mut entry = self.raw_records().change()?;
            entry.keep_run(&known, None, settings.keep_runs.saturating_add(1))?;
            entry.save()?;
        }
        Ok(())
    }

    /// The proposal that a process made of this run before it was killed: it is there, and no run that is
    /// remembered led to it.
    fn interrupted_proposal(
        &self,
        task: &str,
        found: &LearnContext<'_>,
        runs: &[LearnedRun],
    ) -> Result<Option<Proposal>> {
        let title = title_of(task);
        let session = found.clean.run.session.as_str();
        let is_known = |id: &str| runs.iter().any(|run| run.proposal.as_deref() == Some(id));
        let proposals = self.records()?.proposals()?;
        Ok(proposals.into_iter().find(|proposal| {
            proposal.source == ProposalSource::Trace
                && !session.is_empty()
                && proposal.session_id.as_deref() == Some(session)
                && proposal.title == title
                && !is_known(&proposal.id)
        }))
    }

    /// Remembers a run whose proposal is there already.
    fn adopt(
        &self,
        proposal: Proposal,
        mut made: SkillDraft,
        found: &LearnContext<'_>,
        mut learned: LearnResult,
    ) -> Result<LearnResult> {
        let mut known = found.known.clone();
        known.skill = Some(proposal.skill_name.clone());
        known.proposal = Some(proposal.id.clone());
        self.keep(known, Some(&kept_of(&found.clean)), found.settings)?;
        made.name.clone_from(&proposal.skill_name);
        learned.became = match proposal.status {
            ProposalState::Quarantined { .. } => LearnStatus::Quarantined,
            ProposalState::Applied => LearnStatus::Written,
            _ => LearnStatus::Proposed,
        };
        learned.draft = Some(made);
        learned.proposal = Some(proposal);
        Ok(learned)
    }

    /// An instruction for the next time, given after a run, is a correction like any other.
    fn learn_correction(&self, clean: &CleanRun, learned: &mut LearnResult) -> Result<()> {
        let Some(said) = &clean.run.next_message else { return Ok(()) };
        let profile = self.settings().capture_profile;
        let CaptureVerdict::Captured(found) =
            capture::judge_message(said, profile, CaptureGuards::On)
        else {
            return Ok(());
        };
        let messages = [
            json!({"role": "user", "content": clean.run.task}),
            json!({"role": "user", "content": said}),
        ];
        let turn = FinishedTurn {
            messages: &messages,
            succeeded: true,
            agent_id: Some(&clean.run.agent),
            session_id: Some(&clean.run.session),
        };
        match self.propose_capture(&found, profile, &turn) {
            Ok(made) => {
                learned.events.extend(made.events);
                learned.correction = Some(made.proposal);
            }
            Err(error) => {
                let noted = self.note(WorkshopEventKind::CaptureSkipped, error.to_string())?;
                learned.events.extend(noted);
            }
        }
        Ok(())
    }

    fn keep(
        &self,
        mut known: LearnedRun,
        clean: Option<&CleanRun>,
        settings: &TraceSettings,
    ) -> Result<()> {
        let _lock = self.lock()?;
        let mut entry = self.raw_records().change()?;
        known.number = entry.next_number();
        entry.keep_run(&known, clean, settings.keep_runs)?;
        entry.save()?;
        Ok(())
    }
}

/// Whether this is what tells two drafts of one name apart: `-2`.
fn is_number(ending: &str) -> bool {
    ending.strip_prefix('-').is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Successful runs with the same steps.
fn succeeded_alike<'k>(
    known: &'k LearnedRun,
    runs: &'k [LearnedRun],
) -> impl Iterator<Item = &'k LearnedRun> {
    runs.iter().rev().filter(|run| {
        run.key != known.key
            && run.judgement.ok == Some(true)
            && matches!(known.relation(run), RunRelation::SameBehaviour | RunRelation::Near)
    })
}
