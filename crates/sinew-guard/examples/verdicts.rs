//! The figures of the scanner: verdicts on labelled and on published skills, a line for each skill
//! that was not allowed, and the totals at the end. For `BENCHMARKS.md`, and for seeing the effect
//! of a changed rule: run it before and after, and compare the lines.
//!
//! `SINEW_SHARED=../shared cargo run --release -p sinew-guard --example verdicts \\
//! crates/sinew-guard/data > after.tsv`
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

#[path = "../tests/it/own_skills.rs"]
mod own_skills;

use sinew_guard::eval::{RateEstimate, ScanLabel, read_rows};
use sinew_guard::scan::{FindingSeverity, ScanReport, Scanner, SkillBundle, Verdict};

/// Published skills without labels; almost none of them is malicious.
const PUBLISHED: &[&str] = &["data/skills.jsonl.gz", "data/routing/train-skills.jsonl.gz"];

fn main() {
    // A folder with the four tables, to see the effect of a change without a build, and then
    // further files of labelled rows.
    let mut arguments = std::env::args().skip(1);
    start_up();
    let scanner = arguments.next().map_or_else(Scanner::new, |folder| {
        let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).unwrap();
        let names = ["hosts.json", "organisations.json", "facts.json", "rules.json"];
        let texts = names.map(read);
        Scanner::with_tables(&texts.each_ref().map(String::as_str)).unwrap()
    });
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut see = |group: &str, id: &str, report: &ScanReport| {
        let count = counts.entry(group.to_owned()).or_default();
        count[report.verdict as usize] += 1;
        let worst = match report.verdict {
            Verdict::Allow => return println!("{group}\t{id}\tallow"),
            Verdict::Warn => FindingSeverity::Warn,
            Verdict::Block => FindingSeverity::Critical,
        };
        for finding in report.at_least(worst).take(4) {
            let facts: Vec<String> =
                finding.facts.iter().map(|fact| format!("{}:{}", fact.kind, fact.line)).collect();
            println!(
                "{group}\t{id}\t{}\t{}\t{}:{}\t{}\t{}",
                report.verdict.as_str(),
                finding.rule,
                finding.file,
                finding.line,
                facts.join(" "),
                finding.decoded.as_ref().unwrap_or(&finding.evidence),
            );
        }
    };
    // Of what is kept aside only the figures are shown, and only in the end.
    let shows_aside = std::env::var_os("SINEW_ASIDE").is_some();
    let tables =
        [("holes", own_skills::AsideBy::Variant), ("tiers", own_skills::AsideBy::Template)];
    for (folder, aside) in tables {
        for skill in own_skills::read(folder, aside) {
            if skill.is_aside && !shows_aside {
                continue;
            }
            let label = if skill.is_malicious { "malicious" } else { "honest" };
            let aside = if skill.is_aside { "-aside" } else { "" };
            let group = format!("{folder}-{label}{aside}/{}", skill.class);
            see(&group, &skill.id, &scanner.scan_bundle(&skill.bundle()));
        }
    }
    if std::env::var_os("SINEW_OWN").is_some() {
        return finish(counts);
    }
    let mut times = Vec::new();
    for row in read_rows(open("data/guard/guard-dev.jsonl.gz")).unwrap() {
        let row = row.unwrap();
        let label = if row.label == ScanLabel::Malicious { "malicious" } else { "benign" };
        let noisy = if row.noisy { "-noisy" } else { "" };
        let before = cpu();
        let report = scanner.scan_bundle(&row.bundle);
        times.push(cpu() - before);
        see(&format!("{label}/{}{noisy}", row.tier), &row.id, &report);
    }
    times.sort();
    let at = |share: usize| times[times.len() * share / 100];
    eprintln!("CPU per labelled skill: p50 {:?}, p95 {:?}, p99 {:?}", at(50), at(95), at(99));
    for path in arguments {
        for row in read_rows(std::fs::File::open(path).unwrap()).unwrap() {
            let row = row.unwrap();
            let label =
                if row.label == ScanLabel::Malicious { "own-malicious" } else { "own-benign" };
            see(&format!("{label}/{}", row.tier), &row.id, &scanner.scan_bundle(&row.bundle));
        }
    }
    for path in PUBLISHED {
        for line in BufReader::new(flate2::read::GzDecoder::new(open(path))).lines() {
            let row: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            let field = |name: &str| row[name].as_str().unwrap().to_owned();
            let files = [("SKILL.md".to_owned(), field("text").into_bytes())];
            let report = scanner.scan_bundle(&SkillBundle::from_files(files));
            see("published", &format!("{} {}", field("repo"), field("path")), &report);
        }
    }
    finish(counts);
}

/// What a fresh process pays before the first rule runs, and for its first skill.
fn start_up() {
    let before = cpu();
    let scanner = Scanner::new();
    let ready = cpu();
    let skill = "---\nname: a\ndescription: b\n---\nRun `make` and read the report.\n";
    let files = [("SKILL.md".to_owned(), skill.as_bytes().to_vec())];
    scanner.scan_bundle(&SkillBundle::from_files(files));
    eprintln!("CPU: ready after {:?}, first skill {:?}", ready - before, cpu() - ready);
}

/// CPU time of this process.
#[cfg(unix)]
fn cpu() -> std::time::Duration {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap()
}

/// Where CPU time is not available, the line says nothing.
#[cfg(not(unix))]
fn cpu() -> std::time::Duration {
    std::time::Duration::ZERO
}

fn finish(counts: BTreeMap<String, [usize; 3]>) {
    for (group, [allow, warn, block]) in counts {
        let rate = RateEstimate::new(block, allow + warn + block);
        eprintln!(
            "{group:30} allow {allow:5}  warn {warn:4}  block {block:4}  blocked {:.2} % [{:.2}–{:.2}]",
            rate.rate * 100.0,
            rate.low * 100.0,
            rate.high * 100.0
        );
    }
}

fn open(path: &str) -> std::fs::File {
    let root = std::env::var_os("SINEW_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    std::fs::File::open(root.join(path)).unwrap()
}
