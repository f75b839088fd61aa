//! A change is proposed: checked, compared, and queued, held or written.

use sinew_settings::Actor;
use sinew_settings::config::ApprovalPolicy;

use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::gates::content;
use crate::id;
use crate::name;
use crate::prepare::{ChangeRequest, PreparedChange};
use crate::proposal::{Proposal, ProposalChange, ProposalSource, TriggerQueries};
use crate::records::RecordsChange;
use crate::status::ProposalState;
use crate::workshop::Workshop;
use sinew_skill::ecmascript as text;

/// What is proposed.
#[derive(Debug, Clone)]
pub struct ProposalRequest {
    /// The skill, as written; it is normalised.
    pub skill_name: String,
    /// A line for lists; a default where empty.
    pub title: String,
    /// Why; a default where empty.
    pub reason: String,
    /// What changes.
    pub change: ProposalChange,
    /// Short quotes that led to it.
    pub evidence: Vec<String>,
    /// Messages for the trigger gate.
    pub queries: TriggerQueries,
}

/// Who proposes, and what may follow.
#[derive(Debug, Clone)]
pub struct ProposalOrigin {
    /// Who.
    pub by: Actor,
    /// How it came about.
    pub source: ProposalSource,
    /// The agent, where known.
    pub agent_id: Option<String>,
    /// The session, where known.
    pub session_id: Option<String>,
    /// Whether the policy may write it at once.
    pub apply: ApplyMode,
}

/// Whether the policy may write a proposal at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApplyMode {
    /// As the policy says.
    #[default]
    ByPolicy,
    /// It is queued in any case.
    Never,
    /// It is written at once, unless the policy is never or a gate objects.
    AtOnce,
}

/// What became of a proposal.
#[derive(Debug, Clone)]
pub struct ProposalUpdate {
    /// The record.
    pub proposal: Proposal,
    /// The file that was written, if one was.
    pub skill_path: Option<String>,
    /// What happened, for the log.
    pub events: Vec<WorkshopEvent>,
}

/// Quotes kept with a proposal, and the length of each.
const MAX_EVIDENCE: usize = 5;
const MAX_QUOTE: usize = 240;

/// Quotes as a proposal keeps them.
pub(crate) fn quoted(evidence: &[String]) -> Vec<String> {
    evidence.iter().take(MAX_EVIDENCE).map(|quote| masked(quote, MAX_QUOTE)).collect()
}

/// Messages kept with a proposal, and the length of each.
const MAX_QUERIES: usize = 10;
const MAX_QUERY: usize = 400;

impl Workshop<'_> {
    /// Proposes a change.
    pub fn suggest(
        &self,
        draft: &ProposalRequest,
        origin: &ProposalOrigin,
    ) -> Result<ProposalUpdate> {
        let name = name::writable_name(&draft.skill_name)?;
        let policy = self.settings().policy_for(&name);
        if policy == ApprovalPolicy::Never && !origin.by.is_person() {
            return Err(WorkshopError::Never(name));
        }
        let draft = self.completed(draft, &name)?;
        let _lock = self.lock()?;
        let wanted = ChangeRequest {
            name: &name,
            title: &draft.title,
            reason: &draft.reason,
            change: &draft.change,
            queries: &draft.queries,
        };
        let prepared = self.prepare(&wanted)?;
        let records = self.raw_records();
        let proposals = records.proposals()?;
        let twin = proposals.iter().find(|p| {
            p.status.is_open() && p.skill_name == name && p.change.says_same(&draft.change)
        });
        let mut entry = records.change()?;
        let mut proposal = match twin {
            Some(twin) => twin.clone(),
            None => self.new_proposal(&mut entry, &name, &draft, origin)?,
        };
        self.judge(&mut proposal, &prepared);
        let allowed = match origin.apply {
            ApplyMode::ByPolicy => policy == ApprovalPolicy::Auto,
            ApplyMode::AtOnce => policy != ApprovalPolicy::Never,
            ApplyMode::Never => false,
        };
        let at_once = allowed
            && proposal.status == ProposalState::Pending
            && proposal.acknowledged.is_empty()
            && prepared.gates.holds(self.settings()).is_none();
        if at_once {
            if twin.is_none() {
                proposal.note(self.step("proposed", &origin.by, None));
            }
            return self.write_proposal(proposal, &prepared, &origin.by);
        }
        if let Some(twin) = twin {
            // The same change proposed twice is one proposal.
            return Ok(ProposalUpdate {
                proposal: twin.clone(),
                skill_path: None,
                events: Vec::new(),
            });
        }
        let kind = match proposal.status {
            ProposalState::Quarantined { .. } => WorkshopEventKind::Quarantined,
            _ => WorkshopEventKind::Queued,
        };
        let why = match &proposal.status {
            ProposalState::Quarantined { quarantine_reason } => Some(quarantine_reason.clone()),
            _ => prepared.gates.holds(self.settings()).filter(|_| policy == ApprovalPolicy::Auto),
        };
        let what = if kind == WorkshopEventKind::Queued { "queued" } else { "quarantined" };
        proposal.note(self.step(what, &origin.by, why.clone()));
        entry.put(&proposal)?;
        entry.event(self.event(kind, &proposal, why));
        self.prune(&mut entry, &proposals)?;
        let events = entry.save()?;
        Ok(ProposalUpdate { proposal, skill_path: None, events })
    }

    /// The draft with its defaults, checked for what must never be stored.
    fn completed(&self, draft: &ProposalRequest, name: &str) -> Result<ProposalRequest> {
        let or = |given: &str, default: String| match text::trim(given) {
            "" => default,
            given => given.to_owned(),
        };
        let title = or(&draft.title, format!("Skill update: {name}"));
        let reason = or(&draft.reason, "Tool-created skill update".to_owned());
        let mut change = draft.change.clone();
        match &mut change {
            ProposalChange::Create { description, body, .. } => {
                *description = or(description, title.clone());
                require("body", body)?;
            }
            ProposalChange::Append { section, body, description } => {
                *description = or(description, title.clone());
                name::section_heading(section)?;
                require("body", body)?;
            }
            ProposalChange::Replace { old_text, .. } => {
                if old_text.is_empty() {
                    return Err(WorkshopError::ReplaceNeedsBoth);
                }
            }
            ProposalChange::Rule { rule, .. } => require("rule", rule)?,
            ProposalChange::Retire { .. } | ProposalChange::Reshape { .. } => {
                return Err(WorkshopError::OnlyAsItIs);
            }
        }
        let limit = self.settings().max_skill_bytes;
        content::check_fields(&content::fields(&title, &reason, &change), limit)?;
        let evidence = quoted(&draft.evidence);
        let messages = |messages: &[String]| {
            messages.iter().take(MAX_QUERIES).map(|query| masked(query, MAX_QUERY)).collect()
        };
        let queries = TriggerQueries {
            positive: messages(&draft.queries.positive),
            near_miss: messages(&draft.queries.near_miss),
        };
        Ok(ProposalRequest {
            skill_name: name.to_owned(),
            title,
            reason,
            change,
            evidence,
            queries,
        })
    }

    pub(crate) fn new_proposal(
        &self,
        entry: &mut RecordsChange<'_>,
        name: &str,
        draft: &ProposalRequest,
        origin: &ProposalOrigin,
    ) -> Result<Proposal> {
        Ok(Proposal {
            id: id::uuid()?,
            created_at: self.now(),
            updated_at: self.now(),
            workspace_dir: self.workspace_text.clone(),
            agent_id: origin.agent_id.clone(),
            session_id: origin.session_id.clone(),
            skill_name: name.to_owned(),
            title: draft.title.clone(),
            reason: draft.reason.clone(),
            source: origin.source,
            status: ProposalState::Pending,
            change: draft.change.clone(),
            scan_findings: Vec::new(),
            target: Default::default(),
            revision: 1,
            result_sha256: None,
            gates: Default::default(),
            evidence: draft.evidence.clone(),
            queries: draft.queries.clone(),
            acknowledged: Vec::new(),
            probation: None,
            history: Vec::new(),
            number: entry.next_number(),
            original: None,
        })
    }

    /// Records the findings; a critical one that no person acknowledged holds the proposal.
    pub(crate) fn judge(&self, proposal: &mut Proposal, prepared: &PreparedChange) {
        proposal.scan_findings = prepared.findings.clone();
        proposal.target = prepared.target.clone();
        proposal.result_sha256 = Some(prepared.result_sha256.clone());
        proposal.gates = prepared.gates.clone();
        let critical = proposal.open_criticals().next().map(|finding| finding.message.clone());
        if let Some(reason) = critical {
            proposal.status = ProposalState::Quarantined { quarantine_reason: reason };
        }
    }

    /// Removes the oldest open proposals once there are too many; one more is about to be stored.
    pub(crate) fn prune(&self, entry: &mut RecordsChange<'_>, before: &[Proposal]) -> Result<()> {
        let kept = self.settings().max_pending.saturating_sub(1);
        let open = before.iter().filter(|proposal| proposal.status.is_open());
        for proposal in open.skip(kept) {
            entry.prune(proposal, self.now())?;
            let why = format!("more than {} proposals are open", kept + 1);
            entry.event(self.event(WorkshopEventKind::Pruned, proposal, Some(why)));
        }
        Ok(())
    }
}

pub(crate) fn require(what: &'static str, given: &str) -> Result<()> {
    if text::trim(given).is_empty() { Err(WorkshopError::Required(what)) } else { Ok(()) }
}

/// A quote for the record: one line, cut, secrets masked.
fn masked(quote: &str, units: usize) -> String {
    text::short(&sinew_guard::secrets::mask_strict(quote), units)
}
