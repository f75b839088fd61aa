//! Proposals: a change to a skill that waits for review.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::gates::{GateReport, SkillOwner};
use crate::probation::ProbationStatus;
use crate::status::{ProposalState, ProposalTransition};

/// Where a proposal came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ProposalSource {
    /// The `skill_workshop` tool, or a person's own words.
    Tool,
    /// A correction at the end of a turn.
    AgentEnd,
    /// The reviewer.
    Reviewer,
    /// A finished run.
    Trace,
    /// Uses of something that was learned.
    Probation,
}

/// What a proposal changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ProposalChange {
    /// A new skill; where one exists, its body goes under `## Workflow`.
    Create {
        /// The front matter's description.
        description: String,
        /// The text below it.
        body: String,
        /// Support files by relative path.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        files: BTreeMap<String, String>,
        /// Further details, where it was made from a finished run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        generated: Option<Box<GeneratedDetails>>,
    },
    /// Text under a heading.
    Append {
        /// The heading, without its `#` characters.
        section: String,
        /// The text.
        body: String,
        /// The description, should the skill be missing.
        #[serde(default)]
        description: String,
    },
    /// One text for another.
    #[cfg_attr(feature = "schema", schema(rename_all = "camelCase"))]
    Replace {
        /// The text to replace.
        old_text: String,
        /// The text to put in its place.
        new_text: String,
    },
    /// One rule that a user taught: a line of the skill's rules.
    Rule {
        /// The rule.
        rule: String,
        /// What the skill is for, after "when".
        when: String,
        /// The description, should the skill be missing.
        #[serde(default)]
        description: String,
        /// The activities that the rule holds for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        groups: Vec<String>,
        /// The day it was said, such as `2026-11-12`.
        #[serde(default)]
        day: String,
        /// The request that was corrected, by which the rule is found again.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        asked: String,
    },
    /// Learned skills are divided, joined or put in order: the files as they should be.
    Reshape {
        /// Each skill's file; without one the skill moves into the history.
        skills: BTreeMap<String, Option<String>>,
        /// SHA-256 of what each of them held when this was proposed.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        before: BTreeMap<String, String>,
    },
    /// Something that was learned is moved into the history.
    Retire {
        /// The proposal that brought it.
        of: String,
    },
}

/// Details of a skill that was made from a finished run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GeneratedDetails {
    /// Its front matter's `metadata`; without it there is no front matter, as in Skill Workshop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
    /// Where it is stored.
    #[serde(default)]
    pub place: GeneratedLocation,
    /// Whether it stays out of prompts until a person has reviewed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Where it was stored before a person promoted it to a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promoted_from: Option<GeneratedLocation>,
    /// Files of an older draft that it replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The folder that they move to; without one they are removed, as OpenPocket does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
}

/// Where a skill that was made from a finished run is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum GeneratedLocation {
    /// In its own folder, as any skill.
    #[default]
    Skill,
    /// `skills/auto/<stem>.md`, its script in `scripts/auto/<stem>.sh`.
    AutoFile {
        /// Time and task.
        stem: String,
    },
    /// `skills/auto/<stem>/SKILL.md`, its script in `scripts/auto/<stem>.sh`.
    AutoFolder {
        /// Time and task.
        stem: String,
    },
}

impl GeneratedLocation {
    /// The file of a skill of this name.
    pub(crate) fn skill_path(&self, name: &str) -> String {
        match self {
            Self::Skill => crate::files::skill_path(name),
            Self::AutoFile { stem } => format!("skills/auto/{stem}.md"),
            Self::AutoFolder { stem } => format!("skills/auto/{stem}/SKILL.md"),
        }
    }

    /// The name of a draft's file without its ending.
    pub(crate) fn stem(&self) -> Option<&str> {
        match self {
            Self::Skill => None,
            Self::AutoFile { stem } | Self::AutoFolder { stem } => Some(stem),
        }
    }

    /// The path of a support file.
    pub(crate) fn support_path(&self, name: &str, path: &str) -> String {
        match self {
            Self::Skill => format!("skills/{name}/{path}"),
            Self::AutoFile { stem } | Self::AutoFolder { stem } => {
                format!("scripts/auto/{stem}.sh")
            }
        }
    }
}

/// How the reason of a rule ends that its skill has already.
pub(crate) const AGAIN: &str = ", not for the first time";

/// What the reason of a rule says that takes another's place.
pub(crate) const INSTEAD: &str = "; it takes the place of";

impl ProposalChange {
    /// Further details, where it was made from a finished run.
    pub(crate) fn generated(&self) -> Option<&GeneratedDetails> {
        match self {
            Self::Create { generated, .. } => generated.as_deref(),
            _ => None,
        }
    }

    /// The word for it in records.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Append { .. } => "append",
            Self::Replace { .. } => "replace",
            Self::Rule { .. } => "rule",
            Self::Reshape { .. } => "reshape",
            Self::Retire { .. } => "retire",
        }
    }

    /// Whether another change would do the same: a rule that was said at another request or on another
    /// day is one rule.
    pub(crate) fn says_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rule { rule: a, groups: x, .. }, Self::Rule { rule: b, groups: y, .. }) => {
                a == b && x == y
            }
            _ => self == other,
        }
    }

    /// Every text in it, with the name of its field.
    pub(crate) fn texts(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Create { description, body, files, .. } => {
                let mut texts = vec![("description", description.as_str()), ("body", body)];
                texts.extend(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
                texts
            }
            Self::Append { body, description, .. } => {
                vec![("description", description), ("body", body)]
            }
            Self::Replace { old_text, new_text } => {
                vec![("oldText", old_text), ("newText", new_text)]
            }
            Self::Rule { rule, description, when, asked, .. } => {
                vec![("description", description), ("body", rule), ("when", when), ("asked", asked)]
            }
            Self::Reshape { skills, .. } => {
                let told = skills.iter();
                told.filter_map(|(name, file)| Some((name.as_str(), file.as_deref()?))).collect()
            }
            Self::Retire { .. } => Vec::new(),
        }
    }
}

/// One scanner hit, with what people need to act on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProposalFinding {
    /// `warn` or `critical`.
    pub severity: String,
    /// The rule.
    pub rule_id: String,
    /// What was found.
    pub message: String,
    /// The file or field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line, from 1; 0 where the finding is about the whole.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: usize,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column: usize,
    /// The line itself, shortened, secrets masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// What to change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suggestion: String,
}

impl ProposalFinding {
    /// Whether it quarantines.
    pub fn is_critical(&self) -> bool {
        self.severity == "critical"
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The file a proposal is about, as it was when the proposal was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProposalTarget {
    /// Path below the workspace.
    pub path: String,
    /// Whether it was there.
    pub existed: bool,
    /// SHA-256 of its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whose it was.
    pub owner: SkillOwner,
    /// How often a replacement's old text occurred in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub occurrences: usize,
}

/// One thing that happened to a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProposalStep {
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What: `queued`, `revised`, `applied` and so on.
    pub what: String,
    /// Who.
    pub by: String,
    /// Why, where a reason was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A rule whose finding a person has seen and accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FindingAcknowledgement {
    /// The rule.
    pub rule: String,
    /// Why it is fine.
    pub reason: String,
    /// Who says so.
    pub by: String,
    /// The revision it applies to; a later one is judged anew.
    pub revision: u32,
}

/// Messages that a new description should match, and messages that it should not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TriggerQueries {
    /// Messages that the skill is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positive: Vec<String>,
    /// Similar messages that belong to other skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near_miss: Vec<String>,
}

impl TriggerQueries {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positive.is_empty() && self.near_miss.is_empty()
    }
}

/// A change to a skill that waits for review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Proposal {
    /// A UUID.
    pub id: String,
    /// Milliseconds since 1970.
    pub created_at: u64,
    /// The same, of the last change.
    pub updated_at: u64,
    /// The workspace, absolute.
    pub workspace_dir: String,
    /// The agent, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The session, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The skill, by its normalised name.
    pub skill_name: String,
    /// A line for lists.
    pub title: String,
    /// Why it was proposed.
    pub reason: String,
    /// Where it came from.
    pub source: ProposalSource,
    /// Its state.
    #[serde(flatten)]
    pub status: ProposalState,
    /// What it changes.
    pub change: ProposalChange,
    /// What the scanner says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scan_findings: Vec<ProposalFinding>,
    /// The file it is about.
    #[serde(default)]
    pub target: ProposalTarget,
    /// Grows with every revision, from 1.
    #[serde(default = "first")]
    pub revision: u32,
    /// SHA-256 of what would be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_sha256: Option<String>,
    /// What the gates say.
    #[serde(default)]
    pub gates: GateReport,
    /// Short quotes that led to it, secrets masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Messages it brings for the trigger gate.
    #[serde(default, skip_serializing_if = "TriggerQueries::is_empty")]
    pub queries: TriggerQueries,
    /// Rules that a person acknowledged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged: Vec<FindingAcknowledgement>,
    /// How it has done since it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probation: Option<ProbationStatus>,
    /// What happened to it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<ProposalStep>,
    /// The sequence number within the workspace; later proposals have higher ones.
    #[serde(default)]
    pub number: u64,
    /// The record as OpenClaw wrote it, until something changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<serde_json::Value>,
}

fn first() -> u32 {
    1
}

impl Proposal {
    /// What changes, in one line for lists: a rule with the day and the place it was said, else the
    /// title.
    pub fn change_line(&self) -> String {
        match &self.change {
            ProposalChange::Rule { rule, day, .. } => {
                let place = self.workspace_dir.rsplit(['/', '\\']).find(|part| !part.is_empty());
                format!("+ {rule} (you said it on {day}, in {})", place.unwrap_or("/"))
            }
            _ => self.title.clone(),
        }
    }

    /// Whether it is a rule that the skill had already, or that takes the place of one it had.
    pub fn was_said_before(&self) -> bool {
        let is_rule = matches!(self.change, ProposalChange::Rule { .. });
        is_rule && (self.reason.ends_with(AGAIN) || self.reason.contains(INSTEAD))
    }

    /// Changes the state, and notes who did it and why.
    pub(crate) fn advance(&mut self, event: ProposalTransition, step: ProposalStep) -> Result<()> {
        self.status = self.status.clone().after(event)?;
        self.note(step);
        Ok(())
    }

    /// Notes something that happened.
    pub(crate) fn note(&mut self, step: ProposalStep) {
        self.updated_at = step.at;
        self.history.push(step);
        self.original = None;
    }

    /// The critical findings that no person has acknowledged for this revision.
    pub fn open_criticals(&self) -> impl Iterator<Item = &ProposalFinding> {
        self.scan_findings
            .iter()
            .filter(|finding| finding.is_critical() && !self.is_acknowledged(&finding.rule_id))
    }

    pub(crate) fn is_acknowledged(&self, rule: &str) -> bool {
        self.acknowledged.iter().any(|given| given.rule == rule && given.revision == self.revision)
    }
}
