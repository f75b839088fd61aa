//! `sinew find` and what belongs to it.

use sinew_testkit::TestMachine;

use crate::support::{command, json, shown, sinew};

/// Six skills of different trades, one of which lacks its program.
fn machine() -> TestMachine {
    let skill = |machine: TestMachine, name: &str, description: &str| {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n");
        machine.file(&format!("work/skills/{name}/SKILL.md"), text)
    };
    let mut machine = TestMachine::new();
    for (name, description) in [
        (
            "pictures",
            "Resize, crop and compress photos and other images. Use when files are too large to send.",
        ),
        (
            "calendar",
            "Read and change appointments. Use when the user asks what is on today or wants to move a meeting.",
        ),
        ("soup", "Recipes for soups and stews, with shopping lists."),
        ("ledger", "Keep the books in plain text. Use for invoices, expenses and yearly accounts."),
        ("letters", "Write formal letters and complaints, ready to print."),
    ] {
        machine = skill(machine, name, description);
    }
    machine.file(
        "work/skills/weather/SKILL.md",
        "---\nname: weather\ndescription: Forecasts for any place, rain and wind warnings\nmetadata: {openclaw: {requires: {bins: [wx]}}}\n---\n",
    )
}

#[test]
fn the_right_skill_is_found_in_the_users_own_words() {
    let result = json(&machine(), &["find", "these photos are too big to email, shrink them"]);
    assert_eq!(result["matches"][0]["name"], "pictures");
    assert_ne!(result["decision"], "none");
    for key in ["decision", "matches", "threshold", "margin", "model", "degraded"] {
        assert!(result.get(key).is_some(), "{key}");
    }
    assert!(result["matches"][0]["parts"].get("lexical").is_some());
    let shown = sinew(&machine(), &["find", "--explain", "move my meeting to friday"]);
    assert!(shown.contains("calendar") && shown.ends_with("exit 0"), "{shown}");
    let shown = sinew(&machine(), &["find", "photos are too large to send"]);
    for part in ["pictures", "lexical █", "shares ", "not close enough:", "further in meaning"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn nothing_fits_is_an_answer() {
    for message in ["", "   ", "🙂🙂", "?!", "thanks, that was great"] {
        let shown = sinew(&machine(), &["find", message]);
        assert!(shown.starts_with("none") && shown.ends_with("exit 1"), "{message:?}: {shown}");
    }
}

#[test]
fn a_skill_that_is_named_wins_and_one_that_lacks_something_is_only_mentioned() {
    let named = json(&machine(), &["find", "use the ledger skill"]);
    assert_eq!(
        (&named["decision"], &named["matches"][0]["name"]),
        (&"match".into(), &"ledger".into())
    );
    let shown = sinew(&machine(), &["find", "$weather for tomorrow in Bergen"]);
    assert!(!shown.contains("match: weather"), "{shown}");
    assert!(shown.contains("weather would fit, but cannot be used yet"), "{shown}");
    let why = sinew(&machine(), &["why", "weather", "--for", "rain and wind in Bergen"]);
    assert!(why.contains("place 1") && why.contains("wx is not installed"), "{why}");
}

#[test]
fn a_skill_that_cannot_be_used_is_in_the_json_with_what_it_lacks() {
    let answer = json(&machine(), &["find", "$weather for tomorrow in Bergen"]);
    let weather = &answer["unavailable"][0];
    assert_eq!((&weather["name"], &weather["state"]), (&"weather".into(), &"needs-setup".into()));
    assert_eq!(weather["missing"]["bins"], serde_json::json!(["wx"]), "{weather}");
    assert_eq!(weather["reasons"][0]["code"], "missing-bin");
    assert_eq!(weather["command"], "sinew why weather");
    assert_eq!(answer["offered"], 0, "{answer}");
    let usable = json(&machine(), &["find", "use the ledger skill"]);
    assert_eq!(usable["unavailable"], serde_json::json!([]));
}

#[test]
fn the_same_message_gives_the_same_answer() {
    let machine = machine();
    let ask = || {
        let mut result = json(&machine, &["find", "invoice for the plumber"]);
        result.as_object_mut().expect("a map").remove("took");
        result
    };
    let first = ask();
    assert_eq!(first, ask());
    for threads in ["1", "3"] {
        let mut command = command(&machine, &["find", "--json", "invoice for the plumber"]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().expect("sinew runs");
        let mut result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        result.as_object_mut().expect("a map").remove("took");
        assert_eq!(result, first, "{threads} threads");
    }
}

#[test]
fn a_message_of_ten_megabytes_comes_through_a_pipe() {
    let machine = machine();
    let huge = format!("{} please crop this photo", "lorem ipsum ".repeat(850_000));
    machine.write("work/huge.txt", huge);
    let mut command = command(&machine, &["find", "-"]);
    command.stdin(std::fs::File::open(machine.path("work/huge.txt")).expect("a file"));
    let shown = shown(&machine, &command.output().expect("sinew runs"));
    assert!(shown.contains("pictures") && !shown.contains("panicked"), "{shown}");
    let usage = sinew(&machine, &["find", "--top", "0", "x"]);
    assert!(usage.contains("at least 1") && usage.ends_with("exit 2"), "{usage}");
    let one = json(&machine, &["find", "--top", "1", "crop and compress this photo"]);
    let offered = one["offered"].as_u64().expect("a number") as usize;
    assert!(offered <= one["matches"].as_array().expect("a list").len(), "{one}");
}

#[test]
fn an_edited_skill_is_read_alone_and_a_damaged_index_is_rebuilt() {
    let machine = machine();
    assert_eq!(json(&machine, &["index", "rebuild"])["pending"], 0);
    machine.write(
        "work/skills/soup/SKILL.md",
        "---\nname: soup\ndescription: Ferry timetables for the islands\n---\n",
    );
    let status = json(&machine, &["index", "status"]);
    assert_eq!((&status["read"], &status["kept"]), (&1.into(), &5.into()));
    assert_eq!(
        json(&machine, &["find", "when does the ferry to the islands leave"])["matches"][0]["name"],
        "soup"
    );
    let file = status["path"].as_str().expect("a path").to_owned();
    std::fs::write(file, "rubbish").expect("a file of ours");
    let shown = sinew(&machine, &["find", "ferry timetables"]);
    assert!(shown.contains("rebuilt") && shown.contains("soup"), "{shown}");
}

#[test]
fn other_models_and_other_workspaces_leave_the_vectors_alone() {
    let machine = machine();
    assert_eq!(json(&machine, &["index", "rebuild"])["pending"], 0);
    machine.write(
        "work/skills/letters/SKILL.md",
        "---\nname: letters\ndescription: Write letters of thanks\n---\n",
    );
    for model in ["static", "words"] {
        json(&machine, &["find", "--model", model, "a letter of thanks to my aunt"]);
    }
    machine.write("other/skills/soup/SKILL.md", "---\nname: soup\ndescription: Soups\n---\n");
    json(&machine, &["find", "--model", "static", "--workspace", "../other", "soup of the day"]);
    let status = json(&machine, &["index", "status"]);
    assert_eq!((&status["read"], &status["pending"]), (&0.into(), &0.into()), "{status}");
}

#[test]
fn a_skill_that_went_leaves_the_index() {
    let machine = machine();
    assert_eq!(json(&machine, &["index", "rebuild"])["skills"], 6);
    std::fs::remove_dir_all(machine.path("work/skills/soup")).expect("a folder of ours");
    for _ in 0..2 {
        let status = json(&machine, &["index", "status"]);
        assert_eq!((&status["skills"], &status["kept"]), (&5.into(), &5.into()));
    }
}

#[test]
fn a_long_message_and_an_empty_catalog_are_no_trouble() {
    let machine = machine();
    let long = format!("{} please crop this photo", "lorem ipsum ".repeat(5_000));
    assert!(sinew(&machine, &["find", &long]).contains("exit"));
    let empty = sinew(&TestMachine::new(), &["find", "anything"]);
    assert!(empty.starts_with("none") && empty.ends_with("exit 1"), "{empty}");
}

#[test]
fn two_runs_are_compared_question_by_question() {
    let machine = machine().file(
        "work/q.jsonl",
        "{\"id\":\"<b>\",\"query\":\"move my <i>meeting</i>\",\"expected\":[\"calendar\"]}\n\
         {\"id\":\"2\",\"query\":\"shrink photos\",\"expected\":[\"soup\"]}\n\
         {\"query\":\"hello there\",\"kind\":\"none\"}\n\
         {\"query\":\"stew for ten\",\"skill\":\"ledger\",\"should_trigger\":false}\n\
         {\"query\":\"stew for ten\",\"skill\":\"soup\",\"should_trigger\":true}\n",
    );
    let data = ["--skills", "skills", "--queries", "q.jsonl"];
    let run = |more: &[&str]| json(&machine, &[&["eval", "route"], &data[..], more].concat());
    let report = run(&["--model", "static"]);
    assert_eq!(report["hit@1"].as_f64(), Some(2.0 / 3.0), "{report}");
    assert_eq!(report["should_not"], serde_json::json!({"messages": 1, "false_matches": 0.0}));
    machine.write("work/a.json", report.to_string());
    let compared = run(&["--compare", "words", "static"]);
    assert_eq!((&compared["messages"], &compared["first"]), (&3.into(), &"words".into()));
    let saved = json(&machine, &["eval", "route", "--compare", "a.json", "a.json"]);
    assert_eq!(
        (&saved["won"], &saved["lost"], &saved["hit@1"]),
        (&0.into(), &0.into(), &0.0.into())
    );
    let shown = sinew(&machine, &["eval", "route", "--compare", "a.json", "a.json"]);
    assert!(shown.contains("hit@1      +0.0 points [+0.0, +0.0]"), "{shown}");
    let shown = sinew(&machine, &["eval", "route", "--compare", "a.json", "static"]);
    assert!(shown.contains("there are no questions") && shown.ends_with("exit 2"), "{shown}");
    let shown = sinew(&machine, &["eval", "route", "--compare", "a.json", "q.jsonl"]);
    assert!(shown.contains("is no report") && shown.ends_with("exit 2"), "{shown}");
    let shown = sinew(&machine, &["eval", "route", "--skills", "skills"]);
    assert!(shown.contains("--queries") && shown.ends_with("exit 2"), "{shown}");
    machine.write(
        "work/evals/route.jsonl",
        "{\"query\":\"move my meeting\",\"expected\":[\"calendar\"],\"kind\":\"normal\"}\n",
    );
    let cases = json(&machine, &["eval", "route", "--model", "static"]);
    assert_eq!((&cases["hit@1"], &cases["messages"]), (&1.0.into(), &1.into()), "{cases}");
    run(&["--html", "page.html"]);
    let page = std::fs::read_to_string(machine.path("work/page.html")).expect("a page");
    assert!(!page.contains("<i>") && page.contains("shrink photos"), "{page}");
}

#[test]
fn a_prompt_for_a_message_keeps_what_fits_whole() {
    let mut machine = machine();
    for number in 0..40 {
        let text = format!(
            "---\nname: filler-{number}\ndescription: {}\n---\n",
            "Nothing of interest here. ".repeat(12)
        );
        machine = machine.file(&format!("work/skills/filler-{number}/SKILL.md"), text);
    }
    let shown = sinew(&machine, &["prompt", "--for", "shrink these photos", "--max-chars", "9000"]);
    assert!(shown.contains("too large to send.</skill>"), "{shown}");
}

#[test]
fn twins_are_listed_and_questions_are_scored() {
    let machine = machine().file(
        "work/skills/images/SKILL.md",
        "---\nname: images\ndescription: Resize, crop and compress photos and other images. Use when files are too large to send.\n---\n",
    );
    let pairs = json(&machine, &["dedupe"]);
    assert_eq!((&pairs[0]["a"], &pairs[0]["b"]), (&"images".into(), &"pictures".into()));
    machine.write(
        "work/q.jsonl",
        "{\"id\":\"1\",\"query\":\"move my meeting\",\"expected\":[\"calendar\"],\"kind\":\"plain\"}\nnot json\n",
    );
    let report = json(&machine, &["eval", "route", "--skills", "skills", "--queries", "q.jsonl"]);
    assert_eq!(report["hit@1"], 1.0);
    for key in ["hit@5", "ndcg@10", "mrr", "by_kind", "abstain"] {
        assert!(report.get(key).is_some(), "{key}");
    }
    let shown = sinew(&machine, &["eval", "route", "--skills", "skills", "--queries", "q.jsonl"]);
    assert!(shown.contains("line 2") && shown.ends_with("exit 1"), "{shown}");
    let args = ["eval", "route", "--skills", "skills", "--queries", "q.jsonl", "--html", "r.html"];
    assert!(sinew(&machine, &args).contains("the page is in r.html"));
    let page = std::fs::read_to_string(machine.path("work/r.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.contains("<td>plain"), "{page}");
    machine.write("work/t.jsonl", "{\"query\":\"move my meeting\",\"should_trigger\":true}\n");
    let shown = sinew(&machine, &["eval", "triggers", "calendar", "--data", "t.jsonl"]);
    assert!(shown.ends_with("exit 0"), "{shown}");
}
