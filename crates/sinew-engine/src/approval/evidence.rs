//! What a person sees before they answer.
//!
//! Most of it is text from outside. It is cut to size here, and made safe where it is shown.

use serde::{Deserialize, Serialize};
use sinew_cortex::acquire::CandidateVerdict;
use sinew_guard::effects::{Effect, EffectSet, mask_step};
use sinew_guard::secrets;

/// Longer texts are cut: this is what a person reads before one key.
const MAX_TEXT: usize = 1_000;
/// More lines than this are no summary.
const MAX_LINES: usize = 50;
/// Steps of a plan: what a person agrees to is shown whole, and the longest of 1,864 published skills has
/// fewer.
const MAX_STEPS: usize = 400;
/// The longest step; a longer one keeps its beginning and its end.
const MAX_STEP: usize = 4_000;

/// Everything worth knowing for an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApprovalEvidence {
    /// What the skill is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it says it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many people marked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stars: Option<u64>,
    /// How often it was downloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<u64>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether that source reviews what it offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<bool>,
    /// What the scanner says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<ApprovalScan>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Programs that it needs and this machine does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How it went before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<String>,
    /// What would be done, step by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PlanStep>,
    /// What was learned about it or its kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
    /// The command that would be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What would change, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What the scanner says, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ApprovalScan {
    /// Allow, warn or block.
    pub verdict: CandidateVerdict,
    /// Critical findings, accepted ones included.
    pub critical: usize,
    /// Warnings.
    pub warn: usize,
    /// What is merely worth knowing.
    pub info: usize,
}

impl ApprovalScan {
    /// What a report says.
    pub fn of(report: &sinew_guard::scan::ScanReport) -> Self {
        use sinew_guard::scan::{FindingSeverity, Verdict};
        let count = |wanted| report.findings.iter().filter(|f| f.severity == wanted).count();
        Self {
            verdict: match report.verdict {
                Verdict::Allow => CandidateVerdict::Allow,
                Verdict::Warn => CandidateVerdict::Warn,
                Verdict::Block => CandidateVerdict::Block,
            },
            critical: count(FindingSeverity::Critical),
            warn: count(FindingSeverity::Warn),
            info: count(FindingSeverity::Info),
        }
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PlanStep {
    /// What is done.
    pub text: String,
    /// How much is at stake: the worst of its effects.
    pub severity: StepRisk,
    /// Everything that is at stake, least first; nothing where it only looks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<StepRisk>,
}

impl PlanStep {
    /// A step with everything that it puts at stake.
    pub fn new(text: impl Into<String>, effects: EffectSet) -> Self {
        let effects: Vec<StepRisk> = effects.iter().map(StepRisk::of).collect();
        let severity = effects.iter().max().copied().unwrap_or(StepRisk::ReadOnly);
        Self { text: text.into(), severity, effects }
    }

    /// The signs before it, the worst first.
    pub fn symbols(&self) -> String {
        if self.effects.is_empty() {
            return self.severity.symbol().to_owned();
        }
        self.effects.iter().rev().map(|risk| risk.symbol()).collect()
    }

    /// Everything that is at stake, in words.
    pub fn stakes(&self) -> String {
        if self.effects.is_empty() {
            return self.severity.as_str().to_owned();
        }
        let names: Vec<&str> = self.effects.iter().rev().map(|risk| risk.as_str()).collect();
        names.join(", ")
    }
}

/// How much a step puts at stake, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum StepRisk {
    /// It only looks.
    ReadOnly,
    /// It changes something.
    Write,
    /// It uses a secret.
    Credentials,
    /// It runs a program.
    Shell,
    /// What it does cannot be undone.
    Destructive,
}

impl StepRisk {
    /// What an effect puts at stake.
    fn of(effect: Effect) -> Self {
        match effect {
            Effect::Write => Self::Write,
            Effect::Credentials => Self::Credentials,
            Effect::Shell => Self::Shell,
            Effect::Delete => Self::Destructive,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Write => "write",
            Self::Credentials => "credentials",
            Self::Shell => "shell",
            Self::Destructive => "destructive",
        }
    }

    /// The sign before a step.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::ReadOnly => "🟢",
            Self::Write => "🟡",
            Self::Credentials => "🔑",
            Self::Shell => "⚙️",
            Self::Destructive => "🔴",
        }
    }
}

impl ApprovalEvidence {
    /// Cut to what a person reads, without secrets.
    pub(super) fn trimmed(mut self) -> Self {
        let texts = [
            &mut self.name,
            &mut self.description,
            &mut self.source,
            &mut self.history,
            &mut self.command,
        ];
        for text in texts.into_iter().flatten() {
            *text = short(text, MAX_TEXT);
        }
        if let Some(diff) = &mut self.diff {
            *diff = short(diff, MAX_LINES * MAX_TEXT);
        }
        self.capabilities.truncate(MAX_LINES);
        self.lessons.truncate(MAX_LINES);
        self.missing.truncate(MAX_LINES);
        let lines = self.capabilities.iter_mut().chain(&mut self.missing);
        for line in lines.chain(&mut self.lessons) {
            *line = short(line, MAX_TEXT);
        }
        self.steps.truncate(MAX_STEPS);
        for step in &mut self.steps {
            step.text = both_ends(&mask_step(&step.text));
        }
        self
    }
}

/// A text of at most [`MAX_STEP`] characters: a command may do something else at its end.
fn both_ends(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_STEP {
        return text.to_owned();
    }
    let half = MAX_STEP / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start} … {} characters … {end}", length - 2 * half)
}

/// A text without secrets, cut to so many characters.
pub(super) fn short(text: &str, cap: usize) -> String {
    let masked = secrets::mask_strict(text);
    match masked.char_indices().nth(cap) {
        Some((at, _)) => format!("{}…", &masked[..at]),
        None => masked,
    }
}
