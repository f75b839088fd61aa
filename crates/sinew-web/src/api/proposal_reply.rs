//! A proposal as callers of the API see it.

use serde::Serialize;
use sinew_engine::EngineError;
use sinew_workshop::{Proposal, ProposalUpdate};
use utoipa::ToSchema;

use super::extract::JsonReply;
use crate::access::WebCaller;

/// A change to a skill that waits for review
#[derive(Serialize, ToSchema)]
pub(super) struct ProposalReply {
    /// Without what was found, where a program asks
    #[serde(flatten)]
    proposal: Proposal,
    /// How much was found, where a program asks
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<ProposalFindingCounts>,
}

/// How much was found in a proposal
#[derive(Serialize, ToSchema)]
pub(super) struct ProposalFindingCounts {
    /// It quarantines
    critical: usize,
    /// It is shown
    warn: usize,
}

impl ProposalReply {
    /// A proposal as this caller may see it: what was found is for people, programs get the numbers.
    pub(super) fn of(mut proposal: Proposal, caller: &WebCaller) -> Self {
        proposal.original = None;
        let found = &proposal.scan_findings;
        let mut findings = None;
        if !caller.is_person() && !found.is_empty() {
            let critical = found.iter().filter(|finding| finding.is_critical()).count();
            findings = Some(ProposalFindingCounts { critical, warn: found.len() - critical });
            proposal.scan_findings.clear();
        }
        Self { proposal, findings }
    }
}

/// What became of a proposal
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProposalUpdateReply {
    /// Where it stands now
    status: &'static str,
    /// The file that was written
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_path: Option<String>,
    proposal: ProposalReply,
}

pub(super) fn decided(done: ProposalUpdate, caller: &WebCaller) -> Result<JsonReply, EngineError> {
    JsonReply::of(&ProposalUpdateReply {
        status: done.proposal.status.as_str(),
        skill_path: done.skill_path,
        proposal: ProposalReply::of(done.proposal, caller),
    })
}
