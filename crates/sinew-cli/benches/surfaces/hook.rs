//! How long agents wait for sinew: whole processes, from start to exit, over 1,000 skills.
//!
//! `cargo bench -p sinew-cli --bench surfaces` prints the median and the 95th percentile in
//! milliseconds for each event of a hook, with a warm cache and all vectors computed: messages are routed
//! with the encoder, and bring the skill's text. The first answer over a cold cache is apart.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

const SKILLS: usize = 1_000;
const RUNS: usize = 200;

const VERBS: &[&str] = &[
    "resize",
    "convert",
    "deploy",
    "review",
    "translate",
    "schedule",
    "encrypt",
    "render",
    "merge",
    "monitor",
];
const THINGS: &[&str] = &[
    "images",
    "videos",
    "invoices",
    "containers",
    "branches",
    "letters",
    "tickets",
    "backups",
    "charts",
    "recipes",
];

fn machine() -> TestMachine {
    let machine =
        TestMachine::new().file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}");
    for at in 0..SKILLS {
        let (verb, thing, kind) = (VERBS[at % 10], THINGS[at / 10 % 10], at / 100);
        let steps: String =
            (0..20).map(|step| format!("- step {step}: {verb} the {thing} with care\n")).collect();
        let text = format!(
            "---\nname: {verb}-{thing}-{kind}\ndescription: {verb} {thing} of kind {kind} when somebody wants to {verb} them\n---\n# {verb} {thing}\n\n{steps}"
        );
        machine.write(&format!("work/skills/{verb}-{thing}-{kind}/SKILL.md"), text);
    }
    machine
}

fn sinew(machine: &TestMachine, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command
        .args(args)
        .env_clear()
        .env("HOME", machine.path("home"))
        .env("PATH", machine.path("bin"))
        .current_dir(machine.path("work"));
    command
}

fn send(machine: &TestMachine, event: &Value) -> Duration {
    let start = Instant::now();
    let mut child = sinew(machine, &["hook", "auto", "--agent", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("sinew runs");
    child.stdin.take().expect("a pipe").write_all(event.to_string().as_bytes()).expect("written");
    let output = child.wait_with_output().expect("sinew ends");
    let took = start.elapsed();
    assert!(output.status.success());
    if event["hook_event_name"] == "UserPromptSubmit" {
        assert!(!output.stdout.is_empty(), "a hook that says nothing is quick and useless");
    }
    took
}

/// Has the vectors computed, as the process behind hooks does.
fn settle(machine: &TestMachine) {
    let start = Instant::now();
    let status = sinew(machine, &["hook", "settle"]).status().expect("sinew runs");
    assert!(status.success());
    println!("vectors of {SKILLS} skills {:6.1} s", start.elapsed().as_secs_f64());
}

fn measure(name: &str, machine: &TestMachine, event: impl Fn(usize) -> Value) {
    let mut took: Vec<Duration> = (0..RUNS).map(|at| send(machine, &event(at))).collect();
    took.sort_unstable();
    let ms = |at: usize| took[at].as_secs_f64() * 1e3;
    println!("hook {name:<14} p50 {:6.1} ms   p95 {:6.1} ms", ms(RUNS / 2), ms(RUNS * 95 / 100));
}

pub(crate) fn run() {
    let machine = machine();
    let cwd = machine.path("work");
    let prompt = |at: usize| {
        json!({"hook_event_name": "UserPromptSubmit", "session_id": format!("s{at}"), "prompt_id": "p", "cwd": cwd,
               "prompt": "resize these images for our page, please"})
    };
    println!("hook over {SKILLS} skills, process start to exit");
    println!(
        "hook first message  {:6.1} ms (nothing is cached)",
        send(&machine, &prompt(usize::MAX)).as_secs_f64() * 1e3
    );
    settle(&machine);
    // Files that changed a moment ago are read again; a warm cache is one that has settled.
    std::thread::sleep(Duration::from_secs(3));
    send(&machine, &prompt(usize::MAX - 1));
    measure("user-prompt", &machine, prompt);
    measure("post-tool", &machine, |at| {
        json!({"hook_event_name": "PostToolUse", "session_id": "t", "tool_use_id": at.to_string(), "cwd": cwd,
               "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_response": {}})
    });
    measure(
        "session-start",
        &machine,
        |at| json!({"hook_event_name": "SessionStart", "session_id": format!("u{at}"), "source": "startup", "cwd": cwd}),
    );
}
