//! Probation: what was learned is promoted, or a person is asked whether it should go.

use sinew_workshop::{
    ApplyConsent, ProbationStatus, Proposal, ProposalState, TrialRecord, UndoForce, UndoTarget,
    VersionCause, WorkshopError, WorkshopEventKind,
};

use crate::bench::{Bench, PERSON, agent, append, create};

const DAY: u64 = 24 * 60 * 60 * 1000;

fn record(success: u64, failure: u64) -> TrialRecord {
    TrialRecord { used: true, success, failure, success_without: 70, failure_without: 30 }
}

/// What happened, in words.
fn look(bench: &Bench) -> Vec<String> {
    let events = bench.shop(|shop| shop.check_probation()).expect("looked");
    events.iter().map(|event| event.line()).collect()
}

fn asked(bench: &Bench) -> Proposal {
    let pending = bench.shop(|shop| shop.list("pending")).expect("a list");
    let [one] = pending.try_into().expect("one question");
    one
}

fn standing(bench: &Bench, id: &str) -> Option<ProbationStatus> {
    bench.shop(|shop| shop.inspect(id)).expect("a proposal").probation
}

#[test]
fn three_successful_uses_promote() {
    let mut bench = Bench::new();
    let made = bench.write_skill("gif-check", "- Check frames.");
    assert!(matches!(standing(&bench, &made.id), Some(ProbationStatus::Trial { .. })));
    bench.trials.insert("gif-check".to_owned(), record(2, 1));
    assert_eq!(look(&bench), [""; 0]);
    bench.trials.insert("gif-check".to_owned(), record(3, 1));
    assert_eq!(look(&bench), ["skill-workshop: promoted gif-check"]);
    assert!(matches!(standing(&bench, &made.id), Some(ProbationStatus::Promoted { .. })));
    assert_eq!(look(&bench), [""; 0], "once");
    bench.clock.pass(40 * DAY);
    bench.trials.insert("gif-check".to_owned(), TrialRecord::default());
    assert_eq!(look(&bench), [""; 0], "what was promoted may rest");
}

#[test]
fn a_worse_record_asks_a_person_and_the_folder_goes_into_the_history() {
    let mut bench = Bench::new();
    let made = bench.write_skill("gif-check", "- Check frames.");
    bench.settings.approval_policy = sinew_settings::config::ApprovalPolicy::Auto;
    bench
        .shop(|shop| shop.write_support_file("gif-check", "references/list.md", "- One.", &PERSON))
        .expect("written");
    bench.write("skills/gif-check/notes.txt", "by hand");
    bench.trials.insert("gif-check".to_owned(), record(5, 3));
    look(&bench);
    assert!(bench.shop(|shop| shop.list("pending")).expect("a list").is_empty(), "5 of 8 may stay");
    bench.trials.insert("gif-check".to_owned(), record(3, 5));
    assert_eq!(look(&bench), ["skill-workshop: queued gif-check"]);
    assert_eq!(look(&bench), [""; 0], "the question is asked only once");
    let question = asked(&bench);
    assert_eq!(question.title, "Retire gif-check");
    assert!(question.reason.contains("3 of 8") && question.reason.contains("70 of 100"));

    let refused = bench.shop(|shop| shop.apply(&question.id, &agent(), &ApplyConsent::default()));
    assert!(
        matches!(refused, Err(WorkshopError::NeedsApproval { .. })),
        "even where the policy is auto"
    );
    let preview = bench.shop(|shop| shop.preview(&question.id)).expect("a preview");
    assert!(preview.problem.is_none() && preview.after.is_empty());
    assert!(preview.before.contains("- Check frames."));
    let files = bench.files();
    bench.apply(&question.id).expect("retired");
    assert_eq!(bench.files(), [""; 0]);
    let versions = bench.shop(|shop| shop.history("gif-check")).expect("versions");
    assert_eq!(versions[0].action, VersionCause::Retire);

    bench
        .shop(|shop| shop.undo(&UndoTarget::Skill("gif-check".to_owned()), UndoForce::No, &PERSON))
        .expect("brought back");
    assert_eq!(bench.files(), files);
    assert_eq!(bench.read("skills/gif-check/notes.txt"), "by hand");
    assert_eq!(bench.status_of(&made.id), "applied");
    assert_eq!(bench.status_of(&question.id), "rejected");
    assert_eq!(look(&bench), [""; 0]);
}

#[test]
fn a_skill_unused_for_a_month_is_asked_about_and_no_is_an_answer() {
    let mut bench = Bench::new();
    bench.write_skill("gif-check", "- Check frames.");
    bench.clock.pass(31 * DAY);
    assert_eq!(look(&bench), [""; 0], "uses are not counted");
    bench.trials.insert("gif-check".to_owned(), TrialRecord::default());
    assert_eq!(look(&bench), ["skill-workshop: queued gif-check"]);
    let question = asked(&bench);
    assert!(question.reason.starts_with("it was not used once in 31 days"));
    bench.shop(|shop| shop.reject(&question.id, None, &PERSON)).expect("no");
    assert_eq!(look(&bench), [""; 0]);
    assert!(!bench.skill("gif-check").is_empty());
}

#[test]
fn an_addition_that_does_harm_is_taken_back() {
    let mut bench = Bench::new();
    bench.write_skill("gif-check", "- Check frames.");
    let before = bench.skill("gif-check");
    let more = bench.suggest(&append("gif-check", "- Always use BMP."), PERSON).expect("made");
    let more = bench.apply(&more.proposal.id).expect("written").proposal;
    bench.trials.insert("gif-check".to_owned(), record(1, 9));
    look(&bench);
    let pending = bench.shop(|shop| shop.list("pending")).expect("a list");
    let question = pending.iter().find(|p| p.title.starts_with("Take back")).expect("a question");
    bench.apply(&question.id).expect("taken back");
    assert_eq!(bench.skill("gif-check"), before);
    let status = bench.shop(|shop| shop.inspect(&more.id)).expect("a proposal").status;
    assert_eq!(status, ProposalState::Rejected { undone: true });
    bench
        .shop(|shop| shop.undo(&UndoTarget::Id(question.id.clone()), UndoForce::No, &PERSON))
        .expect("and back again");
    assert!(bench.skill("gif-check").contains("BMP"));
    assert_eq!(bench.status_of(&more.id), "applied");
}

#[test]
fn what_a_person_changed_is_theirs() {
    let mut bench = Bench::new();
    let made = bench.write_skill("gif-check", "- Check frames.");
    bench.trials.insert("gif-check".to_owned(), record(1, 9));
    look(&bench);
    let question = asked(&bench);
    bench.write("skills/gif-check/SKILL.md", &(bench.skill("gif-check") + "- Mine.\n"));
    let refused = bench.apply(&question.id);
    assert!(matches!(refused, Err(WorkshopError::Stale(_))), "{refused:?}");
    assert!(bench.skill("gif-check").ends_with("- Mine.\n"));

    let other = bench.write_skill("png-check", "- Look twice.");
    bench.write("skills/png-check/SKILL.md", "---\nname: png-check\ndescription: d\n---\n");
    bench.trials.insert("png-check".to_owned(), record(0, 20));
    assert_eq!(look(&bench), [""; 0]);
    assert_eq!(standing(&bench, &other.id), None);
    let third = bench.write_skill("bmp-check", "- Do not.");
    std::fs::write(bench.path("skills/bmp-check/SKILL.md"), b"\xff\xfe no text").expect("written");
    bench.trials.insert("bmp-check".to_owned(), record(0, 20));
    assert_eq!(look(&bench), [""; 0], "a file that cannot be read stops nothing");
    assert_eq!(standing(&bench, &third.id), None);
    assert!(matches!(standing(&bench, &made.id), Some(ProbationStatus::Questioned { .. })));
}

#[test]
fn a_retirement_is_not_revised_and_not_exported() {
    let mut bench = Bench::new();
    bench.write_skill("gif-check", "- Check frames.");
    bench.trials.insert("gif-check".to_owned(), record(1, 9));
    look(&bench);
    let question = asked(&bench);
    let revision =
        sinew_workshop::ProposalRevision { body: Some("- x".to_owned()), ..Default::default() };
    let refused = bench.shop(|shop| shop.revise(&question.id, &revision, &PERSON));
    assert!(matches!(refused, Err(WorkshopError::OnlyAsItIs)));
    let exported = bench.shop(|shop| shop.export_openclaw()).expect("a store");
    assert!(!exported.contains("retire"), "{exported}");
    let events = bench.shop(|shop| shop.events()).expect("events");
    assert!(
        events
            .iter()
            .any(|event| event.kind == WorkshopEventKind::Queued && event.reason.is_some())
    );
    assert!(bench.suggest(&create("more", "- y"), PERSON).is_ok());
}
