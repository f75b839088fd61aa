//! What a draft becomes: a proposal, a revision of one, or files in OpenPocket's folders that
//! replace those of earlier runs.

use std::collections::BTreeMap;

use sinew_settings::Actor;
use sinew_settings::config::PublishMode;

use crate::error::{Result, WorkshopError};
use crate::files;
use crate::learn::{LearnContext, LearnStatus};
use crate::proposal::{
    GeneratedDetails, GeneratedLocation, Proposal, ProposalChange, ProposalSource, TriggerQueries,
};
use crate::status::{ProposalState, ProposalTransition};
use crate::suggest::{ApplyMode, ProposalOrigin, ProposalRequest, ProposalUpdate};
use crate::workshop::Workshop;
use sinew_traces::{DraftForm, LearnedRun, REPLAY_FILE, SkillDraft, TraceSettings, replay_stem};

/// What became of a draft.
pub(crate) enum PublishResult {
    /// A proposal was made or revised.
    Done(ProposalUpdate, LearnStatus),
    /// It adds nothing new, with the reason.
    Nothing(Option<Proposal>, String),
}

impl Workshop<'_> {
    /// A name that no other draft, open proposal or skill has.
    pub(crate) fn free_name(
        &self,
        wanted: &str,
        found: &LearnContext<'_>,
        runs: &[LearnedRun],
    ) -> Result<String> {
        let proposals = self.records()?.proposals()?;
        let is_taken = |name: &str| -> Result<bool> {
            let other = runs
                .iter()
                .any(|run| run.key != found.known.key && run.skill.as_deref() == Some(name));
            let proposed = proposals.iter().any(|p| p.skill_name == name && !is_closed(&p.status));
            let there = files::read(self.workspace(), &files::skill_path(name))?.is_some();
            let elsewhere = self.parts.surroundings.owner_elsewhere(name).is_some();
            Ok(other || proposed || there || elsewhere)
        };
        for number in 1..1_000 {
            let name = match number {
                1 => wanted.to_owned(),
                n => format!("{wanted}-{n}"),
            };
            if !is_taken(&name)? {
                return Ok(name);
            }
        }
        Err(WorkshopError::InvalidName(wanted.to_owned()))
    }

    /// Proposes a draft, or writes it; it replaces the drafts of earlier runs.
    pub(crate) fn publish(
        &self,
        made: &SkillDraft,
        found: &LearnContext<'_>,
        group: &[&LearnedRun],
    ) -> Result<PublishResult> {
        let records = self.records()?;
        let earlier: Vec<Proposal> = group
            .iter()
            .filter_map(|run| records.proposal(run.proposal.as_deref()?).ok())
            .collect();
        let newest = earlier.iter().max_by_key(|proposal| proposal.number).cloned();
        if found.settings.publish == PublishMode::Auto {
            return self.publish_auto(made, found, newest.as_ref());
        }
        let draft = to_propose(
            made,
            found,
            GeneratedDetails {
                metadata: Some(made.metadata.clone()),
                ..GeneratedDetails::default()
            },
        );
        match newest {
            Some(open) if open.status.is_open() => {
                let done = self.redraft(&open.id, &draft)?;
                Ok(PublishResult::Done(done, LearnStatus::Revised))
            }
            Some(closed) if closed.status == (ProposalState::Rejected { undone: false }) => {
                let why = "a person turned this down before".to_owned();
                Ok(PublishResult::Nothing(Some(closed), why))
            }
            Some(applied)
                if applied.status == ProposalState::Applied && !says_more(&applied, made) =>
            {
                let why = format!("the skill {} says so already", made.name);
                Ok(PublishResult::Nothing(Some(applied), why))
            }
            Some(applied)
                if applied.status == ProposalState::Applied && self.was_edited(&applied)? =>
            {
                // What a person changed is theirs: the new draft gets a name of its own.
                let mut draft = draft;
                draft.skill_name = self.free_name(&made.name, found, &[])?;
                let done = self.suggest(&draft, &origin(found, ApplyMode::Never))?;
                Ok(PublishResult::Done(done, LearnStatus::Proposed))
            }
            _ => {
                let done = self.suggest(&draft, &origin(found, ApplyMode::ByPolicy))?;
                Ok(PublishResult::Done(done, LearnStatus::Proposed))
            }
        }
    }

    /// Writes a draft into OpenPocket's folders, unless a gate objects.
    fn publish_auto(
        &self,
        made: &SkillDraft,
        found: &LearnContext<'_>,
        newest: Option<&Proposal>,
    ) -> Result<PublishResult> {
        if let Some(open) = newest.filter(|proposal| proposal.status.is_open()) {
            // A person has to look at it; more runs make it better, not more.
            let kept = open.change.generated().cloned().unwrap_or_default();
            let metadata = kept.metadata.is_some().then(|| made.metadata.clone());
            let draft = to_propose(made, found, GeneratedDetails { metadata, ..kept });
            let done = self.redraft(&open.id, &draft)?;
            return Ok(PublishResult::Done(done, LearnStatus::Revised));
        }
        let TraceSettings { strict, front_matter, hidden, archive, .. } = *found.settings;
        // A folder and the name in it have to fit each other.
        let as_file = found.settings.form == DraftForm::OpenPocket && !strict;
        let called = if as_file { &made.task } else { &made.name };
        let stem = replay_stem(called, &made.behavior_fingerprint, !as_file, self.now());
        let place = match found.settings.form {
            DraftForm::SkillFolder => GeneratedLocation::Skill,
            _ if as_file => GeneratedLocation::AutoFile { stem },
            _ => GeneratedLocation::AutoFolder { stem },
        };
        let mut generated = GeneratedDetails {
            metadata: (!as_file || front_matter).then(|| made.metadata.clone()),
            place,
            hidden,
            ..GeneratedDetails::default()
        };
        let mut edited = false;
        let superseded = newest.filter(|proposal| proposal.status == ProposalState::Applied);
        if let Some(old) = superseded {
            edited = self.was_edited(old)?;
            // A skill in its own place is written over, and its history keeps the old text.
            let same_place = old.change.generated().is_some_and(|was| was.place == generated.place);
            if !edited && !same_place {
                generated.supersedes = written_paths(old);
                generated.archive = archive.then(|| archive_of(old));
            }
        }
        let apply = match made.risk.is_some() || edited {
            true => ApplyMode::Never,
            false => ApplyMode::AtOnce,
        };
        let done = self.suggest(&to_propose(made, found, generated), &origin(found, apply))?;
        let became =
            if superseded.is_some() { LearnStatus::Revised } else { LearnStatus::Proposed };
        Ok(PublishResult::Done(done, became))
    }

    /// Whether a person changed what a proposal wrote, or made a skill of it.
    fn was_edited(&self, proposal: &Proposal) -> Result<bool> {
        let made = proposal.change.generated();
        if made.is_some_and(|made| made.promoted_from.is_some()) {
            return Ok(true);
        }
        let now = files::read(self.workspace(), &proposal.target.path)?.map(|found| found.sha256);
        Ok(now != proposal.result_sha256)
    }

    /// Gives an open proposal the draft of more runs.
    fn redraft(&self, id: &str, draft: &ProposalRequest) -> Result<ProposalUpdate> {
        let _lock = self.lock()?;
        let mut proposal = self.raw_records().proposal(id)?;
        proposal.status.clone().after(ProposalTransition::Revise)?;
        proposal.skill_name.clone_from(&draft.skill_name);
        proposal.title.clone_from(&draft.title);
        proposal.reason.clone_from(&draft.reason);
        proposal.change.clone_from(&draft.change);
        self.reassess(proposal, &Actor::System)
    }
}

fn is_closed(status: &ProposalState) -> bool {
    matches!(status, ProposalState::Rejected { .. })
}

fn origin(found: &LearnContext<'_>, apply: ApplyMode) -> ProposalOrigin {
    ProposalOrigin {
        by: Actor::System,
        source: ProposalSource::Trace,
        agent_id: Some(found.clean.run.agent.clone()),
        session_id: Some(found.clean.run.session.clone()),
        apply,
    }
}

/// The title of what a run is proposed as.
pub(crate) fn title_of(task: &str) -> String {
    format!("Skill from a finished run: {}", sinew_skill::ecmascript::short(task, 160))
}

fn to_propose(
    made: &SkillDraft,
    found: &LearnContext<'_>,
    generated: GeneratedDetails,
) -> ProposalRequest {
    let mut files = BTreeMap::new();
    if let Some(script) = &made.script {
        files.insert(REPLAY_FILE.to_owned(), script.clone());
    }
    ProposalRequest {
        skill_name: made.name.clone(),
        title: title_of(&made.task),
        reason: match made.runs {
            1 => format!("A run of {} succeeded", found.clean.run.agent),
            n => format!("{n} runs of {} went the same way", found.clean.run.agent),
        },
        change: ProposalChange::Create {
            description: made.description.clone(),
            body: made.body.clone(),
            files,
            generated: Some(Box::new(generated)),
        },
        evidence: Vec::new(),
        queries: TriggerQueries {
            positive: vec![found.clean.run.task.clone()],
            near_miss: Vec::new(),
        },
    }
}

/// Whether a draft holds more than the proposal that was applied: other steps or parameters, or more
/// confidence. When it was generated and how many runs there were does not count.
fn says_more(applied: &Proposal, made: &SkillDraft) -> bool {
    let ProposalChange::Create { body, .. } = &applied.change else { return true };
    let told = |body: &str| -> Vec<String> {
        let from = body.find("\n## Preconditions").unwrap_or(0);
        let to = body.find("\n## Completion Criteria").unwrap_or(body.len());
        let level = body.lines().find(|line| line.starts_with("- Confidence:"));
        let level = level.and_then(|line| line.split(' ').nth(2)).unwrap_or_default();
        let lines = body.get(from..to).unwrap_or_default().lines();
        let steps = lines.filter(|line| {
            !["   - observed:", "   - intent:", "   - Why:", "   - You should see:"]
                .iter()
                .any(|start| line.starts_with(start))
        });
        [level.to_owned()].into_iter().chain(steps.map(str::to_owned)).collect()
    };
    told(body) != told(&made.body)
}

/// The files that a proposal wrote.
pub(crate) fn written_paths(proposal: &Proposal) -> Vec<String> {
    let mut paths = vec![proposal.target.path.clone()];
    if let ProposalChange::Create { files, generated: Some(made), .. } = &proposal.change {
        paths.extend(files.keys().map(|path| made.place.support_path(&proposal.skill_name, path)));
    }
    paths
}

fn archive_of(proposal: &Proposal) -> String {
    let stem = match proposal.change.generated().map(|made| &made.place) {
        Some(GeneratedLocation::AutoFile { stem } | GeneratedLocation::AutoFolder { stem }) => {
            stem.as_str()
        }
        _ => proposal.skill_name.as_str(),
    };
    format!("skills/.archive/auto/{stem}")
}
