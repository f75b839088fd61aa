//! Judging a skill file by somebody's rules.
//!
//! Reading ([`crate::read`]) is kind: it repairs what it can, so that a skill loads. Validation is
//! for authors: it says what each reader of the format would refuse, on which line, and where the
//! answer is beyond doubt it carries the edit that puts it right.
//!
//! ```
//! use sinew_skill::validate::{RuleSet, ValidationFile, apply_fixes, validate};
//!
//! let bytes = b"---\nname: mail\ndescription: Send mail: list, read\n---\n";
//! let target = ValidationFile { directory: "mail", file_name: "SKILL.md", bytes };
//! let found = validate(&target, RuleSet::STRICT);
//! assert!(!found.passed());
//!
//! let fixed = apply_fixes(bytes, &found.issues).expect("quotes are all it takes");
//! assert!(validate(&ValidationFile { bytes: &fixed, ..target }, RuleSet::STRICT).passed());
//! ```
//!
//! **Invariant:** a rule set is a pure function of the folder's name, the file's name and its
//! bytes. Nothing here looks at a disk.

mod agentskills;
mod document;
mod fix;
mod issue;
mod name;
mod openclaw;
mod openpocket;
mod reference_validator;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

pub use agentskills::{AgentSkillsRule, RULES as AGENTSKILLS_RULES};
pub use fix::{FileEdit, Fix, apply_fixes};
pub use issue::{FileValidation, ValidationIssue};
pub use openclaw::MAX_FILE_BYTES;
pub use openpocket::validate_draft;

/// The file to judge.
#[derive(Debug, Clone, Copy)]
pub struct ValidationFile<'a> {
    /// The name of the folder that holds the file.
    pub directory: &'a str,
    /// The name of the file itself.
    pub file_name: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// How much of the Agent Skills specification an author wants to hear about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecLevel {
    /// Everything the specification demands.
    Strict,
    /// What most skills in the wild do differently is no error.
    #[default]
    Lenient,
}

/// Whose rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSet {
    /// What OpenClaw loads.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// What OpenPocket accepts in its permissive modes.
    #[serde(rename = "openpocket")]
    OpenPocket,
    /// What OpenPocket accepts in `strict`.
    #[serde(rename = "openpocket-strict")]
    OpenPocketStrict,
    /// The Agent Skills specification.
    #[serde(rename = "agentskills")]
    AgentSkills {
        /// How much of it.
        level: SpecLevel,
        /// Whether to refuse what its reference validator refuses beyond the specification.
        parity: bool,
    },
}

impl RuleSet {
    /// The Agent Skills specification as printed.
    pub const STRICT: Self = Self::AgentSkills { level: SpecLevel::Strict, parity: false };
    /// What holds when nobody names a rule set.
    pub const LENIENT: Self = Self::AgentSkills { level: SpecLevel::Lenient, parity: false };
    /// The names that [`RuleSet::from_str`] takes.
    pub const NAMES: &'static [&'static str] =
        &["openclaw", "openpocket", "openpocket-strict", "agentskills"];

    /// The name of the rule set, without its level.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::OpenPocket => "openpocket",
            Self::OpenPocketStrict => "openpocket-strict",
            Self::AgentSkills { .. } => "agentskills",
        }
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        Self::LENIENT
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A rule set of this name does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRuleSet(pub String);

impl fmt::Display for UnknownRuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = RuleSet::NAMES.join(", ");
        write!(f, "there is no rule set `{}`; choose one of {names}", self.0)
    }
}

impl std::error::Error for UnknownRuleSet {}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;

    /// Reads a name; `agentskills` by name means the strict level.
    fn from_str(name: &str) -> Result<Self, UnknownRuleSet> {
        match name.trim() {
            "openclaw" => Ok(Self::OpenClaw),
            "openpocket" => Ok(Self::OpenPocket),
            "openpocket-strict" => Ok(Self::OpenPocketStrict),
            "agentskills" => Ok(Self::STRICT),
            _ => Err(UnknownRuleSet(name.to_owned())),
        }
    }
}

/// Judges a file by a rule set.
pub fn validate(target: &ValidationFile<'_>, rules: RuleSet) -> FileValidation {
    let mut found = FileValidation { issues: check(target, rules) };
    if let Some(fixed) = apply_fixes(target.bytes, &found.issues) {
        let again = check(&ValidationFile { bytes: &fixed, ..*target }, rules);
        if !settles(&found.issues, &again) {
            found.issues.iter_mut().for_each(|issue| issue.fix = None);
        }
    }
    found
}

fn check(target: &ValidationFile<'_>, rules: RuleSet) -> Vec<ValidationIssue> {
    match rules {
        RuleSet::OpenClaw => openclaw::check(target),
        RuleSet::OpenPocket => openpocket::check(target, false),
        RuleSet::OpenPocketStrict => openpocket::check(target, true),
        RuleSet::AgentSkills { level, parity } => agentskills::check(target, level, parity),
    }
}

/// Whether the fixes do what they promise: what carried one is gone, and no new one is needed.
///
/// This is tried rather than proved, because front matter has more shapes than an edit can foresee;
/// an edit that would not settle the matter is not offered.
fn settles(before: &[ValidationIssue], after: &[ValidationIssue]) -> bool {
    let count =
        |issues: &[ValidationIssue], code: &str| issues.iter().filter(|i| i.code == code).count();
    let gone = before.iter().filter(|issue| issue.fix.is_some()).all(|issue| {
        let fixed = before.iter().filter(|i| i.code == issue.code && i.fix.is_some()).count();
        count(after, issue.code) + fixed <= count(before, issue.code)
    });
    gone && after.iter().all(|issue| issue.fix.is_none())
}

/// What to say of a folder that holds no skill file.
pub fn missing_file_report(directory: &str) -> FileValidation {
    FileValidation { issues: vec![agentskills::file_missing(directory)] }
}
