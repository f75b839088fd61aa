//! Splits the events of a session into runs: one task each.
//!
//! A run starts at a user message that is followed by work. Thanks and corrections belong to the run
//! before them. A run is handed on as soon as the next one starts, so that a long session needs no
//! more memory than its longest run.

use std::collections::HashMap;

use crate::run::{self, AgentRun, RunEnding, RunStep, StepAction, StepTarget};
use crate::{harness, program, user_reaction};

/// Steps kept of one run; further ones are only counted.
const MAX_STEPS: usize = 5_000;

/// Bytes that the steps of one run may hold; later steps lose fields, thought and result.
const MAX_RUN_BYTES: usize = 24 * 1024 * 1024;

/// Calls that wait for their result: more are never open in a session that is whole.
const MAX_OPEN: usize = 10_000;

/// What a session is about, besides its runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceSession {
    pub(crate) agent: String,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) cwd: Option<String>,
}

/// A step as a reader finds it.
#[derive(Debug, Default)]
pub(crate) struct TranscriptStep {
    pub(crate) call: Option<String>,
    pub(crate) action: StepAction,
    /// The application, where the transcript names it.
    pub(crate) app: Option<String>,
    pub(crate) thought: String,
    pub(crate) target: StepTarget,
    pub(crate) at: String,
}

/// The result of a step.
#[derive(Debug, Default)]
pub(crate) struct TranscriptResult {
    pub(crate) text: String,
    pub(crate) failed: Option<bool>,
    /// Whether no other result of the same call counts any more.
    pub(crate) is_final: bool,
}

#[derive(Debug)]
struct WaitingMessage {
    text: String,
    at: String,
    held_back: bool,
}

/// Cuts a session into runs.
#[derive(Debug, Default)]
pub(crate) struct RunSegmenter {
    pub(crate) session: TraceSession,
    /// Runs that are whole.
    ready: Vec<AgentRun>,
    current: Option<AgentRun>,
    weight: usize,
    /// A message that no work has followed yet.
    waiting: Option<WaitingMessage>,
    /// Whether the agent has answered it.
    answered: bool,
    /// The first message behind the current run's work.
    next: Option<String>,
    /// Calls of the current run: which step, and whether its result is final.
    open: HashMap<String, (usize, bool)>,
    /// Steps that were left out.
    pub(crate) left_out: u64,
}

impl RunSegmenter {
    pub(crate) fn new(session: TraceSession) -> Self {
        Self { session, ..Self::default() }
    }

    /// Hands on the runs that are whole.
    pub(crate) fn emit_ready(&mut self, sink: &mut dyn FnMut(AgentRun)) {
        self.ready.drain(..).for_each(sink);
    }

    /// The user said something.
    pub(crate) fn user(&mut self, text: String, at: &str) {
        let text = run::clip_message(text);
        if text.trim().is_empty() {
            return;
        }
        if self.current.is_some() && self.next.is_none() {
            self.next = Some(text.clone());
        }
        // Two messages in a row are one request, named by the first; but thanks are not a request.
        let is_reaction = |said: &WaitingMessage| {
            user_reaction::reaction(&said.text) != user_reaction::UserReaction::None
        };
        if self.answered || self.waiting.as_ref().is_none_or(is_reaction) {
            self.waiting = Some(WaitingMessage { text, at: at.to_owned(), held_back: false });
        }
        self.answered = false;
    }

    /// A new task, whatever was said before: formats that name tasks.
    pub(crate) fn task(&mut self, text: String, at: &str) {
        self.close();
        let text = run::clip_message(text);
        self.waiting = Some(WaitingMessage { text, at: at.to_owned(), held_back: false });
    }

    /// The agent did something; whether it is a step of its work.
    pub(crate) fn step(&mut self, new: TranscriptStep) -> bool {
        if let Some(ok) = new.action.reported() {
            if let Some(run) = &mut self.current {
                run.reported = Some(ok);
            }
            return false;
        }
        if harness::is_harness_action(&new.action.kind) {
            return false;
        }
        self.open_run(&new.at);
        let Some(run) = &mut self.current else { return false };
        run.ending = RunEnding::Open;
        if run.steps.len() >= MAX_STEPS {
            run.left_out += 1;
            self.left_out += 1;
            return false;
        }
        let app = new.app.filter(|app| !app.is_empty());
        let app = app.unwrap_or_else(|| program::app(&new.action));
        let mut step =
            RunStep { action: new.action, app, target: new.target, ..RunStep::default() };
        step.set_thought(new.thought);
        if self.weight >= MAX_RUN_BYTES {
            step.action.fields.clear();
            step.thought.clear();
        }
        self.weight += step.weight();
        if let Some(call) = new.call
            && self.open.len() < MAX_OPEN
        {
            self.open.insert(call, (run.steps.len(), false));
        }
        run.steps.push(step);
        true
    }

    /// A call's result came back.
    pub(crate) fn result(&mut self, call: &str, result: TranscriptResult) {
        let Some(run) = &mut self.current else { return };
        let Some((at, is_final)) = self.open.get_mut(call) else { return };
        if *is_final && !result.is_final {
            return;
        }
        *is_final = result.is_final;
        if let Some(step) = run.steps.get_mut(*at) {
            set(step, result, &mut self.weight);
        }
    }

    /// The result of the step before.
    pub(crate) fn last_result(&mut self, result: TranscriptResult) {
        if let Some(step) = self.current.as_mut().and_then(|run| run.steps.last_mut()) {
            set(step, result, &mut self.weight);
        }
    }

    /// The agent said something.
    pub(crate) fn agent_message(&mut self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        self.answered = true;
        if self.next.is_some() {
            return;
        }
        if let Some(run) = &mut self.current {
            run.final_message = run::clip_message(text);
        }
    }

    /// A part of the current run was cleaned by itself: the whole cannot be any more.
    pub(crate) fn hold_back(&mut self) {
        match (&mut self.waiting, &mut self.current) {
            (Some(said), _) => said.held_back = true,
            (None, Some(run)) => run.held_back = true,
            (None, None) => {}
        }
    }

    /// Sets how the run ended according to the transcript.
    pub(crate) fn set_ending(&mut self, ending: RunEnding) {
        if self.next.is_some() {
            return;
        }
        if let Some(run) = &mut self.current {
            let is_stated = |ending| {
                matches!(ending, RunEnding::Succeeded | RunEnding::Failed | RunEnding::Aborted)
            };
            if !is_stated(run.ending) || is_stated(ending) {
                run.ending = ending;
            }
        }
    }

    /// The transcript is at its end.
    pub(crate) fn finish(&mut self) {
        self.close();
    }

    fn open_run(&mut self, at: &str) {
        let Some(said) = self.waiting.take() else {
            if self.current.is_none() {
                // Work without a request before it: there is no task to name it by.
                self.start(String::new(), at);
            }
            return;
        };
        if self.current.is_some() && user_reaction::is_about_last_run(&said.text) {
            // The work goes on, so the message about it is not a verdict yet.
            self.next = None;
            if said.held_back {
                self.hold_back();
            }
            return;
        }
        self.close();
        let at = if said.at.is_empty() { at.to_owned() } else { said.at };
        self.start(said.text, &at);
        if said.held_back {
            self.hold_back();
        }
    }

    fn start(&mut self, task: String, at: &str) {
        self.weight = 0;
        self.open.clear();
        self.current = Some(AgentRun {
            agent: self.session.agent.clone(),
            session: self.session.id.clone(),
            parent: self.session.parent.clone(),
            cwd: self.session.cwd.clone(),
            task,
            started_at: at.to_owned(),
            ..AgentRun::default()
        });
    }

    fn close(&mut self) {
        let next = self.next.take();
        if let Some(mut run) = self.current.take() {
            run.next_message = next;
            self.ready.push(run);
        }
    }
}

fn set(step: &mut RunStep, result: TranscriptResult, weight: &mut usize) {
    let before = step.weight();
    step.set_result(result.text, result.failed);
    if *weight >= MAX_RUN_BYTES {
        step.result.clear();
    }
    *weight = (*weight + step.weight()).saturating_sub(before);
}
