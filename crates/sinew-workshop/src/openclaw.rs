//! OpenClaw's own store of a workspace: read in, and written back byte for byte where nothing changed.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::name;
use crate::proposal::{Proposal, ProposalChange, ProposalFinding, ProposalSource};
use crate::records::ReviewState;
use crate::status::ProposalState;
use crate::tool_reply::reference_findings;
use crate::workshop::Workshop;

/// A larger file is not a workshop store: the plugin keeps at most 200 open proposals of 200 KB.
const MAX_STORE: usize = 128 * 1024 * 1024;

/// What an import brought.
#[derive(Debug, Clone, serde::Serialize)]
pub struct OpenclawImport {
    /// Proposals that were added.
    pub added: usize,
    /// Proposals that were there already.
    pub known: usize,
    /// What happened, for the log.
    #[serde(skip)]
    pub events: Vec<WorkshopEvent>,
}

#[derive(Deserialize)]
struct OpenclawStoreFile {
    version: u64,
    proposals: Vec<Value>,
    #[serde(default)]
    review: ReviewState,
}

/// A record as the plugin writes it; what it does not know stays in `original`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenclawRecord {
    id: String,
    created_at: u64,
    updated_at: u64,
    workspace_dir: String,
    agent_id: Option<String>,
    session_id: Option<String>,
    skill_name: String,
    title: String,
    reason: String,
    source: ProposalSource,
    status: String,
    change: ProposalChange,
    #[serde(default)]
    scan_findings: Vec<ProposalFinding>,
    quarantine_reason: Option<String>,
}

impl Workshop<'_> {
    /// Imports OpenClaw's store; `path` names it in errors. All of it is imported, or nothing.
    pub fn import_openclaw(&self, path: &Path, written: &str) -> Result<OpenclawImport> {
        let bad = |detail: String| WorkshopError::BadStore { path: path.to_owned(), detail };
        if written.len() > MAX_STORE {
            return Err(bad(format!("it has {} bytes", written.len())));
        }
        let file: OpenclawStoreFile =
            serde_json::from_str(written).map_err(|error| bad(error.to_string()))?;
        if file.version != 1 {
            return Err(bad(format!("version {} is not known", file.version)));
        }
        let _lock = self.lock()?;
        let records = self.raw_records();
        let known = records.proposals()?;
        let mut entry = records.change()?;
        let mut imported = OpenclawImport { added: 0, known: 0, events: Vec::new() };
        // The file has the newest first, so the oldest is numbered first.
        for (at, value) in file.proposals.into_iter().enumerate().rev() {
            let record: OpenclawRecord = serde_json::from_value(value.clone())
                .map_err(|error| bad(format!("proposal {}: {error}", at + 1)))?;
            if known.iter().any(|proposal| proposal.id == record.id) {
                imported.known += 1;
                continue;
            }
            let number = entry.next_number();
            let proposal = read_record(record, value, number)
                .map_err(|detail| bad(format!("proposal {}: {detail}", at + 1)))?;
            entry.put(&proposal)?;
            imported.added += 1;
        }
        if known.is_empty() {
            entry.state.review = file.review;
        }
        entry.event(WorkshopEvent {
            at: self.now(),
            kind: WorkshopEventKind::Imported,
            skill: format!("{} proposals", imported.added),
            proposal: None,
            reason: Some(path.to_string_lossy().into_owned()),
        });
        imported.events = entry.save()?;
        Ok(imported)
    }

    /// The workspace's proposals as OpenClaw keeps them.
    pub fn export_openclaw(&self) -> Result<String> {
        let known = self.proposals()?;
        // The plugin retires and reshapes nothing, and could not read a record that does.
        let is_ours = |change: &ProposalChange| {
            matches!(change, ProposalChange::Retire { .. } | ProposalChange::Reshape { .. })
        };
        let theirs = known.iter().filter(|proposal| !is_ours(&proposal.change));
        let theirs = theirs.map(|proposal| match &proposal.change {
            // What the plugin knows that does the same: a line under a heading.
            ProposalChange::Rule { rule, description, .. } => Proposal {
                change: ProposalChange::Append {
                    section: crate::rule_file::RULES.to_owned(),
                    body: format!("- {rule}"),
                    description: description.clone(),
                },
                ..proposal.clone()
            },
            _ => proposal.clone(),
        });
        let proposals: Vec<Value> = theirs.map(|proposal| as_record(&proposal)).collect();
        let file = json!({
            "version": 1,
            "proposals": proposals,
            "review": self.review_state()?,
        });
        let text = serde_json::to_string_pretty(&file).map_err(|error| {
            WorkshopError::BadRecord { key: self.hash.clone(), detail: error.to_string() }
        })?;
        Ok(text + "\n")
    }
}

fn read_record(
    record: OpenclawRecord,
    original: Value,
    number: u64,
) -> std::result::Result<Proposal, String> {
    let status = match record.status.as_str() {
        "pending" => ProposalState::Pending,
        "applied" => ProposalState::Applied,
        "rejected" => ProposalState::Rejected { undone: false },
        "quarantined" => ProposalState::Quarantined {
            quarantine_reason: record.quarantine_reason.unwrap_or_default(),
        },
        other => {
            return Err(format!("unknown status {}", sinew_skill::ecmascript::short(other, 40)));
        }
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if record.id.is_empty() || record.id.len() > 100 || !record.id.chars().all(plain) {
        return Err("the id is none".to_owned());
    }
    name::writable_name(&record.skill_name).map_err(|error| error.to_string())?;
    Ok(Proposal {
        id: record.id,
        created_at: record.created_at,
        updated_at: record.updated_at,
        workspace_dir: record.workspace_dir,
        agent_id: record.agent_id,
        session_id: record.session_id,
        skill_name: name::normalise_name(&record.skill_name),
        title: record.title,
        reason: record.reason,
        source: record.source,
        status,
        change: record.change,
        scan_findings: record.scan_findings,
        target: Default::default(),
        revision: 1,
        result_sha256: None,
        gates: Default::default(),
        evidence: Vec::new(),
        queries: Default::default(),
        acknowledged: Vec::new(),
        probation: None,
        history: Vec::new(),
        number,
        original: Some(original),
    })
}

/// A record in the plugin's fields and order. One that is stale here is pending there: the plugin
/// finds out for itself.
fn as_record(proposal: &Proposal) -> Value {
    if let Some(original) = &proposal.original {
        return original.clone();
    }
    let status = match &proposal.status {
        ProposalState::Stale { .. } => "pending",
        status => status.as_str(),
    };
    let mut record = Map::new();
    let mut put = |key: &str, value: Value| drop(record.insert(key.to_owned(), value));
    put("id", json!(proposal.id));
    put("createdAt", json!(proposal.created_at));
    put("updatedAt", json!(proposal.updated_at));
    put("workspaceDir", json!(proposal.workspace_dir));
    if let Some(agent) = &proposal.agent_id {
        put("agentId", json!(agent));
    }
    if let Some(session) = &proposal.session_id {
        put("sessionId", json!(session));
    }
    put("skillName", json!(proposal.skill_name));
    put("title", json!(proposal.title));
    put("reason", json!(proposal.reason));
    put("source", json!(proposal.source));
    put("status", json!(status));
    put("change", json!(proposal.change));
    if !proposal.scan_findings.is_empty() {
        put("scanFindings", reference_findings(proposal));
    }
    if let ProposalState::Quarantined { quarantine_reason } = &proposal.status {
        put("quarantineReason", json!(quarantine_reason));
    }
    Value::Object(record)
}
