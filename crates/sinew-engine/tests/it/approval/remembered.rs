//! A yes that is remembered.

use sinew_engine::approval::{
    ApprovalDecision, ApprovalScan, ApprovalUse, CandidateVerdict, ConsentAct, ConsentAnswer,
    ConsentChannel, NewApproval,
};

use super::rules::KINDS;
use super::{YES, agent, clean, installing, opened, question, relayed, said, subject};

on_both! {
    /// A yes for good answers the same question about the same bytes, until it is taken back.
    fn a_remembered_yes_answers_the_same_question_and_no_other(world) {
        let engine = world.engine();
        let remembering = ApprovalDecision { remember: true, ..said(YES) };
        let state = |asked: NewApproval| {
            let opened = engine.approvals().open(asked, &agent()).expect("an approval");
            (opened.state.as_str(), opened.id)
        };
        let first = opened(&engine, ConsentAct::Install);
        engine.approvals().decide(&first, &remembering).expect("a yes");
        assert_eq!(state(question(ConsentAct::Install)).0, "approved");
        assert_eq!(state(question(ConsentAct::Plan)).0, "pending", "another act");
        let mut other = question(ConsentAct::Install);
        other.subject = subject("todoist-cli", "two");
        assert_eq!(state(other).0, "pending", "other bytes");
        let mut found = question(ConsentAct::Install);
        found.evidence.scan = Some(ApprovalScan { verdict: CandidateVerdict::Warn, warn: 1, ..clean() });
        assert_eq!(state(found).0, "pending", "the scanner says something else");
        // What was answered so serves one use, like every yes, and covers nothing but its subject.
        let mut wide = question(ConsentAct::Install);
        wide.also = vec![subject("other", "one")];
        let id = state(wide).1;
        let used = engine.approvals().consume(&id, &installing("one")).expect("covered");
        assert!(!used.is_remembered());
        let also = ApprovalUse { subject: "other", ..installing("one") };
        assert!(engine.approvals().consume(&id, &also).is_err());
        // Taken back: the question waits again.
        let forgotten = engine.approvals().decide(&first, &said(ConsentAnswer::No)).expect("a no");
        assert!(!forgotten.is_remembered());
        assert_eq!(state(question(ConsentAct::Install)).0, "pending");
    }

    /// Only a person's answer is remembered, and none that is about one moment alone.
    fn what_is_never_remembered(world) {
        world.write("home/.sinew/config.json5", "{approvals: {relay: 'allow'}}");
        let engine = world.engine();
        for kind in KINDS {
            for decision in [relayed(YES), said(YES)] {
                let by_person = decision.channel == ConsentChannel::Cli;
                let decision = ApprovalDecision { remember: true, ..decision };
                let mut asked = question(kind);
                asked.run = Some(format!("{kind:?} {by_person}"));
                let id = engine.approvals().open(asked, &agent()).expect("an approval").id;
                let decided = engine.approvals().decide(&id, &decision).expect("a yes");
                let expected = by_person && matches!(kind, ConsentAct::Install | ConsentAct::Plan);
                assert_eq!(decided.is_remembered(), expected, "{kind:?} {by_person}");
                engine.approvals().decide(&id, &said(ConsentAnswer::No)).ok();
            }
        }
    }
}
