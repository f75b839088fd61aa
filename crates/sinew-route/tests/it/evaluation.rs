//! Tests of the evaluation library.

use sinew_route::RouteDocument;
use sinew_route::eval::{
    RouteEvalOptions, compare, confusable_pairs, evaluate, evaluate_triggers, observe,
    read_answers, read_questions, read_skills, read_trigger_rows,
};

use crate::support::{corpus_router, corpus_skills, has_models, router};

#[test]
fn a_malformed_row_is_named_and_the_rest_evaluated() {
    let text = "{\"id\":\"a\",\"query\":\"merge pdf documents\",\"expected\":[\"pdf-tools\"],\"kind\":\"normal\"}\n\
                {\"id\":\"b\",\"query\":\n\
                {\"id\":\"c\",\"expected\":[\"weather\"]}\n\n\
                {\"query\":\"hello there\",\"kind\":\"none\",\"skill\":null}\n";
    let read = read_questions(text);
    assert_eq!(read.rows.len(), 2);
    assert_eq!(read.bad.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3]);
    assert!(read.bad[1].message.contains("query"), "{}", read.bad[1].message);
    let report = evaluate(corpus_router(), &read.rows, read.bad, RouteEvalOptions::default());
    assert_eq!((report.figures.messages, report.problems.len()), (1, 2));
    assert!((report.figures.hit1 - 1.0).abs() < 1e-9);
    let json = serde_json::to_value(&report).expect("plain data");
    for key in [
        "hit@1",
        "hit@5",
        "recall@10",
        "ndcg@10",
        "mrr",
        "by_kind",
        "abstain",
        "decision",
        "latency",
        "intervals",
    ] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert!(json["abstain"]["wrong_abstentions"].is_number());
}

#[test]
fn a_run_compared_with_itself_has_no_difference() {
    let questions = read_questions(include_str!("../corpus/messages.jsonl")).rows;
    let questions = &questions[..40];
    let (a, b) =
        (observe(corpus_router(), questions, true), observe(corpus_router(), questions, false));
    let same = compare(&a, &b);
    assert_eq!((same.won, same.lost), (0, 0));
    assert!(same.hit1.abs() < 1e-12 && same.ndcg10_interval.low.abs() < 1e-12);
}

#[test]
fn trigger_rows_are_read_in_both_shapes() {
    let rows = "[{\"query\":\"merge pdf pages\",\"should_trigger\":true},\n{\"query\":\"play a song\",\"should_trigger\":false}]";
    let read = read_trigger_rows(rows);
    assert_eq!((read.rows.len(), read.bad.len()), (2, 0));
    let report = evaluate_triggers(corpus_router(), &read.rows, Some("pdf-tools"));
    assert_eq!((report.should, report.should_not), (1, 1));
    assert!((report.hit1 - 1.0).abs() < 1e-9 && report.false_matches.abs() < 1e-9);
    assert_eq!(read_trigger_rows("{\"query\":\"x\"}").bad.len(), 1);
    assert_eq!(read_trigger_rows("[{").bad.len(), 1);
}

#[test]
fn twins_are_found() {
    if !has_models() {
        return;
    }
    let mut skills = corpus_skills();
    let twin = "Resize, crop, compress and convert pictures between PNG, JPEG, WebP and HEIC for smaller files.";
    skills.push(RouteDocument::from_description("img2", "picture-kit", twin));
    let pairs = confusable_pairs(&router(&skills), 0.7);
    assert!(!pairs.is_empty());
    let first = (pairs[0].a.as_str(), pairs[0].b.as_str());
    assert!(first == ("image-tools", "picture-kit"), "{first:?}");
}

#[test]
fn skills_are_read_as_text_or_as_a_description() {
    let rows = "{\"id\":\"a\",\"name\":\"a\",\"text\":\"---\\nname: mail\\ndescription: Send mail\\n---\\n# Mail\\n\"}\n\
                {\"id\":\"o/r#b\",\"description\":\"Play music\"}\n{\"name\":\"no id\"}\n";
    let read = read_skills(rows);
    assert_eq!(read.rows.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["mail", "b"]);
    assert_eq!(read.rows[0].headings, ["Mail"]);
    assert_eq!(read.bad.len(), 1);
}

#[test]
fn public_sets_are_read_as_ours() {
    let bfcl = r#"{"id": "m_0", "question": [[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "how far is the moon"}]], "function": [{"name": "sky.distance", "description": "Distance to a body", "parameters": {"properties": {"body": {"type": "string", "description": "its name"}}}}, {"name": "sky.phase", "description": "Phase of the moon"}]}"#;
    let mut questions = read_questions(bfcl).rows;
    assert_eq!(
        (questions[0].id.as_str(), questions[0].query.as_str()),
        ("m_0", "how far is the moon")
    );
    let answers =
        read_answers(r#"{"id": "m_0", "ground_truth": [{"sky.distance": {"body": ["moon"]}}]}"#);
    questions[0].answered_by(&answers);
    assert_eq!(questions[0].expected, ["sky.distance"]);
    let tools = read_skills(bfcl).rows;
    assert_eq!(
        tools.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(),
        ["sky.distance", "sky.phase"]
    );
    assert!(tools[0].body.contains("its name"));

    let metatool = "Query,Tool\r\n\"a \"\"good\"\" film, tonight\",FilmTool\nrain?,weather\n";
    let questions = read_questions(metatool).rows;
    assert_eq!(questions[0].query, "a \"good\" film, tonight");
    assert_eq!([&questions[0].expected[0], &questions[1].expected[0]], ["FilmTool", "weather"]);
    let tools = read_skills(r#"{"FilmTool": "Find films", "weather": "Tell the weather"}"#).rows;
    assert_eq!((tools.len(), tools[1].description.as_str()), (2, "Tell the weather"));

    let toolbench = r#"[{"query": "rates of today", "query_id": 7, "api_list": [{"tool_name": "Bank", "api_name": "rates", "api_description": "Rates"}], "relevant APIs": [["Bank", "rates"]]}]"#;
    let question = &read_questions(toolbench).rows[0];
    assert_eq!((question.id.as_str(), question.expected[0].as_str()), ("7", "Bank/rates"));
    assert_eq!(read_skills(toolbench).rows[0].id, "Bank/rates");

    let mut tasks =
        read_questions(r#"{"task_id": "t1", "instruction_text": "fix the build"}"#).rows;
    tasks[0].answered_by(&read_answers(
        r#"{"t1": {"task_type": "multi", "gt_skill_ids": ["a", "b"], "core_gt_ids": ["b"]}}"#,
    ));
    assert_eq!(
        (tasks[0].query.as_str(), &tasks[0].expected[..]),
        ("fix the build", &["b".to_owned()][..])
    );
    let skill =
        read_skills(r#"{"skill_id": "b", "name": "build-fix", "description": "Mend a build"}"#);
    assert_eq!((skill.rows.len(), skill.rows[0].id.as_str()), (1, "b"));
}
