//! The workshop's configuration: Skill Workshop's keys with their defaults and ranges, and sinew's.
//!
//! Reading is lenient, as in Skill Workshop: a value that cannot be used gives the default, a number
//! out of range the nearest end. What is new is that each correction is said.

mod reader;

use serde_json::Value;
use sinew_settings::Reason;

/// What happens to a proposal that nothing speaks against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalPolicy {
    /// It waits for a person.
    #[default]
    Pending,
    /// It is written at once.
    Auto,
    /// It is not even stored.
    Never,
}

/// Which automatic paths run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReviewMode {
    /// None.
    Off,
    /// Patterns.
    Heuristic,
    /// The reviewer.
    Llm,
    /// Both.
    #[default]
    Hybrid,
}

impl ReviewMode {
    /// Whether patterns make proposals.
    pub fn has_heuristic(self) -> bool {
        matches!(self, Self::Heuristic | Self::Hybrid)
    }

    /// Whether the reviewer runs.
    pub fn has_reviewer(self) -> bool {
        matches!(self, Self::Llm | Self::Hybrid)
    }
}

/// What counts as a correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaptureProfile {
    /// Skill Workshop's seven patterns.
    #[default]
    Reference,
    /// More cues, counter-cues, and eight languages.
    Extended,
}

/// What happens when the target changed after a proposal was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StaleCheck {
    /// The change is prepared again where that is safe.
    #[default]
    Rebase,
    /// The proposal is stale.
    Strict,
}

/// How much a gate may stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateMode {
    /// It does not run.
    Off,
    /// It speaks (`advise`, `warn`).
    Advise,
    /// It stops what it finds.
    Block,
}

/// A policy for the skills that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRule {
    /// A name with `*` and `?`.
    pub pattern: String,
    /// What happens to proposals for it.
    pub policy: ApprovalPolicy,
}

/// Where the reviewer's model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewerProvider {
    /// A server that speaks OpenAI's chat completions: OpenAI, Ollama, llama.cpp, vLLM, LM Studio.
    OpenAi(ReviewerEndpoint),
    /// Anthropic's messages.
    Anthropic(ReviewerEndpoint),
    /// A program: the prompt on its input, the reply on its output.
    Command {
        /// Program and arguments; no shell.
        argv: Vec<String>,
        /// Variables it gets besides PATH and HOME.
        env: Vec<String>,
    },
    /// The client of the MCP connection, where there is one.
    Mcp,
}

/// A model behind an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerEndpoint {
    /// The base address.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The variable that holds the key; never the key itself.
    pub api_key_env: Option<String>,
    /// Whether JSON is asked for in the request.
    pub json_mode: bool,
    /// Whether plain HTTP may leave this machine.
    pub allow_insecure: bool,
}

/// What something that was learned has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbationRule {
    /// Successful uses that promote it.
    pub uses: u64,
    /// Days without any use after which it should go.
    pub idle_days: u64,
    /// Uses before its record is compared.
    pub min_trials: u64,
}

impl Default for ProbationRule {
    fn default() -> Self {
        Self { uses: 3, idle_days: 30, min_trials: 8 }
    }
}

/// How the workshop works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkshopSettings {
    /// The plugin's entry exists and is enabled.
    pub loaded: bool,
    /// `enabled`.
    pub enabled: bool,
    /// `autoCapture`.
    pub auto_capture: bool,
    /// `approvalPolicy`.
    pub approval_policy: ApprovalPolicy,
    /// `approvalRules`.
    pub approval_rules: Vec<ApprovalRule>,
    /// `reviewMode`.
    pub review_mode: ReviewMode,
    /// `reviewInterval`.
    pub review_interval: u64,
    /// `reviewMinToolCalls`.
    pub review_min_tool_calls: u64,
    /// `reviewTimeoutMs`.
    pub review_timeout_ms: u64,
    /// `reviewRepair`.
    pub review_repair: u64,
    /// `maxPending`.
    pub max_pending: usize,
    /// `maxSkillBytes`.
    pub max_skill_bytes: usize,
    /// `captureProfile`.
    pub capture_profile: CaptureProfile,
    /// `staleCheck`.
    pub stale_check: StaleCheck,
    /// `duplicateGate`.
    pub duplicate_gate: GateMode,
    /// `triggerGate`.
    pub trigger_gate: GateMode,
    /// `probation`.
    pub probation: ProbationRule,
    /// `provider`.
    pub provider: Option<ReviewerProvider>,
}

impl Default for WorkshopSettings {
    fn default() -> Self {
        Self {
            loaded: false,
            enabled: true,
            auto_capture: true,
            approval_policy: ApprovalPolicy::Pending,
            approval_rules: Vec::new(),
            review_mode: ReviewMode::Hybrid,
            review_interval: 15,
            review_min_tool_calls: 8,
            review_timeout_ms: 45_000,
            review_repair: 0,
            max_pending: 50,
            max_skill_bytes: 40_000,
            capture_profile: CaptureProfile::Reference,
            stale_check: StaleCheck::Rebase,
            duplicate_gate: GateMode::Advise,
            trigger_gate: GateMode::Block,
            probation: ProbationRule::default(),
            provider: None,
        }
    }
}

impl WorkshopSettings {
    /// Reads the plugin's entry of a configuration tree; what was corrected comes back as reasons.
    pub fn read(tree: &Value) -> (Self, Vec<Reason>) {
        let mut settings = Self::default();
        let mut reader = reader::WorkshopSettingsReader::default();
        let plugins_on = tree.pointer("/plugins/enabled") != Some(&Value::Bool(false));
        let entry = tree.pointer("/plugins/entries/skill-workshop");
        settings.loaded =
            plugins_on && entry.and_then(|entry| entry.get("enabled")) == Some(&Value::Bool(true));
        match entry.and_then(|entry| entry.get("config")) {
            None | Some(Value::Null) => {}
            Some(Value::Object(config)) => reader.config(config, &mut settings),
            Some(_) => reader.note_correction("", "is not a map", "the defaults hold"),
        }
        (settings, reader.reasons)
    }

    /// Whether agents may use the workshop: its tool, capture and the reviewer.
    pub fn is_on(&self) -> bool {
        self.loaded && self.enabled
    }

    /// What happens to proposals for a skill, by its normalised name.
    pub fn policy_for(&self, skill: &str) -> ApprovalPolicy {
        self.approval_rules
            .iter()
            .find(|rule| matches_glob(&rule.pattern, skill))
            .map_or(self.approval_policy, |rule| rule.policy)
    }
}

/// Whether a name fits a pattern in which `*` stands for any text and `?` for one character.
fn matches_glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` stands, and how far the name had come: one star is all that is retried.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        let check = |pattern: &str, name: &str, fits: bool| {
            assert_eq!(matches_glob(pattern, name), fits, "{pattern} {name}");
        };
        check("release-*", "release-notes", true);
        check("release-*", "release", false);
        check("*-workflow", "animated-gif-workflow", true);
        check("a*b*c", "axxbyyc", true);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("*", "", true);
        check("", "a", false);
        check(&"*a".repeat(60), &"a".repeat(59), false);
    }
}
