//! Retiring what was learned: a folder moves into the history, an addition is taken back.
//!
//! Nothing is lost: each file stays in the history by its content, and undoing brings it back. It
//! always needs a person, whatever the policy says.

use sinew_settings::Actor;
use sinew_skill::content_hash;

use crate::apply::{ApplyConsent, PlannedWrite, ProposalPreview};
use crate::error::{Result, WorkshopError};
use crate::event::WorkshopEventKind;
use crate::files;
use crate::gates::SkillOwner;
use crate::history::VersionCause;
use crate::proposal::{GeneratedLocation, Proposal, TriggerQueries};
use crate::publish::written_paths;
use crate::status::{ProposalState, ProposalTransition};
use crate::suggest::ProposalUpdate;
use crate::workshop::Workshop;

/// What a retirement would do.
struct RetirementPlan {
    /// What was tried.
    tried: Proposal,
    /// The files as they should be; the last one decides.
    wanted: Vec<(String, Option<String>)>,
    /// The version that is taken back, where it is an addition.
    undoes: Option<String>,
    /// The file that is shown to people.
    path: String,
    before: String,
    after: String,
}

impl Workshop<'_> {
    /// Carries out a retirement that a person agreed to.
    pub(crate) fn retire(
        &self,
        mut proposal: Proposal,
        of: &str,
        by: &Actor,
        consent: &ApplyConsent,
    ) -> Result<ProposalUpdate> {
        let retirement = match self.retirement(of)? {
            Ok(retirement) => retirement,
            Err(reason) => return Err(self.mark_stale(proposal, reason, by)?),
        };
        let result_sha256 = content_hash(retirement.after.as_bytes());
        if !by.is_person() {
            return Err(WorkshopError::NeedsApproval { id: proposal.id, result_sha256 });
        }
        if consent.result_sha256.as_ref().is_some_and(|shown| *shown != result_sha256) {
            return Err(WorkshopError::Changed);
        }
        proposal.result_sha256 = Some(result_sha256);
        proposal.advance(ProposalTransition::Apply, self.step("applied", by, None))?;
        let mut tried = retirement.tried;
        let step = self.step("retired", by, Some(proposal.reason.clone()));
        match retirement.undoes {
            Some(_) => tried.advance(ProposalTransition::Undo, step)?,
            None => tried.note(step),
        }
        let planned = PlannedWrite {
            skill: proposal.skill_name.clone(),
            action: VersionCause::Retire,
            proposal_id: Some(proposal.id.clone()),
            undoes: retirement.undoes,
            queries: TriggerQueries::default(),
            events: vec![self.event(
                WorkshopEventKind::Retired,
                &proposal,
                Some(proposal.reason.clone()),
            )],
            proposals: vec![proposal.clone(), tried],
        };
        let events = self.commit(planned, &retirement.wanted, by)?;
        let skill_path = self.workspace().join(&retirement.path);
        Ok(ProposalUpdate {
            proposal,
            skill_path: Some(skill_path.to_string_lossy().into_owned()),
            events,
        })
    }

    /// What a retirement would do, for a diff.
    pub(crate) fn preview_retirement(
        &self,
        proposal: Proposal,
        of: &str,
    ) -> Result<ProposalPreview> {
        let (path, before, after, problem) = match self.retirement(of) {
            Ok(Ok(found)) => (found.path, found.before, found.after, None),
            Ok(Err(reason)) => {
                (proposal.target.path.clone(), String::new(), String::new(), Some(reason))
            }
            Err(error) => (
                proposal.target.path.clone(),
                String::new(),
                String::new(),
                Some(error.to_string()),
            ),
        };
        let result_sha256 = content_hash(after.as_bytes());
        let gates = proposal.gates.clone();
        Ok(ProposalPreview { proposal, path, before, after, result_sha256, problem, gates })
    }

    /// The files of a retirement; the inner error is why there is nothing to retire any more.
    fn retirement(&self, of: &str) -> Result<std::result::Result<RetirementPlan, String>> {
        let tried = self.raw_records().proposal(of)?;
        if tried.status != ProposalState::Applied {
            return Ok(Err("it was taken back meanwhile".to_owned()));
        }
        let (target, existing) = self.target(&tried.skill_name, &tried.change)?;
        let path = target.path;
        let Some(existing) = existing else {
            return Ok(Err(format!("{path} is not there any more")));
        };
        if !matches!(target.owner, SkillOwner::Workshop | SkillOwner::Installed) {
            return Ok(Err(format!("{path} was changed by hand")));
        }
        let before = existing.text;
        if !self.is_whole_skill(&tried) {
            return self.taking_back(tried, path, before);
        }
        let place = tried.change.generated().map(|made| made.place.clone()).unwrap_or_default();
        let mut paths = match place {
            GeneratedLocation::Skill => {
                files::files_below(self.workspace(), &format!("skills/{}", tried.skill_name))?
            }
            _ => written_paths(&tried),
        };
        paths.retain(|other| *other != path);
        // The skill's own file is removed last: while it exists, so do all others.
        paths.push(path.clone());
        let wanted = paths.into_iter().map(|path| (path, None)).collect();
        Ok(Ok(RetirementPlan { tried, wanted, undoes: None, path, before, after: String::new() }))
    }

    /// An addition is taken back while its file is as it left it.
    fn taking_back(
        &self,
        tried: Proposal,
        path: String,
        before: String,
    ) -> Result<std::result::Result<RetirementPlan, String>> {
        let records = self.raw_records();
        let version = match self.version_of(&tried.id) {
            Ok(version) => version,
            Err(error @ WorkshopError::NothingToUndo(_)) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error),
        };
        let mut wanted = Vec::with_capacity(version.files.len());
        for written in &version.files {
            let now = files::read(self.workspace(), &written.path)?.map(|found| found.sha256);
            if now != written.after {
                return Ok(Err(format!("{} was changed after it was written", written.path)));
            }
            let content =
                written.before.as_deref().map(|hash| records.content(hash)).transpose()?;
            wanted.push((written.path.clone(), content));
        }
        let left = wanted.iter().find(|(other, _)| *other == path);
        let after = left.and_then(|(_, content)| content.clone()).unwrap_or_default();
        Ok(Ok(RetirementPlan { tried, wanted, undoes: Some(version.id), path, before, after }))
    }
}
