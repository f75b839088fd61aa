//! The evaluation sets, for the programs in this folder.
#![allow(dead_code, reason = "each program uses a part")]

mod remembering;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_route::eval::{EvalQuestion, TriggerRow, read_questions, read_skills, read_trigger_rows};
use sinew_route::{Language, RouteDocument, RouteIndex, RouterModels, TextEncoder, guess_language};

use remembering::Remembering;

/// Where the shared data is.
pub(crate) fn data() -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    std::env::var_os("SINEW_SHARED").map_or_else(beside, PathBuf::from).join("data")
}

/// Where vectors are cached between runs.
pub(crate) fn cache() -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/route-cache"));
    std::fs::create_dir_all(&folder).expect("a writable target folder");
    folder
}

/// The text of a file, unpacked.
pub(crate) fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut out = String::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut out).expect("a gzip of text");
        return out;
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// Messages over a pool of skills.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) documents: Vec<RouteDocument>,
    pub(crate) questions: Vec<EvalQuestion>,
}

/// `queries-dev` over 1,864 skills.
pub(crate) fn dev() -> Set {
    let documents = read_skills(&text(&data().join("skills.jsonl.gz"))).rows;
    let questions = read_questions(&text(&data().join("routing/queries-dev.jsonl"))).rows;
    Set { name: "dev", documents, questions }
}

/// Our own long, noisy messages over the skills of dev.
pub(crate) fn noisy() -> Vec<EvalQuestion> {
    read_questions(include_str!("../../tests/corpus/noisy.jsonl")).rows
}

/// The part of the training messages that no model was trained on, over its own skills.
pub(crate) fn validation() -> Set {
    let held_out = |id: &str| id.starts_with(['0', '1']);
    let skills = text(&data().join("routing/train-skills.jsonl.gz"));
    let documents = read_skills(&skills).rows.into_iter().filter(|one| held_out(&one.id)).collect();
    let messages = text(&data().join("routing/train-messages.jsonl.gz"));
    let questions = messages
        .lines()
        .enumerate()
        .filter_map(|(at, line)| {
            let row: serde_json::Value = serde_json::from_str(line).ok()?;
            let skill = row["skill"].as_str().filter(|id| held_out(id))?;
            let query = row["message"].as_str()?.to_owned();
            let foreign = guess_language(&query) != Language::En;
            let kind =
                if foreign { "foreign".to_owned() } else { row["style"].as_str()?.to_owned() };
            Some(EvalQuestion {
                id: format!("v{at}"),
                query,
                expected: vec![skill.to_owned()],
                also: Vec::new(),
                never: Vec::new(),
                kind,
            })
        })
        .collect();
    Set { name: "validation", documents, questions }
}

/// Messages that need no skill: every fifth is reserved for testing, the others are for fitting.
pub(crate) fn none_messages(test: bool) -> Vec<EvalQuestion> {
    text(&data().join("routing/train-none.jsonl"))
        .lines()
        .enumerate()
        .filter(|(at, _)| (at % 5 == 0) == test)
        .filter_map(|(at, line)| {
            let row: serde_json::Value = serde_json::from_str(line).ok()?;
            let query = row["message"].as_str()?.to_owned();
            Some(EvalQuestion {
                id: format!("n{at}"),
                query,
                expected: Vec::new(),
                also: Vec::new(),
                never: Vec::new(),
                kind: "none".to_owned(),
            })
        })
        .collect()
}

/// Authors' own trigger messages and their skills.
pub(crate) fn trigger() -> (Vec<RouteDocument>, Vec<TriggerRow>) {
    let documents = read_skills(&text(&data().join("routing/trigger-skills.jsonl"))).rows;
    let rows = read_trigger_rows(&text(&data().join("routing/trigger-queries-dev.jsonl"))).rows;
    (documents, rows)
}

/// The models, with a caching encoder.
pub(crate) fn remembering() -> RouterModels {
    let models = models();
    match models.encoder.clone() {
        Some(inner) => models.with_encoder(Arc::new(Remembering::of(inner))),
        None => models,
    }
}

/// The models: those in the binary, or an encoder file named by `SINEW_ENCODER`.
pub(crate) fn models() -> RouterModels {
    let models = RouterModels::embedded();
    match std::env::var_os("SINEW_ENCODER") {
        None => models,
        Some(path) => {
            let bytes = std::fs::read(path).expect("the file that SINEW_ENCODER names");
            models.with_encoder(Arc::new(TextEncoder::from_bytes(bytes).expect("an encoder file")))
        }
    }
}

/// An index with all vectors, cached between runs.
#[allow(clippy::print_stderr, reason = "filling takes a minute; the program should not look dead")]
pub(crate) fn index(name: &str, documents: &[RouteDocument], models: &RouterModels) -> RouteIndex {
    let encoder = models.encoder.as_deref();
    let key = encoder.map_or_else(|| "none".to_owned(), |encoder| encoder.id().to_owned());
    let file = cache().join(format!("{name}-{}.idx", key.replace(['/', ':'], "-")));
    let old = std::fs::read(&file).ok().and_then(|bytes| RouteIndex::load(&bytes).ok());
    let mut index = match old {
        Some(old) => old.update(documents, models).0,
        None => RouteIndex::build(documents, models),
    };
    if let Some(encoder) = encoder {
        let pending = index.pending();
        for part in pending.chunks(256) {
            index.fill(encoder, part, &|_| ()).expect("a local model");
            eprintln!("{name}: {} vectors to go", index.pending_count());
        }
    }
    std::fs::write(&file, index.to_bytes()).expect("a writable cache");
    index
}
