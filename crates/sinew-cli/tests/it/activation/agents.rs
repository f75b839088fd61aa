//! A sample of the messages through real agents, with and without sinew: what does their model get?

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew_loopback::{AgentRequest, LoopbackModel, ModelScript, SchemaRule};
use sinew_testkit::{NpmPackages, TestMachine};

use super::library::{self, BenchLibrary, BenchMessage, WITH_SKILL, WITHOUT_SKILL};
use super::{is_long, percentile};
use crate::agents::AGENT_PACKAGES;
use crate::support::sinew;

/// An agent of the bench: where its own skills lie, and how it is asked.
pub(super) struct BenchAgent {
    name: &'static str,
    program: &'static str,
    skills: &'static str,
    args: fn(&str) -> Vec<String>,
    vars: &'static [(&'static str, &'static str)],
    /// A file of its configuration that names the model's address.
    config: Option<(&'static str, &'static str)>,
}

pub(super) const CLAUDE: BenchAgent = BenchAgent {
    name: "claude-code",
    program: "claude",
    skills: "home/.claude/skills",
    args: |message| vec!["-p".to_owned(), message.to_owned()],
    vars: &[
        ("ANTHROPIC_BASE_URL", "$ADDRESS"),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("MCP_TIMEOUT", "60000"),
    ],
    config: None,
};

const CODEX: BenchAgent = BenchAgent {
    name: "codex",
    program: "codex",
    skills: "home/.agents/skills",
    args: |message| {
        let flags = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", message];
        flags.map(str::to_owned).to_vec()
    },
    vars: &[("LOOP_KEY", "none")],
    config: Some((
        "home/.codex/config.toml",
        "model = \"gpt-5\"\nmodel_provider = \"loop\"\n\n[model_providers.loop]\nname = \"loop\"\n\
         base_url = \"$ADDRESS/v1\"\nwire_api = \"responses\"\nenv_key = \"LOOP_KEY\"\n",
    )),
};

/// What one side of the comparison gave.
#[derive(Debug, Default)]
struct SideFigures {
    /// Messages that have a skill, and those of them whose skill's text was in the request.
    with_skill: usize,
    text: usize,
    /// Messages that have none, and those of them that got nothing from sinew.
    without_skill: usize,
    untouched: usize,
    /// Characters of the requests' texts, of the agent's own list in them, and of what the hook added.
    chars: Vec<usize>,
    listed: Vec<usize>,
    added: Vec<usize>,
    /// How long whole runs took, and hooks of messages in them.
    times: Vec<Duration>,
    hooks: Vec<Duration>,
    misses: Vec<String>,
}

fn mean(values: &[usize]) -> usize {
    values.iter().sum::<usize>() / values.len().max(1)
}

/// What our hook added to a message.
fn added(texts: &[String]) -> usize {
    let (begin, end) = ("<matching_skills>", "</matching_skills>");
    let length = |text: &String| {
        let from = text.find(begin)?;
        let to = text[from..].find(end)? + end.len();
        Some(text[from..from + to].chars().count())
    };
    texts.iter().filter_map(length).sum()
}

impl BenchAgent {
    /// Sends a message in a session of its own, and gives the request with it.
    pub(super) fn ask(
        &self,
        machine: &TestMachine,
        program: &Path,
        model: &LoopbackModel,
        message: &str,
    ) -> (AgentRequest, Duration) {
        let before = model.requests().len();
        let start = Instant::now();
        let output = Command::new(program)
            .args((self.args)(message))
            .env_clear()
            .env("HOME", machine.path("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"))
            .envs(self.vars.iter().map(|(k, v)| (k, v.replace("$ADDRESS", &model.address()))))
            .current_dir(machine.path("work"))
            .stdin(Stdio::null())
            .output()
            .expect("the agent runs");
        let took = start.elapsed();
        let requests = model.requests().split_off(before);
        let asked = requests.into_iter().find(|r| r.contains(message) && !r.tools().is_empty());
        let complaint = || String::from_utf8_lossy(&output.stderr).into_owned();
        (asked.unwrap_or_else(|| panic!("{}: {message}: {}", self.name, complaint())), took)
    }

    fn side(
        &self,
        library: &BenchLibrary,
        sample: &[BenchMessage],
        program: &Path,
        is_connected: bool,
    ) -> SideFigures {
        let script = ModelScript::text("All done.");
        let model = LoopbackModel::start(script, SchemaRule::Strict).expect("a free port");
        let machine = library.machine(self.skills);
        if let Some((file, text)) = self.config {
            machine.write(file, text.replace("$ADDRESS", &model.address()));
        }
        if is_connected {
            assert!(sinew(&machine, &["connect", self.name]).ends_with("exit 0"));
            assert!(sinew(&machine, &["index", "rebuild"]).ends_with("exit 0"));
            sinew(&machine, &["find", "warm up"]);
        }
        let mut figures = SideFigures::default();
        for message in sample {
            let (request, took) = self.ask(&machine, program, &model, &message.text);
            let texts: Vec<String> = request.texts().into_iter().map(|text| text.text).collect();
            let added = added(&texts);
            figures.chars.push(request.chars());
            figures.listed.push(library.listed_chars(&texts));
            figures.added.push(added);
            figures.times.push(took);
            let is_right = match message.skills.is_empty() {
                true => added == 0,
                false => library.holds_text(&texts.join("\n"), &message.skills),
            };
            let (of, right) = match message.skills.is_empty() {
                true => (&mut figures.without_skill, &mut figures.untouched),
                false => (&mut figures.with_skill, &mut figures.text),
            };
            *of += 1;
            *right += usize::from(is_right);
            if !is_right && is_connected {
                figures.misses.push(message.text.clone());
            }
        }
        figures.hooks = hook_times(&machine);
        figures
    }

    /// Both sides: a message that has a skill gets its text with sinew, and cannot without; one that has
    /// none gets nothing.
    #[allow(clippy::print_stderr, reason = "a bench prints its figures")]
    fn compare(&self) {
        let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES);
        let Some(packages) = packages else { return };
        let program = packages.program(self.program);
        let library = library::own();
        let (with, without) = library.messages.split_at(WITH_SKILL);
        let (some, none) = if is_long() { (WITH_SKILL, WITHOUT_SKILL) } else { (2, 1) };
        let sample = [&with[with.len() - some..], &without[..none]].concat();
        // Without sinew all requests are alike, but for the message.
        let few = if is_long() { [&with[..7], &without[..3]].concat() } else { sample.clone() };
        let plain = self.side(&library, &few, &program, false);
        let connected = self.side(&library, &sample, &program, true);
        for (what, side) in [("without", &plain), ("with", &connected)] {
            eprintln!(
                "{} {what} sinew: text {} of {}, untouched {} of {}; {} characters of text a session, {} of \
                 them the agent's own list, {} added by the hook; {} ms a run; hook p50 {} ms, p95 {} ms",
                self.name,
                side.text,
                side.with_skill,
                side.untouched,
                side.without_skill,
                mean(&side.chars),
                mean(&side.listed),
                mean(&side.added),
                percentile(&side.times, 0.5).as_millis(),
                percentile(&side.hooks, 0.5).as_millis(),
                percentile(&side.hooks, 0.95).as_millis(),
            );
        }
        assert_eq!(plain.text, 0, "{plain:?}");
        assert!(connected.text * 10 >= some * 9, "{connected:#?}");
        assert!(connected.untouched * 20 >= none * 19, "{connected:#?}");
    }
}

/// How long agents waited for the answers to messages, as the log says.
fn hook_times(machine: &TestMachine) -> Vec<Duration> {
    let log = fs::read_to_string(machine.path("home/.sinew/hooks/log.jsonl")).unwrap_or_default();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let asked = lines.filter(|line| line["event"] == "user-prompt" && line["what"] == "routed");
    asked.filter_map(|line| line["ms"].as_u64().map(Duration::from_millis)).collect()
}

#[test]
fn claude_code_with_and_without() {
    CLAUDE.compare();
}

#[test]
fn codex_with_and_without() {
    CODEX.compare();
}
