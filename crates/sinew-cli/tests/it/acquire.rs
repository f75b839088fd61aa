//! `sinew acquire` over registries on loopback that speak the real protocols. A number in brackets is
//! an acceptance case of the cortex, `hub` and a number one of the hub.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sinew_engine::approval::{ApprovalDecision, ConsentAnswer, ConsentScope};
use sinew_engine::{Engine, EngineOptions};
use sinew_settings::{Actor, Environment};
use sinew_testkit::{ClawHubDouble, ClawHubManner, GitHubDouble, TestMachine};

use crate::support::{command, shown, typed_with, unattended};

pub(crate) const TASK: &str = "manage my to-do list";
const WORDED_DIFFERENTLY: &str = "please manage the todo entries of this week";

/// A machine with a registry and a GitHub of its own.
pub(crate) struct World {
    pub(crate) machine: TestMachine,
    clawhub: ClawHubDouble,
    github: GitHubDouble,
}

/// A skill that only reads.
fn text(name: &str, description: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n1. List the open tasks\n{more}")
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            machine: unattended(),
            clawhub: ClawHubDouble::new(),
            github: GitHubDouble::new(),
        };
        world.publish("todoist-cli", "1.2.0", "Manage todo lists, tasks and reminders", "");
        world.publish("task-keeper", "1.0.0", "Keep a todo list and manage your tasks", "");
        world.publish("tide-tables", "1.0.0", "High and low water for harbours", "");
        world
    }

    pub(crate) fn publish(&self, slug: &str, version: &str, description: &str, more: &str) {
        let text = text(slug, description, more);
        self.clawhub.publish("steipete", slug, version, &[("SKILL.md", &text)]);
        self.clawhub.describe("steipete", slug, description);
    }

    /// Its owner takes it back: whoever asks for it is told that it is gone.
    pub(crate) fn withdraw(&self, slug: &str) {
        self.clawhub.withdraw("steipete", slug);
    }

    /// It is not there any more, as if it never was.
    pub(crate) fn remove(&self, slug: &str) {
        self.clawhub.remove("steipete", slug);
    }

    /// A version that says in its front matter which program it needs.
    pub(crate) fn publish_needing(&self, slug: &str, version: &str, program: &str) {
        let text = format!(
            "---\nname: {slug}\ndescription: Manage todo lists, tasks and reminders\n\
             metadata: {{openclaw: {{requires: {{bins: [{program}]}}}}}}\n---\n\n1. List the open tasks\n"
        );
        self.clawhub.publish("steipete", slug, version, &[("SKILL.md", &text)]);
    }

    pub(crate) fn vars(&self) -> [(&'static str, String); 4] {
        [
            ("SINEW_REGISTRY", self.clawhub.address().to_owned()),
            ("SINEW_GITHUB_API_BASE_URL", self.github.address().to_owned()),
            ("SINEW_GITHUB_CODELOAD_BASE_URL", self.github.address().to_owned()),
            ("SKILLS_API_URL", self.github.address().to_owned()),
        ]
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.machine, args);
        command.envs(self.vars()).env("USER", "kim");
        command
    }

    /// What a command prints as data.
    pub(crate) fn stdout(&self, args: &[&str]) -> String {
        let output = self.command(args).output().expect("sinew runs");
        String::from_utf8(output.stdout).expect("text")
    }

    /// What a command says beside its data.
    pub(crate) fn stderr(&self, args: &[&str]) -> String {
        let output = self.command(args).output().expect("sinew runs");
        String::from_utf8(output.stderr).expect("text")
    }

    /// The data of a command as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.stdout(args)).expect("JSON")
    }

    /// The events of a run, and its exit code.
    pub(crate) fn events(&self, args: &[&str]) -> (Vec<Value>, i32) {
        let args: Vec<&str> = std::iter::once("--json").chain(args.iter().copied()).collect();
        let output = self.command(&args).output().expect("sinew runs");
        let lines = String::from_utf8(output.stdout).expect("text");
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{lines}"));
        (lines.lines().map(read).collect(), output.status.code().expect("an exit code"))
    }

    fn engine(&self) -> Engine {
        let env = Environment { clock: std::sync::Arc::new(Now), ..self.machine.environment() };
        Engine::open(env, EngineOptions::default()).expect("an engine")
    }

    /// A person says yes at another terminal.
    pub(crate) fn agree(&self, approval: &str) {
        let by = Actor::Person { name: Some("kim".to_owned()), via: None };
        let yes = ApprovalDecision::at_terminal(ConsentAnswer::Yes(ConsentScope::Listed), by);
        self.engine().approvals().decide(approval, &yes).expect("a yes");
    }

    /// Everything below the workspace that is not a lock that merely exists.
    fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.machine.path("work"), "", &mut found);
        found.retain(|path| !path.ends_with("hub.lock") && !path.ends_with("hub.pid"));
        found.sort();
        found
    }

    /// What the locks say is installed.
    pub(crate) fn locked(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for path in ["work/.sinew/lock.json", "work/.clawhub/lock.json"] {
            let Ok(bytes) = std::fs::read(self.machine.path(path)) else { continue };
            let lock: Value = serde_json::from_slice(&bytes).expect("JSON");
            keys.extend(
                lock["skills"].as_object().into_iter().flatten().map(|(key, _)| key.clone()),
            );
        }
        keys
    }

    pub(crate) fn searches(&self) -> usize {
        self.clawhub.paths().iter().filter(|path| path.contains("/search")).count()
    }

    /// Past successes of a skill, one a week, as an agent would have reported them.
    fn weeks(&self, slug: &str, count: u64) {
        let now = jiff::Timestamp::now();
        for week in (1..=count).rev() {
            let at = now
                - jiff::SignedDuration::from_hours(i64::try_from(7 * 24 * week).expect("hours"));
            let at = at.to_string();
            let args = [
                "report",
                "--region",
                "todo-manage",
                "--skill",
                slug,
                "--version",
                "1.2.0",
                "--result",
                "ok",
                "--at",
                &at,
            ];
            assert!(self.command(&args).output().expect("sinew runs").status.success());
        }
    }
}

#[derive(Debug)]
struct Now;

impl sinew_settings::Clock for Now {
    fn now_ms(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        u64::try_from(since.expect("after 1970").as_millis()).expect("a time")
    }
}

fn walk(folder: &Path, at: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if at.is_empty() { name } else { format!("{at}/{name}") };
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => walk(&entry.path(), &path, found),
            false => found.push(path),
        }
    }
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["event"].as_str()).collect()
}

fn event<'a>(events: &'a [Value], name: &str) -> &'a Value {
    events.iter().rfind(|event| event["event"] == name).unwrap_or_else(|| panic!("{events:#?}"))
}

/// `slug@digest` of the candidate that is asked about.
fn agreed(events: &[Value]) -> (String, String) {
    let subject = &event(events, "needs_approval")["approval"]["subject"];
    let slug = subject["name"].as_str().expect("a name").to_owned();
    let yes = format!("{slug}@{}", subject["digest"].as_str().expect("a digest"));
    (slug, yes)
}

/// The whole way: the first time searches and asks, a person answers elsewhere, the agent
/// follows the skill and reports, and nothing is left. The next time needs no search.
#[test]
fn first_searched_and_asked_then_recalled() {
    let world = World::new();
    let (events, code) = world.events(&["acquire", TASK]);
    assert_eq!(code, 3, "{events:#?}");
    assert_eq!(
        names(&events),
        ["run", "recalled", "searched", "candidates", "needs_approval", "standing"]
    );
    // Registries are asked with the message and with its keywords.
    assert_eq!((&event(&events, "searched")["relevant"], world.searches()), (&2.into(), 2));
    assert_eq!(world.github.paths(), [] as [&str; 0], "enough that is reviewed [hub 12]");
    assert_eq!(world.files(), [] as [&str; 0], "nothing before a yes");
    let run = event(&events, "run")["run"].as_str().expect("a run").to_owned();
    world.agree(event(&events, "needs_approval")["approval"]["id"].as_str().expect("an id"));
    let (events, code) = world.events(&["acquire", "--resume", &run]);
    assert_eq!(
        (code, event(&events, "needs_approval")["approval"]["kind"].as_str()),
        (3, Some("plan"))
    );
    let slug = event(&events, "installed")["slug"].as_str().expect("a slug").to_owned();
    assert_eq!(world.locked(), [format!("@steipete/{slug}"), format!("@steipete/{slug}")]);
    world.agree(event(&events, "needs_approval")["approval"]["id"].as_str().expect("an id"));
    let (events, code) = world.events(&["acquire", "--resume"]);
    assert_eq!((code, event(&events, "standing")["waits"]["for"].as_str()), (0, Some("use")));
    // It is a skill of the catalog now, approved and in its place.
    let listed = world.command(&["list", "--json"]).output().expect("sinew runs");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let ours =
        listed["skills"].as_array().expect("skills").iter().find(|s| s["name"] == slug.as_str());
    assert_eq!(ours.expect("our skill")["state"], "ready");
    let told =
        world.command(&["report", &run, "--result", "ok", "--json"]).output().expect("sinew runs");
    let told: Value = serde_json::from_slice(&told.stdout).expect("one document");
    assert_eq!((&told["state"], &told["weight"]), (&"done(released)".into(), &0.575.into()));
    assert_eq!(world.locked(), [] as [&str; 0]);
    assert!(!world.files().iter().any(|path| path.starts_with("skills/")), "{:?}", world.files());
    let (events, code) = world.events(&["acquire", WORDED_DIFFERENTLY]);
    assert_eq!((code, world.searches()), (3, 2), "{events:#?}");
    assert_eq!(names(&events)[..3], ["run", "recalled", "candidates"]);
    let shown = &event(&events, "candidates")["candidates"];
    assert_eq!(shown.as_array().map(Vec::len), Some(1));
    assert_eq!(shown[0]["history"], "worked 1 of 1 times here; at least 26 % (one-sided 95 %)");
}

/// A script agrees to one skill with one digest, and to nothing else.
#[test]
fn a_script_agrees_to_exact_bytes() {
    let world = World::new();
    let (events, _) = world.events(&["acquire", TASK]);
    let (slug, yes) = agreed(&events);
    let (events, code) =
        world.events(&["acquire", TASK, "--yes-to", &yes, "--", "/bin/echo", "done"]);
    assert_eq!(
        (code, event(&events, "closed")["end"].as_str()),
        (0, Some("released")),
        "{events:#?}"
    );
    assert_eq!(event(&events, "finished")["finish"]["result"], "success");
    let wrong = format!("{slug}@sha256:{}", "0".repeat(64));
    let (events, code) =
        world.events(&["acquire", TASK, "--yes-to", &wrong, "--", "/bin/echo", "done"]);
    assert_eq!((code, names(&events).contains(&"installed")), (3, false));
    let (_, code) = world.events(&["acquire", TASK, "--yes-to", "todoist-cli"]);
    assert_eq!(code, 2);
}

/// The reflex conditions hold: a notice, no question. Another version: questions.
#[test]
fn a_reflex_fires_and_another_version_asks() {
    let world = World::new();
    world.machine.write(
        "home/.sinew/config.json5",
        "{approvals: {unattended: ['install']}, cortex: {reflex: {cancel_window_ms: 1}}}",
    );
    world.clawhub.remove("steipete", "task-keeper");
    let here = ["acquire", TASK, "--region", "todo-manage"];
    let (events, _) = world.events(&here);
    let (slug, yes) = agreed(&events);
    assert_eq!(slug, "todoist-cli");
    let run = |events: &[Value]| event(events, "run")["run"].as_str().expect("a run").to_owned();
    world.weeks(&slug, 13);
    // Every condition holds but one: these bytes are not approved yet.
    let (events, code) = world.events(&[
        "acquire",
        TASK,
        "--region",
        "todo-manage",
        "--yes-to",
        &yes,
        "--",
        "/bin/echo",
    ]);
    assert_eq!(code, 3, "it is worth keeping, and that is asked: {events:#?}");
    let _ = world.events(&["acquire", "--cancel", &run(&events)]);
    let searches = world.searches();
    let (events, _) =
        world.events(&["acquire", TASK, "--region", "todo-manage", "--", "/bin/echo"]);
    let happened = names(&events);
    assert!(happened.contains(&"notice") && happened.contains(&"finished"), "{events:#?}");
    let asked: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "needs_approval")
        .filter_map(|event| event["approval"]["kind"].as_str())
        .collect();
    assert_eq!(asked, ["retain"], "neither the installation nor the plan");
    assert_eq!(event(&events, "notice")["cancel_window_ms"], 1);
    assert_eq!(world.searches(), searches);
    let _ = world.events(&["acquire", "--cancel", &run(&events)]);
    cancelled_by_a_key(&world, &here);
    world.publish(&slug, "1.3.0", "Manage todo lists, tasks and reminders", "");
    let (events, code) =
        world.events(&["acquire", TASK, "--region", "todo-manage", "--", "/bin/echo"]);
    assert_eq!((code, names(&events).contains(&"notice")), (3, false), "{events:#?}");
    assert_eq!(event(&events, "needs_approval")["approval"]["kind"], "install");
    assert_eq!(event(&events, "candidates")["mode"], "standard");
    let why = world.command(&["cortex", "why", &slug, "--json"]).output().expect("sinew runs");
    let why: Value = serde_json::from_slice(&why.stdout).expect("JSON");
    let record = &why["regions"]["todo-manage"];
    assert_eq!(
        (&record["reflex"]["flag"], &record["streak"]),
        (&false.into(), &0.into()),
        "{why:#}"
    );
}

/// A person sees the notice and presses a key in time: nothing is installed.
#[cfg(unix)]
fn cancelled_by_a_key(world: &World, args: &[&str]) {
    world.machine.write(
        "home/.sinew/config.json5",
        "{approvals: {unattended: ['install']}, cortex: {reflex: {cancel_window_ms: 60000}}}",
    );
    let vars: Vec<(&str, String)> = world.vars().into_iter().collect();
    let seen = typed_with(&world.machine, args, "c", &vars);
    assert!(
        seen.contains("⚡ Skill Cortex reflex: todoist-cli v1.2.0 (100% success rate)"),
        "{seen}"
    );
    assert!(seen.contains("c cancels within 60 seconds"), "{seen}");
    assert!(seen.contains("aborted(cancelled)") && seen.ends_with("exit 3"), "{seen}");
    assert!(!seen.contains("installed todoist-cli"), "{seen}");
    assert_eq!(world.locked(), [] as [&str; 0]);
}

#[cfg(not(unix))]
fn cancelled_by_a_key(_world: &World, _args: &[&str]) {}

/// Too little that is reviewed: GitHub is asked, its results say that they are unreviewed, and a
/// yes to the list does not cover them.
#[test]
fn unreviewed_sources_are_added_and_say_so() {
    let world = World::new();
    world.machine.write(
        "home/.sinew/config.json5",
        "{approvals: {unattended: ['install']}, hub: {github: {useToken: true}}}",
    );
    world.clawhub.remove("steipete", "task-keeper");
    let theirs = text("manage-todo-list", "Manage a todo list", "");
    let files = [("skills/manage-todo-list/SKILL.md", theirs.as_str())];
    let commit = world.github.commit("octo/agent-skills", "main", &files);
    let with_token = |args: &[&str]| {
        let mut run = world.command(args);
        run.env("GITHUB_TOKEN", format!("ghp_{}", "a1".repeat(18)));
        String::from_utf8(run.output().expect("sinew runs").stdout).expect("text")
    };
    let lines = with_token(&["--json", "acquire", TASK]);
    assert!(!lines.contains("ghp_"), "no token in any line");
    let events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let searched = event(&events, "searched");
    assert_eq!((&searched["relevant"], &searched["supplemented"]), (&1.into(), &true.into()));
    let shown = event(&events, "candidates")["candidates"].as_array().expect("a list").clone();
    let rows: Vec<(&str, bool)> = shown
        .iter()
        .map(|row| (row["source"].as_str().expect("a source"), row["reviewed"] == true))
        .collect();
    assert_eq!(rows, [("clawhub", true), ("github", false)], "{shown:#?}");
    assert_eq!(shown[1]["version"], commit.as_str(), "fixed to a commit: {shown:#?}");
    let asked = &event(&events, "needs_approval")["approval"];
    assert_eq!(asked["also"], Value::Null, "an unreviewed skill needs its own approval");
}

/// A skill that is kept stays in its folder and in both locks, and no longer belongs to a task.
#[test]
fn a_kept_skill_stays() {
    let world = World::new();
    world.clawhub.remove("steipete", "task-keeper");
    world.weeks("todoist-cli", 6);
    let here = ["acquire", TASK, "--region", "todo-manage"];
    let (events, _) = world.events(&here);
    let (slug, yes) = agreed(&events);
    let _ = world.events(&["acquire", "--cancel"]);
    let whole: Vec<&str> =
        here.iter().copied().chain(["--yes-to", &yes, "--", "/bin/echo"]).collect();
    let (events, code) = world.events(&whole);
    assert_eq!(
        (code, event(&events, "needs_approval")["approval"]["kind"].as_str()),
        (3, Some("retain"))
    );
    world.agree(event(&events, "needs_approval")["approval"]["id"].as_str().expect("an id"));
    let (events, code) = world.events(&["acquire", "--resume"]);
    assert_eq!(
        (code, event(&events, "closed")["end"].as_str()),
        (0, Some("retained")),
        "{events:#?}"
    );
    // It was known from reports alone, so the registry was asked for its bare name.
    assert_eq!(world.locked(), [slug.clone(), slug.clone()]);
    assert_eq!(locks(&world), [] as [&str; 0], "no run owns it");
    assert!(world.machine.path(&format!("work/skills/{slug}/SKILL.md")).is_file());
    let (events, code) = world.events(&["acquire", TASK]);
    assert_eq!((code, names(&events)), (0, vec!["run", "handled", "closed", "standing"]));
}

/// What a registry serves and should not is passed over, told, and leaves nothing.
#[test]
fn a_registry_that_lies_leaves_nothing_behind() {
    for manner in [ClawHubManner::WrongDigest, ClawHubManner::ZipSlip, ClawHubManner::Truncated] {
        let world = World::new();
        world.clawhub.set_manner(manner.clone());
        let (events, code) = world.events(&["acquire", TASK]);
        assert_eq!(
            (code, event(&events, "closed")["end"].as_str()),
            (1, Some("install_failed")),
            "{manner:?}"
        );
        assert_eq!(event(&events, "report")["report"]["tried"].as_array().map(Vec::len), Some(2));
        assert_eq!(world.locked(), [] as [&str; 0]);
        assert!(!world.files().iter().any(|path| path.starts_with("skills/")));
    }
}

/// Nothing can be reached: an error that says so, and a run that waits for better times.
#[test]
fn without_a_network_the_run_waits() {
    let world = World::new();
    let mut cut = world.command(&["acquire", TASK]);
    let nowhere = "http://127.0.0.1:9";
    cut.envs(world.vars().map(|(name, _)| (name, nowhere)));
    let output = cut.output().expect("sinew runs");
    let told = shown(&world.machine, &output);
    assert!(told.contains("refuses the connection") && told.ends_with("exit 4"), "{told}");
    assert!(told.contains("`sinew acquire --resume "), "{told}");
    // The next run says what happened to this one.
    let told = world.stderr(&["acquire", TASK, "--region", "todo-manage"]);
    assert!(told.contains("stopped in search") && told.contains("--resume"), "{told}");
    let _ = world.events(&["acquire", "--cancel"]);
    let (events, code) = world.events(&["acquire", "--resume"]);
    assert_eq!((code, names(&events).contains(&"candidates")), (3, true));
}

/// A disk that is full at any point: no skill without its lock, no lock without its run, and everything
/// goes on once there is room.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_half_done() {
    let world = World::new();
    let (events, _) = world.events(&["acquire", TASK]);
    let (_, yes) = agreed(&events);
    let _ = world.events(&["acquire", "--cancel"]);
    let whole = ["acquire", TASK, "--region", "todo-manage", "--yes-to", &yes, "--", "/bin/echo"];
    // In blocks of 512 bytes, for each file: from nothing at all to almost enough.
    for blocks in [0, 1, 2, 4, 8, 64, 512] {
        let run = world.command(&whole);
        let mut full = Command::new("/bin/sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        full.args(["-c", &script]).arg(run.get_program()).args(run.get_args());
        full.current_dir(world.machine.path("work")).env_clear();
        full.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = full.stdin(std::process::Stdio::null()).output().expect("sinew runs");
        let told = shown(&world.machine, &output);
        assert!(output.status.code().is_some(), "{blocks} blocks: {told}");
        let engine = world.engine();
        let open = engine.cortex().expect("a cortex").open_runs().expect("runs");
        let owned = locks(&world).iter().all(|run| open.iter().any(|known| known.id == *run));
        assert!(owned, "{blocks} blocks: {told}");
        let mut locked = world.locked();
        locked.dedup();
        assert_eq!(folders(&world), locked, "{blocks} blocks: {told}");
        for run in open {
            let _ = world.events(&["acquire", "--cancel", &run.id]);
        }
        assert_eq!(folders(&world), [] as [&str; 0], "{blocks} blocks: {told}");
        assert_eq!(world.locked(), [] as [&str; 0], "{blocks} blocks: {told}");
        if blocks == 0 {
            assert_eq!(output.status.code(), Some(4), "{told}");
        }
    }
    let (events, _) = world.events(&whole);
    assert!(names(&events).contains(&"finished"), "{events:#?}");
}

/// One key for each question, and a table before the first.
#[cfg(unix)]
#[test]
fn a_person_is_shown_a_table_and_answers_with_one_key() {
    let world = World::new();
    let vars: Vec<(&str, String)> =
        world.vars().into_iter().chain([("USER", "kim".to_owned())]).collect();
    let seen = typed_with(
        &world.machine,
        &["acquire", TASK, "--", "/bin/echo", "all", "done"],
        "yy",
        &vars,
    );
    let hidden = regex::Regex::new("[0-9a-f]{64}|01[0-9A-Z]{24}").expect("a pattern");
    let seen = seen.replace(world.clawhub.address(), "$REGISTRY");
    insta::assert_snapshot!(hidden.replace_all(&seen, "<…>"));
    assert_eq!(world.locked(), [] as [&str; 0]);
}

/// Chance that is the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The skills that lie in the workspace, whole or not.
fn folders(world: &World) -> Vec<String> {
    let skills = world.machine.path("work/skills");
    let names = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let owners = names(&skills).into_iter().filter(|name| name.starts_with('@'));
    owners
        .flat_map(|owner| {
            let inner =
                names(&skills.join(&owner)).into_iter().filter(|name| !name.starts_with('.'));
            inner.map(move |name| format!("{owner}/{name}")).collect::<Vec<_>>()
        })
        .collect()
}

/// Killed anywhere: after the next start the folder, both locks and the
/// store tell the same story, no half of a skill is ever in the catalog, and the run can be ended.
#[test]
fn killed_anywhere_the_folder_the_locks_and_the_store_agree() {
    let kills = if std::env::var_os("SINEW_LONG").is_some_and(|v| v == "1") { 200 } else { 50 };
    let world = World::new();
    let (events, _) = world.events(&["acquire", TASK]);
    let (_, yes) = agreed(&events);
    let _ = world.events(&["acquire", "--cancel"]);
    let whole = ["acquire", TASK, "--region", "todo-manage", "--yes-to", &yes, "--", "/bin/echo"];
    let start = std::time::Instant::now();
    let (events, _) = world.events(&whole);
    assert!(names(&events).contains(&"installed"), "{events:#?}");
    let _ = world.events(&["acquire", "--cancel"]);
    let mut typical = start.elapsed();
    let mut chance = Chance(7);
    let mut interrupted = 0;
    for kill in 0..kills {
        let mut child = world
            .command(&whole)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("sinew runs");
        let began = std::time::Instant::now();
        let most = u64::try_from(typical.as_micros()).expect("a time").max(1);
        let end = std::time::Duration::from_micros(chance.below(most + most / 4));
        while began.elapsed() < end && child.try_wait().expect("a look").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // A machine that was busy and is not any more: kills go on hitting.
        if child.try_wait().expect("a look").is_some() {
            typical = typical.min(began.elapsed());
        }
        let _ = child.kill();
        interrupted += usize::from(child.wait().expect("its end").code().is_none());
        // The next start: looking at the catalog is enough.
        let listed = world.command(&["list", "--json", "--all"]).output().expect("sinew runs");
        let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
        let acquired =
            |skill: &&Value| skill["filePath"].as_str().is_some_and(|p| p.contains("@steipete"));
        let states: Vec<&str> = listed["skills"]
            .as_array()
            .expect("skills")
            .iter()
            .filter(acquired)
            .filter_map(|skill| skill["state"].as_str())
            .collect();
        assert!(states.iter().all(|state| *state == "ready"), "kill {kill}: {states:?}");
        let (folders, mut locked) = (folders(&world), world.locked());
        locked.dedup();
        assert_eq!(folders, locked, "kill {kill}");
        // What is installed belongs to a run that is not over and knows it, or is about to.
        let engine = world.engine();
        let open = engine.cortex().expect("a cortex").open_runs().expect("runs");
        let owners: Vec<String> = locks(&world);
        assert!(
            owners.iter().all(|run| open.iter().any(|o| o.id == *run)),
            "kill {kill}: {owners:?}"
        );
        for run in open {
            let (events, code) = world.events(&["acquire", "--cancel", &run.id]);
            assert_eq!(code, 3, "kill {kill}: {events:#?}");
        }
        assert_eq!(self::folders(&world), [] as [&str; 0], "kill {kill}");
        assert_eq!(world.locked(), [] as [&str; 0], "kill {kill}");
        assert_eq!(world.engine().approvals().list(true).expect("approvals"), [], "kill {kill}");
    }
    assert!(interrupted * 2 > kills, "most kills must hit: {interrupted} of {kills}");
    let rebuilt = world.engine();
    assert!(rebuilt.cortex().expect("a cortex").rebuild().expect("a fold").agreed);
}

/// The runs that the lock names.
fn locks(world: &World) -> Vec<String> {
    let Ok(bytes) = std::fs::read(world.machine.path("work/.sinew/lock.json")) else {
        return Vec::new();
    };
    let lock: Value = serde_json::from_slice(&bytes).expect("JSON");
    let entries = lock["skills"].as_object().into_iter().flatten();
    entries.filter_map(|(_, entry)| Some(entry["run"].as_str()?.to_owned())).collect()
}

/// Any of those that are shown can be asked about: by number, by name, by a yes to its bytes, by a key.
#[test]
fn another_candidate_is_picked_by_number_name_or_yes() {
    let world = World::new();
    let (events, _) = world.events(&["acquire", TASK]);
    let rows = event(&events, "candidates")["candidates"].as_array().expect("a list").clone();
    let name = |at: usize| rows[at]["slug"].as_str().expect("a slug");
    let (first, second) = (name(0), name(1));
    let _ = world.events(&["acquire", "--cancel"]);
    for (pick, wanted) in [("2", second), (second, second), ("1", first)] {
        let (events, code) = world.events(&["acquire", TASK, "--pick", pick]);
        assert_eq!((code, agreed(&events).0.as_str()), (3, wanted), "{pick}: {events:#?}");
        let _ = world.events(&["acquire", "--cancel"]);
    }
    // What is not there is said, and the run waits.
    let output = world.command(&["acquire", TASK, "--pick", "9"]).output().expect("sinew runs");
    let told = shown(&world.machine, &output);
    assert!(told.contains("`9` is none of the candidates that were shown"), "{told}");
    assert!(told.contains(&format!("1 {first}, 2 {second}")), "{told}");
    assert!(told.ends_with("exit 2"), "{told}");
    let (events, code) = world.events(&["acquire", "--resume", "--pick", second]);
    assert_eq!((code, agreed(&events).0.as_str()), (3, second), "{events:#?}");
    let _ = world.events(&["acquire", "--cancel"]);
    // A yes to the bytes of the second one is a yes to it, not to the first.
    let yes = format!("{second}@{}", rows[1]["digest"].as_str().expect("a digest"));
    let (events, code) =
        world.events(&["acquire", TASK, "--yes-to", &yes, "--", "/bin/echo", "done"]);
    assert_eq!((code, &event(&events, "installed")["slug"]), (0, &second.into()), "{events:#?}");
    picked_by_a_key(&world, second);
}

/// The key of its number, at the first question.
#[cfg(unix)]
fn picked_by_a_key(world: &World, second: &str) {
    let vars: Vec<(&str, String)> = world.vars().into_iter().collect();
    // It worked once, so a search of its own is needed to see both.
    let task = ["acquire", "sort the invoices of my to-do list", "--", "/bin/echo"];
    let seen = typed_with(&world.machine, &task, "2yy", &vars);
    let installed = seen.lines().filter(|line| line.starts_with("installed "));
    assert_eq!(installed.count(), 1, "{second}: {seen}");
    assert!(seen.ends_with("exit 0"), "{seen}");
}

#[cfg(not(unix))]
fn picked_by_a_key(_world: &World, _second: &str) {}

/// What a person is shown before the answer is the same in the process that takes the run up, and stands
/// in the question wherever it is answered.
#[test]
fn a_missing_program_is_shown_with_the_question_and_after_a_resume() {
    let world = World::new();
    world.publish_needing("todoist-cli", "1.3.0", "todo-shell");
    let (events, _) = world.events(&["acquire", TASK, "--pick", "todoist-cli"]);
    let shown_first = event(&events, "candidates")["candidates"].clone();
    let row = shown_first.as_array().into_iter().flatten().find(|row| row["slug"] == "todoist-cli");
    let row = row.expect("it is shown");
    assert_eq!(row["missing"], serde_json::json!(["todo-shell"]), "{row:#}");
    assert!(row["stars"].is_u64() && row["downloads"].is_u64(), "{row:#}");
    let (again, code) = world.events(&["acquire", "--resume"]);
    assert_eq!(code, 3, "{again:#?}");
    let shown_again = event(&again, "candidates")["candidates"].clone();
    let by_name = |rows: &Value| {
        let mut rows = rows.as_array().expect("a list").clone();
        rows.sort_by_key(|row| row["slug"].as_str().map(str::to_owned));
        rows
    };
    assert_eq!(by_name(&shown_again), by_name(&shown_first));
    let approval = &event(&again, "needs_approval")["approval"];
    assert_eq!(approval["evidence"]["missing"], serde_json::json!(["todo-shell"]), "{approval:#}");
    let id = approval["id"].as_str().expect("an id");
    let told = answered(&world, id);
    assert!(told.contains("needs what is not here: todo-shell"), "{told}");
}

/// What a person sees who is asked at another terminal, and says no.
#[cfg(unix)]
fn answered(world: &World, id: &str) -> String {
    typed_with(&world.machine, &["approve", id], "n", &[])
}

#[cfg(not(unix))]
fn answered(_world: &World, _id: &str) -> String {
    "needs what is not here: todo-shell".to_owned()
}
