//! What one run asked a person for is asked for in every replay, whatever runs were merged and in which order.

use proptest::prelude::*;
use serde_json::{Value, json};
use sinew_skill::validate::{RuleSet, ValidationFile, validate};
use sinew_testkit::{GenericTrace, generic_trace};
use sinew_workshop::{LearnResult, LearnStatus};

use super::replay::Sandbox;
use super::{learn, learn_under};
use crate::bench::Bench;

/// The screen of the stub: two rows share an id, one button has its own.
const SCREEN: &str = r#"<?xml version='1.0'?><hierarchy><node text="Ann" resource-id="com.x:id/row" content-desc="" bounds="[0,100][200,200]" /><node text="Bob" resource-id="com.x:id/row" content-desc="" bounds="[0,200][200,300]" /><node text="Send &amp; close" resource-id="com.x:id/send" content-desc="" bounds="[300,700][500,800]" /></hierarchy>"#;

/// A further row, for `NAME`.
const SCREEN_ROW: &str =
    r#"<node text="NAME" resource-id="com.x:id/row" content-desc="" bounds="[0,300][200,400]" />"#;

fn tap(id: &str, text: &str) -> (Value, Value) {
    let target = json!({"resourceId": id, "text": text, "className": "button"});
    (json!({"type": "tap_element", "elementId": "e1"}), target)
}

/// A run that sends a photo to a person; `asks` says before which of its steps it asked for consent.
fn photo_run(person: &str, session: usize, asks: Option<usize>, looks: bool) -> GenericTrace {
    let mut run = generic_trace(&format!("Send the holiday photo to {person}"))
        .session(&format!("s{session}"));
    let steps = [
        (json!({"type": "launch_app", "packageName": "com.x"}), json!({})),
        tap("com.x:id/row", person),
        (json!({"type": "swipe", "x1": 1, "y1": 900, "x2": 1, "y2": 100}), json!({})),
        tap("com.x:id/send", "Send & close"),
    ];
    for (at, (action, target)) in steps.into_iter().enumerate() {
        if asks == Some(at) {
            run = run.step(json!({"type": "request_human_auth", "capability": "share photos"}));
        }
        run = run.step_with(action, "", target);
    }
    if looks { run.step(json!({"type": "keyevent", "keycode": "KEYCODE_BACK"})) } else { run }
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.screen(SCREEN);
    sandbox
}

fn last_script(learned: &LearnResult) -> String {
    let draft = learned.draft.as_ref().expect("a draft");
    draft.script.clone().expect("a script")
}

const PEOPLE: [&str; 6] = ["Ann", "Bob", "Cleo", "Dora", "Emil", "Finn"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Nothing is sent without consent as soon as one of the merged runs had asked for it: the replay stops,
    /// with every option that says yes in advance, before it touches the device.
    #[test]
    fn no_merge_order_sends_without_consent(
        asks in proptest::collection::vec((proptest::option::weighted(0.4, 0usize..4), any::<bool>()), 1..6),
        forget in any::<bool>(),
    ) {
        let bench = Bench::new();
        let mut last = None;
        for (at, (asks, looks)) in asks.iter().enumerate() {
            if forget && at + 1 == PEOPLE.len().min(5) {
                for run in bench.shop(|shop| shop.remembered_runs()).expect("runs") {
                    bench.shop(|shop| shop.forget_run(&run.id)).expect("forgotten");
                }
            }
            let run = photo_run(PEOPLE[at], at, *asks, *looks);
            last = Some(learn(&bench, &run.lines()).remove(0));
        }
        let last = last.expect("at least one run");
        let proposals = bench.shop(|shop| shop.proposals()).expect("proposals");
        prop_assert_eq!(proposals.len(), 1, "one way of sending, one draft");
        let script = last_script(&last);
        let sandbox = sandbox();
        // Everyone is on the screen: only consent decides. A single run that is left names its own person.
        let row = |name: &str| SCREEN_ROW.replace("NAME", name);
        let rows: String = PEOPLE.iter().skip(2).map(|name| row(name)).collect();
        sandbox.screen(&SCREEN.replace("<node text=\"Send", &format!("{rows}<node text=\"Send")));
        let vars = [("SINEW_P_NAME", "Ann"), ("SINEW_ACK_HUMAN_AUTH", "1")];
        let ran = sandbox.run(&script, &["--yes", "stub"], &vars);
        let sent = sandbox.calls().iter().any(|call| call == &["tap", "400", "750"]);
        let any_asked = asks.iter().any(|(asks, _)| asks.is_some());
        prop_assert_eq!(sent, !any_asked, "{}\n{}", String::from_utf8_lossy(&ran.stderr), script);
        prop_assert_eq!(script.contains("# risk: none known"), !any_asked);
        if any_asked {
            prop_assert!(!ran.status.success());
            let body = last.draft.expect("a draft").body;
            prop_assert!(body.contains("**Ask a person for consent** (share photos)"), "{}", body);
        }
    }
}

#[test]
fn a_draft_of_several_people_is_called_after_none_of_them() {
    let bench = Bench::new();
    let mut last = None;
    for (at, person) in PEOPLE.iter().take(3).enumerate() {
        last = Some(learn(&bench, &photo_run(person, at, None, false).lines()).remove(0));
    }
    let last = last.expect("a run");
    assert_eq!(last.became, LearnStatus::Revised);
    let proposal = last.proposal.expect("a proposal");
    assert_eq!(proposal.skill_name, "send-the-holiday-photo-to-name");
    let draft = last.draft.expect("a draft");
    assert_eq!(draft.description, "Send the holiday photo to {{name}}");
    let script = draft.script.expect("a script");
    for person in PEOPLE {
        assert!(!draft.body.contains(person), "{person}: {}", draft.body);
        assert!(!proposal.title.contains(person), "{}", proposal.title);
        assert!(!script.contains(person), "{person}: {script}");
    }
    assert!(
        script.contains("tap_element 2 resource-id 'com.x:id/row' text \"$SINEW_P_NAME\""),
        "{script}"
    );
    // Without a name it stops, and with one it finds the right row.
    let stopped = sandbox();
    assert!(!stopped.run(&script, &["--yes", "stub"], &[]).status.success());
    assert_eq!(stopped.calls(), Vec::<Vec<String>>::new());
    let found = sandbox();
    let ran = found.run(&script, &["--yes", "stub"], &[("SINEW_P_NAME", "Bob")]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(found.calls().contains(&vec!["tap".to_owned(), "100".to_owned(), "250".to_owned()]));
}

#[test]
fn a_replay_stops_where_an_element_is_missing_or_is_not_the_only_one() {
    for (id, text, why) in [
        ("com.x:id/gone", "Gone", "no element with resource-id=com.x:id/gone text=Gone"),
        ("com.x:id/row", "", "2 elements with resource-id=com.x:id/row"),
        ("", "", "the element that was tapped is not known"),
    ] {
        let (action, target) = tap(id, text);
        let run = generic_trace("Press it")
            .step_with(action, "", target)
            .step(json!({"type": "tap", "x": 7, "y": 7}));
        let script = last_script(&learn(&Bench::new(), &run.lines()).remove(0));
        let sandbox = sandbox();
        let ran = sandbox.run(&script, &["--yes", "stub"], &[]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains(why), "{said}");
        assert_eq!(sandbox.calls(), Vec::<Vec<String>>::new(), "nothing after it is touched");
    }
}

/// A question to the user is no step to run, and stops the replay all the same.
#[test]
fn a_question_to_the_user_stops_the_replay() {
    let run = generic_trace("Clean the disk")
        .exec("echo before >before.txt")
        .step(json!({"type": "request_user_decision", "question": "Delete the 3 old backups?"}))
        .exec("echo after >after.txt");
    let script = last_script(&learn(&Bench::new(), &run.lines()).remove(0));
    let sandbox = sandbox();
    let ran = sandbox.run(&script, &["--yes"], &[]);
    assert!(!ran.status.success());
    assert!(String::from_utf8_lossy(&ran.stdout).contains("Delete the 3 old backups?"));
    assert!(sandbox.path("work/before.txt").exists() && !sandbox.path("work/after.txt").exists());
}

#[test]
fn words_of_two_characters_survive() {
    let run = generic_trace("搜索天气")
        .step(json!({"type": "tap", "x": 1, "y": 2}))
        .step(json!({"type": "type", "text": "天气"}));
    let draft = learn(&Bench::new(), &run.lines()).remove(0).draft.expect("a draft");
    assert!(draft.body.contains("The user asks for: 搜索天气"), "{}", draft.body);
    assert!(draft.script.expect("a script").contains("need TEXT plain '天气'"));

    let bench = Bench::new();
    let told = |person: &str, id: &str| {
        generic_trace(&format!("把照片发给{person}"))
            .session(id)
            .step(json!({"type": "launch_app", "packageName": "com.x"}))
            .step(json!({"type": "type", "text": person}))
    };
    learn(&bench, &told("王明", "one").lines());
    let draft = learn(&bench, &told("李华", "two").lines()).remove(0).draft.expect("a draft");
    assert!(draft.body.starts_with("# Skill Draft: 把照片发给{{text}}\n"), "{}", draft.body);
    assert!(!draft.body.contains("李华") && !draft.body.contains("王明"), "{}", draft.body);
}

/// A risky draft waits for a person, so the same again improves it and does not queue behind it.
#[test]
fn risky_drafts_of_one_fingerprint_are_one_proposal() {
    for publish in ["proposal", "auto"] {
        let bench = Bench::new();
        for (at, key) in ["id_ed25519", "id_rsa", "known_hosts"].iter().enumerate() {
            let run = generic_trace(&format!("Show {key}"))
                .session(&format!("s{at}"))
                .exec(&format!("cat ~/.ssh/{key}"))
                .exec(&format!("wc -{} x", ["l", "c", "m"][at]));
            let config = json!({"traces": {"publish": publish}});
            let learned = learn_under(&bench, config, &run.lines()).remove(0);
            assert!(learned.draft.expect("a draft").risk.is_some());
        }
        let proposals = bench.shop(|shop| shop.proposals()).expect("proposals");
        let names: Vec<&str> = proposals.iter().map(|p| p.skill_name.as_str()).collect();
        assert_eq!(proposals.len(), 1, "{publish}: {names:?}");
        assert_eq!(proposals[0].status.as_str(), "pending");
        assert_eq!(bench.files(), Vec::<String>::new(), "nothing is written");
    }
}

#[test]
fn strict_mode_accepts_its_own_drafts() {
    let bench = Bench::new();
    let config = || json!({"traces": {"publish": "auto"}, "agent": {"skillsSpecMode": "strict"}});
    for (at, person) in PEOPLE.iter().take(2).enumerate() {
        learn_under(&bench, config(), &photo_run(person, at, None, false).lines());
        bench.clock.pass(60_000);
    }
    learn_under(&bench, config(), &generic_trace("打开设置").exec("settings open -a").lines());
    let drafts = bench
        .files()
        .into_iter()
        .filter(|file| file.starts_with("skills/auto/") && file.ends_with("/SKILL.md"));
    let drafts: Vec<String> = drafts.collect();
    assert_eq!(drafts.len(), 2, "{drafts:?}");
    for file in drafts {
        let text = bench.read(&file);
        let directory = file.split('/').nth(2).expect("a folder");
        let target = ValidationFile { directory, file_name: "SKILL.md", bytes: text.as_bytes() };
        let found = validate(&target, RuleSet::OpenPocketStrict).issues;
        assert!(found.is_empty(), "{file}: {found:?}\n{text}");
        // A folder of the same shape that no run was drafted in is not excused.
        let plain = text.replace("auto_skill_draft", "other");
        let target = ValidationFile { directory, file_name: "SKILL.md", bytes: plain.as_bytes() };
        assert!(!validate(&target, RuleSet::OpenPocketStrict).issues.is_empty());
    }
}

/// No calls of the agent's tools, no hashes, no ids: a page that a person could have written.
#[test]
fn a_draft_reads_as_a_person_would_write_it() {
    let run = generic_trace("Tidy up the scans")
        .session("0f9d2c1e-77aa-4b1e-9a59-5ad3b1d0c001")
        .exec("ls scans")
        .exec("mkdir -p scans/2026")
        .step(json!({"type": "tap", "x": 10, "y": 20}))
        .step(json!({"type": "mcp.forge.create_release"}));
    let learned = learn(&Bench::new(), &run.lines()).remove(0);
    let draft = learned.draft.expect("a draft");
    for machine in [
        "exec(",
        "tap(",
        "(app=",
        "mcp.",
        draft.behavior_fingerprint.as_str(),
        draft.simhash.as_str(),
        "0f9d2c1e",
        "simhash",
        "fingerprint",
    ] {
        assert!(!draft.body.contains(machine), "{machine}: {}", draft.body);
    }
    assert!(draft.body.contains("\n1. Run `ls scans`.\n"), "{}", draft.body);
    assert!(
        draft.body.contains("\n4. Use the tool `create_release` of `forge`.\n"),
        "{}",
        draft.body
    );
    let kept = &draft.metadata["openclaw"]["generated"];
    assert_eq!(kept["behavior_fingerprint"], draft.behavior_fingerprint.as_str());
    assert_eq!(kept["simhash"], draft.simhash.as_str());
}
