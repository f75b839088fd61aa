//! Ways out of quarantine and review: new content, a person's acknowledgement, or rejection.

use sinew_settings::Actor;

use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::gates::content;
use crate::name;
use crate::prepare::ChangeRequest;
use crate::proposal::{FindingAcknowledgement, Proposal, ProposalChange, ProposalFinding};
use crate::render::WORKFLOW;
use crate::status::{ProposalState, ProposalTransition};
use crate::suggest::{ProposalUpdate, require};
use crate::workshop::Workshop;
use sinew_skill::ecmascript as text;

/// New content for a proposal; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct ProposalRevision {
    /// Another skill.
    pub skill_name: Option<String>,
    /// Another title.
    pub title: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another body.
    pub body: Option<String>,
    /// A section; a new skill becomes an addition to it.
    pub section: Option<String>,
    /// Another text to replace; the change becomes a replacement.
    pub old_text: Option<String>,
    /// What to replace it with.
    pub new_text: Option<String>,
    /// Cut every flagged line to a placeholder.
    pub redact: bool,
}

/// Rules that cannot be acknowledged: secrets, and content that was not scanned.
const NEVER: &[&str] =
    &["literal-secret", "scan-failed", "oversize-unscannable", "encoding-unscannable"];

/// Rounds of cutting lines: the remaining text may scan differently, so it is scanned again.
const MAX_ROUNDS: usize = 5;

impl Workshop<'_> {
    /// Gives a proposal new content, which is scanned again.
    pub fn revise(
        &self,
        id: &str,
        revision: &ProposalRevision,
        by: &Actor,
    ) -> Result<ProposalUpdate> {
        let _lock = self.lock()?;
        let mut proposal = self.raw_records().proposal(id)?;
        proposal.status.clone().after(ProposalTransition::Revise)?;
        if let Some(name) = &revision.skill_name {
            proposal.skill_name = name::writable_name(name)?;
        }
        if let Some(title) = &revision.title {
            proposal.title = text::trim(title).to_owned();
        }
        proposal.change = revised(&proposal.change, revision)?;
        if revision.redact {
            self.redact(&mut proposal)?;
        }
        self.reassess(proposal, by)
    }

    /// Judges and stores a proposal whose content was changed.
    pub(crate) fn reassess(&self, mut proposal: Proposal, by: &Actor) -> Result<ProposalUpdate> {
        let limit = self.settings().max_skill_bytes;
        let fields = content::fields(&proposal.title, &proposal.reason, &proposal.change);
        content::check_fields(&fields, limit)?;
        let prepared = self.prepare(&ChangeRequest {
            name: &proposal.skill_name,
            title: &proposal.title,
            reason: &proposal.reason,
            change: &proposal.change,
            queries: &proposal.queries,
        })?;
        proposal.revision += 1;
        proposal.advance(ProposalTransition::Revise, self.step("revised", by, None))?;
        self.judge(&mut proposal, &prepared);
        let held = match &proposal.status {
            ProposalState::Quarantined { quarantine_reason } => Some(quarantine_reason.clone()),
            _ => None,
        };
        let kind = if held.is_some() {
            WorkshopEventKind::Quarantined
        } else {
            WorkshopEventKind::Revised
        };
        let event = self.event(kind, &proposal, held);
        self.save(proposal, event)
    }

    /// Turns a proposal down.
    pub fn reject(&self, id: &str, why: Option<&str>, by: &Actor) -> Result<ProposalUpdate> {
        let _lock = self.lock()?;
        let mut proposal = self.raw_records().proposal(id)?;
        // An agent takes back what it proposed; what others proposed is for a person to judge.
        let own = proposal.history.first().is_some_and(|first| first.by == by.to_string());
        if matches!(by, Actor::Agent { .. }) && !own {
            return Err(WorkshopError::NeedsPerson("reject what another proposed"));
        }
        let why = why.map(|why| text::short(why, 300));
        proposal.advance(ProposalTransition::Reject, self.step("rejected", by, why.clone()))?;
        let event = self.event(WorkshopEventKind::Rejected, &proposal, why);
        self.save(proposal, event)
    }

    /// A person acknowledges the rules that hold a proposal; it waits again, and only a person can
    /// apply it.
    pub fn restore(
        &self,
        id: &str,
        rules: &[String],
        reason: &str,
        by: &Actor,
    ) -> Result<ProposalUpdate> {
        if !by.is_person() {
            return Err(WorkshopError::NeedsPerson("acknowledge a finding"));
        }
        require("reason", reason)?;
        let _lock = self.lock()?;
        let mut proposal = self.raw_records().proposal(id)?;
        proposal.status.clone().after(ProposalTransition::Restore)?;
        let refused = |detail: String| Err(WorkshopError::CannotAcknowledge(detail));
        for rule in rules {
            if NEVER.contains(&rule.as_str()) {
                return refused(format!("`{rule}` cannot be acknowledged"));
            }
            if !proposal.scan_findings.iter().any(|finding| finding.rule_id == *rule) {
                return refused(format!("there is no finding of `{rule}`"));
            }
            proposal.acknowledged.push(FindingAcknowledgement {
                rule: rule.clone(),
                reason: text::short(reason, 300),
                by: by.to_string(),
                revision: proposal.revision,
            });
        }
        let left: Vec<String> =
            proposal.open_criticals().map(|finding| finding.rule_id.clone()).collect();
        if !left.is_empty() {
            return refused(format!("these findings hold it too: {}", left.join(", ")));
        }
        let why = Some(format!("{}: {}", rules.join(", "), text::short(reason, 300)));
        proposal.advance(ProposalTransition::Restore, self.step("restored", by, why.clone()))?;
        let event = self.event(WorkshopEventKind::Restored, &proposal, why);
        self.save(proposal, event)
    }

    fn save(&self, proposal: Proposal, event: WorkshopEvent) -> Result<ProposalUpdate> {
        let mut entry = self.raw_records().change()?;
        entry.put(&proposal)?;
        entry.event(event);
        let events = entry.save()?;
        Ok(ProposalUpdate { proposal, skill_path: None, events })
    }

    /// Cuts flagged lines out of a proposal's texts until nothing critical is left, or nothing more
    /// can be cut.
    fn redact(&self, proposal: &mut Proposal) -> Result<()> {
        for _ in 0..MAX_ROUNDS {
            let wanted = ChangeRequest {
                name: &proposal.skill_name,
                title: &proposal.title,
                reason: &proposal.reason,
                change: &proposal.change,
                queries: &proposal.queries,
            };
            let prepared = self.prepare(&wanted)?;
            let critical: Vec<&ProposalFinding> =
                prepared.findings.iter().filter(|finding| finding.is_critical()).collect();
            let mut cut = false;
            for finding in critical {
                let line = prepared.result.lines().nth(finding.line.wrapping_sub(1));
                cut |= cut_finding(proposal, finding, line);
            }
            if !cut {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Cuts the text of a finding; returns whether something was cut.
fn cut_finding(proposal: &mut Proposal, finding: &ProposalFinding, line: Option<&str>) -> bool {
    let placeholder = format!("[removed: {}]", finding.rule_id);
    match finding.file.as_str() {
        "title" => {
            proposal.title = format!("Skill update: {}", proposal.skill_name);
            true
        }
        "reason" => {
            proposal.reason = placeholder;
            true
        }
        "description" => {
            let title = proposal.title.clone();
            match &mut proposal.change {
                ProposalChange::Create { description, .. }
                | ProposalChange::Append { description, .. } => {
                    *description = title;
                    true
                }
                ProposalChange::Rule { description, .. } => {
                    *description = title;
                    true
                }
                ProposalChange::Replace { .. }
                | ProposalChange::Retire { .. }
                | ProposalChange::Reshape { .. } => false,
            }
        }
        "SKILL.md" => {
            let Some(line) = line.map(str::trim).filter(|line| !line.is_empty()) else {
                return false;
            };
            let text = match &mut proposal.change {
                ProposalChange::Create { body, .. } | ProposalChange::Append { body, .. } => body,
                ProposalChange::Replace { new_text, .. } => new_text,
                ProposalChange::Rule { rule, .. } => rule,
                ProposalChange::Retire { .. } | ProposalChange::Reshape { .. } => return false,
            };
            let kept: Vec<String> = text
                .split('\n')
                .map(|own| match own.trim() == line {
                    true => format!("- {placeholder}"),
                    false => own.to_owned(),
                })
                .collect();
            let kept = kept.join("\n");
            let cut = kept != *text;
            *text = kept;
            cut
        }
        _ => false,
    }
}

/// The change with its new content; a section makes it an addition, old and new text a replacement.
fn revised(change: &ProposalChange, revision: &ProposalRevision) -> Result<ProposalChange> {
    let given = |new: &Option<String>, old: &str| new.clone().unwrap_or_else(|| old.to_owned());
    if revision.old_text.is_some() || revision.new_text.is_some() {
        let (old, new) = match change {
            ProposalChange::Replace { old_text, new_text } => (Some(old_text), Some(new_text)),
            ProposalChange::Retire { .. } | ProposalChange::Reshape { .. } => {
                return Err(WorkshopError::OnlyAsItIs);
            }
            _ => (None, None),
        };
        let old_text = revision.old_text.as_ref().or(old);
        let new_text = revision.new_text.as_ref().or(new);
        return match (old_text, new_text) {
            (Some(old), Some(new)) if !old.is_empty() => {
                Ok(ProposalChange::Replace { old_text: old.clone(), new_text: new.clone() })
            }
            _ => Err(WorkshopError::ReplaceNeedsBoth),
        };
    }
    if let ProposalChange::Rule { rule, when, description, groups, day, asked } = change {
        let written = given(&revision.body, rule);
        require("body", &written)?;
        return Ok(ProposalChange::Rule {
            rule: crate::rule::rule_line(written.trim_start().trim_start_matches("- ")),
            when: when.clone(),
            description: given(&revision.description, description),
            groups: groups.clone(),
            day: day.clone(),
            asked: asked.clone(),
        });
    }
    let (old_description, old_body, files, old_section) = match change {
        ProposalChange::Create { description, body, files, .. } => {
            (description.as_str(), body.as_str(), files.clone(), None)
        }
        ProposalChange::Append { section, body, description } => {
            (description.as_str(), body.as_str(), Default::default(), Some(section.as_str()))
        }
        ProposalChange::Replace { .. } => {
            if revision.body.is_none() {
                return Ok(change.clone());
            }
            ("", "", Default::default(), Some(WORKFLOW))
        }
        ProposalChange::Rule { .. }
        | ProposalChange::Retire { .. }
        | ProposalChange::Reshape { .. } => {
            return Err(WorkshopError::OnlyAsItIs);
        }
    };
    let body = given(&revision.body, old_body);
    require("body", &body)?;
    let description = given(&revision.description, old_description);
    match revision.section.as_deref().or(old_section) {
        Some(section) => {
            let section = name::section_heading(section)?.to_owned();
            Ok(ProposalChange::Append { section, body, description })
        }
        None => {
            let generated = change.generated().cloned().map(Box::new);
            Ok(ProposalChange::Create { description, body, files, generated })
        }
    }
}
