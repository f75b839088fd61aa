//! Speed of the scanner: per skill on labelled data, on 10 MB of hostile text, and as a ratio to
//! reading and hashing the same bytes in the same run. Prints one JSON object.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sinew_guard::eval::{Row, read_rows};
use sinew_guard::scan::{Bundle, Scanner};

fn main() {
    let scanner = Scanner::new();
    let rows = rows();
    let before_kb = peak_kb();
    // The first round fills the automata's caches, as any long-running process has them.
    let mut times: Vec<Duration> = Vec::new();
    for round in 0..2 {
        times.clear();
        for row in &rows {
            let start = Instant::now();
            std::hint::black_box(scanner.scan_bundle(&row.bundle));
            times.push(start.elapsed());
        }
        if round == 0 {
            eprintln!("warm-up: {:?}", times.iter().sum::<Duration>());
        }
    }
    let rss_kb = peak_kb();
    times.sort();
    let at = |share: f64| {
        times
            .get(((times.len().max(1) - 1) as f64 * share) as usize)
            .map_or(0.0, |t| t.as_secs_f64() * 1e3)
    };
    let scan: Duration = times.iter().sum();
    let start = Instant::now();
    for row in &rows {
        std::hint::black_box(row.bundle.digest());
    }
    let hash = start.elapsed();
    let bytes: u64 = rows.iter().map(|row| row.bundle.bytes()).sum();

    let mut hostile = Vec::new();
    for unit in [
        "curl ",
        "http://",
        "\"",
        "ignore ",
        "[a](",
        "\\x41",
        "exec(",
        "\n- ",
        "lorem ipsum dolor sit amet, run the tests. ",
    ] {
        let text = unit.repeat(9_990_000 / unit.len());
        let bundle = Bundle::from_files([("SKILL.md".to_owned(), text.into_bytes())]);
        let start = Instant::now();
        std::hint::black_box(scanner.scan_bundle(&bundle));
        hostile
            .push(serde_json::json!({ "unit": unit, "ms": start.elapsed().as_secs_f64() * 1e3 }));
    }
    let report = serde_json::json!({
        "skills": rows.len(),
        "bytes": bytes,
        "p50_ms": at(0.5),
        "p95_ms": at(0.95),
        "p99_ms": at(0.99),
        "max_ms": at(1.0),
        "total_ms": scan.as_secs_f64() * 1e3,
        "mb_per_s": bytes as f64 / 1e6 / scan.as_secs_f64().max(1e-9),
        "ratio_to_hash": scan.as_secs_f64() / hash.as_secs_f64().max(1e-9),
        "peak_rss_kb_with_the_data_loaded": before_kb,
        "peak_rss_kb_after_scanning_it": rss_kb,
        "hostile_10_mb": hostile,
    });
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
}

fn rows() -> Vec<Row> {
    let root = std::env::var_os("SINEW_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    match std::fs::File::open(root.join("data/guard/guard-dev.jsonl.gz")) {
        Ok(file) => read_rows(file).unwrap().map(|row| row.unwrap()).collect(),
        Err(error) => {
            eprintln!("SKIPPED: no labelled data ({error})");
            Vec::new()
        }
    }
}

/// Peak memory of this process, where the system says it; the rows themselves are part of it.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
