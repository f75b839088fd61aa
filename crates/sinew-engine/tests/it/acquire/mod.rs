//! The acquisition flow with hands, over a market in memory: what happens in which order, what is asked
//! and what is left behind. A number in brackets is an acceptance case of the cortex, `hub` and a number
//! one of the hub. The same flow over real registries is tested with the command.

mod crashes;
mod failures;
mod first;
mod reflexes;
mod resumed;
mod stall;

use std::collections::VecDeque;

use sinew_cortex::acquire::{Finish, Run};
use sinew_engine::acquire::{Host, Paused, Ready, Reply, Standing, Told, Waits, Wish};
use sinew_engine::approval::{Act, Approval, Channel};
use sinew_engine::{Actor, Engine};

use stall::Stall;

const TASK: &str = "manage my to-do list";

/// A person who answers as the story wants, and sees everything.
#[derive(Default)]
struct Kim {
    answers: VecDeque<Reply>,
    finishes: VecDeque<Finish>,
    went: Option<Finish>,
    credentials: Option<bool>,
    cancels: bool,
    events: Vec<serde_json::Value>,
    asked: Vec<(Act, String)>,
    waited: Vec<u64>,
}

impl Kim {
    fn answering(answers: impl IntoIterator<Item = Reply>) -> Self {
        Self { answers: answers.into_iter().collect(), ..Self::default() }
    }

    fn finishing(mut self, finishes: impl IntoIterator<Item = Finish>) -> Self {
        self.finishes.extend(finishes);
        self
    }

    /// The names of what happened, in order.
    fn story(&self) -> Vec<&str> {
        self.events.iter().filter_map(|event| event["event"].as_str()).collect()
    }

    fn event(&self, name: &str) -> &serde_json::Value {
        self.events.iter().rfind(|event| event["event"] == name).expect("it happened")
    }

    fn acts(&self) -> Vec<Act> {
        self.asked.iter().map(|(act, _)| *act).collect()
    }
}

impl Host for Kim {
    fn told(&mut self, told: &Told<'_>) {
        self.events.push(serde_json::to_value(told).expect("JSON"));
    }

    fn speaker(&self) -> (Actor, Channel) {
        (Actor::Person { name: Some("kim".to_owned()) }, Channel::Cli)
    }

    fn answer(&mut self, approval: &Approval, _run: &Run) -> Reply {
        self.asked.push((approval.kind, approval.subject.name.clone()));
        self.answers.pop_front().unwrap_or(Reply::Later)
    }

    fn may_cancel(&mut self, ms: u64) -> Paused {
        self.waited.push(ms);
        if self.cancels { Paused::Cancelled } else { Paused::Passed }
    }

    fn wait(&mut self, ms: u64) -> Paused {
        self.waited.push(ms);
        Paused::Passed
    }

    fn use_skill(&mut self, _ready: &Ready<'_>) -> Option<Finish> {
        self.finishes.pop_front()
    }

    fn how_it_went(&mut self, _slug: &str) -> Option<Finish> {
        self.went.take()
    }

    fn credentials(&mut self, _slug: &str, _names: &[String]) -> Option<bool> {
        self.credentials
    }
}

fn begin(engine: &Engine, stall: &Stall, task: &str, kim: &mut Kim) -> Standing {
    let wish = Wish { task: task.to_owned(), ..Wish::default() };
    engine.acquisition(stall).begin(&wish, kim).expect("a run")
}

/// How a run ended, or what it waits for.
fn end(standing: &Standing) -> String {
    match &standing.waits {
        Waits::Nothing { end } => end.name().to_owned(),
        Waits::Approval { approval } => format!("waits for {}", approval.kind.as_str()),
        other => serde_json::to_value(other).expect("JSON")["for"].to_string(),
    }
}

/// Uses the task's skill successfully once a week, so often.
fn weekly(world: &crate::cortex::support::World, stall: &Stall, times: usize) {
    for _ in 0..times {
        let mut kim =
            Kim::answering([Reply::YES, Reply::YES, Reply::NO]).finishing([Finish::success()]);
        let standing = begin(&world.engine(), stall, TASK, &mut kim);
        assert_eq!(end(&standing), "done(released)", "{:?}", kim.story());
        world.pass(7 * 24 * 3_600_000);
    }
}
