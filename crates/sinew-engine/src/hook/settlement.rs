//! The results of a finished turn: a correction that is captured, a turn that is counted, and the
//! outcomes of the skills that were opened in it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::OutcomeReporter;
use sinew_cortex::{Ulid, UtcInstant};
use sinew_traces::AgentRun;
use sinew_workshop::{LearnStatus, Proposal, ProposalChange, TaughtSkill};

use super::input::{MaskedText, OpenedSkill, ToolCall};
use super::journal::{JournalTurn, PriorTurn};
use super::log::{HookDecisionKind, LoggedOutcome};
use super::run_settlement::SessionPhase;
use super::turn_usage::{self, SkillUse};
use crate::{Engine, EngineError, NewOutcome};

/// A turn is judged only by the steps that ran in it, not by a person: it counts half.
pub(super) const SHARE: f64 = 0.5;

/// A turn that is settled later than this is recorded with its own time.
const LATE_MS: u64 = 60 * 60 * 1000;

/// The results of a settled turn.
pub(super) struct TurnSettlement {
    pub(super) what: HookDecisionKind,
    /// Whether a model is to review it.
    pub(super) review: bool,
}

impl Engine {
    /// Does what follows from a turn. Doing it again after a crash adds nothing but a counted turn.
    /// `session` is the session up to the turn.
    pub(super) fn settle_turn(
        &self,
        turn: &JournalTurn,
        session: &[JournalTurn],
    ) -> Result<TurnSettlement, EngineError> {
        let (mut proposals, mut notes, mut review) = (Vec::new(), Vec::new(), false);
        let mut taught = Vec::new();
        let (settings, _) = self.workshop().settings();
        if settings.captures_from_hooks() {
            let messages = self.messages(turn);
            let report = self.workshop().hook_turn(&told(turn, &messages))?;
            taught = self.judge_taught(turn, &report.proposals)?;
            proposals = report.proposals.into_iter().map(|made| made.skill_name).collect();
            notes = report.events.iter().map(sinew_workshop::WorkshopEvent::line).collect();
            review = report.review_due;
        }
        let snapshot = self.snapshot();
        let uses = turn_usage::uses(turn, &snapshot.catalog);
        let mut outcomes = self.close_outcomes(turn, &uses)?;
        outcomes.extend(self.close_runs(session, SessionPhase::GoesOn)?);
        outcomes.extend(taught);
        self.note_turn_usage(turn, &uses, &outcomes, &proposals);
        Ok(TurnSettlement {
            what: HookDecisionKind::Settled { proposals, outcomes, notes },
            review,
        })
    }

    /// Learns from the runs of a session that goes on.
    pub(super) fn learn_live(&self, runs: Vec<AgentRun>) -> Result<HookDecisionKind, EngineError> {
        let (mut drafts, mut notes) = (Vec::new(), Vec::new());
        for learned in self.traces().learn_runs(runs)? {
            match (learned.became, learned.draft, learned.reason) {
                (LearnStatus::Known, ..) => {}
                (_, Some(draft), None) => drafts.push(draft.name),
                (_, _, why) => {
                    notes.extend(why.map(|why| format!("{}: {why}", short(&learned.task))));
                }
            }
        }
        Ok(HookDecisionKind::Learned { drafts, notes })
    }

    /// Lets a model review a session up to a turn: what was asked in it, done and said.
    pub(super) fn review_later(
        &self,
        turn: &JournalTurn,
        before: &[PriorTurn],
    ) -> Result<(), EngineError> {
        let mut messages: Vec<Value> = before
            .iter()
            .flat_map(|prior| spoken(&prior.prompts, &prior.steps, prior.said.as_deref()))
            .collect();
        messages.extend(spoken(&turn.prompts, &turn.steps, turn.said.as_deref()));
        self.workshop().review_turn(&told(turn, &messages)).map(drop)
    }

    fn close_outcomes(
        &self,
        turn: &JournalTurn,
        uses: &[SkillUse<'_>],
    ) -> Result<Vec<LoggedOutcome>, EngineError> {
        let mut closed: Vec<LoggedOutcome> = Vec::new();
        for used in uses {
            let SkillUse { entry, rest, .. } = used;
            self.workshop().note_loaded(entry);
            let known = closed.iter().any(|closed| closed.skill == entry.name);
            // What a run brought is that run's own: see `run_settlement.rs`.
            if known || self.run_of(entry).is_some() {
                continue;
            }
            let mut observed: Vec<String> = used.changes().cloned().collect();
            observed.sort();
            observed.dedup();
            let told = |step: &ToolCall| step.reported.as_deref() == Some(&entry.name);
            let is_told = turn.steps.iter().any(told);
            // What the agent reported counts as it said; what was changed counts in any case.
            let result = if is_told { None } else { result(rest) };
            let counts = result.is_some() || is_told && !observed.is_empty();
            if counts && self.config.cortex.enabled {
                let outcome = NewOutcome { observed, ..self.outcome(turn, entry, result) };
                self.report_outcome(&outcome)?;
            }
            if is_told {
                continue;
            }
            let result = match result {
                Some(Ok(())) => "success".to_owned(),
                Some(Err(kind)) => kind.to_string(),
                None => "unknown".to_owned(),
            };
            closed.push(LoggedOutcome { skill: entry.name.clone(), result });
        }
        Ok(closed)
    }

    /// How the rules did that were brought with the turn before: a user who corrects the same thing
    /// again says that they failed, and one who goes on says that they were followed. A correction of
    /// something else says neither.
    fn judge_taught(
        &self,
        turn: &JournalTurn,
        made: &[Proposal],
    ) -> Result<Vec<LoggedOutcome>, EngineError> {
        let Some(before) = &turn.before else { return Ok(Vec::new()) };
        let snapshot = self.snapshot();
        let mut judged: Vec<LoggedOutcome> = Vec::new();
        for offer in before.offers.iter().filter(|offer| offer.how.brought_text()) {
            let entry = snapshot.catalog.unshadowed().find(|entry| entry.name == offer.skill);
            let Some(entry) = entry.filter(|entry| {
                entry.skill.as_ref().is_some_and(|skill| TaughtSkill::of(skill).is_some())
            }) else {
                continue;
            };
            if judged.iter().any(|known| known.skill == entry.name) {
                continue;
            }
            let corrected = |made: &&Proposal| {
                made.skill_name == entry.name && matches!(made.change, ProposalChange::Rule { .. })
            };
            let worked = match made.iter().find(corrected) {
                Some(made) if made.was_said_before() => Err(FailureKind::RuntimeError),
                Some(_) => continue,
                None => Ok(()),
            };
            if self.config.cortex.enabled {
                self.report_outcome(&self.outcome(turn, entry, Some(worked)))?;
            }
            let result = match worked {
                Ok(()) => "success".to_owned(),
                Err(_) => {
                    "its rules were brought, and the user corrected the same again".to_owned()
                }
            };
            judged.push(LoggedOutcome { skill: entry.name.clone(), result });
        }
        Ok(judged)
    }

    fn outcome(
        &self,
        turn: &JournalTurn,
        entry: &CatalogEntry,
        worked: Option<Result<(), FailureKind>>,
    ) -> NewOutcome {
        let stopped = UtcInstant::from_clock(turn.at);
        let late = self.env.clock.now_ms().saturating_sub(turn.at) > LATE_MS;
        let task = turn.prompts.iter().find(|prompt| !prompt.had_secret);
        let task = task.map_or(entry.description.as_str(), |prompt| prompt.text.as_str());
        let known = self.skill_identity(entry);
        NewOutcome {
            id: Some(Ulid::new(stopped, chance(turn, entry))),
            task: Some(task.to_owned()),
            slug: known.slug,
            version: known.version,
            source: Some(known.source),
            digest: known.digest,
            worked: worked.map(|worked| worked.is_ok()),
            kind: worked.and_then(Result::err),
            blame: Some(SHARE),
            at: late.then_some(stopped),
            origin: OutcomeReporter::Agent,
            agent: Some(turn.agent.clone()),
            ..NewOutcome::default()
        }
    }
}

/// The same turn and skill give the same id, so that a turn that is settled twice counts once.
fn chance(turn: &JournalTurn, entry: &CatalogEntry) -> u128 {
    let digest = Sha256::new()
        .chain_update(&turn.session)
        .chain_update([0])
        .chain_update(turn.number.to_le_bytes())
        .chain_update(&entry.name)
        .finalize();
    digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// How the steps after a skill was opened went: as the last of them did. Opening further skills says
/// nothing, and without any step the result is unknown.
pub(super) fn result(after: &[ToolCall]) -> Option<Result<(), FailureKind>> {
    let last = after.iter().rev().find(|step| step.used.is_none() && step.reported.is_none())?;
    Some(match last.failed {
        Some(kind) => Err(kind),
        None => Ok(()),
    })
}

pub(super) fn entry<'c>(
    catalog: &'c Catalog,
    used: &OpenedSkill,
    workspace: &Path,
) -> Option<&'c CatalogEntry> {
    match used {
        OpenedSkill::Name(name) => catalog.lookup(name).ok(),
        OpenedSkill::File(file) => {
            let file = workspace.join(file);
            let real = |path: &Path| -> Option<PathBuf> { std::fs::canonicalize(path).ok() };
            let wanted = real(&file);
            catalog.unshadowed().find(|entry| {
                entry.file_path == file || (wanted.is_some() && real(&entry.file_path) == wanted)
            })
        }
    }
}

/// The beginning of a task, for a line of the log.
fn short(task: &str) -> String {
    task.chars().take(60).collect()
}

fn told<'t>(turn: &'t JournalTurn, messages: &'t [Value]) -> sinew_workshop::FinishedTurn<'t> {
    sinew_workshop::FinishedTurn {
        messages,
        succeeded: true,
        agent_id: Some(&turn.agent),
        session_id: Some(&turn.session),
    }
}

impl Engine {
    /// The turn as a transcript, after what was asked and done before it. A message that held a secret
    /// is not part of it: it must not be learned.
    fn messages(&self, turn: &JournalTurn) -> Vec<Value> {
        let mut messages = Vec::new();
        if let Some(before) = &turn.before {
            let said = before.prompts.iter().filter(|prompt| !prompt.had_secret);
            messages.extend(
                said.map(
                    |prompt| json!({ "role": "user", "content": prompt.text, "context": true }),
                ),
            );
            messages.extend(calls(&before.steps));
            if let Some(said) = &before.said {
                messages.push(json!({ "role": "assistant", "content": said, "context": true }));
            }
            let snapshot = self.snapshot();
            if let Some(skill) = turn_usage::skill_in_use(before, turn, &snapshot.catalog) {
                messages.push(json!({ "skill_in_use": skill }));
            }
        }
        messages.extend(spoken(&turn.prompts, &turn.steps, turn.said.as_deref()));
        messages
    }
}

/// What was asked in a turn, done and said.
fn spoken(prompts: &[MaskedText], steps: &[ToolCall], said: Option<&str>) -> Vec<Value> {
    let asked = prompts.iter().filter(|prompt| !prompt.had_secret);
    let mut messages: Vec<Value> =
        asked.map(|prompt| json!({ "role": "user", "content": prompt.text })).collect();
    messages.extend(calls(steps));
    messages.extend(said.map(|said| json!({ "role": "assistant", "content": said })));
    messages
}

/// Files that are named of one call.
const MAX_FILES: usize = 4;

/// The tools that were called, as one message.
fn calls(steps: &[ToolCall]) -> Option<Value> {
    let calls: Vec<Value> = steps
        .iter()
        .map(|step| {
            let opened = step.used.as_ref().map(|used| match used {
                OpenedSkill::Name(name) => format!("skills/{name}/"),
                OpenedSkill::File(file) => file.to_string_lossy().replace('\\', "/"),
            });
            let touched = step.files.iter().filter(|file| opened.as_ref() != Some(file)).cloned();
            let files: Vec<String> =
                opened.iter().cloned().chain(touched).take(MAX_FILES).collect();
            let (name, ok) = (&step.tool, step.failed.is_none());
            json!({ "type": "tool_call", "name": name, "ok": ok, "files": files })
        })
        .collect();
    (!calls.is_empty()).then(|| json!({ "role": "assistant", "content": calls }))
}
