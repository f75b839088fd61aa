//! What the tools of an acquisition say: where a run stands, what registries have, which runs are open.

use serde::Serialize;
use sinew_cortex::acquire::AcquireRun;
use sinew_engine::acquire::AcquireProgress;
use sinew_engine::hub::SearchCandidate;
use utoipa::ToSchema;

use super::approve::ApprovalSummary;
use crate::tool_answer::{one_line, short_line};

/// Characters of a candidate's summary.
const SUMMARY: usize = 160;
/// Characters of a note.
const NOTE: usize = 200;
/// Notes in an answer: a run has three candidates.
const NOTES: usize = 6;

/// What became of a step; each action fills its own fields.
#[derive(Serialize, ToSchema)]
pub(super) struct AcquireSkillOutput {
    pub(super) status: AcquireSkillStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    /// Where the run stands
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    /// The skill that is to be used
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skill: Option<String>,
    /// How the run ended
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
    /// What to do now
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval: Option<ApprovalSummary>,
    /// What to ask the user
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<String>,
    /// What happened on the way
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) candidates: Option<Vec<AcquireCandidateRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) runs: Option<Vec<AcquireRunRow>>,
    /// `offline` where registries could not be asked
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) network: Option<&'static str>,
}

#[derive(Serialize, ToSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(super) enum AcquireSkillStatus {
    Found,
    NeedsApproval,
    Notice,
    Ready,
    Waiting,
    Closed,
    Open,
}

impl AcquireSkillStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NeedsApproval => "needs_approval",
            Self::Notice => "notice",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

impl AcquireSkillOutput {
    pub(super) fn of(status: AcquireSkillStatus) -> Self {
        Self {
            status,
            run: None,
            state: None,
            skill: None,
            end: None,
            next: None,
            approval: None,
            question: None,
            notes: Vec::new(),
            candidates: None,
            runs: None,
            network: None,
        }
    }
}

/// A skill that a registry has.
#[derive(Serialize, ToSchema)]
pub(super) struct AcquireCandidateRow {
    /// What `propose` takes
    #[serde(rename = "ref")]
    reference: String,
    summary: String,
    /// The address it comes from
    source: String,
    reviewed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

impl AcquireCandidateRow {
    pub(super) fn of(row: &SearchCandidate) -> Self {
        let found = &row.candidate;
        Self {
            reference: one_line(&found.reference),
            summary: short_line(&found.summary, SUMMARY),
            source: one_line(&row.address),
            reviewed: found.reviewed,
            version: found.version.as_deref().map(one_line),
        }
    }

    pub(super) fn line(&self) -> String {
        let review = if self.reviewed { "" } else { ", unreviewed" };
        format!("- {} (from {}{review}): {}", self.reference, self.source, self.summary)
    }
}

/// A run in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct AcquireRunRow {
    run: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
}

impl AcquireRunRow {
    pub(super) fn of(run: &AcquireRun) -> Self {
        Self {
            run: run.id.clone(),
            state: run.state.name(),
            region: run.region.clone(),
            skill: run.current().map(|offer| offer.slug.clone()),
        }
    }

    pub(super) fn line(&self) -> String {
        let skill = self.skill.as_deref().map(|skill| format!(" with {}", one_line(skill)));
        format!("- {}: {}{}", self.run, self.state, skill.unwrap_or_default())
    }
}

/// What an agent should know of what happened, as sentences.
#[derive(Debug, Default)]
pub(super) struct AcquireNotes(Vec<String>);

impl AcquireNotes {
    /// Notes what explains an answer; the rest of what happens is in the answer itself.
    pub(super) fn hear(&mut self, told: &AcquireProgress<'_>) {
        match told {
            AcquireProgress::Handled { skill } => {
                self.add(&format!("the installed skill {skill} can do it"));
            }
            AcquireProgress::Searched { problems, .. } => {
                problems.iter().for_each(|problem| self.add(problem));
            }
            AcquireProgress::Candidates { candidates, .. } => {
                for tried in *candidates {
                    if let Some(why) = &tried.failed {
                        self.add(&format!("{}: {why}", tried.slug));
                    }
                }
                let usable = candidates.iter().filter(|offer| offer.failed.is_none());
                let others: Vec<&str> = usable.skip(1).map(|offer| offer.slug.as_str()).collect();
                if !others.is_empty() {
                    self.add(&format!("others are {}: install with ref", others.join(", ")));
                }
            }
            AcquireProgress::InstallFailed { slug, detail } => {
                self.add(&format!("{slug}: {detail}"));
            }
            AcquireProgress::Notice { text, .. } => {
                text.lines().for_each(|line| self.add(line.trim()));
            }
            AcquireProgress::Credentials { slug, names } => {
                self.add(&format!("{slug} reads {}", names.join(", ")));
            }
            AcquireProgress::Dependency { command, installed } => {
                let became = if *installed { "was run" } else { "did not help" };
                self.add(&format!("`{command}` {became}"));
            }
            AcquireProgress::Report { report } => {
                for tried in &report.tried {
                    self.add(&format!("{}: {}", tried.slug, tried.detail));
                }
            }
            AcquireProgress::Released { slug } => self.add(&format!("{slug} is removed again")),
            _ => {}
        }
    }

    fn add(&mut self, note: &str) {
        let note = short_line(note, NOTE);
        if self.0.len() < NOTES && !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    pub(super) fn lines(&self) -> &[String] {
        &self.0
    }
}
