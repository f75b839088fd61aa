//! Support files: what lies beside a skill's own file, in one of four folders.

use sinew_guard::archive::support_file;

use crate::apply::Planned;
use crate::by::By;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind};
use crate::files;
use crate::gates::{Owner, content, ownership};
use crate::history::{self, Action};
use crate::name;
use crate::proposal::Queries;
use crate::settings::Policy;
use crate::text;
use crate::workshop::Workshop;

/// A support file that was written.
#[derive(Debug, Clone)]
pub struct SupportFile {
    /// Where it lies.
    pub file_path: String,
    /// What happened, for the log.
    pub events: Vec<Event>,
}

/// The text of a support file as it is written, if path, size and content allow it.
pub(crate) fn checked(path: &str, body: &str, limit: usize) -> Result<String> {
    if support_file(path).is_none() {
        return Err(Error::SupportPath(text::short(path, 120)));
    }
    content::check_fields(&[(path, body)], limit)?;
    let ready = format!("{}\n", text::trim_end(body));
    if ready.len() > limit {
        return Err(Error::TooLarge(limit));
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
        by: &By,
    ) -> Result<SupportFile> {
        let name = name::writable(skill)?;
        if !by.is_person() && self.settings().policy_for(&name) == Policy::Never {
            return Err(Error::Never(name));
        }
        let ready = checked(path, body, self.settings().max_skill_bytes)?;
        let scanned = [(path.to_owned(), ready.clone())];
        let findings = content::scan(self.parts.scanner, &name, &scanned, &[]);
        if let Some(critical) = findings.iter().find(|finding| finding.is_critical()) {
            return Err(Error::Unsafe(critical.message.clone()));
        }
        let _lock = self.lock()?;
        let relative = format!("skills/{name}/{path}");
        self.check_owner(&name, &relative, by)?;
        let event = Event {
            at: self.now(),
            kind: EventKind::SupportFile,
            skill: name.clone(),
            proposal: None,
            reason: Some(path.to_owned()),
        };
        let planned = Planned {
            skill: name,
            action: Action::SupportFile,
            proposal_id: None,
            undoes: None,
            proposals: Vec::new(),
            queries: Queries::default(),
            events: vec![event],
        };
        let events = self.commit(planned, &[(relative.clone(), Some(ready))], by)?;
        let file_path = self.workspace().join(relative).to_string_lossy().into_owned();
        Ok(SupportFile { file_path, events })
    }

    /// An installed skill stays what was installed, and nobody's file is overwritten unasked.
    fn check_owner(&self, name: &str, path: &str, by: &By) -> Result<()> {
        let not_ours =
            |owner: Owner| Error::NotOurs { owner: owner.as_str(), name: name.to_owned() };
        if let Some(owner) = ownership::installed(self.workspace(), name) {
            return Err(not_ours(owner));
        }
        let skill = files::read(self.workspace(), &files::skill_path(name))?;
        if let (None, Some(owner)) = (&skill, self.parts.surroundings.owner_elsewhere(name)) {
            return Err(not_ours(owner));
        }
        let found = files::read(self.workspace(), path)?;
        if let (Some(found), false) = (found, by.is_person()) {
            let versions = self.raw_book().versions(name)?;
            let left = history::last_written(&versions, path).and_then(|w| w.after.clone());
            if left.as_deref() != Some(&found.sha256) {
                return Err(not_ours(Owner::HandWritten));
            }
        }
        Ok(())
    }
}
