//! Whatever happens in whatever order: nothing is used that no person agreed to.

use proptest::prelude::*;
use sinew_cortex::acquire::ANSWER_WITHIN_MS;
use sinew_engine::approval::{
    ApprovalDecision, ApprovalUse, ConsentAct, ConsentAnswer, ConsentChannel, ConsentScope,
};

use super::{agent, files, installing, person, question};
use crate::cortex::support::World;

#[derive(Debug, Clone)]
enum Move {
    Decide { yes: bool, by_person: bool, channel: ConsentChannel },
    Withdraw,
    Use { text: char, by: char },
    Wait(i64),
}

fn moves() -> impl Strategy<Value = Move> {
    let channels = prop_oneof![
        Just(ConsentChannel::Cli),
        Just(ConsentChannel::Elicitation),
        Just(ConsentChannel::Dashboard),
        Just(ConsentChannel::Relay)
    ];
    let waits = prop_oneof![Just(1), Just(ANSWER_WITHIN_MS / 2), Just(ANSWER_WITHIN_MS + 1)];
    prop_oneof![
        4 => (any::<bool>(), any::<bool>(), channels)
            .prop_map(|(yes, by_person, channel)| Move::Decide { yes, by_person, channel }),
        1 => Just(Move::Withdraw),
        4 => (prop_oneof![Just('a'), Just('b')], prop_oneof![Just('x'), Just('y')])
            .prop_map(|(text, by)| Move::Use { text, by }),
        1 => waits.prop_map(Move::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_use_needs_a_persons_yes_to_those_bytes_and_ends_are_final(
        kind in prop_oneof![Just(ConsentAct::Install), Just(ConsentAct::Plan)],
        own in any::<bool>(),
        moves in prop::collection::vec(moves(), 1..25),
    ) {
        let world = World::new();
        let engine = world.engine();
        let mut asked = question(kind);
        asked.subject.content = files("a");
        let asker = if own { agent() } else { person() };
        let id = engine.approvals().open(asked, &asker).expect("an approval").id;
        // What a careful bystander knows: the bytes of the question, the yes and its user.
        let mut shown = 'a';
        let mut agreed: Option<char> = None;
        let mut user: Option<char> = None;
        for step in moves {
            let before = engine.approvals().get(&id).expect("an approval");
            match step {
                Move::Decide { yes, by_person, channel } => {
                    let relay = channel == ConsentChannel::Relay;
                    let said = if yes { ConsentAnswer::Yes(ConsentScope::Listed) } else { ConsentAnswer::No };
                    let decision = ApprovalDecision {
                        by: if by_person && !relay { person() } else { agent() },
                        channel,
                        quote: Some("as you like".to_owned()),
                        ..ApprovalDecision::at_terminal(said, person())
                    };
                    let done = engine.approvals().decide(&id, &decision);
                    let may = if relay { kind == ConsentAct::Plan || (own && !yes) } else { by_person };
                    if done.is_ok() && before.is_pending() {
                        prop_assert!(may, "{decision:?}");
                        agreed = yes.then_some(shown);
                        user = None;
                    } else if before.is_pending() {
                        prop_assert!(!may, "{decision:?} {done:?}");
                    }
                }
                Move::Withdraw => drop(engine.approvals().withdraw(&id, &agent())),
                Move::Use { text, by } => {
                    let by_text = by.to_string();
                    let used = ApprovalUse {
                        kind,
                        content: files(&text.to_string()),
                        by: &by_text,
                        ..installing("")
                    };
                    match engine.approvals().consume(&id, &used) {
                        Ok(_) => {
                            prop_assert_eq!(agreed, Some(text));
                            prop_assert!(user.is_none_or(|other| other == by));
                            user = Some(by);
                        }
                        Err(error) if error.message.contains("not what was agreed to") => {
                            prop_assert_ne!(agreed, Some(text));
                            prop_assert!(agreed.is_some());
                            (shown, agreed) = (text, None);
                        }
                        Err(_) => {}
                    }
                }
                Move::Wait(ms) => world.pass(ms),
            }
            let after = engine.approvals().get(&id).expect("an approval");
            let over = ["rejected", "expired", "withdrawn"].contains(&before.state.as_str());
            prop_assert!(!over || after.state.as_str() == before.state.as_str());
        }
    }
}
