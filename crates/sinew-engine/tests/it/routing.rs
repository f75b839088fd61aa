//! The one answer to a message: what it says of skills that cannot be used, and of models that fail.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_catalog::EntryState;
use sinew_engine::{Engine, EngineOptions, LiveEngine, RouteAnswer, RouteRequest};
use sinew_route::{AbstainReason, DegradedKind, RouteDecision};
use sinew_testkit::TestMachine;

/// Longer than any of these needs on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two questions.
const PAUSE: Duration = Duration::from_millis(50);

fn open(machine: &TestMachine) -> Engine {
    Engine::open(machine.environment(), EngineOptions::default()).expect("an engine")
}

fn skill(machine: TestMachine, name: &str, description: &str, more: &str) -> TestMachine {
    let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n");
    machine.file(&format!("work/skills/{name}/SKILL.md"), text)
}

/// Skills of different trades; the one about the weather lacks its program.
fn machine() -> TestMachine {
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{route: {model: 'static'}}");
    for (name, description) in [
        ("soup", "Recipes for soups and stews, with shopping lists."),
        ("ledger", "Keep the books in plain text: invoices, expenses and yearly accounts."),
        ("letters", "Write formal letters and complaints, ready to print."),
    ] {
        machine = skill(machine, name, description, "");
    }
    let needs = "metadata: {openclaw: {requires: {bins: [wx]}}}\n";
    skill(machine, "weather", "Forecasts for any place, rain and wind warnings", needs)
}

#[test]
fn a_skill_that_cannot_be_used_is_named_and_strangers_are_not_offered() {
    let answer = open(&machine()).route(&RouteRequest::new("$weather for tomorrow in Bergen"));
    assert_eq!(answer.decision, RouteDecision::None, "{answer:?}");
    assert_eq!(answer.reason, Some(AbstainReason::OnlyUnavailable));
    assert!(answer.offers().is_empty());
    assert!(answer.matches.iter().all(|found| found.name != "weather"));
    let [weather] = answer.unavailable.as_slice() else { panic!("{:?}", answer.unavailable) };
    assert_eq!((weather.name.as_str(), weather.state), ("weather", EntryState::NeedsSetup));
    assert_eq!(weather.missing.bins, ["wx"]);
    assert!(weather.lacks().contains("wx"), "{}", weather.lacks());
    assert_eq!(weather.command, "sinew why weather");
}

/// What was brought with an earlier message is no part of the one that an agent asks about.
#[test]
fn what_sinew_added_is_not_routed() {
    let machine = machine();
    let message = "use the ledger skill";
    let engine = open(&machine);
    let plain = engine.route(&RouteRequest::new(message));
    for frame in ["matching_skills", "sinew_context", "hook_context"] {
        let added = format!("<{frame}>\n$soup and $letters fit: recipes for soups\n</{frame}>");
        let back = engine.route(&RouteRequest::new(format!("{added}\n\n{message}")));
        let names = |answer: &RouteAnswer| -> Vec<String> {
            answer.offers().iter().map(|found| found.name.clone()).collect()
        };
        assert_eq!(names(&back), names(&plain), "{frame}");
        assert_eq!(back.decision, plain.decision, "{frame}");
        let alone = engine.route(&RouteRequest::new(added));
        assert_eq!(alone.decision, RouteDecision::None, "{frame}: {alone:?}");
    }
}

#[test]
fn a_skill_that_can_be_used_is_offered_as_before() {
    let answer = open(&machine()).route(&RouteRequest::new("use the ledger skill"));
    assert_eq!(answer.matched().map(|found| found.name.as_str()), Some("ledger"), "{answer:?}");
    assert!(answer.unavailable.is_empty(), "{:?}", answer.unavailable);
}

/// A server of embeddings that fails until it is told to work.
struct EmbeddingServer {
    url: String,
    works: Arc<AtomicBool>,
    /// What it was asked for, a list for each request.
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl EmbeddingServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let works = Arc::new(AtomicBool::new(false));
        let asked = Arc::default();
        let shared = (Arc::clone(&works), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (works, asked) = shared.clone();
                thread::spawn(move || respond(stream, works.load(Ordering::Acquire), &asked));
            }
        });
        Self { url, works, asked }
    }

    /// The first request that was about any of these skills, as the names of those it was about.
    fn first_about(&self, names: &[&str]) -> Option<Vec<String>> {
        let asked = self.asked.lock().expect("the record");
        asked.iter().find_map(|texts| {
            let about = names.iter().filter(|name| texts.iter().any(|text| text.contains(**name)));
            let about: Vec<String> = about.map(|name| (*name).to_owned()).collect();
            (!about.is_empty()).then_some(about)
        })
    }
}

fn respond(mut stream: TcpStream, works: bool, asked: &Mutex<Vec<Vec<String>>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).ok()?;
    let texts = request["input"].as_array()?;
    let words = texts.iter().map(|text| text.as_str().unwrap_or_default().to_owned());
    asked.lock().ok()?.push(words.collect());
    let (status, answer) = if works {
        let vectors = texts.iter().map(|text| letters(text.as_str().unwrap_or_default()));
        let data =
            vectors.enumerate().map(|(index, vector)| json!({"index": index, "embedding": vector}));
        ("200 OK", json!({"data": data.collect::<Vec<_>>()}).to_string())
    } else {
        ("503 Service Unavailable", json!({"error": "still loading"}).to_string())
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{answer}",
        answer.len()
    )
    .ok()
}

/// A vector made of the letters of a text.
fn letters(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; 26];
    for byte in text.bytes().filter(u8::is_ascii_alphabetic) {
        vector[usize::from(byte.to_ascii_lowercase() - b'a')] += 1.0;
    }
    vector
}

/// Asks until an answer is as wanted.
fn ask_until(live: &Arc<LiveEngine>, wanted: impl Fn(&RouteAnswer) -> bool) -> RouteAnswer {
    let began = Instant::now();
    loop {
        let answer = live.view().route(&RouteRequest::new("invoices of the year"));
        if wanted(&answer) {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "{:?}", answer.degraded);
        thread::sleep(PAUSE);
    }
}

#[test]
fn a_model_that_fails_is_named_and_used_again_when_it_is_back() {
    let server = EmbeddingServer::start();
    let remote = format!("{{url: '{}', model: 'm', dims: 26, timeoutMs: 5000}}", server.url);
    let machine = machine().file(
        "home/.sinew/config.json5",
        format!("{{route: {{model: 'remote', remote: {remote}}}}}"),
    );
    let live = LiveEngine::new(open(&machine));
    let pending = |answer: &RouteAnswer| {
        let mut signals = answer.degraded.iter();
        signals.find(|signal| signal.kind == DegradedKind::VectorsPending).cloned()
    };
    let failed =
        ask_until(&live, |answer| pending(answer).is_some_and(|signal| signal.cause.is_some()));
    let signal = pending(&failed).expect("pending vectors");
    assert!(signal.cause.as_deref().is_some_and(|cause| cause.contains("503")), "{signal:?}");
    assert!(!failed.model.contains("remote:"), "{}", failed.model);
    server.works.store(true, Ordering::Release);
    let filled = ask_until(&live, |answer| pending(answer).is_none());
    assert!(filled.model.contains("remote:m:26"), "{}", filled.model);
}

/// A machine whose vectors come from a server, and what gathers changes there.
fn gathering(server: &EmbeddingServer, window: u64) -> String {
    let remote = format!("{{url: '{}', model: 'm', dims: 26, timeoutMs: 5000}}", server.url);
    let load = format!("{{reloadWindowMs: {window}}}");
    format!("{{route: {{model: 'remote', remote: {remote}}}, skills: {{load: {load}}}}}")
}

fn waits(answer: &RouteAnswer) -> bool {
    answer.degraded.iter().any(|signal| signal.kind == DegradedKind::VectorsPending)
}

/// What changes within `skills.load.reloadWindowMs` is computed at its end, together; without a window,
/// at once.
#[test]
fn changes_within_the_window_are_computed_together() {
    let server = EmbeddingServer::start();
    server.works.store(true, Ordering::Release);
    let config = "home/.sinew/config.json5";
    let machine = machine().file(config, gathering(&server, 3_600_000));
    let live = LiveEngine::new(open(&machine));
    ask_until(&live, |answer| !waits(answer));
    let names = ["aardvark", "buffalo", "chinchilla"];
    for name in names {
        let text = format!("---\nname: {name}\ndescription: All about the {name}\n---\n# It\n");
        machine.write(&format!("work/skills/{name}/SKILL.md"), text);
        let answer = live.view().route(&RouteRequest::new("invoices of the year"));
        assert!(waits(&answer), "{name}");
    }
    assert_eq!(server.first_about(&names), None, "the window is not over");
    machine.write(config, gathering(&server, 0));
    ask_until(&live, |answer| !waits(answer));
    assert_eq!(server.first_about(&names).expect("a request"), names, "one request for all");
}

/// The end of the window needs no question.
#[test]
fn what_was_gathered_is_computed_without_a_question() {
    let server = EmbeddingServer::start();
    server.works.store(true, Ordering::Release);
    let machine = machine().file("home/.sinew/config.json5", gathering(&server, 1_000));
    let live = LiveEngine::new(open(&machine));
    ask_until(&live, |answer| !waits(answer));
    let text = "---\nname: dugong\ndescription: All about the dugong\n---\n# It\n";
    machine.write("work/skills/dugong/SKILL.md", text);
    live.view().route(&RouteRequest::new("invoices of the year"));
    let began = Instant::now();
    while server.first_about(&["dugong"]).is_none() {
        assert!(began.elapsed() < PATIENCE, "it was never computed");
        thread::sleep(PAUSE);
    }
}

#[test]
fn a_message_that_needs_two_skills_gets_both_with_its_parts() {
    let machine = machine();
    let engine = open(&machine);
    let message = "find a recipe for a hearty stew with a shopping list, then book the invoices and \
                   expenses of this month in the accounts";
    let answer = engine.route(&RouteRequest::new(message));
    let steps: Vec<&str> = answer.steps.iter().map(|step| step.skill.as_str()).collect();
    assert_eq!(steps, ["soup", "ledger"], "{answer:?}");
    assert!(message.contains(&answer.steps[1].text) && answer.steps[1].text.starts_with("book"));
    let offered: Vec<&str> = answer.offers().iter().map(|found| found.name.as_str()).collect();
    assert_eq!(offered, ["soup", "ledger"]);
    assert!(answer.matches[1].reason.starts_with("for \"book the invoices"));
    for plain in ["a recipe for a hearty stew", "write a letter and then print it"] {
        assert!(engine.route(&RouteRequest::new(plain)).steps.is_empty(), "{plain}");
    }
}

/// The first question over new skills waits for the vectors of those that matter, and no longer than its
/// caller wants; what was computed is there for the next process.
#[test]
fn a_first_question_waits_for_the_vectors_that_matter() {
    let mut machine = TestMachine::new();
    for number in 0..70 {
        machine = skill(machine, &format!("team-{number}"), &format!("Notes of team {number}"), "");
    }
    let request = RouteRequest::new("the notes of team 12");
    let is_pending = |answer: &RouteAnswer| {
        answer.degraded.iter().any(|gone| gone.kind == DegradedKind::VectorsPending)
    };
    let engine = open(&machine);
    let snapshot = engine.snapshot();
    engine.routing().fill_candidates(&snapshot, &request, Duration::ZERO);
    let hasty = engine.routing().route(&snapshot, &request);
    assert!(is_pending(&hasty), "{:?}", hasty.degraded);
    let all = engine.routing().pending_vectors(&snapshot, request.models);
    engine.routing().fill_candidates(&snapshot, &request, PATIENCE);
    let patient = engine.routing().route(&snapshot, &request);
    assert!(!is_pending(&patient) && patient.model.contains("encoder"), "{patient:?}");
    let left = engine.routing().pending_vectors(&snapshot, request.models);
    assert!(0 < left && left < all, "those that do not matter wait: {left} of {all}");
    let next = open(&machine);
    let snapshot = next.snapshot();
    assert_eq!(next.routing().pending_vectors(&snapshot, request.models), left);
    let turns = std::cell::Cell::new(0);
    let few = || turns.replace(turns.get() + 1) < 5;
    let still = next.routing().fill_vectors_slowly(&snapshot, &few).expect("an encoder");
    assert_eq!(still, left - 5, "it stops when it is told to");
    let again = open(&machine);
    let snapshot = again.snapshot();
    assert_eq!(again.routing().pending_vectors(&snapshot, request.models), still, "and resumes");
}

/// Text that is there to be found, and not to be read, is told to its author.
#[test]
fn text_that_does_not_count_is_explained() {
    let hidden =
        "---\nname: helper\ndescription: Does things.\n---\n<!-- weather trains pdf -->\nText.\n";
    let machine = TestMachine::new().file("work/skills/helper/SKILL.md", hidden);
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    let snapshot = engine.snapshot();
    let entry = snapshot.catalog.lookup("helper").expect("the skill");
    let options = sinew_engine::PromptOptions::default();
    let why = engine.skills().explain(&snapshot.catalog, entry, &options);
    let told = |step: &sinew_engine::ExplanationStep| {
        step.stage == "route" && step.text.contains("hidden text does not count")
    };
    assert!(why.steps.iter().any(told), "{why:?}");
}
