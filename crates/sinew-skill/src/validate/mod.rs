//! Validating a skill file by the rules of its readers.
//!
//! Reading ([`crate::read`]) is tolerant: it repairs what it can, so that a skill loads. Validation
//! is for authors: it says what each reader of the format would reject, on which line, and, if
//! there is no doubt, it includes the edit that corrects it.
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
//! bytes. Nothing here accesses a disk.

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

/// The file to validate.
#[derive(Debug, Clone, Copy)]
pub struct ValidationFile<'a> {
    /// The name of the folder that contains the file.
    pub directory: &'a str,
    /// The name of the file itself.
    pub file_name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// How strictly the Agent Skills specification is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecLevel {
    /// Everything the specification requires.
    Strict,
    /// Common deviations are not errors.
    #[default]
    Lenient,
}

/// A set of rules.
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
        /// How strictly.
        level: SpecLevel,
        /// Whether to reject what the reference validator rejects beyond the specification.
        parity: bool,
    },
}

impl RuleSet {
    /// The Agent Skills specification as printed.
    pub const STRICT: Self = Self::AgentSkills { level: SpecLevel::Strict, parity: false };
    /// The default rule set.
    pub const LENIENT: Self = Self::AgentSkills { level: SpecLevel::Lenient, parity: false };
    /// The names that [`RuleSet::from_str`] accepts.
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

    /// Parses a name; `agentskills` means the strict level.
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

/// Validates a file by a rule set.
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

/// Whether the fixes work: the fixed issues are gone, and no new fix is needed.
///
/// This is tried rather than proved, because front matter has more forms than an edit can foresee;
/// an edit that would not work is not offered.
fn settles(before: &[ValidationIssue], after: &[ValidationIssue]) -> bool {
    let count =
        |issues: &[ValidationIssue], code: &str| issues.iter().filter(|i| i.code == code).count();
    let gone = before.iter().filter(|issue| issue.fix.is_some()).all(|issue| {
        let fixed = before.iter().filter(|i| i.code == issue.code && i.fix.is_some()).count();
        count(after, issue.code) + fixed <= count(before, issue.code)
    });
    gone && after.iter().all(|issue| issue.fix.is_none())
}

/// The report for a folder without a skill file.
pub fn missing_file_report(directory: &str) -> FileValidation {
    FileValidation { issues: vec![agentskills::file_missing(directory)] }
}
