//! The tables of the loop: what a search for a missing skill offers first, and what is recalled after one
//! success, over a team registry on loopback and the messages of the development set.
//!
//!     cargo run -p sinew-cli --example loop_tables -- search
//!     cargo run -p sinew-cli --example loop_tables -- recall
//!     cargo run -p sinew-cli --example loop_tables -- cost
//!
//! Skills and messages are read from the shared data beside the repository; without it, the program says
//! so and ends.
#![allow(clippy::print_stdout, reason = "a program that prints its tables")]

mod registry;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sinew_cortex::acquire::{ChosenSkill, UseReport};
use sinew_cortex::explain::RecallAction;
use sinew_engine::acquire::{AcquireHost, AcquireProgress, AcquireRequest, ReadySkill};
use sinew_engine::approval::{
    ApprovalAnswer, ApprovalQuestion, Approver, ConsentAct, ConsentChannel, ConsentScope,
};
use sinew_engine::hub::{ApprovalMethod, HubOverrides};
use sinew_engine::{Engine, EngineOptions, NewOutcome};
use sinew_route::RouteDocument;
use sinew_route::eval::{EvalQuestion, read_questions, read_skills};
use sinew_settings::{Actor, Clock, Environment};

use registry::LoopbackRegistry;

/// Skills of the registry.
const SKILLS: usize = 593;

/// What a recall is measured over: skills of the machine, areas that are remembered, skills of each.
const COST_SKILLS: usize = 1_000;
const COST_REGIONS: usize = 80;
const COST_EACH: usize = 5;

const PARAPHRASES: &str = include_str!("paraphrases.tsv");

/// The time of the machine.
#[derive(Debug)]
struct Wall;

impl Clock for Wall {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The skills and messages.
struct LoopData {
    /// Each with its slug.
    skills: Vec<(String, RouteDocument)>,
    /// The text of each.
    texts: BTreeMap<String, String>,
    asking: Vec<EvalQuestion>,
    none: Vec<EvalQuestion>,
}

fn data() -> Option<LoopData> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let folder = std::env::var_os("SINEW_SHARED").map_or_else(beside, PathBuf::from).join("data");
    let packed = std::fs::File::open(folder.join("skills.jsonl.gz")).ok()?;
    let mut rows = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut rows).ok()?;
    let questions = std::fs::read_to_string(folder.join("routing/queries-dev.jsonl")).ok()?;
    let questions = read_questions(&questions).rows;
    let (asking, none): (Vec<EvalQuestion>, Vec<EvalQuestion>) =
        questions.into_iter().partition(|question| !question.expected.is_empty());
    let wanted: BTreeSet<&String> =
        asking.iter().flat_map(|question| question.expected.iter().chain(&question.also)).collect();
    let mut texts = BTreeMap::new();
    for line in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(line).ok()?;
        texts.insert(row["id"].as_str()?.to_owned(), row["text"].as_str()?.to_owned());
    }
    let (first, rest): (Vec<RouteDocument>, Vec<RouteDocument>) =
        read_skills(&rows).rows.into_iter().partition(|skill| wanted.contains(&skill.id));
    let mut slugs = BTreeSet::new();
    let mut skills = Vec::new();
    for skill in first.into_iter().chain(rest) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let slug: String = skill.name.chars().map(plain).collect();
        let slug = slug.trim_matches('-').chars().take(60).collect::<String>();
        // Two skills of one name: the id tells them apart.
        let slug = match slugs.contains(&slug) {
            true => format!("{slug}-{}", &skill.id[..4]),
            false => slug,
        };
        if !slug.is_empty() && slugs.insert(slug.clone()) && skills.len() < SKILLS {
            skills.push((slug, skill));
        }
    }
    Some(LoopData { skills, texts, asking, none })
}

impl LoopData {
    fn slug(&self, id: &str) -> Option<&str> {
        self.skills.iter().find(|(_, skill)| skill.id == id).map(|(slug, _)| slug.as_str())
    }

    fn accepts(&self, question: &EvalQuestion, slug: &str) -> bool {
        let found = self.skills.iter().find(|(known, _)| known == slug);
        found.is_some_and(|(_, skill)| question.accepts(&skill.id))
    }

    /// The messages in other words, by the id of the message.
    fn paraphrases(&self) -> Vec<(&EvalQuestion, &'static str)> {
        let rows = PARAPHRASES.lines().filter(|line| !line.starts_with('#'));
        let rows = rows.filter_map(|line| line.split_once('\t'));
        rows.filter_map(|(id, text)| {
            Some((self.asking.iter().find(|question| question.id == id)?, text))
        })
        .collect()
    }
}

/// A person who says yes to what is asked, or leaves every question open.
struct BenchHost {
    agrees: bool,
}

impl Approver for BenchHost {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        let ApprovalQuestion::Stored { approval, .. } = question else {
            return ApprovalAnswer::ABSENT;
        };
        match (self.agrees, approval.kind) {
            (true, ConsentAct::Retain) => ApprovalAnswer::No,
            (true, _) => ApprovalAnswer::Yes {
                by: String::new(),
                method: ApprovalMethod::Prompt,
                reason: None,
                scope: ConsentScope::Listed,
            },
            (false, _) => ApprovalAnswer::ABSENT,
        }
    }
}

impl AcquireHost for BenchHost {
    fn on_progress(&mut self, _told: &AcquireProgress<'_>) {}

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (Actor::Person { name: Some("bench".to_owned()), via: None }, ConsentChannel::Cli)
    }

    fn use_skill(&mut self, _ready: &ReadySkill<'_>) -> Option<UseReport> {
        Some(UseReport::success())
    }
}

fn engine(home: &Path) -> Engine {
    let work = home.join("work");
    std::fs::create_dir_all(&work).expect("a folder");
    let env = Environment {
        home: home.to_owned(),
        cwd: work.clone(),
        vars: Default::default(),
        os: "linux".to_owned(),
        exe: None,
        clock: Arc::new(Wall),
    };
    // Bundled skills of the same names would be in the way.
    let options =
        EngineOptions { workspace: Some(work), workspace_only: true, ..EngineOptions::default() };
    Engine::open(env, options).expect("an engine")
}

fn main() {
    let Some(data) = data() else {
        println!("SKIPPED: the shared data is not there");
        return;
    };
    let which = std::env::args().nth(1).unwrap_or_else(|| "recall".to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    if which == "cost" {
        return cost(&data, folder.path());
    }
    let registry = LoopbackRegistry::start(folder.path());
    for (slug, skill) in &data.skills {
        registry.publish(slug, &skill.name, &data.texts[&skill.id]);
    }
    println!("{} skills published", data.skills.len());
    match which.as_str() {
        "search" => search(&data, folder.path(), &registry),
        _ => recall(&data, folder.path(), &registry),
    }
}

/// What one recall costs with 80 regions of five skills among a thousand, once everything is warm.
fn cost(data: &LoopData, folder: &Path) {
    for (id, text) in data.texts.iter().take(COST_SKILLS) {
        let at = folder.join("work/skills").join(id);
        std::fs::create_dir_all(&at).expect("a folder");
        std::fs::write(at.join("SKILL.md"), text).expect("a skill");
    }
    let engine = engine(folder);
    let snapshot = engine.snapshot();
    let names: BTreeSet<&str> =
        snapshot.catalog.unshadowed().map(|entry| entry.name.as_str()).collect();
    let cortex = engine.cortex().expect("a cortex");
    let known = names.iter().copied().take(COST_REGIONS * COST_EACH);
    for (number, name) in known.enumerate() {
        let outcome = NewOutcome {
            region: Some(format!("region-{}", number / COST_EACH)),
            slug: name.to_owned(),
            version: "1.0.0".to_owned(),
            worked: Some(true),
            ..NewOutcome::default()
        };
        cortex.record(&outcome).expect("a record");
    }
    // A few vectors are computed with each recall, until all are there.
    for question in data.asking.iter().take(COST_REGIONS) {
        cortex.recall(&question.query, None);
    }
    let mut times: Vec<Duration> = Vec::new();
    for question in &data.asking {
        let began = Instant::now();
        cortex.recall(&question.query, None);
        times.push(began.elapsed());
    }
    times.sort();
    let (skills, all) = (names.len(), times.len());
    let (half, most) = (times[all / 2], times[all * 95 / 100]);
    println!("recall over {skills} skills: p50 {half:.2?}, p95 {most:.2?} of {all} messages");
}

fn overrides(registry: &LoopbackRegistry) -> HubOverrides {
    HubOverrides { registry: Some(registry.address()), offline: false }
}

/// What a run offers for each message.
fn search(data: &LoopData, folder: &Path, registry: &LoopbackRegistry) {
    let engine = engine(&folder.join("home"));
    let market = engine.hub().market(&overrides(registry)).expect("a market");
    let (mut first, mut three, mut nothing) = (0, 0, 0);
    let began = Instant::now();
    for question in &data.asking {
        let wish =
            AcquireRequest { task: question.query.clone(), anyway: true, ..Default::default() };
        let mut host = BenchHost { agrees: false };
        let acquisition = engine.hub().acquisition(&market);
        let standing = acquisition.begin(&wish, &mut host).expect("a run");
        let offered: Vec<&str> =
            standing.run.candidates.iter().map(|offer| offer.slug.as_str()).collect();
        let right = |slug: &&&str| data.accepts(question, slug);
        first += usize::from(offered.first().is_some_and(|slug| right(&slug)));
        three += usize::from(offered.iter().any(|slug| right(&slug)));
        nothing += usize::from(offered.is_empty());
        if !offered.first().is_some_and(|slug| right(&slug)) {
            let wanted = data.slug(&question.expected[0]).unwrap_or("-");
            println!("  {} wanted {wanted}, offered {offered:?}", question.id);
        }
        let _ = acquisition.cancel(&standing.run.id, &mut host);
    }
    let all = data.asking.len();
    let each = began.elapsed() / u32::try_from(all).unwrap_or(1);
    println!(
        "search: right first {first}, in three {three}, nothing {nothing} of {all}; {each:.1?} each"
    );
}

/// What is recalled after one success for each of seventy messages.
fn recall(data: &LoopData, folder: &Path, registry: &LoopbackRegistry) {
    for (name, remainder) in [("even", 0), ("odd", 1)] {
        let engine = engine(&folder.join(name));
        let market = engine.hub().market(&overrides(registry)).expect("a market");
        let taught: Vec<&EvalQuestion> = data.asking.iter().skip(remainder).step_by(2).collect();
        for question in &taught {
            let slug = data.slug(&question.expected[0]).expect("a published skill");
            let chosen = ChosenSkill { reference: format!("@bench/{slug}"), version: None };
            let wish = AcquireRequest {
                task: question.query.clone(),
                chosen: Some(chosen),
                anyway: true,
                ..Default::default()
            };
            let mut host = BenchHost { agrees: true };
            let done = engine.hub().acquisition(&market).begin(&wish, &mut host).expect("a run");
            if done.run.installed.is_some() || done.run.attempts.is_empty() {
                println!("  {} {slug}: {:?}", question.id, done.waits);
            }
        }
        let cortex = engine.cortex().expect("a cortex");
        let began = Instant::now();
        let mut asked = 0_u32;
        let mut count = |questions: &mut dyn Iterator<Item = (&EvalQuestion, &str)>| {
            let (mut right, mut wrong, mut all) = (0, 0, 0);
            for (question, text) in questions {
                let told = cortex.recall(text, None).explanation;
                asked += 1;
                all += 1;
                if told.decision.action != RecallAction::Present {
                    if taught.iter().any(|one| one.id == question.id) {
                        println!("    {} recalled nothing: {}", question.id, told.decision.reason);
                    }
                    continue;
                }
                let slug = told.decision.slug.unwrap_or_default();
                match data.accepts(question, &slug) {
                    true => right += 1,
                    false => {
                        wrong += 1;
                        println!(
                            "    {} recalled {slug} ({:?} {:.2}, {:?})",
                            question.id, told.matched.kind, told.matched.score, told.matched.shared
                        );
                    }
                }
            }
            format!("{right} right, {wrong} wrong of {all}")
        };
        let is_taught = |question: &EvalQuestion| taught.iter().any(|one| one.id == question.id);
        let same = count(&mut taught.iter().map(|one| (*one, one.query.as_str())));
        let others = data.asking.iter().filter(|one| !is_taught(one)).chain(&data.none);
        let other = count(&mut others.map(|one| (one, one.query.as_str())));
        let said = count(&mut data.paraphrases().into_iter().filter(|(one, _)| is_taught(one)));
        let each = began.elapsed() / asked.max(1);
        println!(
            "recall {name}: the same {same}; others {other}; paraphrases {said}; {each:.1?} each"
        );
        let memory = cortex.memory().expect("a memory");
        let regions: Vec<&str> = memory.motor.keys().map(String::as_str).collect();
        println!("  regions: {}", regions.join(", "));
    }
}
