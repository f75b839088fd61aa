//! Runs that went the same way, or nearly, become one draft.

use serde_json::json;
use sinew_testkit::{GenericTrace, claude_code_session, generic_trace};
use sinew_workshop::{ApplyConsent, LearnStatus};

use super::{learn, learn_under};
use crate::bench::{Bench, PERSON};

fn release(version: &str, notes: &str) -> GenericTrace {
    generic_trace(&format!("Publish release {version} with the notes in {notes}"))
        .exec("git status --short")
        .exec("cargo test --workspace")
        .exec(&format!("git tag -a v{version} -m release"))
        .exec(&format!("gh release create v{version} --notes-file docs/{notes}"))
        .exec("git push --follow-tags")
}

#[test]
fn three_runs_that_differ_in_version_and_file_are_one_draft_with_two_parameters() {
    let bench = Bench::new();
    for (version, notes) in [("1.7.0", "old.md"), ("1.8.0", "mid.md"), ("1.9.0", "new.md")] {
        let learned = learn(&bench, &release(version, notes).lines()).remove(0);
        assert!(learned.proposal.is_some(), "{:?}", learned.reason);
    }
    let proposals = bench.shop(|shop| shop.proposals()).expect("proposals");
    assert_eq!(proposals.len(), 1, "one draft");
    assert_eq!(proposals[0].revision, 3);
    let last = learn(&bench, &release("2.0.0", "next.md").lines()).remove(0);
    assert_eq!(last.became, LearnStatus::Revised);
    let draft = last.draft.expect("a draft");
    assert_eq!(draft.parameters, ["version", "file"]);
    assert_eq!((draft.runs, draft.confidence.as_str()), (4, "high"));
    assert!(draft.body.contains(", runs: 4\n") && draft.body.contains("4 values seen"));
    assert!(draft.body.contains("git tag -a v{{version}}"), "{}", draft.body);
    let script = draft.script.expect("a script");
    assert!(script.contains(r#"git tag -a v"${SINEW_P_VERSION}" -m release"#), "{script}");
    assert!(script.contains("need VERSION plain '2.0.0'"), "{script}");
}

#[test]
fn a_step_of_one_run_in_three_is_optional() {
    let bench = Bench::new();
    let plain = |id: &str| release("1.7.0", "a.md").session(id);
    learn(&bench, &plain("one").lines());
    learn(&bench, &plain("two").exec("gh release view --web").lines());
    let draft = learn(&bench, &plain("three").lines()).remove(0).draft.expect("a draft");
    let procedure = draft.body.split("## Procedure").nth(1).expect("a procedure");
    let optional: Vec<&str> =
        procedure.lines().filter(|line| line.contains("seen in 1 of 3 runs")).collect();
    assert_eq!(optional.len(), 1, "{procedure}");
    assert!(procedure.contains("gh release view --web"), "{procedure}");
}

#[test]
fn the_same_coarse_hash_with_other_steps_is_another_draft() {
    let bench = Bench::new();
    let one =
        generic_trace("Look at the pods").exec("kubectl get pods -A").exec("kubectl logs --tail x");
    let two = generic_trace("Throw away the volumes")
        .exec("kubectl delete volumes --all")
        .exec("kubectl cordon --dry y");
    let first = learn(&bench, &one.lines()).remove(0);
    let second = learn(&bench, &two.lines()).remove(0);
    assert_eq!(first.behavior_fingerprint, second.behavior_fingerprint);
    assert_eq!(bench.shop(|shop| shop.proposals()).expect("proposals").len(), 2);
    assert_ne!(first.draft.expect("one").name, second.draft.expect("another").name);
}

#[test]
fn two_tasks_in_chinese_have_two_names() {
    let bench = Bench::new();
    let config = || json!({"agent": {"skillsSpecMode": "strict"}});
    let name = |run: GenericTrace| {
        learn_under(&bench, config(), &run.lines()).remove(0).draft.expect("a draft").name
    };
    let one = name(generic_trace("打开设置").exec("settings open --all").exec("ls -l"));
    let two = name(generic_trace("删除文件").exec("find . -name x").exec("trash put -v y"));
    assert_ne!(one, two);
    assert!(one.starts_with("task-") && two.starts_with("task-"), "{one} {two}");
}

#[test]
fn the_same_run_twice_is_known() {
    let bench = Bench::new();
    let run = release("1.0.0", "a.md");
    let first = learn(&bench, &run.lines()).remove(0);
    let second = learn(&bench, &run.lines()).remove(0);
    assert_eq!((first.became, second.became), (LearnStatus::Proposed, LearnStatus::Known));
    assert_eq!(first.proposal.map(|p| p.id), second.proposal.map(|p| p.id));
    assert_eq!(second.draft.expect("a draft").name, first.draft.expect("a draft").name);
}

#[test]
fn a_skill_that_was_applied_is_left_alone_until_a_run_says_more() {
    let bench = Bench::new();
    let run = |id: &str| release("1.0.0", "a.md").session(id);
    let first = learn(&bench, &run("one").lines()).remove(0).proposal.expect("a proposal");
    bench.shop(|shop| shop.apply(&first.id, &PERSON, &ApplyConsent::default())).expect("applied");
    let second = learn(&bench, &run("two").lines()).remove(0);
    assert_eq!(second.became, LearnStatus::Known, "{:?}", second.reason);
    // The third makes it trusted, which is worth a look.
    let third = learn(&bench, &run("three").lines()).remove(0);
    assert_eq!(third.became, LearnStatus::Proposed);
    let third = third.proposal.expect("a proposal");
    assert_eq!(third.skill_name, first.skill_name);
    bench.shop(|shop| shop.apply(&third.id, &PERSON, &ApplyConsent::default())).expect("applied");
    assert!(bench.skill(&first.skill_name).contains("- Confidence: high"));
}

#[test]
fn what_a_person_turned_down_does_not_come_back() {
    let bench = Bench::new();
    let run = |id: &str| release("1.0.0", "a.md").session(id);
    let first = learn(&bench, &run("one").lines()).remove(0).proposal.expect("a proposal");
    bench.shop(|shop| shop.reject(&first.id, Some("no"), &PERSON)).expect("rejected");
    let second = learn(&bench, &run("two").lines()).remove(0);
    assert_eq!(second.became, LearnStatus::Known);
    assert_eq!(bench.shop(|shop| shop.list("pending")).expect("none").len(), 0);
}

#[test]
fn a_file_that_grows_gives_the_new_run_once() {
    let bench = Bench::new();
    let first = claude_code_session(&[("Build it", &["make -j2"]), ("Thanks!", &[])]);
    let grown = claude_code_session(&[
        ("Build it", &["make -j2"]),
        ("Thanks!", &[]),
        ("Write the changelog", &["git log --oneline", "vi CHANGES -n"]),
        ("Perfect.", &[]),
    ]);
    assert_eq!(learn(&bench, &first).len(), 1);
    let names = |shop: &sinew_workshop::Workshop<'_>| -> Vec<String> {
        shop.proposals().expect("proposals").into_iter().map(|p| p.skill_name).collect()
    };
    learn(&bench, &grown);
    assert_eq!(bench.shop(names), ["write-the-changelog", "build-it"]);
    learn(&bench, &grown);
    assert_eq!(bench.shop(names).len(), 2);
    assert!(bench.shop(|shop| shop.proposals()).expect("two").iter().all(|p| p.revision == 1));
}
