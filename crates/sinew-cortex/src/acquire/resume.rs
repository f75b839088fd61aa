//! Carrying on with a run that a crash left behind.
//!
//! Everything that can be repeated is repeated; nothing that may have happened is done again without
//! looking. A skill that was being used may have done its work or not: only the person knows.

use super::outcome::Finish;
use super::run::{Pending, Question, Run, State};
use super::step::{Effect, Step};
use super::{Act, RETRY_AFTER_MS};
use crate::record::Body;

/// What must be done to carry on. The outbox is written first, as after every step.
pub fn resume(run: &Run) -> Step {
    let mut run = run.clone();
    let slug = run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
    let mut effects = Vec::new();
    match run.state.clone() {
        State::Recall => effects.push(Effect::Recall),
        State::Search => effects.push(Effect::Search {
            keywords: run.keywords(),
            without: run.candidates.iter().map(|offer| offer.slug.clone()).collect(),
        }),
        // A notice that nobody may have seen is shown again, after a fresh look at the files.
        State::Present | State::Notice { .. } => {
            run.state = State::Present;
            let slugs = run.candidates.iter().map(|offer| offer.slug.clone()).collect();
            effects.push(Effect::Fetch(slugs));
        }
        State::Approve { question, .. } => {
            // A candidate that failed may still be there.
            effects.extend(run.installed.clone().map(|slug| Effect::Uninstall(Some(slug))));
            effects.push(Effect::Ask(question));
        }
        // `Install` looks at the lock and the digest before it does anything.
        State::Install => {
            let staged = run.current().and_then(|offer| offer.staged.clone());
            let digest = staged.map(|staged| staged.digest).unwrap_or_default();
            effects.push(Effect::Install { slug, digest });
        }
        State::Plan { .. } => {
            run.state = State::Plan { asked: None };
            effects.push(Effect::MakePlan(slug));
        }
        State::Execute { attempt } => {
            run.state =
                State::Outcome { finish: Finish::unknown(), attempt, pending: Pending::HowItWent };
            effects.push(Effect::AskOutcome(slug));
        }
        State::Outcome { finish, pending, .. } => effects.push(match pending {
            Pending::Wait => Effect::Wait(RETRY_AFTER_MS),
            Pending::HowItWent => Effect::AskOutcome(slug),
            Pending::Credentials => Effect::AskCredentials(slug),
            Pending::Dependency | Pending::Installing => {
                // Whether the program came in, a new look will tell; the question is asked again.
                let subject = finish.command.clone().or_else(|| finish.key.clone());
                if let State::Outcome { pending, .. } = &mut run.state {
                    *pending = Pending::Dependency;
                }
                let subject = subject.unwrap_or(slug);
                Effect::Ask(Question { act: Act::Dependency, subject, digest: None })
            }
        }),
        State::Learn { finish, record } => {
            let outcome = outcome_of(&run, record, &finish);
            let learns = finish.failed().is_none() && !run.hit && run.searches > 0;
            let task = run.task.clone().filter(|_| learns);
            effects.push(Effect::Learn { record, outcome: Box::new(outcome), task });
        }
        State::Retain { .. } => {
            effects.push(Effect::Ask(Question { act: Act::Retain, subject: slug, digest: None }));
        }
        State::Release { .. } => effects.push(Effect::Uninstall(run.installed.clone())),
        State::Closed { .. } => {}
    }
    Step { run, effects }
}

/// The outcome that is being learned: from the outbox, or made again from the run.
fn outcome_of(run: &Run, record: crate::id::Id, finish: &Finish) -> crate::record::Outcome {
    let logged = run.outbox.iter().find(|logged| logged.id == record);
    match logged.map(|logged| &logged.body) {
        Some(Body::Outcome(outcome)) => (**outcome).clone(),
        _ => {
            let attempts = run.attempts.last().map_or(1, |attempt| attempt.attempts);
            let offer = run.current().cloned();
            let offer = offer.unwrap_or_else(|| super::Offer::new("", "clawhub"));
            super::outcome::outcome(run, &offer, finish, attempts)
        }
    }
}
