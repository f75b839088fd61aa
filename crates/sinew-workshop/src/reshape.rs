//! Learned skills that are divided, joined or put in order: several files change together, after a yes.
//!
//! What must never happen here: a rule that is lost without a history, a file that is not as the person
//! who agreed saw it, or a change that no person agreed to.

use std::collections::BTreeMap;

use sinew_guard::secrets::mask_strict;
use sinew_settings::Actor;
use sinew_skill::content_hash;
use sinew_skill::ecmascript as text;

use crate::apply::{ApplyConsent, PlannedWrite, ProposalPreview};
use crate::error::{Result, WorkshopError};
use crate::event::WorkshopEventKind;
use crate::files;
use crate::gates::{SkillOwner, content};
use crate::history::VersionCause;
use crate::home::probe;
use crate::prepare::check_readable;
use crate::proposal::{Proposal, ProposalChange, ProposalFinding, ProposalSource, TriggerQueries};
use crate::status::{ProposalState, ProposalTransition};
use crate::suggest::{ApplyMode, ProposalOrigin, ProposalRequest, ProposalUpdate};
use crate::workshop::Workshop;

/// Quotes kept with a proposal, and the length of each.
const MAX_EVIDENCE: usize = 12;
const MAX_QUOTE: usize = 240;

/// What is to become of several skills.
pub(crate) struct ReshapeRequest {
    /// The skill that it is about.
    pub(crate) skill: String,
    pub(crate) title: String,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<String>,
    /// Each skill's file as it should be; without one it moves into the history.
    pub(crate) skills: BTreeMap<String, Option<String>>,
}

/// The files of a reshaping.
struct ReshapePlan {
    /// Those that are written come first: until they are there, no rule leaves its old file.
    wanted: Vec<(String, Option<String>)>,
    before: String,
    after: String,
}

impl Workshop<'_> {
    /// Proposes to reshape skills; none where the same waits already, or was turned down. A proposal that
    /// waits for the same skill with other files is brought up to date.
    pub(crate) fn propose_reshape(
        &self,
        request: ReshapeRequest,
        source: ProposalSource,
        by: &Actor,
    ) -> Result<Option<ProposalUpdate>> {
        let limit = self.settings().max_skill_bytes;
        for (name, file) in &request.skills {
            if let Some(file) = file {
                self.check_file(name, file)?;
            }
        }
        let _lock = self.lock()?;
        let before = self.hashes(&request.skills)?;
        let change = ProposalChange::Reshape { skills: request.skills, before };
        let fields = content::fields(&request.title, &request.reason, &change);
        content::check_fields(&fields, limit)?;
        let records = self.raw_records();
        let proposals = records.proposals()?;
        let is_it = |known: &&Proposal| {
            known.skill_name == request.skill
                && matches!(known.change, ProposalChange::Reshape { .. })
        };
        let turned_down = ProposalState::Rejected { undone: false };
        let same = |known: &Proposal| known.change == change;
        let is_settled = |known: &Proposal| {
            (known.status.is_open() || known.status == turned_down) && same(known)
        };
        if proposals.iter().filter(is_it).any(is_settled) {
            return Ok(None);
        }
        let open = proposals.iter().filter(is_it).find(|known| known.status.is_open()).cloned();
        let quotes = request.evidence.iter().take(MAX_EVIDENCE);
        let evidence = quotes.map(|quote| text::short(&mask_strict(quote), MAX_QUOTE)).collect();
        let draft = ProposalRequest {
            skill_name: request.skill.clone(),
            title: text::short(&request.title, 200),
            reason: request.reason,
            change,
            evidence,
            queries: TriggerQueries::default(),
        };
        let mut entry = records.change()?;
        let (mut proposal, what, kind) = match open {
            Some(mut open) => {
                open.title = draft.title;
                open.reason = draft.reason;
                open.change = draft.change;
                open.evidence = draft.evidence;
                open.revision += 1;
                (open, "revised", WorkshopEventKind::Revised)
            }
            None => {
                let origin = ProposalOrigin {
                    by: by.clone(),
                    source,
                    agent_id: None,
                    session_id: None,
                    apply: ApplyMode::Never,
                };
                let made = self.new_proposal(&mut entry, &request.skill, &draft, &origin)?;
                self.prune(&mut entry, &proposals)?;
                (made, "queued", WorkshopEventKind::Queued)
            }
        };
        proposal.target = self.target(&request.skill, &probe())?.0;
        proposal.note(self.step(what, by, Some(proposal.reason.clone())));
        entry.put(&proposal)?;
        entry.event(self.event(kind, &proposal, Some(proposal.reason.clone())));
        let events = entry.save()?;
        Ok(Some(ProposalUpdate { proposal, skill_path: None, events }))
    }

    /// What the skills hold now; refused where one is not the workshop's or the user's own.
    fn hashes(
        &self,
        skills: &BTreeMap<String, Option<String>>,
    ) -> Result<BTreeMap<String, String>> {
        let mut hashes = BTreeMap::new();
        for name in skills.keys() {
            let (target, existing) = self.target(name, &probe())?;
            if target.owner.forbids() || target.owner == SkillOwner::Installed {
                let owner = target.owner.as_str();
                return Err(WorkshopError::NotOurs { owner, name: name.clone() });
            }
            if let Some(found) = existing {
                hashes.insert(name.clone(), found.sha256);
            }
        }
        Ok(hashes)
    }

    /// Refuses a file that is too large, that no reader reads, or in which the scanner has a critical
    /// finding.
    fn check_file(&self, name: &str, file: &str) -> Result<()> {
        let limit = self.settings().max_skill_bytes;
        if file.len() > limit {
            return Err(WorkshopError::TooLarge(limit));
        }
        check_readable(name, file)?;
        let scanned = [("SKILL.md".to_owned(), file.to_owned())];
        let findings = content::scan(self.parts.scanner, name, &scanned, &[]);
        match findings.into_iter().find(ProposalFinding::is_critical) {
            Some(finding) => Err(WorkshopError::Unsafe(finding.message)),
            None => Ok(()),
        }
    }

    /// Carries out a reshaping that a person agreed to.
    pub(crate) fn reshape(
        &self,
        mut proposal: Proposal,
        by: &Actor,
        consent: &ApplyConsent,
    ) -> Result<ProposalUpdate> {
        let plan = match self.reshape_plan(&proposal)? {
            Ok(plan) => plan,
            Err(reason) => return Err(self.mark_stale(proposal, reason, by)?),
        };
        let result_sha256 = content_hash(plan.after.as_bytes());
        if !by.is_person() {
            return Err(WorkshopError::NeedsApproval { id: proposal.id, result_sha256 });
        }
        if consent.result_sha256.as_ref().is_some_and(|shown| *shown != result_sha256) {
            return Err(WorkshopError::Changed);
        }
        if let ProposalChange::Reshape { skills, .. } = &proposal.change {
            for (name, file) in skills {
                if let Some(file) = file {
                    self.check_file(name, file)?;
                }
            }
        }
        proposal.result_sha256 = Some(result_sha256);
        proposal.advance(ProposalTransition::Apply, self.step("applied", by, None))?;
        let planned = PlannedWrite {
            skill: proposal.skill_name.clone(),
            action: VersionCause::Apply,
            proposal_id: Some(proposal.id.clone()),
            undoes: None,
            queries: TriggerQueries::default(),
            events: vec![self.event(WorkshopEventKind::Applied, &proposal, None)],
            proposals: vec![proposal.clone()],
        };
        let events = self.commit(planned, &plan.wanted, by)?;
        let skill_path = self.workspace().join(&proposal.target.path);
        Ok(ProposalUpdate {
            proposal,
            skill_path: Some(skill_path.to_string_lossy().into_owned()),
            events,
        })
    }

    /// What a reshaping would do, for a diff.
    pub(crate) fn preview_reshape(&self, proposal: Proposal) -> Result<ProposalPreview> {
        let (before, after, problem) = match self.reshape_plan(&proposal) {
            Ok(Ok(plan)) => (plan.before, plan.after, None),
            Ok(Err(reason)) => (String::new(), String::new(), Some(reason)),
            Err(error) => (String::new(), String::new(), Some(error.to_string())),
        };
        let result_sha256 = content_hash(after.as_bytes());
        let (path, gates) = (proposal.target.path.clone(), proposal.gates.clone());
        Ok(ProposalPreview { proposal, path, before, after, result_sha256, problem, gates })
    }

    /// The files of a reshaping; the inner error is why it no longer fits them.
    fn reshape_plan(
        &self,
        proposal: &Proposal,
    ) -> Result<std::result::Result<ReshapePlan, String>> {
        let ProposalChange::Reshape { skills, before: hashes } = &proposal.change else {
            return Err(WorkshopError::OnlyAsItIs);
        };
        let (mut written, mut removed) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (String::new(), String::new());
        for (name, file) in skills {
            let path = files::skill_path(name);
            let (target, existing) = self.target(name, &probe())?;
            let is_there = existing.is_some();
            if existing.as_ref().map(|found| &found.sha256) != hashes.get(name) {
                return Ok(Err(format!("{path} was changed after this was proposed")));
            }
            if target.owner.forbids() || target.owner == SkillOwner::Installed {
                return Ok(Err(format!("{path} is {} now", target.owner.as_str())));
            }
            if let Some(found) = existing {
                before.push_str(&format!("<!-- {path} -->\n{}", found.text));
            }
            match file {
                Some(file) => {
                    after.push_str(&format!("<!-- {path} -->\n{file}"));
                    written.push((path, Some(file.clone())));
                }
                None if is_there => {
                    let folder = format!("skills/{name}");
                    let mut paths = files::files_below(self.workspace(), &folder)?;
                    paths.retain(|other| *other != path);
                    removed.extend(paths.into_iter().chain([path]).map(|path| (path, None)));
                }
                None => {}
            }
        }
        if written.is_empty() && removed.is_empty() {
            return Ok(Err("there is nothing left to change".to_owned()));
        }
        written.extend(removed);
        Ok(Ok(ReshapePlan { wanted: written, before, after }))
    }
}
