//! `skills.toml` carried out: what it names is installed and put into agents' folders, what it no
//! longer names is taken away.
//!
//! A plan is made from files alone, so that it can be shown before anything happens. Each step is a
//! transaction of its own, under the policy and the questions of every install: after a kill, a
//! refusal or a failure, what was done stands, and the next run does the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sinew_catalog::{CallerFolders, SkillFolderScope, agent_skill_folder};
use sinew_connect::{PlacementOutcome, place_skill, remove_placement};
use sinew_hub::install::{InstallRisk, RuleAcceptance, SkillInstallRequest};
use sinew_hub::lock::{LockEntry, LockFile};
use sinew_hub::manifest::{GroupChoice, ManifestSkill, PlacementMode, SkillsManifest};
use sinew_hub::reference::{RequestedVersion, SkillReference};
use sinew_hub::{
    HubError, RestoreStrictness, SyncRecord, SyncedSkill, TreeStatus, UpdateRequest, Workdir,
};
use sinew_settings::{Actor, ErrorCode, path_text};
use sinew_skill::required_skill_name;

use super::InstallTarget;
use super::policy::PolicyHub;
use super::record::HubRecord;
use super::skill_needs::declared_needs;
use crate::approval::Approver;

/// What a sync is to do.
#[derive(Debug, Clone)]
pub struct SyncRequest {
    /// The manifest.
    pub manifest: PathBuf,
    /// Whose skills they are.
    pub target: InstallTarget,
    /// Which groups belong to it.
    pub groups: GroupChoice,
    /// Whether to look for newer versions of what is installed.
    pub update: bool,
    /// Install exactly what the lock names, and fail where it and the manifest disagree.
    pub frozen: bool,
    /// Whether to replace local changes; a copy of them is kept.
    pub overwrite: bool,
    /// Who removes what the manifest no longer names; nothing is removed without one.
    pub prune: Option<Actor>,
    /// Risks that were accepted beforehand.
    pub accepted: BTreeSet<InstallRisk>,
    /// Findings that a person accepted.
    pub acceptance: Vec<RuleAcceptance>,
    /// Who asks for it.
    pub by: String,
}

/// What is to be done about one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncAction {
    /// It is as the manifest wants it.
    Current,
    /// It is not installed.
    Install,
    /// It is installed from somewhere else, or another version.
    Replace,
    /// A newer version is looked for.
    Update,
    /// The lock names it, and its folder is gone.
    Restore,
    /// It was edited here, and stays.
    Edited,
    /// It was edited here, and the manifest wants another version.
    EditedAndWanted,
    /// A folder of that name is there that was never installed.
    Taken,
}

/// What a sync would do.
#[derive(Debug)]
pub struct SyncPlan {
    manifest: SkillsManifest,
    /// The skills of the chosen groups.
    pub steps: Vec<(ManifestSkill, SyncAction)>,
    /// Skills that the manifest no longer names.
    pub unnamed: Vec<String>,
}

impl SyncPlan {
    /// The plan as records, for a run that changes nothing.
    pub fn preview(&self) -> Vec<HubRecord> {
        let step = |(skill, action): &(ManifestSkill, SyncAction)| {
            let status = match action {
                SyncAction::Current => "current",
                SyncAction::Install => "would-install",
                SyncAction::Replace | SyncAction::Update => "would-update",
                SyncAction::Restore => "would-restore",
                SyncAction::Edited | SyncAction::EditedAndWanted | SyncAction::Taken => "kept",
            };
            HubRecord { message: action.word(&skill.name), ..HubRecord::done(&skill.name, status) }
        };
        let unnamed = self.unnamed.iter().map(|key| HubRecord::done(key, "would-remove"));
        self.steps.iter().map(step).chain(unnamed).collect()
    }
}

impl SyncAction {
    /// Why a skill stays as it is although something could be done.
    fn word(self, name: &str) -> Option<String> {
        match self {
            Self::Edited => Some(format!("{name} was edited here, and stays as it is")),
            Self::EditedAndWanted => {
                Some(format!("{name} was edited here, and another version is wanted"))
            }
            Self::Taken => {
                Some(format!("a folder named {name} is there that sinew did not install"))
            }
            _ => None,
        }
    }
}

impl PolicyHub<'_> {
    /// Reads the manifest and says what there is to do.
    pub fn plan_sync(
        &self,
        request: &SyncRequest,
        workdir: &Workdir,
    ) -> Result<SyncPlan, HubError> {
        let Some(manifest) = SkillsManifest::read(&request.manifest)? else {
            let message = format!("there is no {}", request.manifest.display());
            return Err(HubError::new(ErrorCode::NoManifest, message)
                .hint("write one: [skills] and a line `name = \"reference\"` for each skill")
                .hint("`sinew sync --import` makes one from other programs' files"));
        };
        workdir.recover(&self.engine.env)?;
        let lock = workdir.lock(&self.engine.env)?;
        let folder = request.manifest.parent().unwrap_or(&workdir.root);
        let mut steps = Vec::new();
        for skill in manifest.wanted(&request.groups)? {
            let mut skill = skill.clone();
            self.settle_path(&mut skill.reference, folder);
            let action = self.action(&skill, &lock, request, workdir);
            steps.push((skill, action));
        }
        let named: Vec<&str> = manifest.skills.iter().map(|skill| skill.name.as_str()).collect();
        let record = SyncRecord::read(workdir, &self.engine.env)?;
        let unnamed = unnamed(&named, &record, &lock, workdir);
        Ok(SyncPlan { manifest, steps, unnamed })
    }

    /// A path is meant from the manifest's folder.
    fn settle_path(&self, reference: &mut SkillReference, folder: &Path) {
        if let SkillReference::Local(path) = reference {
            let plain = path.strip_prefix("./").unwrap_or(path);
            *path = path_text(&match path.starts_with('~') {
                true => self.engine.env.expand_home(path),
                false => folder.join(plain),
            });
        }
    }

    fn action(
        &self,
        skill: &ManifestSkill,
        lock: &LockFile,
        request: &SyncRequest,
        workdir: &Workdir,
    ) -> SyncAction {
        let Some(entry) = lock.skills.get(&skill.name) else {
            let there = std::fs::symlink_metadata(workdir.target(&skill.name)).is_ok();
            return match there && !request.overwrite {
                true => SyncAction::Taken,
                false => SyncAction::Install,
            };
        };
        let same = entry.source.requested == skill.reference.to_string();
        let unapproved = entry.approval.is_none();
        let found = self.hub.verify(std::slice::from_ref(&skill.name), workdir);
        let found = found.ok().and_then(|mut found| found.pop());
        let (status, gone) = match &found {
            Some(found) => (found.status, found.missing.is_empty()),
            None => (TreeStatus::Unknown, false),
        };
        let update = request.update && !entry.pinned;
        match (status, same && !unapproved) {
            (TreeStatus::Missing, true) if gone => SyncAction::Restore,
            (TreeStatus::Missing, false) if gone => SyncAction::Replace,
            (TreeStatus::Ok, true) if update => SyncAction::Update,
            (TreeStatus::Ok, true) => SyncAction::Current,
            (TreeStatus::Ok, false) => SyncAction::Replace,
            (_, true) if !update => SyncAction::Edited,
            (_, true) if request.overwrite => SyncAction::Update,
            (_, false) if request.overwrite => SyncAction::Replace,
            _ => SyncAction::EditedAndWanted,
        }
    }

    /// Carries a plan out, as far as policy and answers allow.
    pub fn sync(
        &self,
        plan: &SyncPlan,
        request: &SyncRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<Vec<HubRecord>, HubError> {
        self.engine.check_hub_gate()?;
        let mut record = SyncRecord::read(workdir, &self.engine.env)?;
        if request.frozen {
            self.check_frozen(plan, workdir)?;
        }
        // Before anything else, so that what a killed run installed is known as the manifest's.
        for (skill, action) in &plan.steps {
            if !matches!(action, SyncAction::Taken) {
                record.skills.entry(skill.name.clone()).or_default().needed_by = None;
            }
        }
        record.write(workdir)?;
        let mut records = match request.frozen {
            true => self.restore_frozen(plan, request, workdir, approver)?,
            false => self.take_steps(plan, request, workdir, approver, &mut record)?,
        };
        if !request.frozen {
            records.extend(self.prune(plan, request, workdir, &mut record)?);
        }
        records.extend(self.place(plan, request, workdir, &mut record)?);
        Ok(records)
    }

    /// Fails where the lock does not hold exactly what the manifest names.
    fn check_frozen(&self, plan: &SyncPlan, workdir: &Workdir) -> Result<(), HubError> {
        let lock = workdir.lock(&self.engine.env)?;
        let behind = |skill: &ManifestSkill| {
            let entry = lock.skills.get(&skill.name);
            entry.is_none_or(|entry| entry.source.requested != skill.reference.to_string())
        };
        let behind: Vec<&str> = plan
            .steps
            .iter()
            .filter(|(skill, _)| behind(skill))
            .map(|(skill, _)| skill.name.as_str())
            .collect();
        if behind.is_empty() {
            return Ok(());
        }
        let message =
            format!("the lock does not name what skills.toml wants: {}", behind.join(", "));
        Err(HubError::new(ErrorCode::LockBehind, message)
            .hint("`sinew sync` brings the lock up to date; nothing was changed"))
    }

    fn restore_frozen(
        &self,
        plan: &SyncPlan,
        request: &SyncRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<Vec<HubRecord>, HubError> {
        let mut keys: Vec<String> =
            plan.steps.iter().map(|(skill, _)| skill.name.clone()).collect();
        let mut restored = BTreeSet::new();
        let mut records = Vec::new();
        // What a skill needs is known once its own files are here.
        while !keys.is_empty() {
            restored.extend(keys.iter().cloned());
            let strictness = RestoreStrictness::Frozen;
            let done = self.restore_some(&keys, strictness, &request.by, workdir, approver)?;
            records.extend(done.iter().map(HubRecord::restored));
            keys = self.locked_needs(&keys, &restored, workdir)?;
        }
        Ok(records)
    }

    /// What these skills need, as far as it is not restored yet; a need that is neither locked nor
    /// here ends the sync.
    fn locked_needs(
        &self,
        keys: &[String],
        restored: &BTreeSet<String>,
        workdir: &Workdir,
    ) -> Result<Vec<String>, HubError> {
        let lock = workdir.lock(&self.engine.env)?;
        let mut needed = BTreeSet::new();
        for key in keys {
            for need in declared_needs(&workdir.target(key)) {
                let name = required_skill_name(&need).to_ascii_lowercase();
                if restored.contains(&name) || needed.contains(&name) {
                    continue;
                }
                if lock.skills.contains_key(&name) {
                    needed.insert(name);
                } else if !self.is_here(&name, workdir) {
                    let message = format!("{key} needs {need}, which the lock does not name");
                    return Err(HubError::new(ErrorCode::LockBehind, message)
                        .hint("`sinew sync` brings the lock up to date"));
                }
            }
        }
        Ok(needed.into_iter().collect())
    }

    fn take_steps(
        &self,
        plan: &SyncPlan,
        request: &SyncRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
        record: &mut SyncRecord,
    ) -> Result<Vec<HubRecord>, HubError> {
        let wanted: BTreeSet<String> =
            plan.steps.iter().map(|(skill, _)| skill.name.to_ascii_lowercase()).collect();
        let mut records = Vec::new();
        for (skill, action) in &plan.steps {
            let step = self.step(skill, *action, request, workdir, approver);
            let done = step.unwrap_or_else(|error| HubRecord::failed(&skill.name, error));
            let installed = done.reason.is_none();
            records.push(done);
            if !installed {
                continue;
            }
            let asked = self.install_request(skill, request);
            let needed = self.install_needs(&skill.name, workdir, &asked, &wanted, approver);
            for needed in needed {
                if needed.record.reason.is_none() {
                    let entry = record.skills.entry(needed.key).or_default();
                    entry.needed_by = Some(needed.needed_by);
                    record.write(workdir)?;
                }
                records.push(needed.record);
            }
        }
        Ok(records)
    }

    fn install_request(&self, skill: &ManifestSkill, request: &SyncRequest) -> SkillInstallRequest {
        let mut install = SkillInstallRequest::new(skill.reference.clone(), &request.by);
        install.name = Some(skill.name.clone());
        install.accepted.clone_from(&request.accepted);
        install.acceptance.clone_from(&request.acceptance);
        install.overwrite = request.overwrite;
        install
    }

    fn step(
        &self,
        skill: &ManifestSkill,
        action: SyncAction,
        request: &SyncRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<HubRecord, HubError> {
        let name = &skill.name;
        match action {
            SyncAction::Current => Ok(HubRecord::done(name, "current")),
            SyncAction::Edited => {
                Ok(HubRecord { message: action.word(name), ..HubRecord::done(name, "kept") })
            }
            SyncAction::EditedAndWanted => {
                Err(HubError::new(ErrorCode::LocalChanges, action.word(name).unwrap_or_default())
                    .hint(format!("sinew verify {name}"))
                    .hint("--overwrite replaces it and keeps a copy"))
            }
            SyncAction::Taken => {
                Err(HubError::new(ErrorCode::Exists, action.word(name).unwrap_or_default())
                    .hint("move it away, take the line out of skills.toml, or use --overwrite"))
            }
            SyncAction::Restore => {
                let keys = std::slice::from_ref(name);
                let strictness = RestoreStrictness::Ask;
                let done = self.restore_some(keys, strictness, &request.by, workdir, approver)?;
                Ok(done.first().map_or_else(|| HubRecord::done(name, "ok"), HubRecord::restored))
            }
            SyncAction::Update => {
                let how = UpdateRequest {
                    dry_run: false,
                    overwrite: request.overwrite,
                    accepted: request.accepted.clone(),
                    acceptance: request.acceptance.clone(),
                    wanted: wanted_version(&skill.reference),
                    by: request.by.clone(),
                    neighbours: Vec::new(),
                };
                self.update(name, &how, workdir, approver).map(|done| HubRecord::updated(&done))
            }
            SyncAction::Install | SyncAction::Replace => {
                let mut install = self.install_request(skill, request);
                install.overwrite |= action == SyncAction::Replace;
                let receipt = self.install(&install, workdir, approver)?;
                let mut done = HubRecord::installed(name, &receipt);
                if action == SyncAction::Replace {
                    done.status = "updated";
                }
                Ok(done)
            }
        }
    }

    /// Removes what the manifest no longer names, unless it was edited or there is no person's word.
    fn prune(
        &self,
        plan: &SyncPlan,
        request: &SyncRequest,
        workdir: &Workdir,
        record: &mut SyncRecord,
    ) -> Result<Vec<HubRecord>, HubError> {
        let mut records = Vec::new();
        for key in &plan.unnamed {
            let Some(actor) = &request.prune else {
                let message =
                    format!("skills.toml no longer names {key}; it stays until you agree");
                records.push(HubRecord { message: Some(message), ..HubRecord::done(key, "kept") });
                continue;
            };
            let lock = workdir.lock(&self.engine.env)?;
            if lock.skills.contains_key(key) {
                let found = self.hub.verify(std::slice::from_ref(key), workdir)?;
                let edited = found.first().is_some_and(|found| {
                    found.status != TreeStatus::Ok
                        && !(found.status == TreeStatus::Missing && found.missing.is_empty())
                });
                if edited {
                    let message = format!("{key} was edited here, so it is not removed");
                    records
                        .push(HubRecord { message: Some(message), ..HubRecord::done(key, "kept") });
                    continue;
                }
                match self.uninstall(key, workdir, actor) {
                    Ok(removed) => records.push(HubRecord::removed(&removed)),
                    Err(error) => {
                        records.push(HubRecord::failed(key, error));
                        continue;
                    }
                }
            }
            let placements = record.skills.get(key).map(|synced| synced.placements.clone());
            for place in placements.unwrap_or_default() {
                records.extend(self.displace(key, &place, workdir)?);
            }
            record.skills.remove(key);
            record.write(workdir)?;
        }
        Ok(records)
    }

    fn displace(
        &self,
        key: &str,
        place: &Path,
        workdir: &Workdir,
    ) -> Result<Option<HubRecord>, HubError> {
        let (status, message) = match remove_placement(place, &workdir.skills)? {
            PlacementOutcome::Removed => ("unlinked", None),
            PlacementOutcome::Kept(why) => ("kept", Some(format!("{}: {why}", path_text(place)))),
            _ => return Ok(None),
        };
        let path = Some(place.to_owned());
        Ok(Some(HubRecord { path, message, ..HubRecord::done(key, status) }))
    }

    /// Puts every installed skill where its agents look for it, and takes it away where they no
    /// longer should find it.
    fn place(
        &self,
        plan: &SyncPlan,
        request: &SyncRequest,
        workdir: &Workdir,
        record: &mut SyncRecord,
    ) -> Result<Vec<HubRecord>, HubError> {
        let lock = workdir.lock(&self.engine.env)?;
        let wanted = self.wanted_places(plan, request, workdir, record);
        let mut records = Vec::new();
        for (key, places) in &wanted {
            let usable = |entry: &LockEntry| {
                entry.hold_reason().is_none() && workdir.target(key).join("SKILL.md").is_file()
            };
            if !lock.skills.get(key).is_some_and(usable) {
                continue;
            }
            let synced = record.skills.entry(key.clone()).or_default();
            let old: Vec<PathBuf> = synced.placements.clone();
            for (place, _) in places {
                if !synced.placements.contains(place) {
                    synced.placements.push(place.clone());
                }
            }
            record.write(workdir)?;
            for (place, mode) in places {
                let outcome = place_skill(&workdir.target(key), place, &workdir.skills, *mode)?;
                let (status, message) = match outcome {
                    PlacementOutcome::Linked => ("linked", None),
                    PlacementOutcome::Copied => ("copied", None),
                    PlacementOutcome::Kept(why) => {
                        ("kept", Some(format!("{}: {why}", path_text(place))))
                    }
                    PlacementOutcome::Unchanged | PlacementOutcome::Removed => continue,
                };
                let path = Some(place.clone());
                records.push(HubRecord { path, message, ..HubRecord::done(key, status) });
            }
            for place in old.iter().filter(|old| !places.iter().any(|(place, _)| place == *old)) {
                records.extend(self.displace(key, place, workdir)?);
            }
            if let Some(synced) = record.skills.get_mut(key) {
                synced.placements = places.iter().map(|(place, _)| place.clone()).collect();
            }
            record.write(workdir)?;
        }
        Ok(records)
    }

    /// The folders of agents that each skill belongs into.
    fn wanted_places(
        &self,
        plan: &SyncPlan,
        request: &SyncRequest,
        workdir: &Workdir,
        record: &SyncRecord,
    ) -> BTreeMap<String, Vec<(PathBuf, PlacementMode)>> {
        let scope = match request.target {
            InstallTarget::Workspace => SkillFolderScope::Project,
            InstallTarget::Managed => SkillFolderScope::User,
        };
        let folders = CallerFolders {
            workspace: self.engine.places.workspace.clone(),
            ..CallerFolders::default()
        };
        let mut wanted: BTreeMap<String, Vec<(PathBuf, PlacementMode)>> = BTreeMap::new();
        let mut add = |key: &str, agents: &[String], mode| {
            let places = wanted.entry(key.to_owned()).or_default();
            for agent in agents {
                let folder = agent_skill_folder(agent, scope, &folders, &self.engine.env);
                let Some(place) = folder.map(|folder| folder.join(key)) else { continue };
                // A skill that an agent reads where it is needs no second place.
                let known = places.iter().any(|(known, _)| *known == place);
                if !known && place != workdir.target(key) {
                    places.push((place, mode));
                }
            }
        };
        for (skill, _) in &plan.steps {
            let (agents, mode) = plan.manifest.placement(skill);
            add(&skill.name, agents, mode);
        }
        // What a skill needs goes where the skill goes.
        for (key, SyncedSkill { needed_by, .. }) in &record.skills {
            let parent = needed_by.as_deref().and_then(|parent| root_of(parent, record));
            let parent = parent.and_then(|parent| {
                plan.steps.iter().map(|(skill, _)| skill).find(|skill| skill.name == parent)
            });
            if let Some(parent) = parent {
                let (agents, mode) = plan.manifest.placement(parent);
                add(key, agents, mode);
            }
        }
        wanted
    }
}

/// The skill of the manifest at the start of a chain of needs.
fn root_of(name: &str, record: &SyncRecord) -> Option<String> {
    let mut name = name.to_owned();
    for _ in 0..record.skills.len() {
        match record.skills.get(&name)?.needed_by.clone() {
            Some(parent) => name = parent,
            None => return Some(name),
        }
    }
    None
}

/// What a sync looks after, that the manifest does not name and nothing in it needs.
fn unnamed(named: &[&str], record: &SyncRecord, lock: &LockFile, workdir: &Workdir) -> Vec<String> {
    let mut kept: BTreeSet<String> = named.iter().map(|name| (*name).to_owned()).collect();
    let mut waiting: Vec<String> = kept.iter().cloned().collect();
    while let Some(key) = waiting.pop() {
        if !lock.skills.contains_key(&key) {
            continue;
        }
        for need in declared_needs(&workdir.target(&key)) {
            let need = required_skill_name(&need).to_ascii_lowercase();
            if kept.insert(need.clone()) {
                waiting.push(need);
            }
        }
    }
    record.skills.keys().filter(|key| !kept.contains(*key)).cloned().collect()
}

/// The version that a reference asks for.
fn wanted_version(reference: &SkillReference) -> RequestedVersion {
    match reference {
        SkillReference::Registry(registry) => registry.wanted.clone(),
        _ => RequestedVersion::Latest,
    }
}
