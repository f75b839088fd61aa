//! A sample of the messages through real agents, with and without sinew: what does their model get?

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sinew_loopback::{AgentRequest, LoopbackModel, ModelScript, SchemaRule};
use sinew_testkit::{NpmPackages, TestMachine};

use super::is_long;
use super::library::{self, BenchLibrary, BenchMessage, WITH_SKILL};
use crate::agents::AGENT_PACKAGES;
use crate::support::sinew;

/// An agent of the bench: where its own skills lie, and how it is asked.
struct BenchAgent {
    name: &'static str,
    program: &'static str,
    skills: &'static str,
    args: fn(&str) -> Vec<String>,
    vars: &'static [(&'static str, &'static str)],
    /// A file of its configuration that names the model's address.
    config: Option<(&'static str, &'static str)>,
}

const CLAUDE: BenchAgent = BenchAgent {
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
    with_skill: usize,
    text: usize,
    without_skill: usize,
    /// Characters of the requests' texts.
    chars: Vec<usize>,
    times: Vec<Duration>,
}

impl BenchAgent {
    /// Sends a message in a session of its own, and gives the request with it.
    fn ask(
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
            sinew(&machine, &["index"]);
            sinew(&machine, &["find", "warm up"]);
        }
        let mut figures = SideFigures::default();
        for message in sample {
            let (request, took) = self.ask(&machine, program, &model, &message.text);
            let texts: Vec<String> = request.texts().into_iter().map(|text| text.text).collect();
            figures.chars.push(request.chars());
            figures.times.push(took);
            match message.skills.is_empty() {
                true => figures.without_skill += 1,
                false => {
                    figures.with_skill += 1;
                    let held = library.holds_text(&texts.join("\n"), &message.skills);
                    figures.text += usize::from(held);
                }
            }
        }
        figures
    }

    /// Both sides; the message with a skill must get its text with sinew, and cannot without.
    #[allow(clippy::print_stderr, reason = "a bench prints its figures")]
    fn compare(&self) {
        let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES);
        let Some(packages) = packages else { return };
        let program = packages.program(self.program);
        let library = library::own();
        let (with, without) = library.messages.split_at(WITH_SKILL);
        let (some, none) = if is_long() { (25, 15) } else { (2, 1) };
        let sample = [&with[..some], &without[..none]].concat();
        let plain = self.side(&library, &sample, &program, false);
        let connected = self.side(&library, &sample, &program, true);
        for (what, side) in [("without", &plain), ("with", &connected)] {
            let chars = side.chars.iter().sum::<usize>() / side.chars.len().max(1);
            let ms = side.times.iter().sum::<Duration>() / side.times.len().max(1) as u32;
            eprintln!(
                "{} {what} sinew: text in {} of {}, {chars} characters of text and {} ms a run",
                self.name,
                side.text,
                side.with_skill,
                ms.as_millis(),
            );
        }
        assert_eq!(plain.text, 0, "{plain:?}");
        assert_eq!(connected.with_skill, some);
        assert_eq!(connected.without_skill, none);
    }
}

#[test]
fn claude_code_with_and_without() {
    CLAUDE.compare();
}

#[test]
fn codex_with_and_without() {
    CODEX.compare();
}
