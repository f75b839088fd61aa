//! What `acquire_skill` says: where a run stands, what registries have, which runs are open.

use serde::Serialize;
use serde_json::Value;
use sinew_engine::acquire::{AcquireProgress, AcquireWait};
use sinew_engine::approval::Approval;
use sinew_engine::hub::SearchCandidate;
use utoipa::ToSchema;

/// What became of a step; each action fills its own fields.
#[derive(Serialize, ToSchema)]
pub(super) struct AcquireSkillOutput {
    pub(super) status: AcquireSkillStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    /// Where the run stands
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    /// What the run waits for
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AcquireWait>)]
    pub(super) waits: Option<Value>,
    /// What happened in this step
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AcquireProgress<'static>>>)]
    pub(super) events: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval: Option<Box<Approval>>,
    /// What to ask the user
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<String>,
    /// What registries have
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) candidates: Option<Vec<SearchCandidate>>,
    /// Runs that are not over
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
            waits: None,
            events: None,
            approval: None,
            question: None,
            candidates: None,
            runs: None,
            network: None,
        }
    }
}

/// A run in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct AcquireRunRow {
    pub(super) run: String,
    pub(super) state: &'static str,
    pub(super) region: Option<String>,
    pub(super) skill: Option<String>,
    pub(super) installed: Option<String>,
}
