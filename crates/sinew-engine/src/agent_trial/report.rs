//! What a trial found, as every surface shows it.

use std::path::PathBuf;

use serde::Serialize;
use sinew_connect::AgentPromise;
use sinew_exec::child::ExitCause;
use sinew_guard::Untrusted;
use sinew_loopback::StrayRequest;

use super::end_sentence;
use super::message::TrialMessage;
use crate::{DoctorProbe, ProbeHealth};

/// Characters of an agent's own complaint that are shown.
const MAX_COMPLAINT: usize = 300;

/// What arrived at the model when an agent was tried.
#[derive(Debug, Serialize)]
pub struct AgentTrialReport {
    /// The agent.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The program that was started.
    pub program: PathBuf,
    /// What it was asked.
    pub message: String,
    /// What sinew decides about the message.
    pub decision: &'static str,
    /// The skill that sinew finds for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Whether everything that connecting promised arrived.
    pub works: bool,
    /// How long the agent took, from its start to its end.
    pub took_ms: u64,
    /// Requests that the model got.
    pub requests: usize,
    /// Characters of all texts of the request with the message, tools apart.
    pub request_chars: usize,
    /// sinew's tools.
    pub tools: TrialTools,
    /// How the skill came.
    pub arrival: SkillArrival,
    /// Characters that hooks added, and that arrived.
    pub hook_chars: usize,
    /// Skills that the agent lists by itself.
    pub host_listed: usize,
    /// About how many characters that list costs.
    pub host_list_chars: usize,
    /// Every call of a hook that answered.
    pub hooks: Vec<TrialHook>,
    /// What became of the call of a tool.
    pub call: ToolCallState,
    /// Other hosts that the agent wanted to reach, and requests that were not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<StrayRequest>,
    /// One line for each thing that was looked at.
    pub probes: Vec<DoctorProbe>,
}

/// sinew's tools, as the agent passed them on.
#[derive(Debug, Default, Serialize)]
pub struct TrialTools {
    /// The names that sinew's server offers.
    pub promised: Vec<String>,
    /// The names under which they arrived.
    pub arrived: Vec<String>,
    /// Those that the agent dropped.
    pub dropped: Vec<String>,
    /// Those that the agent's model has to search for first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Characters that they cost in each request: names, descriptions and schemas.
    pub chars: usize,
}

/// How a skill came with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkillArrival {
    /// Its text is in the request.
    Text,
    /// A hook named it, with its location.
    Pointer,
    /// Only the agent's own list names it.
    Listed,
    /// It is not there.
    Absent,
}

/// A hook that the agent called.
#[derive(Debug, Serialize)]
pub struct TrialHook {
    /// The moment.
    pub event: String,
    /// How long the agent waited for the answer, in milliseconds, where the log says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Characters that it added.
    pub chars: usize,
    /// Whether what it added is in the request.
    pub arrived: bool,
    /// Why nothing was added, where something went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What became of the call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ToolCallState {
    /// None was made, because there is no server.
    NotMade,
    /// Its answer came back.
    Worked {
        /// Characters of the answer.
        chars: usize,
    },
    /// The agent wants a yes of its user before it runs the tool.
    NeedsPermission {
        /// Its words.
        words: String,
    },
    /// It failed.
    Failed {
        /// What came back instead.
        words: String,
    },
}

impl AgentTrialReport {
    pub(super) fn begin(promise: &AgentPromise, program: PathBuf, message: &TrialMessage) -> Self {
        Self {
            agent: promise.agent,
            title: promise.title,
            program,
            message: message.text.clone(),
            decision: message.decision,
            skill: message.skill.clone(),
            works: false,
            took_ms: 0,
            requests: 0,
            request_chars: 0,
            tools: TrialTools { promised: promise.tools.clone(), ..TrialTools::default() },
            arrival: SkillArrival::Absent,
            hook_chars: 0,
            host_listed: 0,
            host_list_chars: 0,
            hooks: Vec::new(),
            call: ToolCallState::NotMade,
            strays: Vec::new(),
            probes: Vec::new(),
        }
    }

    /// Notes how the agent ended, with its own complaint.
    pub(super) fn note_end(&mut self, how: ExitCause, complaint: &str) {
        let Some(sentence) = end_sentence(how) else {
            let detail = format!("answered in {:.1} s", self.took_ms as f64 / 1_000.0);
            self.good("agent", "turn", detail);
            return;
        };
        let complaint = short(complaint);
        let detail =
            if complaint.is_empty() { sentence } else { format!("{sentence}: {complaint}") };
        let remedy = format!("run `{}` yourself and look at what it says", self.program.display());
        self.warn("agent", "turn", detail, Some(remedy));
    }

    pub(super) fn good(&mut self, area: &'static str, name: &str, detail: String) {
        self.probe(area, name, ProbeHealth::Good, detail, None);
    }

    pub(super) fn absent(
        &mut self,
        area: &'static str,
        name: &str,
        detail: String,
        remedy: Option<String>,
    ) {
        self.probe(area, name, ProbeHealth::Absent, detail, remedy);
    }

    pub(super) fn warn(
        &mut self,
        area: &'static str,
        name: &str,
        detail: String,
        remedy: Option<String>,
    ) {
        self.probe(area, name, ProbeHealth::Warn, detail, remedy);
    }

    fn probe(
        &mut self,
        area: &'static str,
        name: &str,
        health: ProbeHealth,
        detail: String,
        remedy: Option<String>,
    ) {
        self.probes.push(DoctorProbe { area, name: name.to_owned(), health, detail, remedy });
    }

    /// Everything was looked at: it works where nothing needs attention.
    pub(super) fn conclude(&mut self) {
        self.works = self.probes.iter().all(|probe| probe.health != ProbeHealth::Warn);
    }
}

/// The end of a program's output, on one line.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: Vec<char> = Untrusted::new(&line).prompt_chars().collect();
    clean[clean.len().saturating_sub(MAX_COMPLAINT)..].iter().collect()
}
