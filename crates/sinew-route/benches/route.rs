//! How long routing takes at 1,864, 10,000 and 100,000 skills, as ratios to BM25F alone in the same run.
//!
//!     cargo bench -p sinew-route --bench route            1,864 and 10,000
//!     cargo bench -p sinew-route --bench route -- --long  and 100,000
//!
//! The skills come from the shared data if it is present, and are made up otherwise; larger
//! catalogs are copies with other names. Everything runs on one core. On a busy machine the best of
//! many rounds says more than the median.
#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_route::eval::read_skills;
use sinew_route::{
    Embedder, RouteContext, RouteDocument, RouteIndex, Router, RouterConfig, RouterModels,
    SignalWeights, TextSide, UserMessage,
};

/// About sixteen tokens each, like real messages.
const MESSAGES: [&str; 12] = [
    "make these holiday photos smaller so that i can send them by mail",
    "why is our continuous integration pipeline red since yesterday evening",
    "write unit tests for the billing module and raise the coverage",
    "summarise the unread threads of the release channel for me please",
    "deploy the new version to the kubernetes cluster and watch the pods",
    "find out which index this slow postgres query is missing",
    "turn the meeting recording into text with the names of the speakers",
    "the sidebar overlaps the text on small screens, fix the layout",
    "draft a polite reply to the landlord about the broken heating",
    "look for leaked api keys in the repository before we publish it",
    "create a presentation about the roadmap with ten slides and notes",
    "bitte fasse diesen langen Bericht auf einer Seite zusammen",
];

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the first pool");
    let long = std::env::args().any(|argument| argument == "--long");
    let base = skills();
    let models = RouterModels::embedded();
    let small = models.clone().without_encoder();
    println!(
        "{} skills to copy, models {:?} {:?}",
        base.len(),
        small.table,
        models.encoder.as_ref().map(|e| e.id())
    );
    let sizes: &[usize] = if long { &[1_864, 10_000, 100_000] } else { &[1_864, 10_000] };
    for &size in sizes {
        let documents: Vec<RouteDocument> = (0..size).map(|at| copy(&base, at)).collect();
        let start = Instant::now();
        let index = RouteIndex::build(&documents, &models);
        let built = start.elapsed();
        let bytes = index.to_bytes();
        let start = Instant::now();
        let index = RouteIndex::load(&bytes).expect("what was written");
        let loaded = start.elapsed();
        let mut edited = documents.clone();
        edited[size / 2].hash.push('x');
        let start = Instant::now();
        let (_, built_again) = index.update(&edited, &models);
        let updated = start.elapsed();
        println!(
            "\n{size} skills: index built in {built:?} ({} MB), loaded in {loaded:?}, one changed: {updated:?} ({} read)",
            bytes.len() / 1_000_000,
            built_again.read
        );
        let index = Arc::new(index);
        let config = |lexical, table| RouterConfig {
            weights: Some(SignalWeights { lexical, table, encoder: 0.0 }),
            ..RouterConfig::default()
        };
        let words = Router::from_index(Arc::clone(&index), small.clone(), config(1.0, 0.0)).0;
        let both = Router::from_index(Arc::clone(&index), small.clone(), RouterConfig::default()).0;
        let alone = report("BM25F alone", &words, None);
        report("BM25F + static", &both, Some(alone));
        if let Some(encoder) = models.encoder.clone().filter(|_| size == 1_864) {
            // Any vectors do for timing: computing a thousand real ones takes a minute.
            let mut index = (*index).clone();
            let pending = index.pending();
            index.fill(&Made(Arc::clone(&encoder)), &pending, &|_| ()).expect("made up");
            let all =
                Router::from_index(Arc::new(index), models.clone(), RouterConfig::default()).0;
            report("all", &all, Some(alone));
            let start = Instant::now();
            encoder
                .embed(&[&documents[0].body, &documents[1].body], TextSide::Document)
                .expect("a local model");
            println!("  a document through the encoder: {:?}", start.elapsed() / 2);
        }
    }
}

/// Vectors that need no computation.
#[derive(Debug)]
struct Made(Arc<dyn Embedder>);

impl Embedder for Made {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn dims(&self) -> usize {
        self.0.dims()
    }

    fn embed(&self, texts: &[&str], _: TextSide) -> Result<Vec<Vec<f32>>, sinew_route::EmbedError> {
        let vector = |text: &&str| {
            (0..self.dims()).map(|at| ((at * (text.len() + 3)) % 17) as f32 - 8.0).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Prints how long a message takes: the median of all rounds, and of each message's best round.
fn report(name: &str, router: &Router, base: Option<Duration>) -> Duration {
    let mut times = vec![Vec::new(); MESSAGES.len()];
    for _ in 0..25 {
        for (text, times) in MESSAGES.iter().zip(&mut times) {
            let start = Instant::now();
            std::hint::black_box(
                router.route(&UserMessage::from_user(text), &RouteContext::default()),
            );
            times.push(start.elapsed());
        }
    }
    let mut best: Vec<Duration> =
        times.iter().filter_map(|one| one.iter().min().copied()).collect();
    let mut all = times.concat();
    best.sort();
    all.sort();
    let (p50, p99, best) = (all[all.len() / 2], all[all.len() * 99 / 100], best[best.len() / 2]);
    let ratio = base.map_or_else(String::new, |base| {
        format!(", {:.2} x BM25F alone", best.as_secs_f64() / base.as_secs_f64())
    });
    println!("  {name:16} p50 {p50:?}, p99 {p99:?}, best {best:?}{ratio}");
    best
}

fn copy(base: &[RouteDocument], at: usize) -> RouteDocument {
    let mut document = base[at % base.len()].clone();
    if at >= base.len() {
        let copy = at / base.len();
        document.id = format!("{}-{copy}", document.id);
        document.name = format!("{}-{copy}", document.name);
        document.hash = format!("{}-{copy}", document.hash);
    }
    document
}

fn skills() -> Vec<RouteDocument> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let root = std::env::var_os("SINEW_SHARED").map_or_else(beside, PathBuf::from);
    let mut text = String::new();
    match std::fs::read(root.join("data/skills.jsonl.gz")) {
        Ok(bytes) => {
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_string(&mut text)
                .expect("a gzip of text");
        }
        Err(_) => text.push_str(include_str!("../tests/corpus/skills.jsonl")),
    }
    read_skills(&text).rows
}
