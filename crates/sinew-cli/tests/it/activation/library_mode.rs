//! Library mode in the real Claude Code: what three hundred skills cost before and after, and that
//! nothing of it stays behind.

use std::fs;

use sinew_loopback::{LoopbackModel, ModelScript, SchemaRule};
use sinew_testkit::{NpmPackages, TestMachine};

use super::agents::CLAUDE;
use super::library;
use crate::agents::AGENT_PACKAGES;
use crate::support::sinew;

/// A message that no skill fits.
const MESSAGE: &str = "Thank you, that was all for today!";

const SETTINGS: &str = "home/.claude/settings.json";

/// The user's own settings, as only a person writes them.
const BEFORE: &str =
    "{\n  \"includeCoAuthoredBy\": false,\n\n  \"skillOverrides\": { \"css-fix\": \"on\" }\n}\n";

/// Skills that stay listed.
const PINNED: &str =
    "{hook: {deadlineMs: 10000}, skills: {prompt: {pin: ['weather', 'pdf-tools']}}}";

#[test]
#[allow(clippy::print_stderr, reason = "a bench prints its figures")]
fn three_hundred_skills_cost_claude_code_little() {
    let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES);
    let Some(packages) = packages else { return };
    let program = packages.program("claude");
    let script = ModelScript::text("All done.");
    let model = LoopbackModel::start(script, SchemaRule::Strict).expect("a free port");
    let library = library::own();
    let asked = |machine: &TestMachine| {
        let (request, _) = CLAUDE.ask(machine, &program, &model, MESSAGE);
        request.texts().into_iter().map(|text| text.text).collect::<Vec<String>>()
    };
    let chars = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();

    // What a session costs without any skill.
    let empty = TestMachine::new().file("home/.sinew/config.json5", PINNED).file(SETTINGS, BEFORE);
    assert!(sinew(&empty, &["connect", "claude-code"]).ends_with("exit 0"));
    let nothing = chars(&asked(&empty));

    let machine = library.machine("home/.claude/skills");
    machine.write("home/.sinew/config.json5", PINNED);
    machine.write(SETTINGS, BEFORE);
    assert!(sinew(&machine, &["connect", "claude-code"]).ends_with("exit 0"));
    let before = asked(&machine);
    let connected = fs::read_to_string(machine.path(SETTINGS)).expect("its settings");

    let done = sinew(&machine, &["connect", "claude-code", "--library"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let after = asked(&machine);
    // Less than nothing where a skill that is left out has the name of one of Claude Code's own.
    let (all, core) =
        (chars(&before).saturating_sub(nothing), chars(&after).saturating_sub(nothing));
    eprintln!(
        "claude-code, 300 skills: {all} characters a session; in library mode {core}, of them {} in its own list",
        library.listed_chars(&after)
    );
    assert!(library.listed_chars(&before) > 10_000, "{}", library.listed_chars(&before));
    assert!(core * 100 <= all * 15, "{core} of {all} characters");
    // Its own parser took the file: what it was told is what it does, and hooks of the same file run.
    let lists = |texts: &[String], name: &str| {
        texts.iter().flat_map(|text| text.lines()).any(|line| line.contains(&format!("- {name}:")))
    };
    for kept in ["weather", "pdf-tools", "css-fix"] {
        assert!(lists(&after, kept), "{kept} is not listed any more");
    }
    assert!(lists(&before, "docker-ops") && !lists(&after, "docker-ops"));

    // What comes later follows, from the session after the one that notices it.
    let late =
        "---\nname: late-riser\ndescription: Bakes bread for people who sleep in\n---\n# Bread\n";
    machine.write("home/.claude/skills/late-riser/SKILL.md", late);
    asked(&machine);
    sinew(&machine, &["hook", "settle"]);
    assert!(!lists(&asked(&machine), "late-riser"));

    let gone = sinew(&machine, &["disconnect", "claude-code"]);
    assert!(gone.ends_with("exit 0"), "{gone}");
    assert_eq!(fs::read_to_string(machine.path(SETTINGS)).expect("its settings"), BEFORE);
    assert_ne!(connected, BEFORE);
}
