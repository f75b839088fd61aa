//! The tool `skill_workshop`: exactly the documented requests, answers and errors.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::bench::{Bench, PERSON, agent};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn status_has_five_keys_and_stale_only_when_there_is_some() {
    let bench = Bench::with(json!({"staleCheck": "strict"}));
    let status = bench.tool(json!({"action": "status"}), agent()).expect("an answer");
    assert_eq!(keys(&status), ["workspaceDir", "pending", "quarantined", "applied", "rejected"]);
    assert_eq!(status["workspaceDir"], bench.workspace().to_string_lossy().as_ref());
    for count in ["pending", "quarantined", "applied", "rejected"] {
        assert_eq!(status[count], 0);
    }
    assert_eq!(bench.tool(json!({}), agent()).expect("status is the default"), status);
    for body in ["- a", "- b"] {
        bench
            .tool(json!({"action": "suggest", "skillName": "notes", "body": body}), agent())
            .expect("queued");
    }
    let list = bench.tool(json!({"action": "list_pending"}), agent()).expect("a list");
    for (at, record) in list.as_array().expect("a list").iter().enumerate() {
        let done = bench.tool(json!({"action": "apply", "id": record["id"]}), PERSON);
        assert_eq!(done.is_ok(), at == 0);
    }
    let status = bench.tool(json!({"action": "status"}), agent()).expect("an answer");
    assert_eq!((&status["applied"], &status["stale"]), (&json!(1), &json!(1)));
}

#[test]
fn records_have_skill_workshops_fields_and_ours() {
    let bench = Bench::new();
    let call = json!({
        "action": "suggest", "skillName": "Release Workflow", "title": "Release", "reason": "Asked for",
        "description": "Cut a release", "body": "- Tag last.",
    });
    let answer = bench.tool(call, agent()).expect("queued");
    assert_eq!(keys(&answer), ["status", "proposal"]);
    let mut shown = answer.clone();
    for own in ["id", "workspaceDir", "createdAt", "updatedAt"] {
        shown["proposal"][own] = json!("…");
    }
    assert_json_snapshot!(shown);
    let id = answer["proposal"]["id"].clone();
    let applied = bench.tool(json!({"action": "apply", "id": id}), PERSON).expect("written");
    assert_eq!(keys(&applied), ["status", "skillPath", "proposal"]);
    assert!(
        applied["skillPath"]
            .as_str()
            .expect("a path")
            .ends_with("/skills/release-workflow/SKILL.md")
    );
    let listed = bench
        .tool(json!({"action": "list_pending", "status": "applied"}), agent())
        .expect("a list");
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    let inspected = bench.tool(json!({"action": "inspect", "id": id}), agent()).expect("a record");
    assert_eq!(inspected["status"], "applied");
}

#[test]
fn suggest_chooses_the_kind_and_fills_in_defaults() {
    let bench = Bench::new();
    bench.write("skills/notes/SKILL.md", "---\nname: notes\ndescription: d\n---\n\n- old\n");
    let suggest = |more: Value| {
        let mut call = json!({"action": "suggest", "skillName": "notes"});
        call.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        bench.tool(call, agent()).map(|answer| answer["proposal"].clone())
    };
    let record = suggest(json!({"body": "- a"})).expect("create");
    assert_eq!(record["change"]["kind"], "create");
    assert_eq!(record["title"], "Skill update: notes");
    assert_eq!(record["reason"], "Tool-created skill update");
    assert_eq!(record["change"]["description"], "Skill update: notes");
    assert_eq!(record["source"], "tool");
    let record = suggest(json!({"body": "- a", "section": "Tips"})).expect("append");
    assert_eq!(
        (&record["change"]["kind"], &record["change"]["section"]),
        (&json!("append"), &json!("Tips"))
    );
    let record = suggest(json!({"oldText": "- old", "newText": "- new", "section": "Tips"}))
        .expect("replace");
    assert_eq!(
        record["change"],
        json!({"kind": "replace", "oldText": "- old", "newText": "- new"})
    );
    let record = suggest(json!({"oldText": "- old", "newText": ""})).expect("a line may go");
    assert_eq!(record["change"]["newText"], "");
}

#[test]
fn errors_have_skill_workshops_words() {
    let bench = Bench::new();
    let error = |call: Value| bench.tool(call, agent()).expect_err("an error");
    assert_eq!(error(json!({"action": "suggest"})), "skillName required");
    assert_eq!(error(json!({"action": "suggest", "skillName": "notes"})), "body required");
    assert_eq!(
        error(json!({"action": "suggest", "skillName": "notes", "body": "  "})),
        "body required"
    );
    let half = json!({"action": "suggest", "skillName": "notes", "oldText": "a"});
    assert_eq!(error(half), "oldText and newText required for replace");
    let missing =
        json!({"action": "suggest", "skillName": "notes", "oldText": "a", "newText": "b"});
    assert_eq!(error(missing), "skill does not exist: notes");
    let section =
        json!({"action": "suggest", "skillName": "notes", "section": "# x", "body": "- a"});
    assert_eq!(error(section), "invalid section: # x");
    for action in ["inspect", "apply", "reject", "revise"] {
        assert_eq!(error(json!({"action": action})), "id required");
        assert_eq!(error(json!({"action": action, "id": "nope"})), "proposal not found: nope");
    }
    let support = json!({"action": "write_support_file", "skillName": "a"});
    assert_eq!(error(support), "skillName, relativePath, and body required");
    assert_eq!(error(json!({"action": "dance"})), "unknown action: dance");
    assert_eq!(error(json!({"action": "history"})), "skillName required");
    assert_eq!(error(json!({"action": 3})), "action must be text");
    assert_eq!(error(json!([])), "the parameters must be an object");
    assert_eq!(error(json!({"action": "restore", "id": "x"})), "unknown action: restore");
}

#[test]
fn support_files_history_and_undo_answer_in_their_shapes() {
    let bench = Bench::with(json!({"approvalPolicy": "auto"}));
    bench
        .tool(json!({"action": "suggest", "skillName": "notes", "body": "- a"}), agent())
        .expect("written");
    let call = json!({
        "action": "write_support_file", "skillName": "notes", "relativePath": "references/checklist.md", "body": "- b",
    });
    let answer = bench.tool(call, agent()).expect("written");
    assert_eq!(keys(&answer), ["status", "filePath"]);
    assert_eq!(answer["status"], "written");
    let history =
        bench.tool(json!({"action": "history", "skillName": "notes"}), agent()).expect("history");
    let actions: Vec<&Value> =
        history.as_array().expect("a list").iter().map(|v| &v["action"]).collect();
    assert_eq!(actions, ["support-file", "apply"]);
    bench
        .tool(json!({"action": "undo", "skillName": "notes"}), agent())
        .expect("the support file goes");
    let undone = bench
        .tool(json!({"action": "undo", "skillName": "notes"}), agent())
        .expect("the skill goes");
    assert_eq!(keys(&undone), ["status", "skillPath", "restored"]);
    assert_eq!((&undone["status"], &undone["restored"]), (&json!("undone"), &json!("absent")));
    assert_eq!(bench.files(), [""; 0]);
}

#[test]
fn rejecting_answers_with_the_record() {
    let bench = Bench::new();
    let made = bench
        .tool(json!({"action": "suggest", "skillName": "notes", "body": "- a"}), agent())
        .expect("queued");
    let rejected = bench
        .tool(json!({"action": "reject", "id": made["proposal"]["id"]}), agent())
        .expect("rejected");
    assert_eq!(
        (&rejected["status"], &rejected["id"]),
        (&json!("rejected"), &made["proposal"]["id"])
    );
    assert_eq!(rejected.get("undone"), None);
}

#[test]
fn the_schema_names_every_parameter() {
    let schema = sinew_workshop::schema();
    assert_eq!(schema["properties"]["action"]["enum"].as_array().map(Vec::len), Some(11));
    assert_json_snapshot!(keys(&schema["properties"]));
}

#[test]
fn the_guidance_is_short_and_ends_with_the_policy() {
    use sinew_settings::config::ApprovalPolicy;
    use sinew_workshop::guidance;
    for policy in [ApprovalPolicy::Pending, ApprovalPolicy::Auto] {
        let text = guidance(policy);
        assert!(text.len() <= 700, "{}", text.len());
        assert!(text.starts_with("<skill_workshop>\n") && text.ends_with("\n</skill_workshop>"));
    }
    assert!(guidance(ApprovalPolicy::Pending).contains("explicit approval"));
    assert!(guidance(ApprovalPolicy::Auto).contains("apply: false"));
}

#[test]
fn a_status_that_no_proposal_can_have_is_an_error() {
    let bench = Bench::new();
    let asked = json!({"action": "list_pending", "status": "aplied"});
    let error = bench.tool(asked, agent()).expect_err("an error");
    assert!(error.contains("status must be pending, applied, rejected, quarantined"), "{error}");
}
