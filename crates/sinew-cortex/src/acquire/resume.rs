//! Resuming a run after a crash.
//!
//! Everything that can be repeated is repeated; nothing that may have happened is done again
//! without checking. A skill that was being used may or may not have done its work: only the user
//! knows.

use super::outcome::UseReport;
use super::run::{AcquireRun, AcquireState, ConsentQuestion, OutcomePrerequisite};
use super::step::{AcquireEffect, AcquireStep};
use super::{ConsentAct, RETRY_AFTER_MS};
use crate::record::RecordBody;

/// What to do to resume the run. The outbox is written first, as after every step.
pub fn resume(run: &AcquireRun) -> AcquireStep {
    let mut run = run.clone();
    let slug = run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
    let mut effects = Vec::new();
    match run.state.clone() {
        AcquireState::Recall => effects.push(AcquireEffect::Recall),
        AcquireState::Search => effects.push(AcquireEffect::Search {
            keywords: run.keywords(),
            without: run.candidates.iter().map(|offer| offer.slug.clone()).collect(),
        }),
        // A notice that the user may not have seen is shown again, after the files are checked
        // again.
        AcquireState::Present | AcquireState::Notice { .. } => {
            run.state = AcquireState::Present;
            let slugs = run.candidates.iter().map(|offer| offer.slug.clone()).collect();
            effects.push(AcquireEffect::Fetch(slugs));
        }
        AcquireState::Approve { question, .. } => {
            // A candidate that failed may still be installed.
            effects.extend(run.installed.clone().map(|slug| AcquireEffect::Uninstall(Some(slug))));
            effects.push(AcquireEffect::Ask(question));
        }
        // `Install` checks the lock and the digest before it does anything.
        AcquireState::Install => {
            let staged = run.current().and_then(|offer| offer.staged.clone());
            let digest = staged.map(|staged| staged.digest).unwrap_or_default();
            effects.push(AcquireEffect::Install { slug, digest });
        }
        AcquireState::Plan { .. } => {
            run.state = AcquireState::Plan { asked: None };
            effects.push(AcquireEffect::MakePlan(slug));
        }
        AcquireState::Execute { attempt } => {
            run.state = AcquireState::Outcome {
                finish: UseReport::unknown(),
                attempt,
                pending: OutcomePrerequisite::HowItWent,
            };
            effects.push(AcquireEffect::AskOutcome(slug));
        }
        AcquireState::Outcome { finish, pending, .. } => effects.push(match pending {
            OutcomePrerequisite::Wait => AcquireEffect::Wait(RETRY_AFTER_MS),
            OutcomePrerequisite::HowItWent => AcquireEffect::AskOutcome(slug),
            OutcomePrerequisite::Credentials => AcquireEffect::AskCredentials(slug),
            OutcomePrerequisite::Dependency | OutcomePrerequisite::Installing => {
                // A new check will show whether the program was installed; the question is asked
                // again.
                let subject = finish.command.clone().or_else(|| finish.key.clone());
                if let AcquireState::Outcome { pending, .. } = &mut run.state {
                    *pending = OutcomePrerequisite::Dependency;
                }
                let subject = subject.unwrap_or(slug);
                AcquireEffect::Ask(ConsentQuestion {
                    act: ConsentAct::Dependency,
                    subject,
                    digest: None,
                })
            }
        }),
        AcquireState::Learn { finish, record } => {
            let outcome = outcome_of(&run, record, &finish);
            let learns = finish.failed().is_none() && !run.hit && run.searches > 0;
            let task = run.task.clone().filter(|_| learns);
            let point = finish.point;
            effects.push(AcquireEffect::Learn { record, outcome: Box::new(outcome), task, point });
        }
        AcquireState::Retain { .. } => {
            effects.push(AcquireEffect::Ask(ConsentQuestion {
                act: ConsentAct::Retain,
                subject: slug,
                digest: None,
            }));
        }
        AcquireState::Release { .. } => {
            effects.push(AcquireEffect::Uninstall(run.installed.clone()));
        }
        AcquireState::Closed { .. } => {}
    }
    AcquireStep { run, effects }
}

/// The outcome that is being learned: from the outbox, or rebuilt from the run.
fn outcome_of(
    run: &AcquireRun,
    record: crate::id::Ulid,
    finish: &UseReport,
) -> crate::record::SkillOutcome {
    let logged = run.outbox.iter().find(|logged| logged.id == record);
    match logged.map(|logged| &logged.body) {
        Some(RecordBody::Outcome(outcome)) => (**outcome).clone(),
        _ => {
            let attempts = run.attempts.last().map_or(1, |attempt| attempt.attempts);
            let offer = run.current().cloned();
            let offer = offer.unwrap_or_else(|| super::AcquireCandidate::new("", "clawhub"));
            super::outcome::outcome(run, &offer, finish, attempts)
        }
    }
}
