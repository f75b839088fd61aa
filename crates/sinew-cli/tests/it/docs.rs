//! The examples of the README and of the book in `docs/`, so that none of them can rot.
//!
//! A block of `console` is run, and shows what was really said; in a block of `sh` every call of
//! `sinew` is checked to be one that the program takes, in one of `json5` the configuration, in one of
//! `yaml` what a workflow calls and a skill declares.
//! `TRYCMD=overwrite cargo nextest run -p sinew-cli docs` puts the answers of today into the pages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sinew_testkit::TestMachine;

use crate::support::{command, sample_machine};

/// Blocks that show something else than commands.
const OTHER: &[&str] = &["text", "json", "json5", "toml", "yaml", "markdown", "rust"];

/// Paths as readers see them, and as they are on the machine of the examples; the runner knows the
/// project by a name of its own.
fn paths(machine: &TestMachine) -> [(&'static str, String); 3] {
    let shown = |path: PathBuf| path.to_string_lossy().into_owned();
    [
        ("/home/you/.cargo/bin/sinew", env!("CARGO_BIN_EXE_sinew").to_owned()),
        ("/home/you/project", "[CWD]".to_owned()),
        ("/home/you", shown(machine.path("home"))),
    ]
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and every page of the book, by their path in the repository.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository().join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => folders.push(path),
                false if path.ends_with(".md") => pages.push(path),
                false => {}
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).expect("a page")
}

/// The fenced blocks of a page: their language, and their lines with numbers.
fn blocks(text: &str) -> Vec<(&str, Vec<(usize, &str)>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Vec<(usize, &str)>)> = None;
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some((language, Vec::new())),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.1.push((number, line));
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is never closed: {text}");
    blocks
}

#[test]
fn every_block_is_of_a_kind_that_is_checked() {
    for page in pages() {
        for (language, lines) in blocks(&read(&page)) {
            let known = ["console", "sh"].contains(&language) || OTHER.contains(&language);
            let at = lines.first().map_or(0, |(number, _)| *number);
            assert!(known, "{page}:{at}: a block of `{language}` is neither run nor checked");
        }
    }
}

#[test]
fn every_link_and_picture_is_there() {
    let link = regex::Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").expect("an expression");
    for page in pages() {
        let file = repository().join(&page);
        for found in link.captures_iter(&read(&page)) {
            let target = file.parent().expect("a folder").join(&found[1]);
            assert!(target.exists(), "{page} leads to {}, which is not there", &found[1]);
        }
    }
}

/// Numbers that pages state, and the line of the code that makes each of them true.
const CLAIMS: &[(&str, &str, &str, &str)] = &[
    (
        "README.md",
        "longer than 300 ms",
        "sinew-settings/src/config/serving.rs",
        "deadline_ms: u32 = 300,",
    ),
    (
        "docs/hooks.md",
        "`hook.deadlineMs` (300 ms)",
        "sinew-settings/src/config/serving.rs",
        "deadline_ms: u32 = 300,",
    ),
    (
        "docs/troubleshooting.md",
        "A hook has 300 ms",
        "sinew-settings/src/config/serving.rs",
        "deadline_ms: u32 = 300,",
    ),
    (
        "docs/hooks.md",
        "up to three skills",
        "sinew-engine/src/hook/context.rs",
        "MAX_OFFERS: usize = 3;",
    ),
    (
        "docs/dashboard.md",
        "for twelve hours",
        "sinew-web/src/access/session.rs",
        "from_secs(12 * 60 * 60)",
    ),
    (
        "docs/troubleshooting.md",
        "for twelve hours",
        "sinew-web/src/access/session.rs",
        "from_secs(12 * 60 * 60)",
    ),
    (
        "docs/dashboard.md",
        "the next 180 days",
        "sinew-web/src/api/cortex.rs",
        "DECAY_AHEAD: u32 = 180;",
    ),
    (
        "docs/mcp.md",
        "below 1,200 characters",
        "sinew-cli/tests/it/mcp/given.rs",
        "cost(&result) <= 1_200",
    ),
    (
        "docs/mcp.md",
        "at most 8 KB",
        "sinew-cli/tests/it/mcp/given.rs",
        "LIST_BYTES: usize = 8 * 1024;",
    ),
    (
        "docs/team.md",
        "at most 250 skills",
        "sinew-registry/src/export.rs",
        "MAX_SKILLS: usize = 250;",
    ),
    (
        "docs/team.md",
        "or 64 MB a page",
        "sinew-registry/src/export.rs",
        "MAX_PAGE: usize = 64 << 20;",
    ),
    (
        "docs/does-it-work.md",
        "after two minutes",
        "sinew-engine/src/agent_trial/mod.rs",
        "from_secs(120)",
    ),
    (
        "docs/reference/commands.md",
        "seven are kept",
        "sinew-engine/src/store_care.rs",
        "KEPT: usize = 7;",
    ),
    ("docs/releasing.md", "version 2.17", "../packaging/targets.py", "2.17"),
    ("docs/docker.md", "0.0.0.0:7411", "../packaging/templates/Containerfile", "0.0.0.0:7411"),
    (
        "docs/docker.md",
        "/home/sinew/.sinew/token",
        "sinew-engine/src/settings/access_token.rs",
        ".join(\"token\")",
    ),
];

#[test]
fn the_numbers_of_the_book_are_those_of_the_code() {
    let crates = repository().join("crates");
    for (page, claim, file, line) in CLAIMS {
        // Text may break at any space.
        let text = read(page).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(claim), "{page} no longer says `{claim}`: take the row out");
        let code =
            fs::read_to_string(crates.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(code.contains(line), "{page} says `{claim}`, and {file} has no `{line}`");
    }
    let carried = fs::read_dir(crates.join("sinew-engine/skills")).expect("the library");
    let carried = carried.filter(|entry| entry.as_ref().expect("an entry").path().is_dir()).count();
    assert_eq!(carried, 60, "README, concepts.md and CHANGELOG.md say sixty");
    for page in ["README.md", "docs/concepts.md", "CHANGELOG.md"] {
        assert!(read(page).contains("sixty"), "{page}");
    }
}

/// The site that `sinew docs --out` writes is the one that a server shows, whole.
#[test]
fn the_book_is_written_as_web_pages() {
    let machine = TestMachine::new();
    let output = command(&machine, &["docs", "--out", "site"]).output().expect("sinew runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let site = machine.path("work/site");
    for page in pages().iter().filter_map(|page| page.strip_prefix("docs/")) {
        let html = match page.strip_suffix("README.md") {
            Some(folder) => format!("{folder}index.html"),
            None => page.replace(".md", ".html"),
        };
        let text =
            fs::read_to_string(site.join(&html)).unwrap_or_else(|error| panic!("{html}: {error}"));
        assert!(text.contains("<main") && text.contains("</html>"), "{html}");
    }
    assert!(site.join("style.css").is_file() && site.join("pictures/overview-light.png").is_file());
    let listed = command(&machine, &["docs", "--json"]).output().expect("sinew runs");
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(listed["pages"].as_array().map(Vec::len), Some(pages().len() - 1));
    let page = command(&machine, &["docs", "troubleshooting"]).output().expect("sinew runs");
    assert!(String::from_utf8_lossy(&page.stdout).starts_with("# When it does not work"));
    let typo = command(&machine, &["docs", "trubleshooting"]).output().expect("sinew runs");
    let said = String::from_utf8_lossy(&typo.stderr).into_owned();
    assert!(said.contains("did you mean `troubleshooting`?"), "{said}");
}

/// A configuration of the book is one that nothing is said about, as something is about a misspelt one.
#[test]
fn every_configuration_in_the_book_is_one() {
    let complaints = |config: &str| {
        let machine = TestMachine::new().file("home/.sinew/config.json5", config);
        let output = command(&machine, &["config", "show"]).output().expect("sinew runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(complaints("{approvals: {unattendet: []}}").contains("did you mean"));
    let mut seen = 0;
    for page in pages() {
        for (_, lines) in blocks(&read(&page)).iter().filter(|(language, _)| *language == "json5") {
            let config: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            assert_eq!(complaints(&config), "", "{page}:{}", lines[0].0);
            seen += 1;
        }
    }
    assert!(seen >= 4, "{seen} configurations");
}

/// What a block of YAML has a build server call, or a skill declare, is what sinew takes.
#[test]
fn every_workflow_and_front_matter_in_the_book_is_one() {
    let machine = TestMachine::new();
    let (mut called, mut declared) = (0, 0);
    for page in pages() {
        for (_, lines) in blocks(&read(&page)).iter().filter(|(language, _)| *language == "yaml") {
            for (number, line) in lines {
                let Some(words) = line.trim().strip_prefix("- run: ").and_then(call) else {
                    continue;
                };
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let output = command(&machine, &words).output().expect("sinew runs");
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{page}:{number}: {line}\n{said}");
                called += 1;
            }
            if !lines[0].1.starts_with("metadata:") {
                continue;
            }
            let metadata: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            let skill = format!(
                "---\nname: shown\ndescription: Shows it. Use for it.\n{metadata}---\n# It\n"
            );
            machine.write("work/skills/shown/SKILL.md", skill);
            let args = ["validate", "skills/shown", "--rules", "openclaw"];
            let output = command(&machine, &args).output().expect("sinew runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{page}:{}: {said}", lines[0].0);
            assert!(!said.contains("warn"), "{page}:{}: {said}", lines[0].0);
            declared += 1;
        }
    }
    assert!(called >= 3 && declared >= 2, "{called} calls, {declared} declarations");
}

/// A call is taken when `--help` behind it gives help: whatever is wrong before it is told first.
#[test]
fn every_command_in_the_book_is_one() {
    let machine = TestMachine::new();
    let mut wrong = Vec::new();
    for page in pages() {
        for (language, lines) in blocks(&read(&page)) {
            for (number, line) in lines.iter().filter(|_| language == "sh") {
                let calls = line.split(" | ").flat_map(|part| part.split(" && "));
                for call in calls.filter_map(call) {
                    let words: Vec<&str> = call.iter().map(String::as_str).collect();
                    let output = command(&machine, &words).output().expect("sinew runs");
                    if !output.status.success() {
                        let said = String::from_utf8_lossy(&output.stderr).into_owned();
                        wrong.push(format!("{page}:{number}: {line}\n{said}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of a call of `sinew`, with `--help` at its end.
fn call(part: &str) -> Option<Vec<String>> {
    let part = part.trim().trim_start_matches("cargo run --release -- ");
    let part = match part.strip_prefix("sinew ") {
        Some(rest) => rest,
        None if part.starts_with("find ") || part == "demo" => part,
        None => return None,
    };
    let mut words = trycmd_words(part);
    // What follows `--` is another program's, and a redirection is the shell's.
    let end = words.iter().position(|word| matches!(word.as_str(), "--" | ">" | "<" | "#" | "2>"));
    words.truncate(end.unwrap_or(words.len()));
    words.push("--help".to_owned());
    Some(words)
}

/// Splits as a shell does, as far as our examples go: spaces, and quotes around words.
fn trycmd_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.push(c),
            ('"' | '\'', None) => quote = Some(c),
            (' ', None) => words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty())),
            (c, None) => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The runner of examples hands its own variables on, so it gets a process that has none.
#[test]
fn what_the_book_shows_is_what_is_said() {
    let mut runner = Command::new(env::current_exe().expect("this program"));
    runner.args(["--exact", "docs::examples", "--ignored", "--nocapture"]).env_clear();
    for kept in ["TRYCMD", "TMPDIR", "SYSTEMROOT", "TEMP"] {
        runner.envs(env::var_os(kept).map(|value| (kept, value)));
    }
    let output = runner.output().expect("it runs");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

#[test]
#[ignore = "run by what_the_book_shows_is_what_is_said, without variables"]
fn examples() {
    let overwrite = env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite");
    std::thread::scope(|scope| {
        for page in pages() {
            let runs = blocks(&read(&page)).iter().any(|(language, _)| *language == "console");
            if runs {
                scope.spawn(move || run_page(&page, overwrite));
            }
        }
    });
}

/// The carried skills on the machine of a page: a few of them, so that its lists stay short and do
/// not change with each new skill.
const SHOWN_SKILLS: [&str; 6] =
    ["git-history", "github", "session-logs", "sinew", "skill-creator", "tmux"];

/// Runs a page on a machine of its own, with the demo's samples as its project.
fn run_page(page: &str, overwrite: bool) {
    let machine = sample_machine("page.in").bin("git");
    let paths = paths(&machine);
    let mut text = read(page);
    for (shown, real) in &paths {
        text = text.replace(shown, real);
    }
    machine.write("page.md", text);
    for name in SHOWN_SKILLS {
        let file = read(&format!("crates/sinew-engine/skills/{name}/SKILL.md"));
        machine.write(&format!("bundled/{name}/SKILL.md"), file);
    }
    let copy = machine.path("page.md");
    let real = |path: &str| machine.path(path).to_string_lossy().into_owned();
    trycmd::TestCases::new()
        .register_bin("sinew", Path::new(env!("CARGO_BIN_EXE_sinew")))
        .env("HOME", real("home"))
        .env("USERPROFILE", real("home"))
        .env("PATH", real("bin"))
        .env("SINEW_BUNDLED_SKILLS_DIR", real("bundled"))
        .case(&copy)
        .run();
    if overwrite {
        let mut text = fs::read_to_string(copy).expect("the page");
        for (shown, real) in &paths {
            text = text.replace(real, shown);
        }
        fs::write(repository().join(page), text).expect("the page");
    }
}
