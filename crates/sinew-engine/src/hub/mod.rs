//! Skills from elsewhere: the hub with this agent's folders, policy, memory and catalog around it.
//!
//! Whoever wants a yes gives a [`Gate`]; the operator's policy is asked before it, on every path.

mod consent;
mod policy;
mod record;
mod search;
mod trust;

use serde_json::json;
use sinew_catalog::State;
use sinew_hub::lock::LockEntry;

pub use record::HubRecord;
pub use search::{History, SearchReport, SearchedRow};
pub use sinew_hub::install::{
    Acceptance, Answer, Ask, Concern, Diff, Gate, Installed, Neighbour, Occasion, Pause, Prepared,
    Proposal,
};
pub use sinew_hub::lock::{Method, Retained};
pub use sinew_hub::reference::{Reading, Reference, Wanted, parse_wanted};
pub use sinew_hub::settings::Said;
pub use sinew_hub::{
    About, Candidate, Class, Found, Hub, HubError, Matching, Query, Removed, Restored, Row,
    Sources, Strictness, TreeStatus, UpdateAsk, UpdateStatus, Updated, Verified, Want, Word,
    Workdir,
};
pub(crate) use trust::Trust;

use crate::{Actor, Engine, Error, ErrorKind};
use policy::Guarded;

/// Where skills are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the workspace.
    Workspace,
    /// For every workspace of this user.
    Managed,
}

impl Engine {
    /// The hub, with what a command line says.
    pub fn hub(&self, said: &Said) -> Result<Hub, Error> {
        Ok(Hub::open(self.env.clone(), &self.config, said)?)
    }

    /// The folder that skills are installed into.
    pub fn workdir(&self, place: Place) -> Workdir {
        match place {
            Place::Workspace => Workdir::workspace(&self.places.workspace),
            Place::Managed => {
                let skills = self.managed_folder();
                match skills.parent() {
                    Some(root) if root != self.env.sinew_home() => {
                        Workdir { root: root.to_owned(), state: root.join(".sinew"), skills }
                    }
                    _ => Workdir::managed(&self.env),
                }
            }
        }
    }

    /// Both folders, the workspace first.
    pub fn workdirs(&self) -> [Workdir; 2] {
        [self.workdir(Place::Workspace), self.workdir(Place::Managed)]
    }

    /// The skills that are here already, for noticing that a new one stands in front of one.
    pub fn neighbours(&self) -> Vec<Neighbour> {
        let snapshot = self.snapshot();
        let used = snapshot.catalog.active().filter(|entry| entry.state != State::Broken);
        used.map(|entry| Neighbour {
            name: entry.name.clone(),
            origin: format!("{}, {}", entry.source, entry.base_dir.display()),
            folder: entry.base_dir.clone(),
        })
        .collect()
    }

    /// Does everything up to the question, the operator's policy included.
    pub fn prepare_skill(
        &self,
        hub: &Hub,
        ask: &Ask,
        workdir: &Workdir,
        gate: &mut dyn Gate,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Prepared, HubError> {
        let ask = Ask { neighbours: self.neighbours(), ..ask.clone() };
        hub.prepare(&ask, workdir, &mut Guarded::new(self, gate, &ask), progress)
    }

    /// Installs a skill.
    pub fn install_skill(
        &self,
        hub: &Hub,
        ask: &Ask,
        workdir: &Workdir,
        gate: &mut dyn Gate,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Installed, HubError> {
        let prepared = self.prepare_skill(hub, ask, workdir, gate, progress)?;
        let approval = hub.ask(&prepared, gate)?;
        hub.commit(prepared, approval, workdir)
    }

    /// Removes an installed skill, and writes down who did.
    pub fn uninstall_skill(
        &self,
        hub: &Hub,
        wanted: &str,
        workdir: &Workdir,
        actor: &Actor,
    ) -> Result<Removed, HubError> {
        let removed = hub.uninstall(wanted, workdir)?;
        let set = json!({"key": "installed", "before": removed.version, "after": "(removed)"});
        self.note_set(&removed.key, actor, &[set]);
        Ok(removed)
    }

    /// Keeps an installed skill at its version for a reason, or lets it go on, and writes down who did.
    pub fn pin_skill(
        &self,
        hub: &Hub,
        wanted: &str,
        pin: Option<Option<String>>,
        workdir: &Workdir,
        actor: &Actor,
    ) -> Result<(String, LockEntry), HubError> {
        let (key, entry) = hub.pin(wanted, pin, workdir)?;
        let (free, held) = ("(free)", entry.version.as_str());
        let (before, after) = if entry.pinned { (free, held) } else { (held, free) };
        let set = json!({"key": "version", "before": before, "after": after});
        self.note_set(&key, actor, &[set]);
        Ok((key, entry))
    }

    /// Brings an installed skill up to date.
    pub fn update_skill(
        &self,
        hub: &Hub,
        key: &str,
        how: &UpdateAsk,
        workdir: &Workdir,
        gate: &mut dyn Gate,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Updated, HubError> {
        let how = UpdateAsk { neighbours: self.neighbours(), ..how.clone() };
        let mut gate = Guarded::accepting(self, gate, how.accepted.contains(&Pause::Policy));
        hub.update(key, &how, workdir, &mut gate, progress)
    }

    /// Follows the lock of a folder.
    pub fn restore_skills(
        &self,
        hub: &Hub,
        strictness: Strictness,
        by: &str,
        workdir: &Workdir,
        gate: &mut dyn Gate,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Vec<Restored>, HubError> {
        hub.restore(strictness, by, workdir, &mut Guarded::accepting(self, gate, false), progress)
    }
}

impl From<Class> for ErrorKind {
    fn from(class: Class) -> Self {
        match class {
            Class::No => Self::No,
            Class::Usage => Self::Usage,
            Class::Refused => Self::Refused,
            Class::Environment => Self::Environment,
        }
    }
}

impl From<HubError> for Error {
    fn from(error: HubError) -> Self {
        let mut told = Self::new(error.class().into(), error.word.as_str(), error.message);
        told.hints = error.hints;
        told
    }
}
