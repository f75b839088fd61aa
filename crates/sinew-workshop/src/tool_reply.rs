//! What the tool `skill_workshop` answers, in Skill Workshop's shapes.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::history::SkillVersion;
use crate::proposal::Proposal;
use crate::suggest::ProposalUpdate;
use crate::undo::UndoReport;
use crate::workshop::ProposalCounts;

/// An answer of the tool; each action has its own.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum WorkshopToolReply {
    /// To `status`.
    Counts(ProposalCounts),
    /// To `list_pending` and `list_quarantine`.
    Proposals(Vec<ToolProposal>),
    /// To `inspect` and `reject`.
    Proposal(Box<ToolProposal>),
    /// To `suggest`, `apply` and `revise`.
    Update(Box<ToolProposalUpdate>),
    /// To `write_support_file`.
    File(ToolSupportFile),
    /// To `history`.
    Versions(Vec<SkillVersion>),
    /// To `undo`.
    Undo(UndoReport),
}

/// What became of a proposal.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolProposalUpdate {
    /// Where it stands now.
    pub status: &'static str,
    /// The file that was written, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_path: Option<String>,
    /// The proposal.
    pub proposal: ToolProposal,
}

impl ToolProposalUpdate {
    pub(crate) fn of(done: ProposalUpdate) -> Self {
        Self {
            status: done.proposal.status.as_str(),
            skill_path: done.skill_path,
            proposal: ToolProposal(done.proposal),
        }
    }
}

/// A support file that was written.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolSupportFile {
    /// `written`.
    pub status: &'static str,
    /// Where it lies.
    pub file_path: String,
}

/// A proposal as the tool shows it: findings have Skill Workshop's three fields, one per rule, because
/// the text under test may come from the same model.
#[derive(Debug, Clone)]
pub struct ToolProposal(pub Proposal);

impl Serialize for ToolProposal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = json!(self.0);
        if let Some(object) = value.as_object_mut() {
            for ours in ["original", "number", "history", "evidence"] {
                object.remove(ours);
            }
            if !self.0.scan_findings.is_empty() {
                object.insert("scanFindings".to_owned(), reference_findings(&self.0));
            }
        }
        value.serialize(serializer)
    }
}

/// The fields are those of the proposal.
#[cfg(feature = "schema")]
impl utoipa::PartialSchema for ToolProposal {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        Proposal::schema()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for ToolProposal {
    fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
        Proposal::schemas(schemas);
    }
}

/// Findings with Skill Workshop's three fields, at most one per rule.
pub(crate) fn reference_findings(proposal: &Proposal) -> Value {
    let mut rules: Vec<&str> = Vec::new();
    let mut findings = Vec::new();
    for finding in &proposal.scan_findings {
        if !rules.contains(&finding.rule_id.as_str()) {
            rules.push(&finding.rule_id);
            findings.push(json!({
                "severity": finding.severity,
                "ruleId": finding.rule_id,
                "message": finding.message,
            }));
        }
    }
    Value::Array(findings)
}
