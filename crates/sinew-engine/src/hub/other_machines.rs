//! A person's own skills on their other machines: sent to a git repository of theirs, and taken from
//! it under the guard and the questions of every install.
//!
//! What both sides changed is shown and left alone, until the person says whose version counts.

use std::collections::BTreeSet;

use sinew_guard::atomic::{self, FileAccess};
use sinew_hub::install::SkillInstallRequest;
use sinew_hub::manifest::{MANIFEST_FILE, SkillsManifest};
use sinew_hub::own_remote::{ComparedItem, OwnRemote, RemoteBase, SideComparison};
use sinew_hub::reference::SkillReference;
use sinew_hub::{HubError, SyncRecord, Workdir};
use sinew_settings::{Actor, ErrorCode, path_text};

use super::policy::PolicyHub;
use super::record::HubRecord;
use crate::approval::Approver;

/// Which way skills go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeDirection {
    /// From this machine to the repository.
    Push,
    /// From the repository to this machine.
    Pull,
}

/// What is exchanged with a person's other machines.
#[derive(Debug, Clone)]
pub struct ExchangeRequest {
    /// Which way.
    pub direction: ExchangeDirection,
    /// The repository, if it is not the one of last time.
    pub remote: Option<String>,
    /// Names whose version of this machine counts where both sides changed.
    pub ours: Vec<String>,
    /// Names whose version of the repository counts.
    pub theirs: Vec<String>,
    /// Who asks for it.
    pub actor: Actor,
}

impl ExchangeRequest {
    fn names(list: &[String], item: &ComparedItem) -> bool {
        let name = item.skill().unwrap_or(MANIFEST_FILE);
        list.iter().any(|wanted| wanted == name || wanted == "all")
    }
}

impl PolicyHub<'_> {
    /// Says what an exchange would do. The repository is looked at; nothing is sent, taken or
    /// remembered.
    pub fn preview_exchange(
        &self,
        request: &ExchangeRequest,
        workdir: &Workdir,
    ) -> Result<Vec<HubRecord>, HubError> {
        let base = SyncRecord::read(workdir, &self.engine.env)?.remote;
        let url = self.remote_address(request, base.as_ref())?;
        let remote = OwnRemote::fetch(&self.engine.env, &url, self.hub.network())?;
        let manifest = workdir.state.join(MANIFEST_FILE);
        let own = self.own_skills(workdir)?;
        let compared = remote.compare(workdir, &manifest, &own, &base.unwrap_or_default())?;
        let record = |item: &ComparedItem| {
            let status = match (request.sides(item), request.direction) {
                (SideComparison::Same, _) => return None,
                (SideComparison::ChangedHere, ExchangeDirection::Push) => "would-send",
                (SideComparison::ChangedThere, ExchangeDirection::Pull) => "would-take",
                (SideComparison::ChangedHere, ExchangeDirection::Pull) => "ahead",
                (SideComparison::ChangedThere, ExchangeDirection::Push) => "behind",
                (SideComparison::Conflict, _) => {
                    let error = conflict(item, &path_text(&remote.path(&item.path)));
                    return Some(HubRecord::failed(&item.path, error));
                }
            };
            Some(HubRecord::done(&item.path, status))
        };
        let records = compared.iter().filter_map(record).collect();
        keep_for_conflicts(remote, request, &compared);
        Ok(records)
    }

    /// Sends or takes what one side changed; conflicts come back as records.
    pub fn exchange(
        &self,
        request: &ExchangeRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<Vec<HubRecord>, HubError> {
        self.engine.check_hub_gate()?;
        let mut record = SyncRecord::read(workdir, &self.engine.env)?;
        let url = self.remote_address(request, record.remote.as_ref())?;
        workdir.recover(&self.engine.env)?;
        self.release_taken(workdir)?;
        let remote = OwnRemote::fetch(&self.engine.env, &url, self.hub.network())?;
        let manifest = workdir.state.join(MANIFEST_FILE);
        let base = record.remote.clone().unwrap_or_default();
        let compared = remote.compare(workdir, &manifest, &self.own_skills(workdir)?, &base)?;
        let (mut records, mut settled, mut staged) = (Vec::new(), Vec::new(), Vec::new());
        for item in &compared {
            let sides = request.sides(item);
            match (sides, request.direction) {
                (SideComparison::Same, _) => settled.push((item.path.clone(), item.here.clone())),
                (SideComparison::ChangedHere, ExchangeDirection::Push) => {
                    remote.stage(item, workdir, &manifest)?;
                    staged.push((item.path.clone(), item.here.clone()));
                    records.push(HubRecord::done(&item.path, "sent"));
                }
                (SideComparison::ChangedThere, ExchangeDirection::Pull) => {
                    match self.take(item, &remote, request, workdir, approver) {
                        Ok(done) => {
                            settled.push((item.path.clone(), item.there.clone()));
                            records.push(done);
                        }
                        Err(error) => records.push(HubRecord::failed(&item.path, error)),
                    }
                }
                (SideComparison::ChangedHere, ExchangeDirection::Pull) => {
                    let message = Some(format!("{} changed here: sinew sync --push", item.path));
                    records.push(HubRecord { message, ..HubRecord::done(&item.path, "ahead") });
                }
                (SideComparison::ChangedThere, ExchangeDirection::Push) => {
                    let message =
                        Some(format!("{} changed elsewhere: sinew sync --pull", item.path));
                    records.push(HubRecord { message, ..HubRecord::done(&item.path, "behind") });
                }
                (SideComparison::Conflict, _) => {
                    let error = conflict(item, &path_text(&remote.path(&item.path)));
                    records.push(HubRecord::failed(&item.path, error));
                }
            }
        }
        if !staged.is_empty() {
            let names: Vec<&str> = staged.iter().map(|(path, _)| path.as_str()).collect();
            remote.send(&format!("Sync {}", names.join(", ")))?;
            settled.extend(staged);
        }
        // A kill before this line costs nothing: what both sides have is found to be the same.
        record = SyncRecord::read(workdir, &self.engine.env)?;
        record.remote = Some(remote.base_after(&base, &settled));
        record.write(workdir)?;
        keep_for_conflicts(remote, request, &compared);
        Ok(records)
    }

    /// The repository. A program may use the one that a person named, and name no other.
    fn remote_address(
        &self,
        request: &ExchangeRequest,
        base: Option<&RemoteBase>,
    ) -> Result<String, HubError> {
        let known = base.map(|base| base.url.clone());
        let named = request.remote.as_ref().map(|url| match url.starts_with('~') {
            true => path_text(&self.engine.env.expand_home(url)),
            false => url.clone(),
        });
        match (named, known) {
            (None, Some(known)) => Ok(known),
            (Some(named), Some(known)) if named == known => Ok(known),
            (Some(named), _) if !matches!(request.actor, Actor::Agent { .. }) => Ok(named),
            (Some(_), _) => {
                let message = "only a person can say where their skills are sent";
                Err(HubError::new(ErrorCode::NeedsPerson, message)
                    .hint("run it once in a terminal; later runs use the same repository"))
            }
            (None, None) => {
                Err(HubError::new(ErrorCode::NoSyncRemote, "no repository was named yet")
                    .hint("sinew sync --push --remote git@example.org:me/skills.git"))
            }
        }
    }

    /// The skills that are the person's own: those that no lock covers.
    fn own_skills(&self, workdir: &Workdir) -> Result<BTreeSet<String>, HubError> {
        let lock = workdir.lock(&self.engine.env)?;
        let folders = std::fs::read_dir(&workdir.skills).into_iter().flatten().flatten();
        let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Ok(names.filter(|name| !lock.skills.contains_key(name)).collect())
    }

    /// Makes skills the person's own that a killed run took and left locked.
    fn release_taken(&self, workdir: &Workdir) -> Result<(), HubError> {
        let checkouts = OwnRemote::checkouts(&self.engine.env);
        let lock = workdir.lock(&self.engine.env)?;
        for (key, entry) in &lock.skills {
            let from = entry.source.url.as_deref().map(std::path::Path::new);
            if from.is_some_and(|from| from.starts_with(&checkouts)) {
                self.hub.disown(self.permit_change(key), workdir)?;
            }
        }
        Ok(())
    }

    /// Takes one item over; a skill passes the guard, the policy and the person.
    fn take(
        &self,
        item: &ComparedItem,
        remote: &OwnRemote<'_>,
        request: &ExchangeRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<HubRecord, HubError> {
        let Some(name) = item.skill() else { return self.take_manifest(item, remote, workdir) };
        if item.there.is_none() {
            if matches!(request.actor, Actor::Agent { .. }) {
                let message =
                    format!("{name} was removed on another machine; only a person removes it");
                return Err(HubError::new(ErrorCode::NeedsPerson, message));
            }
            let backup = self.hub.retire(self.permit_change(name), workdir)?;
            return Ok(HubRecord { backup, ..HubRecord::done(&item.path, "removed") });
        }
        let from = SkillReference::Local(path_text(&remote.path(&item.path)));
        let mut install = SkillInstallRequest::new(from, &request.actor.to_string());
        install.name = Some(name.to_owned());
        install.overwrite = item.here.is_some();
        let receipt = self.install(&install, workdir, approver)?;
        self.hub.disown(self.permit_change(name), workdir)?;
        let done = HubRecord::installed(&item.path, &receipt);
        Ok(HubRecord { status: "taken", resolved: None, ..done })
    }

    fn take_manifest(
        &self,
        item: &ComparedItem,
        remote: &OwnRemote<'_>,
        workdir: &Workdir,
    ) -> Result<HubRecord, HubError> {
        let theirs = remote.path(&item.path);
        let path = workdir.state.join(MANIFEST_FILE);
        let failed = |error: std::io::Error| HubError::file("write", &path, error);
        let mut done = HubRecord::done(&item.path, "taken");
        if let Ok(bytes) = std::fs::read(&path) {
            let name = format!("{MANIFEST_FILE}-{}", self.engine.env.clock.now_ms());
            let backup = workdir.state.join("backups").join(name);
            atomic::write(&backup, &bytes, FileAccess::OwnerOnly).map_err(failed)?;
            done.backup = Some(backup);
        }
        if item.there.is_none() {
            std::fs::remove_file(&path).map_err(failed)?;
            return Ok(done);
        }
        // A file that cannot be read is not taken.
        SkillsManifest::read(&theirs)?;
        let bytes =
            std::fs::read(&theirs).map_err(|error| HubError::file("read", &theirs, error))?;
        atomic::write(&path, &bytes, FileAccess::Shared).map_err(failed)?;
        Ok(done)
    }
}

impl ExchangeRequest {
    /// What is to be done about an item, with the person's word on conflicts.
    fn sides(&self, item: &ComparedItem) -> SideComparison {
        match item.sides {
            SideComparison::Conflict if Self::names(&self.ours, item) => {
                SideComparison::ChangedHere
            }
            SideComparison::Conflict if Self::names(&self.theirs, item) => {
                SideComparison::ChangedThere
            }
            sides => sides,
        }
    }
}

fn conflict(item: &ComparedItem, theirs: &str) -> HubError {
    let name = item.skill().unwrap_or(MANIFEST_FILE);
    let what = match (&item.here, &item.there) {
        (None, _) => "was removed here and changed elsewhere".to_owned(),
        (_, None) => "was changed here and removed elsewhere".to_owned(),
        _ => format!("changed here and elsewhere: {}", item.differing.join(", ")),
    };
    let mut error = HubError::new(ErrorCode::SyncConflict, format!("{name} {what}"))
        .hint(format!("nothing was changed; the other version is in {theirs}"))
        .hint(format!(
            "--push --ours {name} sends this one, --pull --theirs {name} takes the other"
        ));
    error.matches.clone_from(&item.differing);
    error
}

/// A conflict names the other side's files, so they stay.
fn keep_for_conflicts(remote: OwnRemote<'_>, request: &ExchangeRequest, compared: &[ComparedItem]) {
    if compared.iter().any(|item| request.sides(item) == SideComparison::Conflict) {
        remote.keep();
    }
}
