//! What happened in the workshop: a record for programs, a line for people, in Skill Workshop's words.

use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkshopEventKind {
    /// A proposal waits.
    Queued,
    /// A proposal was written.
    Applied,
    /// A critical finding holds a proposal.
    Quarantined,
    /// A person acknowledged what was found.
    Restored,
    /// A proposal got new content.
    Revised,
    /// A proposal was turned down.
    Rejected,
    /// A proposal's target is no longer what it was.
    Stale,
    /// A write was taken back.
    Undone,
    /// A write that had been taken back was made again.
    Redone,
    /// What was learned has proved itself, or a person made a skill of a draft.
    Promoted,
    /// What was learned was moved into the history.
    Retired,
    /// A support file was written.
    SupportFile,
    /// A proposal was removed because there were too many.
    Pruned,
    /// Proposals came from OpenClaw's store.
    Imported,
    /// A message that sounded like a correction was not kept.
    CaptureSkipped,
    /// The reviewer did not run, or not to its end.
    ReviewerSkipped,
    /// The reviewer had nothing to propose.
    ReviewerFoundNothing,
}

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventLevel {
    /// For finding out why something happened.
    Debug,
    /// Worth knowing.
    Info,
    /// Needs attention.
    Warn,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopEvent {
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What.
    pub kind: WorkshopEventKind,
    /// The skill it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub skill: String,
    /// The proposal it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl WorkshopEvent {
    /// The level of its log line.
    pub fn level(&self) -> EventLevel {
        use WorkshopEventKind as K;
        match self.kind {
            K::Quarantined | K::Stale | K::Pruned | K::CaptureSkipped | K::ReviewerSkipped => {
                EventLevel::Warn
            }
            K::ReviewerFoundNothing => EventLevel::Debug,
            _ => EventLevel::Info,
        }
    }

    /// Its line in a log.
    pub fn line(&self) -> String {
        use WorkshopEventKind as K;
        let (what, about) = match self.kind {
            K::Queued => ("queued", &self.skill),
            K::Applied => ("applied", &self.skill),
            K::Quarantined => ("quarantined", &self.skill),
            K::Restored => ("restored", &self.skill),
            K::Revised => ("revised", &self.skill),
            K::Rejected => ("rejected", &self.skill),
            K::Stale => ("stale", &self.skill),
            K::Undone => ("undone", &self.skill),
            K::Redone => ("redone", &self.skill),
            K::Promoted => ("promoted", &self.skill),
            K::Retired => ("retired", &self.skill),
            K::SupportFile => ("support file written for", &self.skill),
            K::Pruned => ("pruned", &self.skill),
            K::Imported => ("imported", &self.skill),
            K::CaptureSkipped | K::ReviewerSkipped => {
                let who = match self.kind {
                    K::CaptureSkipped => "heuristic capture skipped",
                    _ => "reviewer skipped",
                };
                let why = self.reason.as_deref().unwrap_or("no reason given");
                return format!("skill-workshop: {who}: {why}");
            }
            K::ReviewerFoundNothing => {
                return "skill-workshop: reviewer found no update".to_owned();
            }
        };
        format!("skill-workshop: {what} {about}")
    }
}
