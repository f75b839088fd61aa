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

use sinew_guard::eval::{RateEstimate, ScanLabel, read_rows};
use sinew_guard::scan::{FindingSeverity, ScanReport, Scanner, SkillBundle, Verdict};

/// Published skills without labels; almost none of them is malicious.
const PUBLISHED: &[&str] = &["data/skills.jsonl.gz", "data/routing/train-skills.jsonl.gz"];

fn main() {
    // A folder with the four tables, to see the effect of a change without a build, and then
    // further files of labelled rows.
    let mut arguments = std::env::args().skip(1);
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
    for row in read_rows(open("data/guard/guard-dev.jsonl.gz")).unwrap() {
        let row = row.unwrap();
        let label = if row.label == ScanLabel::Malicious { "malicious" } else { "benign" };
        let noisy = if row.noisy { "-noisy" } else { "" };
        let report = scanner.scan_bundle(&row.bundle);
        see(&format!("{label}/{}{noisy}", row.tier), &row.id, &report);
    }
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
