//! The workshop's configuration: Skill Workshop's keys with their defaults and ranges, and sinew's.
//!
//! Reading is lenient, as in Skill Workshop: a value that cannot be used gives the default, a number
//! out of range the nearest end. What is new is that each correction is said.

use serde_json::{Value, json};

use super::glob::matches_glob;
use super::key::{KeyKind, ValueRange};
use super::reader::ConfigReader;
use super::reviewer::{ProviderSection, ReviewerProvider};
use super::section::{Section, choices, section};
use super::value::{KeyPlace, SettingValue, WholeValue};

section! {
    /// How the workshop works.
    pub struct WorkshopSettings at "plugins.entries.skill-workshop" {
        /// true lets agents use the workshop: its tool, capture and the reviewer.
        "enabled" => loaded: bool = false;
        /// Works once the entry is enabled.
        "config.enabled" => enabled: bool = true;
        /// Capture and review after successful turns.
        "config.autoCapture" => auto_capture: bool = true;
        /// pending queues proposals, auto writes safe ones at once.
        "config.approvalPolicy" => approval_policy: ApprovalPolicy = ApprovalPolicy::Pending;
        /// {match, policy} by skill name, first match wins: pending, auto or never.
        "config.approvalRules" => approval_rules: Vec<ApprovalRule> = Vec::new();
        /// Which automatic paths run.
        "config.reviewMode" => review_mode: ReviewMode = ReviewMode::Hybrid;
        /// Successful turns between reviews.
        "config.reviewInterval" => review_interval: u64 = 15, in 1 to 200;
        /// Tool calls between reviews.
        "config.reviewMinToolCalls" => review_min_tool_calls: u64 = 8, in 1 to 500;
        /// How long one review may take.
        "config.reviewTimeoutMs" => review_timeout_ms: u64 = 45_000, in 5_000 to 180_000;
        /// Extra requests after invalid JSON.
        "config.reviewRepair" => review_repair: u64 = 0, in 0 to 1;
        /// Pending and quarantined proposals kept per workspace.
        "config.maxPending" => max_pending: usize = 50, in 1 to 200;
        /// Size of a generated skill or support file.
        "config.maxSkillBytes" => max_skill_bytes: usize = 40_000, in 1_024 to 200_000;
        /// What counts as a correction.
        "config.captureProfile" => capture_profile: CaptureProfile = CaptureProfile::Extended;
        /// A target that changed meanwhile.
        "config.staleCheck" => stale_check: StaleCheck = StaleCheck::Rebase;
        /// New skills that are close to others.
        "config.duplicateGate" => duplicate_gate: GateMode = GateMode::Advise;
        /// Descriptions that take other skills' queries.
        "config.triggerGate" => trigger_gate: GateMode = GateMode::Block;
        also {
            /// `config.probation`.
            probation: ProbationRule = ProbationRule::default();
            /// `config.provider`, key by key.
            provider_keys: ProviderSection = ProviderSection::default();
            /// What those keys come to.
            provider: Option<ReviewerProvider> = None;
        }
    }
}

impl WorkshopSettings {
    /// Where all of it stands in the configuration.
    pub const PATH: &'static str = <Self as Section>::PATH;

    /// Whether agents may use the workshop: its tool, capture and the reviewer.
    pub fn is_on(&self) -> bool {
        self.loaded && self.enabled
    }

    /// Whether hooks capture corrections: as soon as there are hooks, into the queue, while the tool
    /// and the reviewer wait until they are enabled. Skill Workshop's own profile waits too.
    pub fn captures_from_hooks(&self) -> bool {
        let unasked =
            self.enabled && self.auto_capture && self.capture_profile == CaptureProfile::Extended;
        self.is_on() || unasked
    }

    /// What happens to proposals for a skill, by its normalised name.
    pub fn policy_for(&self, skill: &str) -> ApprovalPolicy {
        self.approval_rules
            .iter()
            .find(|rule| matches_glob(&rule.pattern, skill))
            .map_or(self.approval_policy, |rule| rule.policy)
    }
}

section! {
    /// What something that was learned has to show.
    #[derive(Copy, Eq)]
    pub struct ProbationRule at "plugins.entries.skill-workshop.config.probation" {
        /// Successful uses that promote something learned.
        "uses" => uses: u64 = 3, in 1 to 1_000;
        /// Days without any use after which a person is asked to retire it.
        "idleDays" => idle_days: u64 = 30, in 1 to 1_000;
        /// Uses before its record is compared.
        "minTrials" => min_trials: u64 = 8, in 1 to 1_000;
    }
}

/// What happens to a proposal that nothing speaks against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalPolicy {
    /// It waits for a person.
    #[default]
    Pending,
    /// It is written at once.
    Auto,
    /// It is not even stored; only rules may say so.
    Never,
}

impl ApprovalPolicy {
    const WORDS: &'static [&'static str] = &["pending", "auto"];
    const WORDS_OF_RULES: &'static [&'static str] = &["pending", "auto", "never"];

    fn of_rule(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "pending" => Some(Self::Pending),
            "auto" => Some(Self::Auto),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

impl WholeValue for ApprovalPolicy {
    const KIND: KeyKind = KeyKind::Words(Self::WORDS);

    fn from_value(value: &Value, _: Option<ValueRange>) -> Option<Self> {
        Self::of_rule(value).filter(|policy| *policy != Self::Never)
    }

    fn json(&self) -> Value {
        match self {
            Self::Pending => "pending",
            Self::Auto => "auto",
            Self::Never => "never",
        }
        .into()
    }
}

/// A policy for the skills that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRule {
    /// A name with `*` and `?`.
    pub pattern: String,
    /// What happens to proposals for it.
    pub policy: ApprovalPolicy,
}

impl SettingValue for ApprovalRule {
    const KIND: KeyKind = KeyKind::Any;

    fn read(rule: &Value, place: &KeyPlace<'_>, reader: &mut ConfigReader) -> Option<Self> {
        let at = |name: &str| format!("{}.{name}", place.path);
        let pattern = rule.get("match").unwrap_or(&Value::Null);
        let pattern = String::read(
            pattern,
            &KeyPlace { otherwise: Some("the rule is left out"), ..place.part(&at("match")) },
            reader,
        )?;
        let policy = rule.get("policy").unwrap_or(&Value::Null);
        // A rule that cannot be read may have forbidden something: ask, never write.
        let policy = ApprovalPolicy::of_rule(policy).unwrap_or_else(|| {
            let path = at("policy");
            let place = KeyPlace { otherwise: Some("pending holds"), ..place.part(&path) };
            reader.unusable(policy, KeyKind::Words(ApprovalPolicy::WORDS_OF_RULES), &place);
            ApprovalPolicy::Pending
        });
        Some(Self { pattern, policy })
    }

    fn json(&self) -> Value {
        json!({"match": self.pattern, "policy": WholeValue::json(&self.policy)})
    }
}

choices! {
    /// Which automatic paths run.
    #[derive(Default)]
    pub enum ReviewMode {
        /// None.
        Off = "off",
        /// Patterns.
        Heuristic = "heuristic",
        /// The reviewer.
        Llm = "llm",
        /// Both.
        #[default]
        Hybrid = "hybrid",
    }
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

choices! {
    /// What counts as a correction.
    #[derive(Default)]
    pub enum CaptureProfile {
        /// Skill Workshop's seven patterns, and its five homes for what they find.
        Reference = "reference",
        /// A small classifier over meaning, words and cues in nine languages.
        #[default]
        Extended = "extended",
    }
}

choices! {
    /// What happens when the target changed after a proposal was made.
    #[derive(Default)]
    pub enum StaleCheck {
        /// The change is prepared again where that is safe.
        #[default]
        Rebase = "rebase",
        /// The proposal is stale.
        Strict = "strict",
    }
}

choices! {
    /// How much a gate may stop.
    pub enum GateMode {
        /// It does not run.
        Off = "off",
        /// It speaks.
        Advise = "advise" or "warn",
        /// It stops what it finds.
        Block = "block",
    }
}
