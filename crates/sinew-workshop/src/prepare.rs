//! Preparing a change: the file's new content, its owner, and what scanner and gates report.
//!
//! Everything is read anew each time, so that no decision is based on outdated files.

use sinew_route::RouteDocument;
use sinew_settings::config::GateMode;
use sinew_skill::{ReadOptions, content_hash};

use crate::activity::{MessageMeaning, TaughtMemory, TaughtSkill, taught_hit};
use crate::error::{Result, WorkshopError};
use crate::files::{self, WorkspaceFile};
use crate::gates::duplicate::{self, SkillBody};
use crate::gates::{DuplicateVerdict, GateReport, SkillOwner, content, ownership, shape, trigger};
use crate::history::{self, SkillVersion};
use crate::proposal::{ProposalChange, ProposalFinding, ProposalTarget, TriggerQueries};
use crate::render;
use crate::workshop::{NeighbourSkill, Workshop};

/// A change, ready to be judged or written.
#[derive(Debug)]
pub(crate) struct PreparedChange {
    pub(crate) target: ProposalTarget,
    /// What the target would hold.
    pub(crate) result: String,
    pub(crate) result_sha256: String,
    /// Support files by their path below the workspace.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) findings: Vec<ProposalFinding>,
    pub(crate) gates: GateReport,
}

/// What is to be prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeRequest<'w> {
    pub(crate) name: &'w str,
    pub(crate) title: &'w str,
    pub(crate) reason: &'w str,
    pub(crate) change: &'w ProposalChange,
    pub(crate) queries: &'w TriggerQueries,
}

/// Support files of one proposal: as many as a person can review.
const MAX_FILES: usize = 10;

impl Workshop<'_> {
    /// The target as it is, and its owner.
    pub(crate) fn target(
        &self,
        name: &str,
        change: &ProposalChange,
    ) -> Result<(ProposalTarget, Option<WorkspaceFile>)> {
        let installed = ownership::installed_owner(self.workspace(), name);
        let skill_path = change
            .generated()
            .map_or_else(|| files::skill_path(name), |made| made.place.skill_path(name));
        let skill = files::read(self.workspace(), &skill_path)?;
        let elsewhere = self.parts.surroundings.owner_elsewhere(name);
        let owner = match (&skill, installed) {
            (_, Some(SkillOwner::Pinned)) => SkillOwner::Pinned,
            (Some(_), Some(owner)) => owner,
            (Some(found), None) => self.owner_of(name, &skill_path, found)?,
            (None, _) => elsewhere.unwrap_or(SkillOwner::New),
        };
        let (path, existing) = match owner {
            SkillOwner::Installed => {
                let path = files::overlay_path(name);
                let notes = files::read(self.workspace(), &path)?;
                (path, notes)
            }
            _ => (skill_path, skill),
        };
        files::check_contained(self.workspace(), &path)?;
        let occurrences = match (change, &existing) {
            (ProposalChange::Replace { old_text, .. }, Some(found)) => {
                render::occurrences(&found.text, old_text)
            }
            _ => 0,
        };
        let target = ProposalTarget {
            path,
            existed: existing.is_some(),
            sha256: existing.as_ref().map(|found| found.sha256.clone()),
            owner,
            occurrences,
        };
        Ok((target, existing))
    }

    /// A file of the workspace is the workshop's while it is as the workshop left it.
    fn owner_of(&self, name: &str, path: &str, found: &WorkspaceFile) -> Result<SkillOwner> {
        let left_it = |versions: &[SkillVersion]| {
            let left = history::last_written(versions, path);
            left.and_then(|written| written.after.as_ref())
                .is_some_and(|left| *left == found.sha256)
        };
        let records = self.raw_records();
        // A write that reshaped several skills is kept under the one that it was about.
        Ok(match left_it(&records.versions(name)?) || left_it(&records.versions("")?) {
            true => SkillOwner::Workshop,
            false => SkillOwner::HandWritten,
        })
    }

    /// Prepares a change against the files as they are now.
    pub(crate) fn prepare(&self, wanted: &ChangeRequest<'_>) -> Result<PreparedChange> {
        let ChangeRequest { name, title, reason, change, .. } = *wanted;
        let limit = self.settings().max_skill_bytes;
        let (target, existing) = self.target(name, change)?;
        if target.owner.forbids() {
            return Err(WorkshopError::NotOurs {
                owner: target.owner.as_str(),
                name: name.to_owned(),
            });
        }
        let text = existing.as_ref().map(|found| found.text.as_str());
        let result = match target.owner {
            SkillOwner::Installed => render::overlay(name, change, text)?,
            _ => render::result(name, title, change, text)?,
        };
        if result.len() > limit {
            return Err(WorkshopError::TooLarge(limit));
        }
        let files = support_files(name, change, limit)?;
        if target.owner == SkillOwner::Installed && !files.is_empty() {
            return Err(WorkshopError::NotOurs {
                owner: target.owner.as_str(),
                name: name.to_owned(),
            });
        }
        let is_bare = change.generated().is_some_and(|made| made.metadata.is_none());
        if target.owner != SkillOwner::Installed && !is_bare {
            check_readable(name, &result)?;
        }
        let mut scanned = vec![("SKILL.md".to_owned(), result.clone())];
        scanned.extend(files.iter().map(|file| (file.inside.clone(), file.text.clone())));
        let fields = content::fields(title, reason, change);
        let kept: Vec<(&str, &str)> = fields
            .into_iter()
            .filter(|(field, _)| matches!(*field, "title" | "reason" | "description"))
            .collect();
        let findings = content::scan(self.parts.scanner, name, &scanned, &kept);
        let gates = self.gates(wanted, &target, text, &result)?;
        let result_sha256 = content_hash(result.as_bytes());
        let files = files.into_iter().map(|file| (file.path, file.text)).collect();
        Ok(PreparedChange { target, result, result_sha256, files, findings, gates })
    }

    fn gates(
        &self,
        wanted: &ChangeRequest<'_>,
        target: &ProposalTarget,
        before: Option<&str>,
        after: &str,
    ) -> Result<GateReport> {
        let name = wanted.name;
        let mut gates = GateReport {
            ownership: (!target.owner.allows_automatic()).then_some(target.owner),
            ..GateReport::default()
        };
        if let ProposalChange::Create { body, .. } | ProposalChange::Append { body, .. } =
            wanted.change
            && shape::is_transcript(body)
        {
            gates.shape.push(shape::TRANSCRIPT.to_owned());
        }
        if target.owner == SkillOwner::Installed {
            return Ok(gates);
        }
        let changed = RouteDocument::from_text(name, name, after);
        let same = before.is_some_and(|before| {
            let before = RouteDocument::from_text(name, name, before);
            (before.name, before.description) == (changed.name.clone(), changed.description.clone())
        });
        let is_new = !target.existed && matches!(wanted.change, ProposalChange::Create { .. });
        let compares = is_new && self.settings().duplicate_gate != GateMode::Off;
        let routes = !same && self.settings().trigger_gate != GateMode::Off;
        if !compares && !routes {
            return Ok(gates);
        }
        let neighbours = self.parts.surroundings.skills();
        if compares {
            gates.duplicate = Some(self.duplicates(name, &changed.body, &neighbours)?);
        }
        if routes {
            let mut judged = self.triggers(&changed, wanted.queries, &neighbours)?;
            self.count_taught(wanted, &mut judged);
            gates.trigger = Some(judged);
        }
        gates.prompt_budget = match same {
            true => Vec::new(),
            false => self.parts.surroundings.displaced_skills(name, &changed.description),
        };
        Ok(gates)
    }

    /// Compares a new skill with all there are; a copy is refused here.
    fn duplicates(
        &self,
        name: &str,
        body: &str,
        neighbours: &[NeighbourSkill],
    ) -> Result<duplicate::DuplicateGateReport> {
        let bodies: Vec<SkillBody<'_>> = neighbours
            .iter()
            .map(|near| SkillBody { name: &near.document.name, body: &near.document.body })
            .collect();
        let records = self.raw_records();
        let judged = duplicate::judge(SkillBody { name, body }, &bodies, &|pair| {
            records.is_marked_distinct(pair)
        });
        let nearest = judged.near.first().map(|near| (near.skill.clone(), near.likeness));
        match (judged.verdict, nearest) {
            (DuplicateVerdict::Same, Some((skill, _))) => Err(WorkshopError::Same(skill)),
            (DuplicateVerdict::AppendTo, Some((name, likeness)))
                if self.settings().duplicate_gate == GateMode::Block =>
            {
                Err(WorkshopError::TooClose { name, likeness })
            }
            _ => Ok(judged),
        }
    }

    fn triggers(
        &self,
        changed: &RouteDocument,
        own: &TriggerQueries,
        neighbours: &[NeighbourSkill],
    ) -> Result<trigger::TriggerGateReport> {
        let mut stored: Vec<_> =
            neighbours.iter().flat_map(|near| near.queries.iter().cloned()).collect();
        stored.extend(self.raw_records().queries()?);
        let documents: Vec<RouteDocument> =
            neighbours.iter().map(|near| near.document.clone()).collect();
        Ok(trigger::judge(&documents, changed, &stored, own))
    }

    /// A learned rule is brought by the request that it corrected and by its activity, not only by its
    /// description.
    fn count_taught(&self, wanted: &ChangeRequest<'_>, judged: &mut trigger::TriggerGateReport) {
        let ProposalChange::Rule { groups, asked, rule, when, .. } = wanted.change else { return };
        let own = [TaughtSkill {
            name: wanted.name.to_owned(),
            groups: groups.clone(),
            when: when.clone(),
            asked: Some(asked.clone()).into_iter().filter(|asked| !asked.is_empty()).collect(),
            rules: vec![rule.clone()],
        }];
        let encoder = self.parts.surroundings.encoder();
        let memory = encoder.as_deref().map(|encoder| {
            let mut memory = TaughtMemory::for_encoder(encoder);
            memory.follow(&own, encoder, &|| true);
            memory
        });
        let (gained, missed) = std::mem::take(&mut judged.missed).into_iter().partition(|query| {
            let meaning = MessageMeaning::of(query, encoder.as_deref());
            taught_hit(&meaning, &own, memory.as_ref()).is_some()
        });
        judged.missed = missed;
        let gained: Vec<String> = gained;
        judged.gained.extend(gained);
    }

    /// The body that the duplicate gate compared, and the one it found nearest.
    pub(crate) fn nearest_pair(
        &self,
        prepared: &PreparedChange,
        name: &str,
    ) -> Option<(String, String)> {
        let near = prepared.gates.duplicate.as_ref()?.near.first()?;
        let neighbours = self.parts.surroundings.skills();
        let other = neighbours.iter().find(|other| other.document.name == near.skill)?;
        let own = RouteDocument::from_text(name, name, &prepared.result).body;
        Some((own, other.document.body.clone()))
    }
}

/// A new skill's support file.
struct PreparedSupportFile {
    /// Its path inside the skill.
    inside: String,
    /// Its path below the workspace.
    path: String,
    text: String,
}

/// A new skill's support files.
fn support_files(
    name: &str,
    change: &ProposalChange,
    limit: usize,
) -> Result<Vec<PreparedSupportFile>> {
    let ProposalChange::Create { files, generated, .. } = change else { return Ok(Vec::new()) };
    if files.len() > MAX_FILES {
        return Err(WorkshopError::TooManyFiles(MAX_FILES));
    }
    let place = generated.as_deref().map(|made| made.place.clone()).unwrap_or_default();
    let mut ready = Vec::with_capacity(files.len());
    for (inside, text) in files {
        let text = crate::support::checked_text(inside, text, limit)?;
        ready.push(PreparedSupportFile {
            path: place.support_path(name, inside),
            inside: inside.clone(),
            text,
        });
    }
    Ok(ready)
}

/// Refuses a result that no reader would take for a skill of this name.
pub(crate) fn check_readable(name: &str, result: &str) -> Result<()> {
    let outcome = sinew_skill::read(result.as_bytes(), &ReadOptions::openclaw(name));
    match outcome.skill {
        Some(_) => Ok(()),
        None => {
            let reason = outcome.reasons.iter().max_by_key(|reason| reason.severity);
            Err(WorkshopError::Unreadable(reason.map(ToString::to_string).unwrap_or_default()))
        }
    }
}
