//! How each agent is asked for its list. An agent is a row.
//!
//! The agent is started as the user has it, so that its answer is the one that counts. Nothing leaves
//! the machine: every address is one that refuses. It is stopped as soon as it has answered.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use sinew_settings::{Environment, ErrorCode, path_text};

use super::host_rows::{HostAnswer, ListingFormat};
use crate::EngineError;

/// An address at which nothing listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Characters of what a host says where it gives no list.
const MAX_COMPLAINT: usize = 200;

/// How long its last words are waited for once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Bytes of an answer that are read; the longest real one has some hundred kilobytes.
const MAX_ANSWER: usize = 32 << 20;

/// Variables by which every agent is kept from reaching the network.
const OFFLINE: &[(&str, &str)] = &[
    ("HTTP_PROXY", NOWHERE),
    ("HTTPS_PROXY", NOWHERE),
    ("http_proxy", NOWHERE),
    ("https_proxy", NOWHERE),
    ("NO_COLOR", "1"),
];

/// Which copies of a name an agent lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListedCopies {
    /// The one that its order of folders prefers.
    Preferred,
    /// Each of them.
    Each,
    /// One of them: it reads its folders at the same time, and what it read last counts, which may be
    /// another at the next start.
    LastRead,
}

/// How an agent is asked.
#[derive(Debug)]
pub(super) struct HostListingRecipe {
    pub(super) agent: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) program: &'static str,
    /// Its package at npm.
    pub(super) package: &'static str,
    args: &'static [&'static str],
    /// What stands before the name of the selected agent, where the program has several.
    agent_option: Option<&'static str>,
    vars: &'static [(&'static str, &'static str)],
    /// Lines that it is told; `$FOLDER` is the folder it is asked about.
    input: &'static [&'static str],
    pub(super) format: ListingFormat,
    /// Which copies of a name it lists.
    pub(super) copies: ListedCopies,
    /// Whether what it cannot use is left out of its list.
    pub(super) lists_usable_only: bool,
    /// Whether it checks what a skill says it requires.
    pub(super) checks_requirements: bool,
    /// The variable of its own folder, for asking it once more with an empty one: what it lists then
    /// is built into it.
    empty_home: Option<&'static str>,
}

pub(super) const RECIPES: &[HostListingRecipe] = &[
    HostListingRecipe {
        agent: "openclaw",
        aliases: &[],
        program: "openclaw",
        package: "openclaw",
        args: &["skills", "list", "--json"],
        agent_option: Some("--agent"),
        vars: &[],
        input: &[],
        format: ListingFormat::OpenClaw,
        copies: ListedCopies::Preferred,
        lists_usable_only: false,
        checks_requirements: true,
        empty_home: None,
    },
    HostListingRecipe {
        agent: "claude-code",
        aliases: &[],
        program: "claude",
        package: "@anthropic-ai/claude-code",
        args: &[
            "-p",
            "list",
            "--output-format",
            "stream-json",
            "--verbose",
            "--no-session-persistence",
            "--strict-mcp-config",
            "--settings",
            r#"{"disableAllHooks":true}"#,
        ],
        agent_option: None,
        vars: &[
            ("ANTHROPIC_BASE_URL", NOWHERE),
            ("ANTHROPIC_API_KEY", "none"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ],
        input: &[],
        format: ListingFormat::Claude,
        copies: ListedCopies::Each,
        lists_usable_only: true,
        checks_requirements: false,
        empty_home: Some("CLAUDE_CONFIG_DIR"),
    },
    HostListingRecipe {
        agent: "codex",
        aliases: &[],
        program: "codex",
        package: "@openai/codex",
        args: &["app-server"],
        agent_option: None,
        vars: &[],
        input: &[
            r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"sinew","version":"1"}}}"#,
            r#"{"method":"initialized"}"#,
            r#"{"id":1,"method":"skills/list","params":{"cwds":[$FOLDER],"forceReload":true}}"#,
        ],
        format: ListingFormat::Codex,
        copies: ListedCopies::Each,
        lists_usable_only: false,
        checks_requirements: false,
        empty_home: None,
    },
    HostListingRecipe {
        agent: "copilot",
        aliases: &["github-copilot"],
        program: "copilot",
        package: "@github/copilot",
        args: &["skill", "list", "--json"],
        agent_option: None,
        vars: &[("COPILOT_OFFLINE", "true")],
        input: &[],
        format: ListingFormat::Copilot,
        copies: ListedCopies::Preferred,
        lists_usable_only: false,
        checks_requirements: false,
        empty_home: None,
    },
    HostListingRecipe {
        agent: "gemini",
        aliases: &["gemini-cli"],
        program: "gemini",
        package: "@google/gemini-cli",
        args: &["skills", "list", "--all"],
        agent_option: None,
        vars: &[],
        input: &[],
        format: ListingFormat::Gemini,
        copies: ListedCopies::Preferred,
        lists_usable_only: false,
        checks_requirements: false,
        empty_home: None,
    },
    HostListingRecipe {
        agent: "opencode",
        aliases: &[],
        program: "opencode",
        package: "opencode-ai",
        args: &["debug", "skill"],
        agent_option: None,
        vars: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        input: &[],
        format: ListingFormat::Opencode,
        copies: ListedCopies::LastRead,
        lists_usable_only: true,
        checks_requirements: false,
        empty_home: None,
    },
];

impl HostListingRecipe {
    /// Asks the agent in a folder.
    pub(super) fn ask(
        &self,
        program: &Path,
        folder: &Path,
        env: &Environment,
        agent: Option<&str>,
        time: Duration,
    ) -> Result<HostAnswer, EngineError> {
        let mut vars = env.vars.clone();
        for (name, value) in OFFLINE.iter().chain(self.vars) {
            vars.insert((*name).to_owned(), (*value).to_owned());
        }
        vars.insert("HOME".to_owned(), path_text(&env.home));
        let mut answer = self.ask_with(program, folder, &vars, agent, time)?;
        if let Some(variable) = self.empty_home {
            let empty = tempfile::Builder::new().prefix("sinew-compare-").tempdir();
            let empty = empty.map_err(|error| failed(self.program, &error.to_string()))?;
            let work = empty.path().join("work");
            std::fs::create_dir_all(&work)
                .map_err(|error| failed(self.program, &error.to_string()))?;
            vars.insert(variable.to_owned(), path_text(&empty.path().join("home")));
            let built_in = self.ask_with(program, &work, &vars, None, time)?;
            for row in &mut answer.rows {
                row.built_in |= built_in.rows.iter().any(|known| known.name == row.name);
            }
        }
        Ok(answer)
    }

    fn ask_with(
        &self,
        program: &Path,
        folder: &Path,
        vars: &BTreeMap<String, String>,
        agent: Option<&str>,
        time: Duration,
    ) -> Result<HostAnswer, EngineError> {
        let mut command = Command::new(program);
        command.args(self.args).current_dir(folder).env_clear().envs(vars);
        if let (Some(option), Some(agent)) = (self.agent_option, agent) {
            command.args([option, agent]);
        }
        let piped = if self.input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(piped).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| failed(self.program, &error.to_string()))?;
        let mut listing = RunningHost(child);
        let complaint = listing.complaint();
        listing.tell(self.input, folder);
        let text = listing.hear(self.format, time);
        self.format.read(&text).ok_or_else(|| {
            drop(listing);
            // A program that it started may hold the stream open.
            let complaint = complaint.and_then(|lines| lines.recv_timeout(LAST_WORDS).ok());
            let complaint = complaint.unwrap_or_default();
            failed(self.program, &unreadable(&text, &complaint))
        })
    }
}

/// What a host said instead of a list: its own words for it, else the last line of its complaints, else
/// how its answer begins.
fn unreadable(text: &str, complaint: &str) -> String {
    let clip = |text: &str| text.chars().take(MAX_COMPLAINT).collect::<String>();
    let answer: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(message) = answer["error"]["message"].as_str() {
        return clip(message);
    }
    match (complaint, text.lines().find(|line| !line.trim().is_empty())) {
        ("", None) => "it said nothing".to_owned(),
        ("", Some(first)) => format!("its answer cannot be read: {}", clip(first)),
        (complaint, _) => clip(complaint),
    }
}

fn failed(program: &str, problem: &str) -> EngineError {
    EngineError::new(
        ErrorCode::TrialFailed,
        format!("`{program}` did not list its skills: {problem}"),
    )
    .hint(format!("run `{program}` yourself to see whether it works here"))
}

/// A host that is stopped when it is no longer needed, however that comes about.
struct RunningHost(Child);

impl Drop for RunningHost {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl RunningHost {
    /// The last line that it writes beside its answer, once it has ended.
    fn complaint(&mut self) -> Option<mpsc::Receiver<String>> {
        let stream = self.0.stderr.take()?;
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut last = String::new();
            for line in BufReader::new(stream).split(b'\n') {
                let Ok(line) = line else { break };
                let line = String::from_utf8_lossy(&line);
                if !line.trim().is_empty() {
                    last = line.trim().chars().take(MAX_COMPLAINT).collect();
                }
            }
            // No one may be interested any more.
            let _ = send.send(last);
        });
        Some(receive)
    }

    /// Tells it its lines; the stream stays open, because a host that reads its end may leave.
    fn tell(&mut self, lines: &[&str], folder: &Path) {
        let folder = serde_json::Value::from(path_text(folder)).to_string();
        if let Some(input) = &mut self.0.stdin {
            for line in lines {
                // A host that has left already is noticed when it is heard.
                let _ = writeln!(input, "{}", line.replace("$FOLDER", &folder));
            }
            let _ = input.flush();
        }
    }

    /// Everything that it says until its answer is whole, it ends, or time is up.
    fn hear(&mut self, format: ListingFormat, time: Duration) -> String {
        let Some(output) = self.0.stdout.take() else { return String::new() };
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let Ok(line) = line else { break };
                if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
        let deadline = Instant::now() + time;
        let mut text = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match receive.recv_timeout(left) {
                Ok(line) => {
                    let enough = format.is_last_line(&line);
                    text.push_str(&line);
                    text.push('\n');
                    if enough || text.len() > MAX_ANSWER {
                        return text;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return text,
            }
        }
    }
}
