//! `sinew exec --sandbox`: what a program in a box cannot do, tried by a program that wants to, and what
//! an honest skill still can.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use sinew_exec::sandbox::sandbox_support;
use sinew_testkit::{TestMachine, report_skip};

use crate::support::{command, shown, sinew, typed, unattended};

const PYTHON: &str = "/usr/bin/python3";

/// Ways that lead out even for a user without any rights, where there is no box. The others are
/// tried for what they are: calls that the box must not let through.
const OPEN_OUTSIDE: &[&str] = &[
    "read a key by its path",
    "read a key by a path with ..",
    "read a key below /proc/self/root",
    "read a key below /proc/self/cwd",
    "list the home",
    "list a folder above",
    "link to a key",
    "link to the folder of a key",
    "give a key a second name",
    "open a key again by its descriptor",
    "read with a program",
    "read in a session of its own",
    "read sinew's own files",
    "write a file elsewhere",
    "add to a start-up file",
    "make a folder elsewhere",
    "move a file out",
    "start a program elsewhere",
    "start it with the loader",
    "run code from memory",
    "start a set-id program",
    "read another's variables",
    "read another's command",
    "read the parent's variables",
    "list another's descriptors",
    "signal another",
    "limit another",
    "type for the user",
    "use a descriptor that was left open",
    "know the home",
    "connect to another port",
    "listen",
    "use a local socket",
    "use a local socket without a path",
    "send a datagram",
    "talk to the kernel's network",
    "make a pair of sockets",
];

/// What stays possible in a box, and is none of the ways out.
const HARMLESS: &[&str] = &["make a pair of sockets"];
/// What a box with a network leaves open, as its report says.
const OPEN_WITH_NETWORK: &[&str] =
    &["send a datagram", "ask a name server", "talk to the kernel's network"];

fn is_ready() -> bool {
    if !cfg!(target_arch = "x86_64") || !Path::new(PYTHON).exists() {
        report_skip("the escapes are a Python program with the numbers of x86-64");
        return false;
    }
    if let Err(why) = sandbox_support() {
        report_skip(&why.to_string());
        return false;
    }
    true
}

/// What stands around a box: keys, another program of the user's, servers.
struct Surroundings {
    machine: TestMachine,
    neighbour: Child,
    _servers: (TcpListener, UdpSocket, UnixListener, UnixListener),
}

impl Surroundings {
    fn new() -> Self {
        let machine = unattended()
            .skill("skills/honest", "honest")
            .workspace_skill("demo", "emoji: d")
            .file("home/.ssh/id", "canary key")
            .file("home/.profile", "# start")
            .file("work/escapes.py", include_str!("escapes.py"));
        let config = r#"{approvals: {unattended: ["risk", "install"]}, note: "canary"}"#;
        machine.write("home/.sinew/config.json5", config);
        std::fs::copy("/bin/true", machine.path("home/tool")).expect("a program");
        let neighbour = Command::new("/bin/sleep")
            .arg("600")
            .env_clear()
            .env("NEIGHBOUR", "canary")
            .spawn()
            .expect("a neighbour");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let local = UnixListener::bind(machine.path("home/agent.sock")).expect("a socket");
        let name = format!("sinew-test-{}", neighbour.id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let hidden = UnixListener::bind_addr(&address).expect("a socket");
        let world = json!({
            "secret": machine.path("home/.ssh/id"),
            "home": machine.path("home"),
            "tool": machine.path("home/tool"),
            "pid": neighbour.id(),
            "tcp": tcp.local_addr().expect("a port").port(),
            "udp": udp.local_addr().expect("a port").port(),
            "local": machine.path("home/agent.sock"),
            "abstract": name,
        });
        machine.write("work/world.json", world.to_string());
        Self { machine, neighbour, _servers: (tcp, udp, local, hidden) }
    }

    /// Tries these ways, all where none is named, and says what became of each. A descriptor of the
    /// key is left open for the program.
    fn attempt(&self, options: &[&str], ways: &[&str]) -> BTreeMap<String, String> {
        let mut sinew = vec![env!("CARGO_BIN_EXE_sinew"), "exec", "demo"];
        sinew.extend(options);
        sinew.extend(["--", PYTHON, "escapes.py", "world.json"]);
        sinew.extend(ways);
        let output = Command::new("/bin/sh")
            .args(["-c", "exec 7< \"$0\"; exec \"$@\""])
            .arg(self.machine.path("home/.ssh/id"))
            .args(sinew)
            .env_clear()
            .env("HOME", self.machine.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("AWS_SECRET_ACCESS_KEY", "canary")
            .env("SINEW_BUNDLED_SKILLS_DIR", self.machine.path("bundled"))
            .current_dir(self.machine.path("work"))
            .stdin(Stdio::null())
            .output()
            .expect("sinew runs");
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", shown(&self.machine, &output)))
    }
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        let _ = self.neighbour.kill();
        let _ = self.neighbour.wait();
    }
}

fn out(tried: &BTreeMap<String, String>) -> Vec<&str> {
    let found = tried.iter().filter(|(_, said)| *said == "out" || *said == "ended");
    found.map(|(way, _)| way.as_str()).collect()
}

#[test]
fn no_way_leads_out_of_a_box() {
    if !is_ready() {
        return;
    }
    let tried = Surroundings::new().attempt(&["--sandbox"], &[]);
    assert!(tried.len() > 70, "{}", tried.len());
    assert_eq!(out(&tried), HARMLESS, "{tried:#?}");
}

#[test]
fn a_network_opens_the_network_alone() {
    if !is_ready() {
        return;
    }
    let tried = Surroundings::new().attempt(&["--sandbox", "--allow-network"], &[]);
    let mut found = out(&tried);
    found.retain(|way| !HARMLESS.contains(way));
    assert!(found.iter().all(|way| OPEN_WITH_NETWORK.contains(way)), "{found:?} {tried:#?}");
    assert!(found.contains(&"send a datagram"), "the report says that it is open: {tried:#?}");
}

/// Otherwise the test above would pass for ways that lead nowhere.
#[test]
fn the_same_ways_lead_out_where_there_is_no_box() {
    if !is_ready() {
        return;
    }
    let tried = Surroundings::new().attempt(&["--no-sandbox"], OPEN_OUTSIDE);
    assert_eq!(out(&tried).len(), OPEN_OUTSIDE.len(), "{tried:#?}");
}

const HONEST: &str = r#"
import json, os, pathlib, ssl, subprocess, sys, tempfile, threading
text = pathlib.Path("input.txt").read_text()
with tempfile.NamedTemporaryFile("w+", delete=False) as scratch:
    scratch.write(text.upper())
lines = subprocess.run(["/bin/sh", "-c", "/usr/bin/wc -l < " + scratch.name], capture_output=True, text=True, check=True)
os.makedirs(os.path.expanduser("~/.cache/honest"))
worker = threading.Thread(target=print, args=("thread",)); worker.start(); worker.join()
helper = pathlib.Path(sys.argv[0]).parent / "words.json"
json.dump({"lines": lines.stdout.strip(), "key": os.environ["DEMO_KEY"], "words": json.loads(helper.read_text())}, open("out/result.json", "w"))
"#;

fn honest_machine() -> TestMachine {
    TestMachine::new()
        .workspace_skill(
            "demo",
            "metadata: {openclaw: {primaryEnv: DEMO_KEY, requires: {bins: [sh]}}}",
        )
        .file("work/skills/demo/words.json", "[1]")
        .file("work/skills/demo/run.py", HONEST)
        .file("work/input.txt", "a\nb\n")
        .file("work/out/.keep", "")
        .file("home/Documents/notes.txt", "mine")
        .file(
            "home/.sinew/config.json5",
            "{skills: {entries: {demo: {for: 'demo', apiKey: 'k1-value'}}}}",
        )
        .script("sh", "exec /bin/sh \"$@\"")
}

/// The report that `--json` puts on standard error.
fn report(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn an_honest_skill_works_in_its_box_and_the_report_says_which() {
    if !is_ready() {
        return;
    }
    let machine = honest_machine();
    let args = ["exec", "demo", "--sandbox", "--json", "--", PYTHON, "skills/demo/run.py"];
    let output = command(&machine, &args).output().expect("sinew runs");
    assert!(output.status.success(), "{}", shown(&machine, &output));
    let result: Value = serde_json::from_slice(
        &std::fs::read(machine.path("work/out/result.json")).expect("a result"),
    )
    .expect("JSON");
    assert_eq!(result, json!({"lines": "2", "key": "k1-value", "words": [1]}));
    let sandbox = report(&output)["sandbox"].clone();
    assert_eq!(sandbox["state"], "on");
    assert_eq!(sandbox["ports"], json!([53, 80, 443]), "it declares a key, so it has a network");
    assert_eq!(sandbox["write"], json!([machine.path("work")]));
    let open = sandbox["notEnforced"].to_string();
    assert!(open.contains("hosts are not") && open.contains("UDP"), "{open}");
    let left = std::fs::read_dir(machine.path("home/.sinew/sandbox")).expect("a folder");
    assert_eq!(left.count(), 0, "nothing of the run is left");
}

#[test]
fn what_the_user_adds_is_there_under_both_homes() {
    if !is_ready() {
        return;
    }
    let machine = honest_machine();
    let read = "cat \"$HOME/Documents/notes.txt\" && cat";
    let real = machine.path("home/Documents/notes.txt");
    let script = format!("{read} {}", real.display());
    let documents = machine.path("home/Documents").display().to_string();
    let run = |more: &[&str], script: &str| {
        let args = [&["exec", "demo", "-q", "--sandbox"], more, &["--", "/bin/sh", "-c", script]];
        sinew(&machine, &args.concat())
    };
    let path = format!("PATH=/usr/bin:/bin; {script}");
    assert!(!run(&[], &path).contains("mine"));
    assert!(run(&["--allow-read", &documents], &path).starts_with("minemine"));
    let write = format!("echo more > {}", real.display());
    assert!(!run(&["--allow-read", &documents], &write).ends_with("exit 0"));
    assert!(run(&["--allow-write", &documents], &write).ends_with("exit 0"));
    let home = machine.path("home").display().to_string();
    let shown = run(&["--allow-read", &home], "true");
    assert!(shown.contains("holds the whole home folder") && shown.ends_with("exit 3"), "{shown}");
}

#[test]
fn a_missing_program_and_a_signal_are_told_as_without_a_box() {
    if !is_ready() {
        return;
    }
    let machine = honest_machine();
    let shown = sinew(&machine, &["exec", "demo", "--sandbox", "--", "nosuchprogram"]);
    assert!(shown.contains("dependency_missing") && shown.ends_with("exit 127"), "{shown}");
    let script = ["exec", "demo", "--sandbox", "-q", "--", "/bin/sh", "-c", "kill -TERM $$"];
    assert!(sinew(&machine, &script).ends_with("exit 143"));
    let slow = ["exec", "demo", "--sandbox", "--timeout", "1", "--", "/bin/sleep", "30"];
    assert!(sinew(&machine, &slow).ends_with("exit 124"));
}

/// A machine with an installed skill, kept for one task only.
fn short_term() -> Option<TestMachine> {
    let machine = unattended().skill("offered/tides", "tides");
    let source = machine.path("offered/tides").display().to_string();
    let shown = sinew(&machine, &["install", &source, "--yes"]);
    assert!(shown.ends_with("exit 0"), "{shown}");
    let lock = ["work/.sinew/lock.json", "work/skills/.sinew-lock.json", "work/.sinew-lock.json"];
    let lock = lock.iter().map(|path| machine.path(path)).find(|path| path.exists())?;
    let text = std::fs::read_to_string(&lock).expect("a lock");
    let changed = text.replace("\"retained\": \"keep\"", "\"retained\": \"task\"");
    assert_ne!(text, changed, "{text}");
    std::fs::write(&lock, changed).expect("written");
    Some(machine)
}

#[test]
fn a_skill_that_was_acquired_for_one_task_runs_in_a_box_unless_a_person_says_otherwise() {
    if !is_ready() {
        return;
    }
    let machine = short_term().expect("a lock");
    let state = |options: &[&str]| {
        let args = [&["exec", "tides", "--json"], options, &["--", "/bin/true"]].concat();
        report(&command(&machine, &args).output().expect("sinew runs"))["sandbox"].clone()
    };
    assert_eq!(state(&[])["why"], "the skill was acquired for one task");
    assert_eq!(state(&[])["ports"], json!([]), "it shows no need of a network");
    // The configuration of this machine lets a command take risks.
    assert_eq!(state(&["--no-sandbox"])["state"], "off");
    machine.write("home/.sinew/config.json5", "{}");
    let declined = ["exec", "tides", "--no-sandbox", "--", "/bin/true"];
    let shown = sinew(&machine, &declined);
    assert!(shown.contains("only a person can say otherwise"), "{shown}");
    assert!(shown.ends_with("exit 3"), "{shown}");
    assert!(typed(&machine, &declined, "").ends_with("exit 0"));
    machine.write("home/.sinew/config.json5", "{security: {sandbox: {mode: 'never'}}}");
    assert_eq!(state(&[])["state"], "off");
}

#[test]
fn where_no_box_is_to_be_had_nothing_starts_that_needs_one() {
    if !is_ready() {
        return;
    }
    // In a box there is no second one to be had: a program in it cannot write sinew's own folder. So
    // the same program shows what a system without one answers.
    let machine = honest_machine();
    let inner = format!("{} exec demo --sandbox -- /bin/echo started", env!("CARGO_BIN_EXE_sinew"));
    let folder = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().expect("a folder");
    let mut child = command(
        &machine,
        &[
            "exec",
            "demo",
            "--sandbox",
            "--allow-read",
            &folder.display().to_string(),
            "--",
            "/bin/sh",
            "-c",
            &inner,
        ],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .expect("sinew runs");
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("text");
    let code = child.wait().expect("its end").code();
    assert!(!said.contains("started") && code != Some(0), "{said} {code:?}");
}

#[test]
fn the_configuration_says_what_is_in_every_box() {
    if !is_ready() {
        return;
    }
    let machine = honest_machine();
    let settings = |text: &str| {
        machine.write("home/.sinew/config.json5", format!("{{security: {{sandbox: {{{text}}}}}}}"));
    };
    let run =
        |script: &str| sinew(&machine, &["exec", "demo", "-q", "--", "/bin/sh", "-c", script]);
    settings("mode: 'always', workspace: 'read', network: 'none'");
    assert!(run("read line < input.txt && echo $line").starts_with('a'));
    assert!(!run("echo x > input.txt").ends_with("exit 0"));
    settings("mode: 'always', workspace: 'none', read: ['~/Documents']");
    assert!(!run("read line < input.txt").ends_with("exit 0"));
    assert!(
        run("while read line; do :; done < ~/Documents/notes.txt; echo $line").starts_with("mine")
    );
    settings("mode: 'allways'");
    let shown = run("echo started");
    assert!(!shown.contains("started"), "a fault in it is no permission: {shown}");
}
