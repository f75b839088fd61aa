use sinew_cortex::acquire::ANSWER_WITHIN_MS;
use sinew_engine::Engine;
use sinew_engine::approval::{
    Approval, ApprovalContent, ApprovalDecision, ApprovalEvidence, ApprovalScan, ApprovalState,
    ApprovalSubject, ApprovalUse, CandidateVerdict, ConsentAct, ConsentAnswer, ConsentChannel,
    ConsentScope, NewApproval,
};
use sinew_settings::{Actor, ErrorCode};
use sinew_store::{RecordSeq, StreamTail};

use super::{
    YES, agent, clean, files, installing, opened, person, question, relayed, said, subject,
};

pub(super) const KINDS: [ConsentAct; 8] = [
    ConsentAct::Install,
    ConsentAct::Plan,
    ConsentAct::Dependency,
    ConsentAct::SwitchCandidate,
    ConsentAct::Retain,
    ConsentAct::ProposalApply,
    ConsentAct::QuarantineRestore,
    ConsentAct::ConfigWrite,
];

fn code(result: Result<Approval, sinew_engine::EngineError>) -> &'static str {
    match result {
        Ok(approval) => approval.state.as_str(),
        Err(error) => error.code.as_str(),
    }
}

/// What becomes of a yes to each kind, in the order above.
fn yes_to_each(
    engine: &Engine,
    scan: Option<ApprovalScan>,
    decision: &ApprovalDecision,
) -> Vec<&'static str> {
    let each = KINDS.into_iter().map(|kind| {
        let mut asked = question(kind);
        asked.evidence.scan = scan;
        asked.run = Some(format!("{scan:?}{decision:?}"));
        let id = engine.approvals().open(asked, &agent()).expect("an approval").id;
        code(engine.approvals().decide(&id, decision))
    });
    each.collect()
}

const NO: &str = "not-approved";
const OK: &str = "approved";

on_both! {
    /// What an agent may pass on.
    fn what_an_agent_may_pass_on(world) {
        let clean = Some(clean());
        for (setting, expected) in [
            ("limited", [NO, OK, NO, OK, OK, NO, NO, NO]),
            ("allow", [OK; 8]),
            ("never", [NO; 8]),
        ] {
            world.write("home/.sinew/config.json5", format!("{{approvals: {{relay: '{setting}'}}}}"));
            let engine = world.engine();
            assert_eq!(yes_to_each(&engine, clean, &relayed(YES)), expected, "{setting}");
            // Never about a blocked skill, never past a critical finding, never where the agent's
            // program can ask.
            let blocked = ApprovalScan { verdict: CandidateVerdict::Block, critical: 1, warn: 0, info: 0 };
            assert_eq!(yes_to_each(&engine, Some(blocked), &relayed(YES)), [NO; 8], "{setting}");
            let accepted = ApprovalScan { verdict: CandidateVerdict::Allow, ..blocked };
            assert_eq!(yes_to_each(&engine, Some(accepted), &relayed(YES)), [NO; 8], "{setting}");
            let eliciting = ApprovalDecision { can_elicit: true, ..relayed(YES) };
            assert_eq!(yes_to_each(&engine, clean, &eliciting), [NO; 8], "{setting}");
            // A person decides everything, whatever the setting.
            for channel in [ConsentChannel::Cli, ConsentChannel::Dashboard, ConsentChannel::Elicitation] {
                let decision = ApprovalDecision { channel, ..said(YES) };
                assert_eq!(yes_to_each(&engine, clean, &decision), [OK; 8], "{setting}");
            }
        }
    }

    /// An agent that answers itself, and ids that were made up.
    fn only_a_person_answers_for_a_person(world) {
        let engine = world.engine();
        let id = opened(&engine, ConsentAct::Plan);
        for channel in [ConsentChannel::Cli, ConsentChannel::Dashboard, ConsentChannel::Elicitation] {
            let by_itself = ApprovalDecision { by: agent(), channel, ..said(YES) };
            assert_eq!(code(engine.approvals().decide(&id, &by_itself)), "not-approved");
            let by_us = ApprovalDecision { by: Actor::System, channel, ..said(YES) };
            assert_eq!(code(engine.approvals().decide(&id, &by_us)), "not-approved");
        }
        for quote in [None, Some(String::new()), Some("  ".to_owned()), Some("x".repeat(501))] {
            let unquoted = ApprovalDecision { quote, ..relayed(YES) };
            assert_eq!(code(engine.approvals().decide(&id, &unquoted)), "quote-missing");
        }
        for made_up in ["", "000000000000", "../../etc/pw", "\u{1b}[2J", "3K9X0V7M2Q4D"] {
            assert_eq!(code(engine.approvals().decide(made_up, &said(YES))), "unknown-approval");
            assert_eq!(code(engine.approvals().get(made_up)), "unknown-approval");
        }
        assert_eq!(code(engine.approvals().get(&id)), "pending");
    }

    fn a_blocked_skill_can_never_be_approved_for_installation(world) {
        let engine = world.engine();
        let blocked = ApprovalScan { verdict: CandidateVerdict::Block, critical: 2, warn: 0, info: 0 };
        assert_eq!(
            yes_to_each(&engine, Some(blocked), &said(YES)),
            [NO, OK, OK, NO, NO, NO, OK, OK]
        );
    }

    fn a_yes_is_bound_to_the_files_that_were_shown(world) {
        let engine = world.engine();
        let id = opened(&engine, ConsentAct::Install);
        assert_eq!(code(engine.approvals().consume(&id, &installing("one"))), "needs-approval");
        engine.approvals().decide(&id, &said(YES)).expect("a yes");
        // One byte of one file: void, and it waits again with what is there now.
        let error = engine.approvals().consume(&id, &installing("onf")).expect_err("other bytes");
        assert_eq!(error.code, ErrorCode::NeedsApproval);
        assert!(error.message.ends_with("not what was agreed to: SKILL.md"), "{}", error.message);
        let again = engine.approvals().get(&id).expect("an approval");
        assert_eq!(again.state, ApprovalState::Pending { changed: vec!["SKILL.md".to_owned()] });
        assert_eq!(again.subject.content, files("onf"));
        // Not even the files of the first yes count now.
        assert_eq!(code(engine.approvals().consume(&id, &installing("one"))), "needs-approval");
        engine.approvals().decide(&id, &said(YES)).expect("a yes");
        assert_eq!(code(engine.approvals().consume(&id, &installing("onf"))), "approved");
    }

    fn a_yes_serves_one_use(world) {
        let engine = world.engine();
        let id = opened(&engine, ConsentAct::Install);
        engine.approvals().decide(&id, &said(YES)).expect("a yes");
        let other_skill = ApprovalUse { subject: "weather", ..installing("one") };
        assert_eq!(code(engine.approvals().consume(&id, &other_skill)), "other-subject");
        let other_act = ApprovalUse { kind: ConsentAct::Retain, ..installing("one") };
        assert_eq!(code(engine.approvals().consume(&id, &other_act)), "other-subject");
        assert_eq!(code(engine.approvals().consume(&id, &installing("one"))), "approved");
        // The same run again, as after a crash.
        assert_eq!(code(engine.approvals().consume(&id, &installing("one"))), "approved");
        let other_run = ApprovalUse { by: "run-2", ..installing("one") };
        assert_eq!(code(engine.approvals().consume(&id, &other_run)), "approval-used");
    }

    fn a_yes_to_a_list_covers_it_and_a_yes_to_the_first_does_not(world) {
        let engine = world.engine();
        for (scope, expected) in [(ConsentScope::Listed, "approved"), (ConsentScope::OnlyThis, "other-subject")] {
            let mut asked = question(ConsentAct::Install);
            asked.also = vec![subject("tasks", "two")];
            asked.run = Some("run-1".to_owned());
            let id = engine.approvals().open(asked, &agent()).expect("an approval").id;
            engine.approvals().decide(&id, &said(ConsentAnswer::Yes(scope))).expect("a yes");
            let second = ApprovalUse { subject: "tasks", content: files("two"), ..installing("one") };
            assert_eq!(code(engine.approvals().consume(&id, &second)), expected);
            let elsewhere = ApprovalUse { by: "run-2", ..installing("one") };
            assert_eq!(code(engine.approvals().consume(&id, &elsewhere)), "other-subject");
        }
    }

    fn what_belongs_to_a_run_expires_after_a_day(world) {
        let engine = world.engine();
        let (run, proposal) = (opened(&engine, ConsentAct::Plan), opened(&engine, ConsentAct::ProposalApply));
        let agreed = opened(&engine, ConsentAct::Install);
        engine.approvals().decide(&agreed, &said(YES)).expect("a yes");
        world.pass(ANSWER_WITHIN_MS);
        assert_eq!(code(engine.approvals().get(&run)), "pending");
        world.pass(1);
        assert_eq!(code(engine.approvals().get(&run)), "expired");
        assert_eq!(code(engine.approvals().decide(&run, &said(YES))), "already-decided");
        assert_eq!(code(engine.approvals().consume(&agreed, &installing("one"))), "already-decided");
        assert_eq!(code(engine.approvals().get(&proposal)), "pending");
        let waiting = engine.approvals().list(true).expect("a list");
        assert_eq!(waiting.iter().map(|a| &a.id).collect::<Vec<_>>(), [&proposal]);
        assert_eq!(engine.approvals().list(false).expect("a list").len(), 3);
    }

    fn the_first_answer_holds_and_the_same_again_changes_nothing(world) {
        let engine = world.engine();
        let id = opened(&engine, ConsentAct::Plan);
        let first = engine.approvals().decide(&id, &relayed(ConsentAnswer::No)).expect("a no");
        let ApprovalState::Rejected { decided_by } = &first.state else { panic!("{first:?}") };
        assert_eq!((decided_by.channel, &decided_by.actor), (ConsentChannel::Relay, &agent()));
        assert_eq!(engine.approvals().decide(&id, &said(ConsentAnswer::No)).expect("again"), first);
        assert_eq!(code(engine.approvals().decide(&id, &said(YES))), "already-decided");
        assert_eq!(code(engine.approvals().withdraw(&id, &agent())), "already-decided");
        let other = opened(&engine, ConsentAct::Retain);
        assert_eq!(code(engine.approvals().withdraw(&other, &agent())), "withdrawn");
        assert_eq!(code(engine.approvals().withdraw(&other, &agent())), "withdrawn");
        assert_eq!(code(engine.approvals().decide(&other, &said(YES))), "already-decided");
    }

    /// A no that an agent passes on ends a question for good, which is a withdrawal by another word.
    fn an_agent_ends_no_question_of_another(world) {
        let other = Actor::Agent { name: "codex".to_owned() };
        for (setting, expected) in [
            ("limited", ["not-approved", "rejected", "not-approved", "rejected", "rejected", "not-approved", "not-approved", "not-approved"]),
            ("allow", ["rejected"; 8]),
            ("never", ["not-approved"; 8]),
        ] {
            world.write("home/.sinew/config.json5", format!("{{approvals: {{relay: '{setting}'}}}}"));
            let engine = world.engine();
            let ended = |asker: &Actor| {
                KINDS.map(|kind| {
                    let mut asked = question(kind);
                    asked.run = Some(format!("{setting} {asker}"));
                    let id = engine.approvals().open(asked, asker).expect("an approval").id;
                    assert!(*asker == agent() || code(engine.approvals().withdraw(&id, &agent())) == NO);
                    code(engine.approvals().decide(&id, &relayed(ConsentAnswer::No)))
                })
            };
            assert_eq!(ended(&other), expected, "{setting}: another agent's");
            assert_eq!(ended(&person()), expected, "{setting}: a person's");
            assert_eq!(ended(&agent()), ["rejected"; 8], "{setting}: its own");
        }
    }

    fn the_same_question_is_asked_once_and_there_is_an_end_to_questions(world) {
        let engine = world.engine();
        let id = opened(&engine, ConsentAct::Install);
        assert_eq!(opened(&engine, ConsentAct::Install), id);
        let mut other = question(ConsentAct::Install);
        other.subject.content = files("other bytes");
        let next = engine.approvals().open(other, &agent()).expect("an approval").id;
        assert_ne!(next, id);
        assert_eq!(id.len(), 12);
        for number in 2..200 {
            let mut asked = question(ConsentAct::Plan);
            asked.run = Some(number.to_string());
            engine.approvals().open(asked, &agent()).expect("an approval");
        }
        let error = engine.approvals().open(question(ConsentAct::Retain), &agent()).expect_err("no room");
        assert_eq!(error.code, ErrorCode::TooManyApprovals);
    }

    /// No surface returns a secret, and what is kept is bounded.
    fn evidence_is_cut_and_holds_no_secret(world) {
        let engine = world.engine();
        let secret = format!("sk-ant-api03-{}", "Zq7Xw2Lp9".repeat(10));
        let evidence = ApprovalEvidence {
            description: Some("x".repeat(5_000)),
            lessons: vec![format!("it needs ANTHROPIC_API_KEY={secret}"); 70],
            ..ApprovalEvidence::default()
        };
        let asked = NewApproval::new(ConsentAct::Plan, subject("a", "b"), evidence);
        let kept = engine.approvals().open(asked, &agent()).expect("an approval");
        assert_eq!(kept.evidence.description.as_ref().map(|t| t.chars().count()), Some(1_001));
        assert_eq!(kept.evidence.lessons.len(), 50);
        let words = ApprovalDecision { quote: Some(format!("yes, {secret}")), ..relayed(YES) };
        let kept = engine.approvals().decide(&kept.id, &words).expect("a yes");
        let shown = serde_json::to_string(&kept).expect("JSON");
        assert!(!shown.contains(&secret), "{shown}");
        let many = (0..10_001).map(|n| sinew_engine::approval::ApprovalFileDigest {
            path: n.to_string(),
            sha256: "0".repeat(64),
            size: 1,
        });
        let content = ApprovalContent::from_file_digests(many);
        let subject = ApprovalSubject { name: "big".to_owned(), version: None, content };
        let asked = NewApproval::new(ConsentAct::Install, subject, ApprovalEvidence::default());
        let error = engine.approvals().open(asked, &agent()).expect_err("too many files");
        assert_eq!(error.code, ErrorCode::TooManyFiles);
    }

    /// The object as every surface gives it, and what the audit trail says.
    fn the_object_and_its_trail(world) {
        let engine = world.engine();
        let id = opened(&engine, ConsentAct::Plan);
        engine.approvals().decide(&id, &relayed(YES)).expect("a yes");
        engine.approvals().consume(&id, &ApprovalUse { kind: ConsentAct::Plan, ..installing("one") }).expect("a use");
        let approval = engine.approvals().get(&id).expect("an approval");
        let text = serde_json::to_string_pretty(&approval).expect("JSON").replace(&id, "<id>");
        insta::assert_snapshot!("approval", text);
        let read: Approval = serde_json::from_str(&serde_json::to_string(&approval).expect("JSON"))
            .expect("the same object");
        assert_eq!(read, approval);
        let store = engine.store().expect("a store");
        let trail: Vec<String> = StreamTail::new(&*store, "audit", RecordSeq::START)
            .map(|entry| {
                let body: serde_json::Value = entry.expect("a row").body.read().expect("JSON");
                format!("{} {} {}", body["event"], body["kind"], body["by"]["kind"])
            })
            .collect();
        assert_eq!(
            trail,
            [
                r#""asked" "plan" "agent""#,
                r#""approved" "plan" "agent""#,
                r#""used" "plan" "system""#
            ]
        );
    }
}
