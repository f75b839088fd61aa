//! Tests of the evaluation library.

use sinew_route::RouteDocument;
use sinew_route::eval::{
    RouteEvalOptions, compare, confusable_pairs, evaluate, evaluate_triggers, observe,
    read_questions, read_skills, read_trigger_rows,
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
