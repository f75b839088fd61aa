//! What a yes covers, and how long.

use sinew_cortex::acquire::{
    AcquireCandidate, AcquireEffect, AcquireEvent, AcquireRefusal, AcquireState, CandidateVerdict,
    ConsentAct, ConsentChannel, ConsentReply, check_consent,
};
use sinew_cortex::record::RecordBody;
use sinew_settings::config::RelayPolicy;

use super::world::{World, YES, harmless, reply};
use crate::bundle::DAY;

#[test]
fn others_are_searched_for_once() {
    let mut world = World { wants_others: true, ..World::new() };
    world.registry.push(AcquireCandidate::new("five", "github"));
    world.run();
    assert_eq!(world.installs, ["four"]);
    assert_eq!(world.memory().stats.searches, 1, "searches count per run");
    let mut world = World { wants_others: true, ..World::new() };
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        run.others && matches!(run.state, AcquireState::Approve { .. })
    });
    let refused = world.step(&run, AcquireEvent::OthersWanted);
    assert_eq!(refused, Err(AcquireRefusal::OthersOnce));
}

#[test]
fn an_unanswered_question_expires() {
    let mut world = World::new();
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        matches!(run.state, AcquireState::Approve { .. })
    });
    assert_eq!(world.step(&run, AcquireEvent::TimeUp), Err(AcquireRefusal::NotNow));
    world.now = world.now.plus_ms(DAY + 1);
    for event in [AcquireEvent::TimeUp, AcquireEvent::Answered(reply(YES))] {
        let stepped = world.step(&run, event).expect("a step");
        let run = world.drive(stepped.run, stepped.effects, |_| false);
        assert_eq!(run.state.name(), "aborted(expired)");
    }
    assert!(world.installs.is_empty());
}

#[test]
fn bytes_that_changed_after_the_yes_are_not_installed() {
    let mut world = World::new();
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        run.state == AcquireState::Install
    });
    let stepped =
        world.step(&run, AcquireEvent::Installed("sha256:other".to_owned())).expect("a step");
    assert_eq!(stepped.run.attempts[0].slug, "one");
    assert_eq!(stepped.run.current().map(|offer| offer.slug.as_str()), Some("two"));
    // An approval is bound to the digest it was given for.
    let mut swapped = run.clone();
    if let Some(staged) = &mut swapped.candidates[0].staged {
        staged.digest = "sha256:swapped".to_owned();
    }
    assert!(run.covers(&run.candidates[0]) && !swapped.covers(&swapped.candidates[0]));
}

#[test]
fn an_agent_may_pass_on_some_answers() {
    let relayed = ConsentReply { channel: ConsentChannel::Relay, ..reply(YES) };
    let check = |act, relay| check_consent(act, &relayed, relay, CandidateVerdict::Allow).is_ok();
    for act in [ConsentAct::Plan, ConsentAct::SwitchCandidate, ConsentAct::Retain] {
        assert!(
            check(act, RelayPolicy::Limited)
                && check(act, RelayPolicy::Allow)
                && !check(act, RelayPolicy::Never)
        );
    }
    for act in [ConsentAct::Install, ConsentAct::Dependency] {
        assert!(
            !check(act, RelayPolicy::Limited)
                && check(act, RelayPolicy::Allow)
                && !check(act, RelayPolicy::Never)
        );
    }
    let can_ask = ConsentReply { can_elicit: true, ..relayed };
    let refused =
        check_consent(ConsentAct::Plan, &can_ask, RelayPolicy::Allow, CandidateVerdict::Allow);
    assert_eq!(refused, Err(AcquireRefusal::MustElicit));
    assert!(
        check_consent(ConsentAct::Install, &reply(YES), RelayPolicy::Never, CandidateVerdict::Warn)
            .is_ok()
    );
}

#[test]
fn every_yes_is_in_the_log_with_its_digest() {
    let mut world = World::new();
    let run = world.run();
    let logged: Vec<&sinew_cortex::record::ConsentRecord> = world
        .log
        .iter()
        .filter_map(|record| match &record.body {
            RecordBody::Consent(consent) => Some(consent),
            _ => None,
        })
        .collect();
    assert_eq!(logged.len(), run.consents.len());
    assert!(logged.iter().any(|consent| consent.digest == Some(harmless("one").digest)));
    assert!(logged.iter().all(|consent| consent.who == "Kim" && consent.run == run.id));
}
