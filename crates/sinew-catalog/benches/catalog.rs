//! Loading 1,000 skills of one folder, and 5,000 of a monorepo with plugins, links and nested roots, cold
//! and warm, against the floor: walk + read + hash of the same trees.
//!
//! `cargo bench -p sinew-catalog --bench catalog`. Each round measures the floor and the catalog one
//! after the other, so that a busy machine slows both; the medians and their ratios are printed.

#![allow(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use sinew_catalog::CatalogBuilder;
use sinew_testkit::TestMachine;

const SKILLS: usize = 1_000;
const ROUNDS: usize = 41;
/// Rounds over the monorepo, which is five times as large.
const LARGE_ROUNDS: usize = 15;

fn main() {
    measure("1,000 skills in one folder", &machine(), &["work/skills"], ROUNDS);
    let (machine, roots) = monorepo();
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    measure("5,000 skills in a monorepo with plugins", &machine, &roots, LARGE_ROUNDS);
}

fn measure(what: &str, machine: &TestMachine, roots: &[&str], rounds: usize) {
    let floor_of_all = || roots.iter().map(|root| floor(&machine.path(root))).sum::<usize>();
    // The file system's cache is warm for both.
    floor_of_all();
    let warm = CatalogBuilder::default();
    let found = machine.request(|request| warm.build(request)).entries.len();

    let mut floors = Vec::new();
    let mut colds = Vec::new();
    let mut warms = Vec::new();
    for _ in 0..rounds {
        floors.push(time(floor_of_all));
        let cold = CatalogBuilder::default();
        colds.push(time(|| machine.request(|request| cold.build(request))));
        warms.push(time(|| machine.request(|request| warm.build(request))));
    }
    let (floor, cold, warm) = (median(floors), median(colds), median(warms));
    println!("{what}: {found} entries, median of {rounds} rounds");
    println!("  floor (walk + read + hash)  {floor:>9.2?}");
    println!(
        "  cold load                   {cold:>9.2?}  {:.2}x the floor (goal 1.6)",
        ratio(cold, floor)
    );
    println!(
        "  warm reload                 {warm:>9.2?}  {:.2}x the floor (goal 0.15)",
        ratio(warm, floor)
    );
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// How long the work takes; dropping its result is not counted.
fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let elapsed = start.elapsed();
    drop(result);
    elapsed
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The minimum for any program that has to know the content of every file.
fn floor(folder: &Path) -> usize {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            bytes += floor(&path);
        } else if kind.is_file() {
            // What a link leads to is among the folders itself.
            let content = fs::read(&path).expect("a file");
            black_box(sinew_skill::content_hash(&content));
            bytes += content.len();
        }
    }
    bytes
}

/// Skills of the sizes and shapes that are common in practice: 5 KB each, every third with
/// metadata.
fn machine() -> TestMachine {
    let machine = TestMachine::new().bin("git").bin("jq");
    write_skills(&machine, "work/skills", 0..SKILLS);
    machine.after_long_time().with_scanner()
}

/// A project of three levels with skills on each, a nested root, a person's own skills with links to
/// others, and two plugins of which one is off.
fn monorepo() -> (TestMachine, Vec<String>) {
    let machine = TestMachine::new()
        .bin("git")
        .bin("jq")
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .workspace("work/a/b");
    let cache = "home/.claude/plugins/cache/mp";
    let roots = [
        ("work/.agents/skills", 1_000),
        ("work/a/.agents/skills", 1_000),
        ("work/a/b/.agents/skills", 1_000),
        ("work/a/b/skills/skills", 900),
        ("home/.agents/skills", 500),
        ("elsewhere", 100),
        ("home/.claude/plugins/cache/mp/alpha/1.0.0/skills", 250),
        ("home/.claude/plugins/cache/mp/beta/1.0.0/skills", 250),
    ];
    let mut from = 0;
    for (root, count) in roots {
        write_skills(&machine, root, from..from + count);
        from += count;
    }
    #[cfg(unix)]
    for entry in fs::read_dir(machine.path("elsewhere")).expect("a folder").flatten() {
        let link = machine.path("home/.agents/skills").join(entry.file_name());
        std::os::unix::fs::symlink(entry.path(), link).expect("a link");
    }
    let plugin = |name: &str| {
        let place = machine.path(&format!("{cache}/{name}/1.0.0"));
        let place = place.to_string_lossy();
        machine.write(
            &format!("{cache}/{name}/1.0.0/.claude-plugin/plugin.json"),
            format!("{{\"name\":\"{name}\",\"version\":\"1.0.0\"}}"),
        );
        format!("\"{name}@mp\":[{{\"scope\":\"user\",\"installPath\":\"{place}\"}}]")
    };
    let installed = format!("{{\"plugins\":{{{},{}}}}}", plugin("alpha"), plugin("beta"));
    machine.write("home/.claude/plugins/installed_plugins.json", installed);
    let switches = "{\"enabledPlugins\":{\"alpha@mp\":true,\"beta@mp\":false}}";
    machine.write("home/.claude/settings.json", switches);
    let folders = roots.iter().map(|(root, _)| (*root).to_owned()).collect();
    (machine.after_long_time().with_scanner(), folders)
}

fn write_skills(machine: &TestMachine, root: &str, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let mut text = format!(
            "---\nname: skill-{number:04}\ndescription: Works on things of kind {number}. Use when a person asks for kind {number}, or wants it shown, checked or changed.\n"
        );
        if number % 3 == 0 {
            text.push_str("metadata:\n  openclaw:\n    emoji: \"🔧\"\n    requires:\n      bins: [git, jq]\n    install:\n      - id: brew\n        kind: brew\n        formula: jq\n        bins: [jq]\n");
        }
        text.push_str("---\n\n# A skill\n\n");
        for line in 0..60 {
            let _ = writeln!(
                text,
                "{line}. Look at thing {number}, then write down what was found in step {line}."
            );
        }
        machine.write(&format!("{root}/skill-{number:04}/SKILL.md"), text);
    }
}
