//! What events left behind, done by a process of its own: turns that could not be settled in time, runs
//! that are learned from, the reviewer's passes, and the index.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use sinew_settings::Environment;

use super::agents::HookMoment;
use super::journal::{JournalTurn, SessionJournal};
use super::journal_line::JournalLine;
use super::log::{HookDecision, HookDecisionKind, HookLog};
use super::run_settlement::SessionPhase;
use super::work_queue::{QueuedWork, WorkQueue, WorkRequest};
use super::{home, kept, now, sessions};
use crate::agent_trial::is_trial;
use crate::{Engine, EngineError, EngineOptions, LearnSource};

/// How long vectors of one place are computed while work for another waits.
const LONGEST_TURN: Duration = Duration::from_secs(30);

/// Asks for work in the background: turns that could not be settled in time, and the index of
/// `options.workspace` with its vectors. Where the answer says so, the caller starts a process that calls
/// [`settle_queued`].
pub fn request_work(
    env: &Environment,
    options: &EngineOptions,
) -> Result<WorkRequest, EngineError> {
    let work = QueuedWork::of(options, &env.cwd);
    let now = UNIX_EPOCH + Duration::from_millis(env.clock.now_ms());
    WorkQueue::below(&home(env)).add(&work, now).map_err(kept)
}

/// Does what was asked for, unless another process is doing it.
pub fn settle_queued(env: &Environment) -> Result<(), EngineError> {
    if is_trial(env) {
        return Ok(());
    }
    let mut trouble = None;
    let queue = WorkQueue::below(&home(env));
    let worked = queue.work_off(&mut |waiting| {
        let places: Vec<EngineOptions> = waiting.into_iter().map(QueuedWork::options).collect();
        let settled = places.first().map_or(Ok(()), |first| settle_sessions(env, first));
        // An error in one place does not stop the others.
        let done = places.iter().fold(settled, |done, place| {
            let began = OnceCell::new();
            // Many vectors take minutes: others who wait get their turn in between.
            let goes_on = || {
                let began: &Instant = began.get_or_init(Instant::now);
                began.elapsed() < LONGEST_TURN || queue.is_empty()
            };
            let completed = match complete_index(env, place, &goes_on) {
                Ok(0) => Ok(()),
                Ok(_) => request_work(env, place).map(drop),
                Err(error) => Err(error),
            };
            done.and(completed)
        });
        if let Err(error) = done {
            tracing::warn!(%error, "work in the background could not be finished");
            trouble = Some(error);
        }
    });
    worked.map_err(kept)?;
    trouble.map_or(Ok(()), Err)
}

/// Does what events left behind, now: turns that could not be settled in time, the reviewer's passes,
/// and the index of `options.workspace`.
pub fn settle_all(env: &Environment, options: &EngineOptions) -> Result<(), EngineError> {
    if is_trial(env) {
        return Ok(());
    }
    let _alone = WorkQueue::below(&home(env)).alone().map_err(kept)?;
    let settled = settle_sessions(env, options);
    complete_index(env, options, &|| true)?;
    settled
}

/// Learns from the sources that are watched, tells agents in library mode of skills that came or went,
/// and completes the index of a workspace. Returns how many vectors are still missing.
fn complete_index(
    env: &Environment,
    options: &EngineOptions,
    goes_on: &dyn Fn() -> bool,
) -> Result<usize, EngineError> {
    let engine = Engine::open(env.clone(), options.clone())?;
    engine.traces().learn(&LearnSource::Sources, None, &|_, _| {})?;
    if let Err(error) = engine.connect().follow_library() {
        tracing::warn!(%error, "an agent in library mode could not be brought up to date");
    }
    engine.end_overdue_runs();
    let snapshot = engine.snapshot();
    engine.routing().keep_for_questions(&snapshot);
    engine.keep_taught(&snapshot.catalog, goes_on);
    engine.routing().fill_vectors_slowly(&snapshot, goes_on)
}

fn settle_sessions(env: &Environment, options: &EngineOptions) -> Result<(), EngineError> {
    let mut engines: BTreeMap<PathBuf, Engine> = BTreeMap::new();
    let mut trouble = None;
    for journal in SessionJournal::all(&sessions(env)) {
        if journal.is_forgotten(env.clock.now_ms()) {
            journal.forget().map_err(kept)?;
            continue;
        }
        let workspace = match journal.pending().map_err(kept)? {
            pending if pending.is_empty() && !pending.is_over => continue,
            pending => {
                let any = pending.turns.first().or(pending.review.as_ref());
                let any = any.or(pending.learn.as_ref()).or(pending.session.last());
                // A session that broke off in its first turn told of none.
                let place = any.map(|turn| turn.workspace.clone());
                place.filter(|place| !place.as_os_str().is_empty())
            }
        };
        let Some(workspace) = workspace else { continue };
        if !engines.contains_key(&workspace) {
            let options = EngineOptions { workspace: Some(workspace.clone()), ..options.clone() };
            engines.insert(workspace.clone(), Engine::open(env.clone(), options)?);
        }
        let Some(engine) = engines.get(&workspace) else { continue };
        let done = settle(engine, &journal)
            .and_then(|()| learn(engine, &journal))
            .and_then(|()| review(engine, &journal))
            .and_then(|()| end(engine, &journal));
        // An error in one session does not stop the others.
        if let Err(error) = done {
            tracing::warn!(%error, "the work that a session left over could not be finished");
            trouble = Some(error);
        }
    }
    trouble.map_or(Ok(()), Err)
}

/// Does what follows from the turns of a session that are over.
pub(super) fn settle(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    let _alone = journal.settling().map_err(kept)?;
    let pending = journal.pending().map_err(kept)?;
    for turn in &pending.turns {
        let settled = engine.settle_turn(turn, pending.up_to(turn))?;
        let line = JournalLine::Settled { turns: turn.number, review: settled.review };
        journal.mark(&line).map_err(kept)?;
        note(engine, turn, settled.what)?;
    }
    Ok(())
}

/// Ends what a session that is over leaves open, and removes its file where nothing is left to do.
pub(super) fn end(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    {
        let _alone = journal.settling().map_err(kept)?;
        let pending = journal.pending().map_err(kept)?;
        if !pending.is_over {
            return Ok(());
        }
        engine.close_runs(&pending.session, SessionPhase::Over)?;
    }
    journal.close().map_err(kept)
}

/// Learns from what was done in the turns that are over.
fn learn(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    let _alone = journal.settling().map_err(kept)?;
    let Some(turn) = journal.pending().map_err(kept)?.learn else { return Ok(()) };
    let runs = journal.spool().runs().map_err(kept)?;
    let last = runs.last().map(|run| run.started_at.clone());
    let what = engine.learn_live(runs)?;
    journal.mark(&JournalLine::Learned { turns: turn.number }).map_err(kept)?;
    if let Some(start) = last {
        journal.keep_run_from(&start).map_err(kept)?;
    }
    note(engine, &turn, what)
}

fn note(engine: &Engine, turn: &JournalTurn, what: HookDecisionKind) -> Result<(), EngineError> {
    let decided = HookDecision {
        at: now(&engine.env),
        agent: turn.agent.clone(),
        event: HookMoment::Stop.as_str().to_owned(),
        session: Some(turn.session.clone()),
        workspace: Some(turn.workspace.clone()),
        ms: None,
        what,
    };
    HookLog::below(&home(&engine.env)).add(&decided).map_err(kept)
}

fn review(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    let pending = journal.pending().map_err(kept)?;
    let Some(turn) = pending.review else { return Ok(()) };
    // Marked before it is done: a review that hangs or fails is not tried again.
    journal.mark(&JournalLine::Reviewed { turns: turn.number }).map_err(kept)?;
    engine.review_later(&turn, &pending.before_review)
}
