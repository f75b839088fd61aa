//! Applying a proposal: it is compared with its target, scanned again, and written.
//!
//! The intent is stored before the first byte is written and removed together with the record of the
//! write, so that after a crash the file is old or new and the record agrees with it.

use sinew_settings::Actor;
use sinew_settings::config::{ApprovalPolicy, GateMode, StaleCheck};
use sinew_skill::content_hash;

use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::files;
use crate::gates::duplicate::pair_key;
use crate::gates::{GateReport, SkillOwner, TriggerVerdict};
use crate::history::{SkillVersion, VersionCause, WrittenFile};
use crate::id;
use crate::prepare::{ChangeRequest, PreparedChange};
use crate::probation::ProbationStatus;
use crate::proposal::{Proposal, ProposalChange, ProposalTarget, TriggerQueries};
use crate::records::{RecordsChange, WriteIntent};
use crate::status::ProposalTransition;
use crate::suggest::ProposalUpdate;
use crate::workshop::Workshop;

/// What the person who applies a proposal has seen and agrees to.
#[derive(Debug, Clone, Default)]
pub struct ApplyConsent {
    /// SHA-256 of the result that was shown; anything else is not written.
    pub result_sha256: Option<String>,
    /// The messages that other skills would lose were shown and accepted.
    pub accept_stolen: bool,
    /// The nearest skill is not a duplicate, now and later.
    pub not_a_duplicate: bool,
}

impl Workshop<'_> {
    /// Writes a pending proposal.
    pub fn apply(&self, id: &str, by: &Actor, consent: &ApplyConsent) -> Result<ProposalUpdate> {
        let _lock = self.lock()?;
        let mut proposal = self.raw_records().proposal(id)?;
        // Checked first, so that a proposal that cannot be applied fails before anything else is read.
        proposal.status.clone().after(ProposalTransition::Apply)?;
        self.check_policy(&proposal, by)?;
        if let ProposalChange::Retire { of } = &proposal.change {
            let of = of.clone();
            return self.retire(proposal, &of, by, consent);
        }
        if matches!(proposal.change, ProposalChange::Reshape { .. }) {
            return self.reshape(proposal, by, consent);
        }
        let prepared = match self.prepare_again(&proposal)? {
            Ok(prepared) => prepared,
            Err(reason) => return Err(self.mark_stale(proposal, reason, by)?),
        };
        proposal.scan_findings = prepared.findings.clone();
        let critical = proposal.open_criticals().next().map(|finding| finding.message.clone());
        if let Some(message) = critical {
            proposal.advance(
                ProposalTransition::Quarantine(message.clone()),
                self.step("quarantined", by, Some(message.clone())),
            )?;
            let mut entry = self.raw_records().change()?;
            entry.put(&proposal)?;
            entry.event(self.event(
                WorkshopEventKind::Quarantined,
                &proposal,
                Some(message.clone()),
            ));
            entry.save()?;
            return Err(WorkshopError::Unsafe(message));
        }
        if consent.result_sha256.as_ref().is_some_and(|shown| *shown != prepared.result_sha256) {
            return Err(WorkshopError::Changed);
        }
        self.check_gates(&prepared, by, consent)?;
        if consent.not_a_duplicate && by.is_person() {
            self.remember_parted(&proposal, &prepared, by)?;
        }
        self.write_proposal(proposal, &prepared, by)
    }

    /// Whether this actor may write at all.
    fn check_policy(&self, proposal: &Proposal, by: &Actor) -> Result<()> {
        if by.is_person() {
            return Ok(());
        }
        match self.settings().policy_for(&proposal.skill_name) {
            ApprovalPolicy::Never => Err(WorkshopError::Never(proposal.skill_name.clone())),
            // What a person had to acknowledge, a person has to apply.
            ApprovalPolicy::Auto if proposal.acknowledged.is_empty() => Ok(()),
            _ => Err(WorkshopError::NeedsApproval {
                id: proposal.id.clone(),
                result_sha256: proposal.result_sha256.clone().unwrap_or_default(),
            }),
        }
    }

    fn check_gates(
        &self,
        prepared: &PreparedChange,
        by: &Actor,
        consent: &ApplyConsent,
    ) -> Result<()> {
        let gates = &prepared.gates;
        if !by.is_person()
            && let Some(why) = gates.holds(self.settings())
        {
            return Err(WorkshopError::Held(why));
        }
        if self.settings().trigger_gate == GateMode::Block
            && !consent.accept_stolen
            && let Some(trigger) = &gates.trigger
            && trigger.verdict == TriggerVerdict::Steals
        {
            return Err(WorkshopError::Steals(trigger.objections()));
        }
        Ok(())
    }

    fn remember_parted(
        &self,
        proposal: &Proposal,
        prepared: &PreparedChange,
        by: &Actor,
    ) -> Result<()> {
        if let Some((own, other)) = self.nearest_pair(prepared, &proposal.skill_name) {
            let mut entry = self.raw_records().change()?;
            entry.mark_distinct(&pair_key(&own, &other), &by.to_string())?;
            entry.save()?;
        }
        Ok(())
    }

    /// Prepares a stored proposal against the files as they are; the inner error is why it is stale.
    fn prepare_again(
        &self,
        proposal: &Proposal,
    ) -> Result<std::result::Result<PreparedChange, String>> {
        let (now, _) = self.target(&proposal.skill_name, &proposal.change)?;
        if let Some(reason) = stale_reason(proposal, &now, self.settings().stale_check) {
            return Ok(Err(reason));
        }
        let wanted = ChangeRequest {
            name: &proposal.skill_name,
            title: &proposal.title,
            reason: &proposal.reason,
            change: &proposal.change,
            queries: &proposal.queries,
        };
        match self.prepare(&wanted) {
            Ok(prepared) => Ok(Ok(prepared)),
            Err(error @ (WorkshopError::OldTextNotFound | WorkshopError::NoSuchSkill(_))) => {
                Ok(Err(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn mark_stale(
        &self,
        mut proposal: Proposal,
        reason: String,
        by: &Actor,
    ) -> Result<WorkshopError> {
        let step = self.step("stale", by, Some(reason.clone()));
        proposal.advance(ProposalTransition::GoStale(reason.clone()), step)?;
        let mut entry = self.raw_records().change()?;
        entry.put(&proposal)?;
        entry.event(self.event(WorkshopEventKind::Stale, &proposal, Some(reason.clone())));
        entry.save()?;
        Ok(WorkshopError::Stale(reason))
    }

    /// What would be written, with the present text: for a diff. Nothing is stored.
    pub fn preview(&self, id: &str) -> Result<ProposalPreview> {
        let proposal = self.inspect(id)?;
        if let ProposalChange::Retire { of } = &proposal.change {
            let of = of.clone();
            return self.preview_retirement(proposal, &of);
        }
        if matches!(proposal.change, ProposalChange::Reshape { .. }) {
            return self.preview_reshape(proposal);
        }
        let (target, existing) = self.target(&proposal.skill_name, &proposal.change)?;
        let before = existing.map(|found| found.text).unwrap_or_default();
        let (after, problem, gates) = match self.prepare_again(&proposal) {
            Ok(Ok(prepared)) => (prepared.result, None, prepared.gates),
            Ok(Err(reason)) => (before.clone(), Some(reason), proposal.gates.clone()),
            Err(error) => (before.clone(), Some(error.to_string()), proposal.gates.clone()),
        };
        let result_sha256 = content_hash(after.as_bytes());
        Ok(ProposalPreview {
            path: target.path,
            before,
            after,
            result_sha256,
            problem,
            gates,
            proposal,
        })
    }

    /// Writes what was prepared, and records it.
    pub(crate) fn write_proposal(
        &self,
        mut proposal: Proposal,
        prepared: &PreparedChange,
        by: &Actor,
    ) -> Result<ProposalUpdate> {
        proposal.target = prepared.target.clone();
        proposal.result_sha256 = Some(prepared.result_sha256.clone());
        proposal.gates = prepared.gates.clone();
        proposal.advance(ProposalTransition::Apply, self.step("applied", by, None))?;
        let hidden = proposal.change.generated().is_some_and(|made| made.hidden);
        if !hidden
            && matches!(
                proposal.change,
                ProposalChange::Create { .. }
                    | ProposalChange::Append { .. }
                    | ProposalChange::Rule { .. }
            )
        {
            proposal.probation = Some(ProbationStatus::Trial { since: self.now() });
        }
        let mut wanted: Vec<(String, Option<String>)> =
            prepared.files.iter().map(|(path, text)| (path.clone(), Some(text.clone()))).collect();
        wanted.extend(self.superseded(&proposal)?);
        // The skill's own file comes last: until it exists, no other file is used.
        wanted.push((prepared.target.path.clone(), Some(prepared.result.clone())));
        // An editor holds no lock: the file that was judged is checked once more.
        let now = files::read(self.workspace(), &prepared.target.path)?.map(|found| found.sha256);
        if now != prepared.target.sha256 {
            return Err(WorkshopError::Changed);
        }
        let event = self.event(WorkshopEventKind::Applied, &proposal, None);
        let planned = PlannedWrite {
            skill: proposal.skill_name.clone(),
            action: VersionCause::Apply,
            proposal_id: Some(proposal.id.clone()),
            undoes: None,
            queries: proposal.queries.clone(),
            proposals: vec![proposal.clone()],
            events: vec![event],
        };
        let events = self.commit(planned, &wanted, by)?;
        let skill_path = self.workspace().join(&prepared.target.path);
        Ok(ProposalUpdate {
            proposal,
            skill_path: Some(skill_path.to_string_lossy().into_owned()),
            events,
        })
    }

    /// What becomes of the files that a draft replaces: they move to the archive, with a record that
    /// says why.
    fn superseded(&self, proposal: &Proposal) -> Result<Vec<(String, Option<String>)>> {
        let Some(made) = proposal.change.generated() else { return Ok(Vec::new()) };
        let mut wanted = Vec::new();
        for path in &made.supersedes {
            let Some(found) = files::read(self.workspace(), path)? else { continue };
            if let Some(archive) = &made.archive {
                let name = path.rsplit('/').next().unwrap_or(path);
                wanted.push((format!("{archive}/{name}"), Some(found.text)));
            }
            wanted.push((path.clone(), None));
        }
        if let Some(archive) = made.archive.as_ref().filter(|_| !wanted.is_empty()) {
            let record = serde_json::json!({
                "superseded_by": made.place.skill_path(&proposal.skill_name),
                "when": self.now(),
                "reason": proposal.reason,
            });
            wanted.push((format!("{archive}/record.json"), Some(format!("{record}\n"))));
        }
        Ok(wanted)
    }

    /// Writes files with their history: intent, files, record. The last file decides.
    pub(crate) fn commit(
        &self,
        planned: PlannedWrite,
        wanted: &[(String, Option<String>)],
        by: &Actor,
    ) -> Result<Vec<WorkshopEvent>> {
        let records = self.raw_records();
        let mut entry = records.change()?;
        let mut written = Vec::with_capacity(wanted.len());
        for (path, content) in wanted {
            files::check_contained(self.workspace(), path)?;
            let found = files::read(self.workspace(), path)?;
            if let Some(found) = &found {
                entry.keep_content(&found.sha256, &found.text)?;
            }
            let after = content.as_ref().map(|text| content_hash(text.as_bytes()));
            if let (Some(hash), Some(text)) = (&after, content) {
                entry.keep_content(hash, text)?;
            }
            let before = found.map(|found| found.sha256);
            written.push(WrittenFile { path: path.clone(), before, after });
        }
        let version = SkillVersion {
            id: id::uuid()?,
            number: entry.next_number(),
            at: self.now(),
            skill_name: planned.skill,
            action: planned.action,
            proposal_id: planned.proposal_id,
            undoes: planned.undoes,
            by: by.to_string(),
            files: written,
        };
        let intent = WriteIntent {
            version,
            proposals: planned.proposals,
            queries: planned.queries,
            events: planned.events,
        };
        entry.state.intent = Some(Box::new(intent.clone()));
        entry.save()?;
        for (at, (path, content)) in wanted.iter().enumerate() {
            if let Err(error) = files::write(self.workspace(), path, content.as_deref()) {
                self.roll_back(&intent, at)?;
                return Err(error);
            }
        }
        let events = self.finish(records.change()?, &intent)?;
        self.parts.surroundings.refresh();
        Ok(events)
    }

    /// Records that a write is done.
    fn finish(
        &self,
        mut entry: RecordsChange<'_>,
        intent: &WriteIntent,
    ) -> Result<Vec<WorkshopEvent>> {
        for proposal in &intent.proposals {
            entry.put(proposal)?;
        }
        entry.keep_queries(&intent.version.skill_name, &intent.queries)?;
        entry.add_version(&intent.version)?;
        for event in &intent.events {
            entry.event(event.clone());
        }
        entry.state.intent = None;
        entry.save()
    }

    /// Puts the first `count` files back, and forgets the intent.
    fn roll_back(&self, intent: &WriteIntent, count: usize) -> Result<()> {
        let records = self.raw_records();
        for written in intent.version.files.iter().take(count) {
            let now = files::read(self.workspace(), &written.path)?.map(|found| found.sha256);
            if now == written.after && now != written.before {
                let before =
                    written.before.as_deref().map(|hash| records.content(hash)).transpose()?;
                files::write(self.workspace(), &written.path, before.as_deref())?;
            }
        }
        for written in &intent.version.files {
            files::remove_litter(self.workspace(), &written.path);
            if written.before.is_none() {
                files::remove_empty_folders(self.workspace(), &written.path);
            }
        }
        let mut entry = records.change()?;
        entry.state.intent = None;
        entry.save()?;
        Ok(())
    }

    /// Finishes or undoes a write that was cut short. Called with the lock held.
    pub(crate) fn recover(&self) -> Result<()> {
        let records = self.raw_records();
        let mut entry = records.change()?;
        let Some(intent) = entry.state.intent.take() else { return Ok(()) };
        let Some(last) = intent.version.files.last() else { return Ok(()) };
        let now = files::read(self.workspace(), &last.path)?.map(|found| found.sha256);
        if now == last.after {
            for written in &intent.version.files {
                files::remove_litter(self.workspace(), &written.path);
                if written.after.is_none() {
                    files::remove_empty_folders(self.workspace(), &written.path);
                }
            }
            self.finish(entry, &intent)?;
            self.parts.surroundings.refresh();
            return Ok(());
        }
        self.roll_back(&intent, intent.version.files.len())
    }
}

/// A write before it has a version.
pub(crate) struct PlannedWrite {
    pub(crate) skill: String,
    pub(crate) action: VersionCause,
    pub(crate) proposal_id: Option<String>,
    pub(crate) undoes: Option<String>,
    pub(crate) proposals: Vec<Proposal>,
    pub(crate) queries: TriggerQueries,
    pub(crate) events: Vec<WorkshopEvent>,
}

/// What a proposal would do now.
#[derive(Debug, Clone)]
pub struct ProposalPreview {
    /// The proposal.
    pub proposal: Proposal,
    /// The file, below the workspace.
    pub path: String,
    /// What it holds.
    pub before: String,
    /// What it would hold.
    pub after: String,
    /// SHA-256 of that.
    pub result_sha256: String,
    /// Why it cannot be written as it stands.
    pub problem: Option<String>,
    /// What the gates say now.
    pub gates: GateReport,
}

impl ProposalPreview {
    /// The change as a unified diff.
    pub fn diff(&self) -> String {
        unified(&self.path, &self.before, &self.after)
    }
}

/// A unified diff with three lines around each change.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

/// Why a proposal no longer fits its target, if it does not.
fn stale_reason(proposal: &Proposal, now: &ProposalTarget, check: StaleCheck) -> Option<String> {
    let made = &proposal.target;
    if made.sha256 == now.sha256 && made.path == now.path {
        return None;
    }
    let path = &now.path;
    let strict = || (check == StaleCheck::Strict).then(|| format!("{path} changed meanwhile"));
    match &proposal.change {
        ProposalChange::Create { .. }
        | ProposalChange::Append { .. }
        | ProposalChange::Rule { .. }
            if !made.existed && now.existed && now.owner != SkillOwner::Workshop =>
        {
            Some(format!("{path} exists now and is {}", now.owner.as_str()))
        }
        ProposalChange::Append { .. } if made.existed && !now.existed => {
            Some(format!("{path} is not there any more"))
        }
        ProposalChange::Replace { .. } if now.occurrences == 0 => {
            Some(WorkshopError::OldTextNotFound.to_string())
        }
        ProposalChange::Replace { .. } if now.occurrences > made.occurrences => {
            Some(format!("oldText occurs {} times in {path} now", now.occurrences))
        }
        ProposalChange::Replace { .. } => strict(),
        _ if made.existed && made.owner != now.owner => Some(format!("{path} was changed by hand")),
        _ => strict(),
    }
}
