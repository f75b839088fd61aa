//! The acquisition flow with hands, over a market in memory: what happens in which order, what is asked
//! and what is left behind. A number in brackets is an acceptance case of the cortex, `hub` and a number
//! one of the hub. The same flow over real registries is tested with the command.

mod choices;
mod crashes;
mod effects;
mod failures;
mod first;
mod reflexes;
mod resumed;
mod stall;

use std::collections::VecDeque;

use sinew_cortex::acquire::UseReport;
use sinew_engine::Engine;
use sinew_engine::acquire::{
    AcquireHost, AcquireProgress, AcquireRequest, AcquireStatus, AcquireWait, PauseEnd, ReadySkill,
};
use sinew_engine::approval::{
    ApprovalAnswer, ApprovalQuestion, Approver, ConsentAct, ConsentChannel, ConsentScope,
};
use sinew_engine::hub::ApprovalMethod;
use sinew_settings::Actor;

use stall::Stall;

const TASK: &str = "manage my to-do list";
/// A yes to everything that is listed.
const YES: ApprovalAnswer = yes(ConsentScope::Listed);
/// A yes to the first candidate alone.
const ONLY: ApprovalAnswer = yes(ConsentScope::OnlyThis);

const fn yes(scope: ConsentScope) -> ApprovalAnswer {
    ApprovalAnswer::Yes { by: String::new(), method: ApprovalMethod::Prompt, reason: None, scope }
}

/// A person who answers as the story wants, and sees everything.
#[derive(Default)]
struct Kim {
    answers: VecDeque<ApprovalAnswer>,
    finishes: VecDeque<UseReport>,
    went: Option<UseReport>,
    credentials: Option<bool>,
    cancels: bool,
    events: Vec<serde_json::Value>,
    asked: Vec<(ConsentAct, String)>,
    waited: Vec<u64>,
}

impl Kim {
    fn answering(answers: impl IntoIterator<Item = ApprovalAnswer>) -> Self {
        Self { answers: answers.into_iter().collect(), ..Self::default() }
    }

    fn finishing(mut self, finishes: impl IntoIterator<Item = UseReport>) -> Self {
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

    fn acts(&self) -> Vec<ConsentAct> {
        self.asked.iter().map(|(act, _)| *act).collect()
    }
}

impl Approver for Kim {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        let ApprovalQuestion::Stored { approval, .. } = question else {
            panic!("an acquisition asks stored questions only: {question:?}");
        };
        self.asked.push((approval.kind, approval.subject.name.clone()));
        self.answers.pop_front().unwrap_or(ApprovalAnswer::ABSENT)
    }
}

impl AcquireHost for Kim {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        self.events.push(serde_json::to_value(told).expect("JSON"));
    }

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (Actor::Person { name: Some("kim".to_owned()), via: None }, ConsentChannel::Cli)
    }

    fn offer_cancel(&mut self, ms: u64) -> PauseEnd {
        self.waited.push(ms);
        if self.cancels { PauseEnd::Cancelled } else { PauseEnd::Passed }
    }

    fn wait(&mut self, ms: u64) -> PauseEnd {
        self.waited.push(ms);
        PauseEnd::Passed
    }

    fn use_skill(&mut self, _ready: &ReadySkill<'_>) -> Option<UseReport> {
        self.finishes.pop_front()
    }

    fn ask_outcome(&mut self, _slug: &str) -> Option<UseReport> {
        self.went.take()
    }

    fn confirm_credentials(&mut self, _slug: &str, _names: &[String]) -> Option<bool> {
        self.credentials
    }
}

fn begin(engine: &Engine, stall: &Stall, task: &str, kim: &mut Kim) -> AcquireStatus {
    let wish = AcquireRequest { task: task.to_owned(), ..AcquireRequest::default() };
    engine.hub().acquisition(stall).begin(&wish, kim).expect("a run")
}

/// How a run ended, or what it waits for.
fn end(standing: &AcquireStatus) -> String {
    match &standing.waits {
        AcquireWait::Nothing { end } => end.name().to_owned(),
        AcquireWait::Approval { approval } => format!("waits for {}", approval.kind.as_str()),
        other => serde_json::to_value(other).expect("JSON")["for"].to_string(),
    }
}

/// Uses the task's skill successfully once a week, so often.
fn weekly(world: &crate::cortex::support::World, stall: &Stall, times: usize) {
    for _ in 0..times {
        let mut kim =
            Kim::answering([YES, YES, ApprovalAnswer::No]).finishing([UseReport::success()]);
        let standing = begin(&world.engine(), stall, TASK, &mut kim);
        assert_eq!(end(&standing), "done(released)", "{:?}", kim.story());
        world.pass(7 * 24 * 3_600_000);
    }
}
