//! The issue's figures, over the shared data. If that is missing, the tests report it.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sinew_route::eval::{
    EvalQuestion, RouteEvalOptions, RouteEvalReport, evaluate, evaluate_triggers, near_misses,
    read_questions, read_skills, read_trigger_rows,
};
use sinew_route::{
    Language, RouteContext, RouteDecision, RouteDocument, RouteIndex, Router, RouterConfig,
    RouterModels, UserMessage, guess_language,
};

use crate::support::{corpus_skills, has_models, models};

fn data(path: &str) -> Option<String> {
    let found = sinew_testkit::shared_data(&format!("data/{path}"))?;
    let bytes = std::fs::read(found).expect("a shared file that exists can be read");
    let mut text = String::new();
    let read = if path.ends_with(".gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text)
    } else {
        (&bytes[..]).read_to_string(&mut text)
    };
    read.expect("text");
    Some(text)
}

/// A router with all vectors; these are cached in the target folder, because a thousand of them
/// take a minute. Tests are processes of their own: the first one computes, the others wait.
fn filled(name: &str, documents: &[RouteDocument], models: &RouterModels) -> Router {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let lock = File::create(folder.join(format!("{name}.lock"))).expect("a lock file");
    lock.lock().expect("a lock");
    let file = folder.join(format!("{name}.idx"));
    let old = std::fs::read(&file).ok().and_then(|bytes| RouteIndex::load(&bytes).ok());
    let mut index = match old {
        Some(old) => old.update(documents, models).0,
        None => RouteIndex::build(documents, models),
    };
    let encoder = models.encoder.as_deref().expect("checked");
    let pending = index.pending();
    index.fill(encoder, &pending, &|_| ()).expect("a local model");
    std::fs::write(&file, index.to_bytes()).expect("a writable target folder");
    Router::from_index(Arc::new(index), models.clone(), RouterConfig::default()).0
}

pub(crate) struct Dev {
    pub(crate) router: Router,
    questions: Vec<EvalQuestion>,
    pub(crate) documents: Vec<RouteDocument>,
}

pub(crate) fn dev() -> Option<&'static Dev> {
    static DEV: OnceLock<Option<Dev>> = OnceLock::new();
    DEV.get_or_init(|| {
        if !has_models() {
            return None;
        }
        let documents = read_skills(&data("skills.jsonl.gz")?).rows;
        let read = read_questions(&data("routing/queries-dev.jsonl")?);
        assert_eq!(read.bad, []);
        let questions = read.rows;
        Some(Dev { router: filled("dev", &documents, &models()), questions, documents })
    })
    .as_ref()
}

fn none_messages() -> Option<Vec<EvalQuestion>> {
    let text = data("routing/train-none.jsonl")?;
    // Every fifth row was excluded from every fit.
    let rows = text
        .lines()
        .step_by(5)
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let question = |row: serde_json::Value| EvalQuestion {
        id: String::new(),
        query: row["message"].as_str().unwrap_or_default().to_owned(),
        expected: Vec::new(),
        also: Vec::new(),
        never: Vec::new(),
        kind: "none".to_owned(),
    };
    Some(rows.map(question).collect())
}

fn measure(router: &Router, questions: &[EvalQuestion]) -> RouteEvalReport {
    evaluate(router, questions, Vec::new(), RouteEvalOptions { parallel: true, misses: false })
}

#[test]
fn dev_reaches_the_figures_of_the_issue() {
    let Some(dev) = dev() else { return };
    let report = measure(&dev.router, &dev.questions);
    assert!(report.figures.hit1 >= 0.685, "hit@1 {}", report.figures.hit1);
    assert!(report.figures.hit5 >= 0.85, "hit@5 {}", report.figures.hit5);
    let small = Router::from_index(
        Arc::clone(dev.router.index()),
        models().without_encoder(),
        RouterConfig::default(),
    )
    .0;
    let report = measure(&small, &dev.questions);
    assert!(report.figures.hit1 >= 0.53, "lexical + static hit@1 {}", report.figures.hit1);
}

#[test]
fn silence_and_matches_reach_the_figures_of_the_issue() {
    let (Some(dev), Some(none)) = (dev(), none_messages()) else { return };
    let mut questions = dev.questions.clone();
    questions.extend(none);
    let report = measure(&dev.router, &questions);
    assert!(report.abstain.recall >= 0.75, "none kept {}", report.abstain.recall);
    assert!(
        report.abstain.wrong_abstentions <= 0.10,
        "wrongly silent {}",
        report.abstain.wrong_abstentions
    );
    assert!(report.decision.match_precision >= 0.85, "{:?}", report.decision);
    let near = near_misses(&dev.router, &dev.questions);
    let matched = near.iter().filter(|one| one.decision == RouteDecision::Match).count();
    assert!(10 * matched <= near.len(), "{matched} of {} near misses matched", near.len());
}

#[test]
fn the_lexicon_lifts_other_languages_by_eight_points() {
    if !has_models() {
        return;
    }
    let (Some(skills), Some(messages)) =
        (data("routing/train-skills.jsonl.gz"), data("routing/train-messages.jsonl.gz"))
    else {
        return;
    };
    let held_out = |id: &str| id.starts_with(['0', '1']);
    let documents: Vec<RouteDocument> =
        read_skills(&skills).rows.into_iter().filter(|one| held_out(&one.id)).collect();
    let questions: Vec<EvalQuestion> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|row| row["skill"].as_str().is_some_and(held_out))
        .filter(|row| {
            row["message"].as_str().is_some_and(|text| guess_language(text) != Language::En)
        })
        .map(|row| EvalQuestion {
            id: String::new(),
            query: row["message"].as_str().unwrap_or_default().to_owned(),
            expected: vec![row["skill"].as_str().unwrap_or_default().to_owned()],
            also: Vec::new(),
            never: Vec::new(),
            kind: "foreign".to_owned(),
        })
        .collect();
    assert!(questions.len() > 100);
    let with = filled("validation", &documents, &models());
    let config = RouterConfig { bridge: false, ..RouterConfig::default() };
    let without = Router::from_index(Arc::clone(with.index()), models(), config).0;
    let (with, without) =
        (measure(&with, &questions).figures, measure(&without, &questions).figures);
    assert!(with.hit5 >= without.hit5 + 0.08, "hit@5 {} with, {} without", with.hit5, without.hit5);
}

#[test]
fn authors_negatives_are_rarely_matched() {
    if !has_models() {
        return;
    }
    let (Some(skills), Some(rows)) =
        (data("routing/trigger-skills.jsonl"), data("routing/trigger-queries-dev.jsonl"))
    else {
        return;
    };
    let router = filled("trigger", &read_skills(&skills).rows, &models());
    let report = evaluate_triggers(&router, &read_trigger_rows(&rows).rows, None);
    assert!(report.false_matches <= 0.10, "false matches {}", report.false_matches);
    assert!(report.hit1 >= 0.85, "hit@1 {}", report.hit1);
}

#[test]
fn netclaws_messages_among_nearly_two_thousand_skills() {
    let Some(dev) = dev() else { return };
    let mut documents = dev.documents.clone();
    let wanted = ["reminder-timers", "runtime-diagnostics", "memory-curation", "web-citation"];
    documents.extend(corpus_skills().into_iter().filter(|one| wanted.contains(&one.name.as_str())));
    let (index, built) = dev.router.index().update(&documents, &models());
    assert_eq!(built.read, 4);
    let mut index = index;
    let pending = index.pending();
    index.fill(&*models().encoder.expect("checked"), &pending, &|_| ()).expect("a local model");
    let router = dev.router.with_index(Arc::new(index));
    let mut ranks = Vec::new();
    for (text, name) in [
        ("Can you schedule reminders?", "reminder-timers"),
        ("Something is wrong with my session, can you diagnose it?", "runtime-diagnostics"),
        ("What do you remember about our previous conversations?", "memory-curation"),
        ("Search the web for the latest Akka.NET release", "web-citation"),
    ] {
        let why = router
            .explain(&UserMessage::from_user(text), name, &RouteContext::default())
            .expect("indexed");
        ranks.push(why.rank);
    }
    assert!(ranks.iter().all(|&rank| rank <= 5), "{ranks:?}");
}
