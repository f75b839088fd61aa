//! Support files: files beside a skill's own file, in one of four folders.

use sinew_guard::archive::support_file_components;
use sinew_settings::Actor;
use sinew_settings::config::ApprovalPolicy;

use crate::apply::PlannedWrite;
use crate::error::{Result, WorkshopError};
use crate::event::{WorkshopEvent, WorkshopEventKind};
use crate::files;
use crate::gates::{SkillOwner, content, ownership};
use crate::history::{self, VersionCause};
use crate::name;
use crate::proposal::TriggerQueries;
use crate::workshop::Workshop;
use sinew_skill::ecmascript as text;

/// A support file that was written.
#[derive(Debug, Clone)]
pub struct SupportFile {
    /// Its path.
    pub file_path: String,
    /// What happened, for the log.
    pub events: Vec<WorkshopEvent>,
}

/// The text of a support file as it is written, if path, size and content allow it.
pub(crate) fn checked_text(path: &str, body: &str, limit: usize) -> Result<String> {
    if support_file_components(path).is_none() {
        return Err(WorkshopError::SupportPath(text::short(path, 120)));
    }
    content::check_fields(&[(path, body)], limit)?;
    let ready = format!("{}\n", text::trim_end(body));
    if ready.len() > limit {
        return Err(WorkshopError::TooLarge(limit));
    }
    Ok(ready)
}

impl Workshop<'_> {
    /// Writes a file into one of a skill's support folders. A critical finding refuses it.
    pub fn write_support_file(
        &self,
        skill: &str,
        path: &str,
        body: &str,
        by: &Actor,
    ) -> Result<SupportFile> {
        let name = name::writable_name(skill)?;
        if !by.is_person() && self.settings().policy_for(&name) == ApprovalPolicy::Never {
            return Err(WorkshopError::Never(name));
        }
        let ready = checked_text(path, body, self.settings().max_skill_bytes)?;
        let scanned = [(path.to_owned(), ready.clone())];
        let findings = content::scan(self.parts.scanner, &name, &scanned, &[]);
        if let Some(critical) = findings.iter().find(|finding| finding.is_critical()) {
            return Err(WorkshopError::Unsafe(critical.message.clone()));
        }
        let _lock = self.lock()?;
        let relative = format!("skills/{name}/{path}");
        self.check_owner(&name, &relative, by)?;
        let event = WorkshopEvent {
            at: self.now(),
            kind: WorkshopEventKind::SupportFile,
            skill: name.clone(),
            proposal: None,
            reason: Some(path.to_owned()),
        };
        let planned = PlannedWrite {
            skill: name,
            action: VersionCause::SupportFile,
            proposal_id: None,
            undoes: None,
            proposals: Vec::new(),
            queries: TriggerQueries::default(),
            events: vec![event],
        };
        let events = self.commit(planned, &[(relative.clone(), Some(ready))], by)?;
        let file_path = self.workspace().join(relative).to_string_lossy().into_owned();
        Ok(SupportFile { file_path, events })
    }

    /// An installed skill stays unchanged, and an agent overwrites only files that the workshop wrote.
    fn check_owner(&self, name: &str, path: &str, by: &Actor) -> Result<()> {
        let not_ours = |owner: SkillOwner| WorkshopError::NotOurs {
            owner: owner.as_str(),
            name: name.to_owned(),
        };
        if let Some(owner) = ownership::installed_owner(self.workspace(), name) {
            return Err(not_ours(owner));
        }
        let skill = files::read(self.workspace(), &files::skill_path(name))?;
        if let (None, Some(owner)) = (&skill, self.parts.surroundings.owner_elsewhere(name)) {
            return Err(not_ours(owner));
        }
        let found = files::read(self.workspace(), path)?;
        if let (Some(found), false) = (found, by.is_person()) {
            let versions = self.raw_records().versions(name)?;
            let left = history::last_written(&versions, path).and_then(|w| w.after.clone());
            if left.as_deref() != Some(&found.sha256) {
                return Err(not_ours(SkillOwner::HandWritten));
            }
        }
        Ok(())
    }
}
