//! A draft becomes a skill like any other: in a folder of its own, without what only a draft says.
//!
//! All of it moves or nothing does, and what would not be a valid skill stays where it is. Promoting is
//! a person's decision: from then on no finished run replaces the skill.

use sinew_settings::Actor;
use sinew_skill::content_hash;
use sinew_skill::validate::{ValidationFile, validate_draft};

use crate::apply::PlannedWrite;
use crate::error::{Result, WorkshopError};
use crate::event::WorkshopEventKind;
use crate::files;
use crate::gates::content;
use crate::history::{SkillVersion, VersionCause};
use crate::probation::ProbationStatus;
use crate::proposal::{
    GeneratedDetails, GeneratedLocation, Proposal, ProposalChange, TriggerQueries,
};
use crate::render;
use crate::status::ProposalState;
use crate::suggest::ProposalUpdate;
use crate::workshop::Workshop;

/// What a draft says about itself, below its heading.
const DRAFT_BULLETS: &[&str] = &[
    "Status",
    "Confidence",
    "Generated",
    "Source session",
    "behavior_fingerprint",
    "simhash",
    "agent",
    "runs",
    "redactions",
    "Learned from",
    "Taken out",
];

const HEADING: &str = "# Skill Draft: ";
const OUTCOME: &str = "\n## Last Known Outcome\n";

impl Workshop<'_> {
    /// Makes a skill of a draft that was written: by its proposal's id, its skill's name, its file, or
    /// the file's name without its ending.
    pub fn promote(&self, draft: &str, by: &Actor) -> Result<ProposalUpdate> {
        if !by.is_person() {
            return Err(WorkshopError::NeedsPerson("promote a draft"));
        }
        let _lock = self.lock()?;
        let mut proposal = self.draft_named(draft)?;
        let name = proposal.skill_name.clone();
        let (old, new) = (proposal.target.path.clone(), files::skill_path(&name));
        let found = files::read(self.workspace(), &old)?;
        let found = found.ok_or_else(|| WorkshopError::NoSuchSkill(name.clone()))?;
        if old != new && files::read(self.workspace(), &new)?.is_some() {
            return Err(WorkshopError::Exists(new));
        }
        let text = self.promoted_text(&proposal, &found.text)?;
        let mut wanted = self.moved_scripts(&proposal)?;
        if old != new {
            wanted.push((old, None));
        }
        wanted.push((new.clone(), Some(text.clone())));
        proposal.target.path = new.clone();
        proposal.result_sha256 = Some(content_hash(text.as_bytes()));
        proposal.probation = Some(ProbationStatus::Trial { since: self.now() });
        place(&mut proposal, GeneratedLocation::Skill);
        proposal.note(self.step("promoted", by, None));
        let planned = PlannedWrite {
            skill: name,
            action: VersionCause::Promote,
            proposal_id: Some(proposal.id.clone()),
            undoes: None,
            queries: TriggerQueries::default(),
            events: vec![self.event(WorkshopEventKind::Promoted, &proposal, None)],
            proposals: vec![proposal.clone()],
        };
        let events = self.commit(planned, &wanted, by)?;
        let skill_path = Some(self.workspace().join(new).to_string_lossy().into_owned());
        Ok(ProposalUpdate { proposal, skill_path, events })
    }

    /// The newest draft that is written under this name.
    fn draft_named(&self, draft: &str) -> Result<Proposal> {
        let wanted = draft.trim_end_matches('/').trim_end_matches("/SKILL.md");
        let is_it = |proposal: &Proposal| {
            let Some(made) = proposal.change.generated() else { return false };
            let file = proposal.target.path.trim_end_matches("/SKILL.md");
            proposal.status == ProposalState::Applied
                && made.promoted_from.is_none()
                && (proposal.id == draft
                    || proposal.skill_name == wanted
                    || file == wanted
                    || made.place.stem() == Some(wanted))
        };
        let mut proposals = self.raw_records().proposals()?.into_iter();
        proposals
            .find(is_it)
            .ok_or_else(|| WorkshopError::NotFound(sinew_skill::ecmascript::short(draft, 80)))
    }

    /// The draft's text as a skill, scanned and valid.
    fn promoted_text(&self, proposal: &Proposal, found: &str) -> Result<String> {
        let name = &proposal.skill_name;
        let mut text = stripped(found);
        if let Err(WorkshopError::Unreadable(_)) = check_valid(name, &text) {
            text = refined(proposal, &text)?;
        }
        check_valid(name, &text)?;
        let limit = self.settings().max_skill_bytes;
        if text.len() > limit {
            return Err(WorkshopError::TooLarge(limit));
        }
        let scanned = [("SKILL.md".to_owned(), text.clone())];
        let findings = content::scan(self.parts.scanner, name, &scanned, &[]);
        match findings.iter().find(|finding| finding.is_critical()) {
            Some(finding) => Err(WorkshopError::Unsafe(finding.message.clone())),
            None => Ok(text),
        }
    }

    /// The draft's files besides its text, into the skill's folder.
    fn moved_scripts(&self, proposal: &Proposal) -> Result<Vec<(String, Option<String>)>> {
        let ProposalChange::Create { files: own, generated: Some(made), .. } = &proposal.change
        else {
            return Ok(Vec::new());
        };
        let mut wanted = Vec::new();
        for inside in own.keys() {
            let old = made.place.support_path(&proposal.skill_name, inside);
            let new = GeneratedLocation::Skill.support_path(&proposal.skill_name, inside);
            if old == new {
                continue;
            }
            if let Some(found) = files::read(self.workspace(), &old)? {
                wanted.push((new, Some(found.text)));
                wanted.push((old, None));
            }
        }
        Ok(wanted)
    }

    /// The record of a draft whose promotion is taken back, or made again.
    pub(crate) fn toggle_promotion(
        &self,
        version: &SkillVersion,
        by: &Actor,
    ) -> Result<Vec<Proposal>> {
        let Some(id) = &version.proposal_id else { return Ok(Vec::new()) };
        let mut proposal = self.raw_records().proposal(id)?;
        let from = proposal.change.generated().and_then(|made| made.promoted_from.clone());
        let (what, to) = match from {
            Some(from) => ("demoted", from),
            None => ("promoted", GeneratedLocation::Skill),
        };
        proposal.target.path = to.skill_path(&proposal.skill_name);
        place(&mut proposal, to);
        // The file is as it was before the version.
        let back = version.files.iter().find(|file| file.path == proposal.target.path);
        proposal.result_sha256 = back.and_then(|file| file.before.clone());
        proposal.note(self.step(what, by, None));
        Ok(vec![proposal])
    }
}

/// Moves a draft to another location, and notes or clears where it came from.
fn place(proposal: &mut Proposal, to: GeneratedLocation) {
    if let ProposalChange::Create { generated: Some(made), .. } = &mut proposal.change {
        made.promoted_from = match made.promoted_from {
            None => Some(made.place.clone()),
            Some(_) => None,
        };
        made.place = to;
    }
}

fn check_valid(name: &str, text: &str) -> Result<()> {
    let target = ValidationFile { directory: name, file_name: "SKILL.md", bytes: text.as_bytes() };
    let found = validate_draft(Some(&target));
    if found.passed() {
        return Ok(());
    }
    let told: Vec<String> = found.issues.iter().map(|issue| issue.message.clone()).collect();
    Err(WorkshopError::Unreadable(told.join("; ")))
}

/// A draft without what only a draft says.
fn stripped(text: &str) -> String {
    let is_bullet = |line: &str| {
        let label = line.strip_prefix("- ").and_then(|line| line.split_once(':'));
        label.is_some_and(|(label, _)| DRAFT_BULLETS.contains(&label))
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut in_head = false;
    for line in text.lines() {
        if line.starts_with(HEADING) {
            in_head = true;
        } else if line.starts_with("## ") {
            in_head = false;
        }
        if line == render::HIDDEN || (in_head && is_bullet(line)) {
            continue;
        }
        // The blank lines around the bullets become one.
        if in_head && line.is_empty() && kept.last().is_some_and(|last| last.is_empty()) {
            continue;
        }
        kept.push(line);
    }
    let mut text = kept.join("\n");
    text.push('\n');
    text.replacen(&format!("\n{HEADING}"), "\n# ", 1)
}

/// A draft that is not a valid skill, with the front matter from its record.
fn refined(proposal: &Proposal, text: &str) -> Result<String> {
    let ProposalChange::Create { description, generated, .. } = &proposal.change else {
        return Err(WorkshopError::OnlyAsItIs);
    };
    let body = match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((_, body)) => body,
        None => text,
    };
    let body = body.strip_prefix(HEADING).map_or(body.to_owned(), |rest| format!("# {rest}"));
    let outcome = body.split_once(OUTCOME).map_or("", |(_, rest)| rest);
    let outcome = outcome.split_once("\n## ").map_or(outcome, |(outcome, _)| outcome);
    let body = format!("{}\n\n## Refined Outcome\n\n{}\n", body.trim_end(), outcome.trim());
    let kept = generated.as_deref().and_then(|made| made.metadata.clone());
    let plain = serde_json::json!({"openclaw": {"generated": {"kind": "auto_skill_draft"}}});
    let generated =
        GeneratedDetails { metadata: Some(kept.unwrap_or(plain)), ..GeneratedDetails::default() };
    render::generated_skill(&proposal.skill_name, description, &body, &generated)
}
