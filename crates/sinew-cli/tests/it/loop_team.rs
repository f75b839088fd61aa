//! Days of a team over real components: its registry on loopback, a GitHub that speaks the real API, and
//! hooks as Claude Code 2.1.327 sent them (`tests/data/claude-code-2.1.327-hooks.jsonl`; only ids and
//! folders were replaced).

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use sinew_testkit::{GitHubDouble, TestMachine};

use crate::acquire::TASK;
use crate::hook::{hook, settle};
use crate::mcp::client::Client;
use crate::support::command;

const RECORDED: &str = include_str!("../data/claude-code-2.1.327-hooks.jsonl");
const PHOTOS: &str = "resize these photos for the web";

/// What Claude Code told, by the line of the recording.
#[derive(Debug, Clone, Copy)]
enum Recorded {
    SessionStart,
    Message,
    Read,
    Command,
    FailedCommand,
    Stop,
    Thanks,
    SecondStop,
    SessionEnd,
}

/// A registry, a GitHub, and the machine of someone in the team.
struct Office {
    machine: TestMachine,
    registry: String,
    github: GitHubDouble,
    token: String,
    server: Child,
    _server_machine: TestMachine,
}

impl Drop for Office {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Office {
    fn new() -> Self {
        let server_machine = TestMachine::new();
        let serve = ["--json", "serve", "--listen", "127.0.0.1:0", "--registry"];
        let mut server =
            command(&server_machine, &serve).stdout(Stdio::piped()).spawn().expect("sinew runs");
        let mut line = String::new();
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe"));
        lines.read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        let registry = said["registry"].as_str().expect("an address").to_owned();
        let make = ["registry", "token", "create", "--role", "publish", "--name", "ada"];
        let token = crate::support::json(&server_machine, &make)["token"].clone();
        let office = Self {
            machine: TestMachine::new(),
            registry,
            github: GitHubDouble::new(),
            token: token.as_str().expect("a token").to_owned(),
            server,
            _server_machine: server_machine,
        };
        office.cancel_within(60_000);
        let login = ["registry", "login", "--token", office.token.as_str()];
        assert!(office.command(&login).output().expect("sinew runs").status.success());
        office.publish("todo-show", "Manage todo lists, tasks and reminders", "1. List the tasks");
        office.publish("tide-tables", "High and low water for harbours", "1. Look it up");
        office
    }

    fn cancel_within(&self, ms: u32) {
        let config = format!(
            "{{hook: {{deadlineMs: 10000}}, approvals: {{unattended: ['install']}}, \
             hub: {{github: {{useToken: true}}}}, cortex: {{reflex: {{cancel_window_ms: {ms}}}}}}}"
        );
        self.machine.write("home/.sinew/config.json5", config);
    }

    fn publish(&self, slug: &str, description: &str, body: &str) {
        let text = format!("---\nname: {slug}\ndescription: {description}\n---\n\n{body}\n");
        self.machine.write(&format!("offered/{slug}/SKILL.md"), text);
        let folder = self.machine.path(&format!("offered/{slug}")).display().to_string();
        let publish = ["registry", "publish", &folder, "--version", "1.0.0"];
        let output = self.command(&publish).output().expect("sinew runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn vars(&self) -> [(&'static str, String); 6] {
        [
            ("SINEW_REGISTRY", self.registry.clone()),
            ("CLAWHUB_TOKEN", self.token.clone()),
            ("SINEW_GITHUB_API_BASE_URL", self.github.address().to_owned()),
            ("SINEW_GITHUB_CODELOAD_BASE_URL", self.github.address().to_owned()),
            ("SKILLS_API_URL", self.github.address().to_owned()),
            ("GITHUB_TOKEN", format!("ghp_{}", "a1".repeat(18))),
        ]
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.machine, args);
        command.envs(self.vars());
        command
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.command(args).arg("--json").output().expect("sinew runs");
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&lines).unwrap_or_else(|_| panic!("{args:?}: {lines}"))
    }

    /// The events of a run.
    fn events(&self, args: &[&str]) -> Vec<Value> {
        let output = self.command(args).arg("--json").output().expect("sinew runs");
        let lines = String::from_utf8(output.stdout).expect("text");
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// An agent whose user agrees to installations and plans, and keeps nothing.
    fn agent(&self) -> Client {
        let capabilities = json!({"elicitation": {}});
        Client::connected(&self.machine, capabilities, &self.vars()).answering(|_, asked| {
            let message = asked["message"].as_str().unwrap_or_default();
            match message.starts_with("Install ") || message.starts_with("Carry out this plan") {
                true => json!({"action": "accept", "content": {"decision": "approve"}}),
                false => json!({"action": "decline"}),
            }
        })
    }

    fn skill_file(&self) -> PathBuf {
        let mut folders = vec![self.machine.path("work/skills")];
        while let Some(folder) = folders.pop() {
            if folder.join("SKILL.md").is_file() {
                return folder.join("SKILL.md");
            }
            let below = std::fs::read_dir(&folder).expect("a folder").flatten();
            folders.extend(below.map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
        panic!("no skill is installed")
    }

    /// Sends events as they were recorded, in a session; gives what is added to the last message.
    fn hear(&self, session: &str, message: &str, events: &[Recorded]) -> String {
        let mut added = String::new();
        for event in events {
            let line = RECORDED.lines().nth(*event as usize).expect("a line");
            let mut line = line.replace("SESSION", session).replace("PROMPT-", session);
            if line.contains("/SKILL-FILE") {
                line = line.replace("/SKILL-FILE", &self.skill_file().display().to_string());
            }
            let mut told: Value = serde_json::from_str(&line).expect("JSON");
            if matches!(event, Recorded::Message) {
                told["prompt"] = json!(message);
            }
            let answer = hook(&self.machine, "claude-code", told).unwrap_or_default();
            if matches!(event, Recorded::Message) {
                let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
                added = text.unwrap_or_default().to_owned();
            }
        }
        settle(&self.machine);
        added
    }

    fn begins(&self, session: &str, message: &str) -> String {
        self.hear(session, message, &[Recorded::SessionStart, Recorded::Message])
    }

    /// Skills that are installed for a run.
    fn short_term(&self) -> usize {
        let listed = self.json(&["installed"]);
        listed.to_string().matches("short-term").count()
    }

    fn runs(&self, slug: &str) -> Value {
        let why = self.json(&["cortex", "why", slug]);
        let region = why["regions"].as_object().and_then(|all| all.values().next().cloned());
        region.unwrap_or_default()["runs"].clone()
    }

    /// Thirteen weeks of success, and a yes to the bytes of today.
    fn prove(&self, slug: &str, task: &str) {
        let now = jiff::Timestamp::now();
        for week in (1..=13).rev() {
            let at = (now - jiff::SignedDuration::from_hours(7 * 24 * week)).to_string();
            let done = ["report", "--task", task, "--skill", slug, "--version", "1.0.0"];
            self.json(&[done.as_slice(), &["--result", "ok", "--at", &at]].concat());
        }
        let mut agent = self.agent();
        let ready = agent.data("acquire_skill", propose(task));
        assert_eq!((&ready["status"], &ready["skill"]), (&json!("ready"), &json!(slug)), "{ready}");
        agent.data("report_outcome", json!({"run": ready["run"], "outcome": "success"}));
        // It is worth keeping by now, and is not kept.
        agent.data("acquire_skill", json!({"action": "release", "run": ready["run"]}));
        assert_eq!(self.short_term(), 0);
    }
}

fn propose(task: &str) -> Value {
    json!({"action": "propose", "need": task})
}

/// Lacking, offered, agreed to, used, closed by hooks, released; the second time without a search; a step
/// that fails ends it at once.
#[test]
fn a_missing_skill_is_got_used_closed_by_hooks_and_remembered() {
    use Recorded::{Command, FailedCommand, Read, SecondStop, SessionEnd, Stop, Thanks};
    let office = Office::new();
    let theirs = "---\nname: manage-todo-list\ndescription: Manage a todo list\n---\n\n1. Look\n";
    office.github.commit(
        "octo/agent-skills",
        "main",
        &[("skills/manage-todo-list/SKILL.md", theirs)],
    );
    let text = office.begins("s1", TASK);
    assert!(text.contains("acquire_skill can look for one in registries"), "{text}");
    let mut agent = office.agent();
    let ready = agent.data("acquire_skill", propose(TASK));
    assert_eq!((&ready["status"], &ready["skill"]), (&json!("ready"), &json!("todo-show")));
    let asked: Vec<&str> =
        agent.asked.iter().filter_map(|asked| asked["params"]["message"].as_str()).collect();
    assert_eq!(asked.len(), 2, "to install, and its plan: {asked:?}");
    assert!(asked[0].contains(&office.registry), "{asked:?}");
    let searched = office.github.paths();
    assert!(searched.iter().any(|path| path.starts_with("/search/code")), "{searched:?}");
    assert_eq!(office.short_term(), 1);
    office.hear("s1", TASK, &[Read, Command, Stop]);
    assert_eq!(office.short_term(), 1, "the same work may go on");
    office.hear("s1", TASK, &[Thanks, SecondStop]);
    assert_eq!(office.short_term(), 0, "the user's word ended it, and it is gone");
    assert_eq!(office.runs("todo-show"), json!({"success": 1, "fail": 0}));
    office.hear("s1", TASK, &[SessionEnd]);
    assert_eq!(office.runs("todo-show"), json!({"success": 1, "fail": 0}), "once");
    // The second day: remembered, and nothing is searched.
    let text = office.begins("s2", TASK);
    assert!(text.contains("todo-show worked 1 of 1 times"), "{text}");
    let events = office.events(&["acquire", TASK]);
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names[..3], ["run", "recalled", "candidates"], "{events:#?}");
    office.events(&["acquire", "--cancel"]);
    // The third: a command of it fails, and the turn's end is the run's.
    assert_eq!(agent.data("acquire_skill", propose(TASK))["status"], "ready");
    office.hear("s2", TASK, &[Read, FailedCommand, Stop]);
    assert_eq!(office.short_term(), 0);
    assert_eq!(office.runs("todo-show"), json!({"success": 1, "fail": 1}));
}

/// Withdrawn from the team's registry: it is named no longer, a search follows, and GitHub's is offered as
/// what it is.
#[test]
fn what_the_team_withdrew_is_named_no_longer_and_github_is_asked() {
    use Recorded::{Command, Read, SessionEnd, Stop};
    let office = Office::new();
    let mut agent = office.agent();
    assert_eq!(agent.data("acquire_skill", propose(TASK))["status"], "ready");
    office.hear("s1", TASK, &[Recorded::Message, Read, Command, Stop, SessionEnd]);
    let text = office.begins("s2", TASK);
    assert!(text.contains("todo-show worked 1 of 1 times"), "{text}");
    let gone = ["registry", "delete", "todo-show", "--reason", "replaced"];
    assert!(office.command(&gone).output().expect("sinew runs").status.success());
    let theirs = "---\nname: manage-todo-list\ndescription: Manage a todo list\n---\n\n1. Look\n";
    let files = [("skills/manage-todo-list/SKILL.md", theirs)];
    let commit = office.github.commit("octo/agent-skills", "main", &files);
    let events = office.events(&["acquire", TASK]);
    let searched = events.iter().find(|event| event["event"] == "searched");
    assert_eq!(searched.expect("a search")["supplemented"], true, "{events:#?}");
    let shown = events.iter().rfind(|event| event["event"] == "candidates");
    let shown = shown.expect("candidates")["candidates"].clone();
    assert_eq!((&shown[0]["source"], &shown[0]["reviewed"]), (&json!("github"), &json!(false)));
    assert_eq!(shown[0]["version"], commit.as_str(), "{shown:#}");
    office.events(&["acquire", "--cancel"]);
    let text = office.begins("s3", TASK);
    assert!(!text.contains("todo-show"), "{text}");
    assert!(text.contains("acquire_skill can look for one"), "{text}");
}

/// A record of months: what only reads needs a notice alone, what writes is asked about with what was
/// learned of its kind.
#[test]
fn a_proven_skill_needs_a_notice_and_one_that_writes_its_question() {
    let office = Office::new();
    office.prove("todo-show", TASK);
    let text = office.begins("s1", TASK);
    assert!(text.contains("todo-show worked 14 of 14 times"), "{text}");
    assert!(text.contains("without a question"), "{text}");
    let mut agent = office.agent();
    let noticed = agent.data("acquire_skill", propose(TASK));
    assert_eq!(noticed["status"], "notice", "{noticed}");
    let closed = json!({"action": "release", "run": noticed["run"]});
    assert_eq!(agent.data("acquire_skill", closed)["end"], "cancelled");
    assert_eq!(agent.asked.len(), 0);
    drop(agent);
    office.cancel_within(1);
    let mut agent = office.agent();
    let run = agent.data("acquire_skill", propose(TASK))["run"].clone();
    let ready = agent.data("acquire_skill", json!({"action": "install", "run": run}));
    assert_eq!((&ready["status"], agent.asked.len()), (&json!("ready"), 0), "{ready}");
    agent.data("acquire_skill", json!({"action": "release", "run": run}));
    // As good a record, and it writes.
    let steps = "1. Write smaller copies: `mogrify -resize 50% *.jpg`";
    office.publish("photo-resizer", "Resize photos and pictures for the web", steps);
    office.prove("photo-resizer", PHOTOS);
    let text = office.begins("s2", PHOTOS);
    assert!(text.contains("photo-resizer worked 14 of 14 times"), "{text}");
    assert!(text.contains("with one yes of the user"), "{text}");
    for _ in 0..2 {
        let failed = ["report", "--task", PHOTOS, "--skill", "photo-resizer", "--version", "1.0.0"];
        let why = ["--result", "fail", "--kind", "dependency_missing", "--key", "mogrify"];
        office.json(&[failed.as_slice(), why.as_slice()].concat());
    }
    let mut agent = office.agent();
    assert_eq!(agent.data("acquire_skill", propose(PHOTOS))["status"], "ready");
    let mut asked = agent.asked.iter().filter_map(|asked| asked["params"]["message"].as_str());
    let plan = asked.rfind(|asked| asked.starts_with("Carry out this plan"));
    let plan = plan.expect("its plan is asked about");
    assert!(plan.contains("mogrify -resize 50% *.jpg"), "{plan}");
    assert!(plan.contains("Lesson: needs the program mogrify"), "{plan}");
}
