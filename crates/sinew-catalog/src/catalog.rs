//! Building a catalog: roots → candidates → skills → merge → gate → filter.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sinew_settings::config::OpenPocketMode;
use sinew_settings::{Config, Environment, Reason, ReasonCode, ReasonSeverity, path_text};
use sinew_skill::{InstallSpec, SkillMetadata, names};

use crate::bins::{ProgramFolderCache, ProgramFolders, ProgramLookup};
use crate::catalog_cache;
use crate::commands::{CommandSkill, CommandSource, CommandTrust, SlashCommands};
use crate::discover::{DiscoveredSkill, WalkResult, WalkRules};
use crate::entry::{CatalogEntry, EntryState, SkillRequirements};
use crate::entry_owner;
use crate::filter::{self, SessionOverrides};
use crate::gate::{EligibilityGate, GateSubject};
use crate::hosts::{self, PluginState, SwitchTable};
use crate::install;
use crate::load::{LoadRules, LoadedSkillFile, SkillFileCache};
use crate::memory::{CatalogInputs, CatalogMemory, RememberedCatalog, RememberedWalk, WalkMemory};
use crate::merge;
use crate::parallel;
use crate::plain_commands;
use crate::profile::{Profile, SkillNaming, Tier};
use crate::remote::RemoteMachines;
use crate::roots::{self, CallerFolders, RootShape, SkillRoot};
use crate::scan::{self, ScanGate};
use crate::skill_needs;

/// What to build a catalog from.
#[derive(Debug, Clone)]
pub struct CatalogRequest<'a> {
    /// The profile that applies.
    pub profile: &'a Profile,
    /// The folders the caller works in.
    pub places: CallerFolders,
    /// The configuration.
    pub config: &'a Config,
    /// The machine.
    pub env: &'a Environment,
    /// The agent whose list applies.
    pub agent: Option<&'a str>,
    /// The session's own switches.
    pub overrides: SessionOverrides,
    /// What connected machines have.
    pub remote: RemoteMachines,
    /// Commands that the host reserves.
    pub reserved_commands: Vec<String>,
    /// The guard that scans skills when they are loaded; `None` loads them without a scan.
    pub scan: Option<&'a ScanGate>,
    /// What vouches for installed skills; `None` loads them as they are.
    pub vouch: Option<&'a dyn InstallVoucher>,
}

/// Knows which skill folders were approved.
pub trait InstallVoucher: fmt::Debug + Sync {
    /// Why a skill's folder must not be loaded as it is; `scanned` is the digest that the scan
    /// computed.
    fn load_objection(&self, folder: &Path, scanned: Option<&str>) -> Option<Reason>;
    /// Whether this user agreed to the skill in this folder: a project's lock alone says nothing.
    fn is_installed(&self, folder: &Path) -> bool;
    /// The slug under which this user agreed to the skill in this folder.
    fn installed_slug(&self, folder: &Path) -> Option<&str>;
    /// Changes whenever an answer may change.
    fn tag(&self) -> &str;
}

/// Every skill that was found, and what was decided about it.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// The skills in display order, including shadowed and broken ones.
    pub entries: Vec<CatalogEntry>,
    /// Issues that belong to no single skill.
    pub issues: Vec<Reason>,
    /// The roots that were walked, lowest rank first.
    pub roots: Vec<SkillRoot>,
    /// The agent's list, if one applies.
    pub skill_filter: Option<Vec<String>>,
    /// The slash commands.
    pub commands: SlashCommands,
    /// The folders that decide what is found: every one that was listed or contains a skill, and
    /// missing roots of other agents.
    pub folders: Vec<PathBuf>,
    /// Whether skills are merged by their id rather than by their name.
    pub(crate) merged_by_id: bool,
}

/// Builds catalogs, and caches what it read.
#[derive(Debug, Default)]
pub struct CatalogBuilder {
    pub(crate) files: SkillFileCache,
    pub(crate) bins: ProgramFolderCache,
    walks: WalkMemory,
    pub(crate) last: CatalogMemory,
}

impl CatalogBuilder {
    /// Builds the catalog. It never fails: what cannot be read becomes an entry or an issue.
    ///
    /// If nothing changed since the last build, the same catalog is returned.
    pub fn build(&self, request: &CatalogRequest<'_>) -> Arc<Catalog> {
        let roots =
            roots::resolve_roots(request.profile, &request.places, request.config, request.env);
        let rules = walk_rules(request);
        let now = request.env.clock.now_ms();
        let walks: Vec<Arc<RememberedWalk>> =
            roots.0.iter().map(|root| self.walks.walk(root, &rules, now)).collect();
        let bins = self.bins.get(request.env);
        let inputs = CatalogInputs::of(request);
        if let Some(inputs) = &inputs
            && let Some(catalog) = self.last.unchanged_catalog(inputs, &roots, &walks, &bins)
        {
            return catalog;
        }
        let mut files = Vec::new();
        let catalog = Arc::new(self.assemble(request, &roots, &walks, &bins, &mut files));
        if let Some(inputs) = inputs {
            let catalog = Arc::clone(&catalog);
            self.last.remember(RememberedCatalog { inputs, roots, walks, bins, files, catalog });
        }
        catalog
    }

    fn assemble(
        &self,
        request: &CatalogRequest<'_>,
        (roots, issues): &(Vec<SkillRoot>, Vec<Reason>),
        walks: &[Arc<RememberedWalk>],
        bins: &ProgramFolders,
        all_files: &mut Vec<Arc<LoadedSkillFile>>,
    ) -> Catalog {
        let mut issues = issues.clone();
        let found = walks.iter().map(|walked| walked.found.candidates.len()).sum();
        let mut entries = Vec::with_capacity(found);
        for (root, walked) in roots.iter().zip(walks) {
            let files = self.read_root(root, &walked.found, request, &mut entries, &mut issues);
            all_files.extend(files);
        }
        let openpocket = request.profile.is_openpocket();
        let installed = |entry: &CatalogEntry| {
            request.vouch.is_some_and(|vouch| vouch.is_installed(&entry.base_dir))
        };
        merge::merge(
            &mut entries,
            |entry| if openpocket { &entry.id } else { &entry.name },
            installed,
        );
        entry_owner::assign(request, &mut entries);
        merge::warn_confusable_names(&mut entries);
        let switches = request.profile.switches.map(|host| {
            hosts::read_switches(host, &request.places.workspace, request.env, &mut issues)
        });
        gate(request, bins, switches.as_ref(), &mut entries);
        skill_needs::hold_back_incomplete(&mut entries);
        let skill_filter = filter::apply(request, &mut entries, &mut issues);
        sort(&mut entries, roots, openpocket);
        let commands = name_commands(request, &mut entries);
        issues.extend(unknown_skill_keys(request.config, &entries));
        issues.extend(unknown_agent(request));
        let mut folders = roots::missing_agent_roots(
            request.profile,
            &request.places,
            request.config,
            request.env,
        );
        for walked in walks {
            folders.extend(walked.found.listed.iter().map(|listed| listed.shown.clone()));
        }
        Catalog {
            entries,
            issues,
            roots: roots.clone(),
            skill_filter,
            commands,
            folders,
            merged_by_id: openpocket,
        }
    }

    /// Loads the cache that an earlier process saved under the same tag; damaged bytes, or those of
    /// another build, are ignored.
    pub fn load_cache(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static, tag: &str) {
        let _ = catalog_cache::load_records(bytes, tag, &self.files.saved, &self.walks.saved);
    }

    /// The cache to save for the next process, if a file was read since the last call.
    pub fn take_unsaved_cache(&self, tag: &str) -> Option<Vec<u8>> {
        let learned = self.files.learned.swap(false, Ordering::Relaxed);
        learned.then(|| catalog_cache::to_bytes(tag, &self.files.records(), &self.walks.records()))
    }

    /// Drops what was cached below a folder.
    pub fn forget_below(&self, folder: &std::path::Path) {
        self.files.forget_below(folder);
        self.last.forget();
    }

    fn read_root(
        &self,
        root: &SkillRoot,
        found: &WalkResult,
        request: &CatalogRequest<'_>,
        entries: &mut Vec<CatalogEntry>,
        issues: &mut Vec<Reason>,
    ) -> Vec<Arc<LoadedSkillFile>> {
        let limits = &request.config.limits;
        let openpocket = request.profile.is_openpocket();
        let mode = request.config.openpocket_agent.mode;
        let max_candidates = max_candidates(request);
        let load = LoadRules {
            dialect: request.profile.dialect,
            scan: request.scan,
            now_ms: request.env.clock.now_ms(),
            tier: root.tier,
            links: root.links,
            max_bytes: limits.max_skill_file_bytes,
            strict: openpocket && mode == OpenPocketMode::Strict,
        };
        issues.extend(found.reasons.iter().cloned());
        let within = |all: &'_ [DiscoveredSkill], issues: &mut Vec<Reason>| {
            let considered = all.len().min(max_candidates);
            if let Some(first) = all.get(considered) {
                let (key, count) = ("skills.limits.maxCandidatesPerRoot", all.len() - considered);
                let code = ReasonCode::CandidatesCapped;
                issues.push(capped(root, code, count, first, key, max_candidates));
            }
            considered
        };
        let mut candidates = &found.candidates[..within(&found.candidates, issues)];
        let mut files = self.files.load(candidates, load);
        let mut both: Vec<DiscoveredSkill>;
        if !found.below.is_empty() && files.iter().all(|file| file.skill.is_none()) {
            // The root's own file is broken, but the skills below it are still used.
            let below = &found.below[..within(&found.below, issues)];
            files.extend(self.files.load(below, load));
            both = candidates.to_vec();
            both.extend_from_slice(below);
            candidates = &both;
        }
        let max_loaded = limits.max_skills_loaded_per_source.unwrap_or(request.profile.max_loaded);
        let mut loaded = 0;
        let mut quiet_rules = 0;
        let mut left_out: Option<(usize, &DiscoveredSkill)> = None;
        let mut accepted: Vec<(&DiscoveredSkill, &LoadedSkillFile)> =
            Vec::with_capacity(files.len());
        for (candidate, file) in candidates.iter().zip(&files) {
            if root.shape == RootShape::Rules && is_undescribed(file) {
                quiet_rules += 1;
                continue;
            }
            if file.skill.is_some() {
                if loaded >= max_loaded {
                    left_out = Some(left_out.map_or((1, candidate), |(n, first)| (n + 1, first)));
                    continue;
                }
                loaded += 1;
            }
            accepted.push((candidate, file));
        }
        entries.extend(parallel::map(&accepted, |(candidate, file)| {
            entry(root, candidate, file, request.vouch)
        }));
        if quiet_rules > 0 {
            let detail = format!("{quiet_rules} rules have no description, and nothing to go by");
            issues.push(
                Reason::new(ReasonCode::DescriptionMissing, detail)
                    .severity(ReasonSeverity::Info)
                    .source(&root.source)
                    .path(path_text(&root.path))
                    .remedy("add a description to a rule that should be found by it"),
            );
        }
        if let Some((count, first)) = left_out {
            let key = "skills.limits.maxSkillsLoadedPerSource";
            issues.push(capped(root, ReasonCode::SourceCapped, count, first, key, max_loaded));
        }
        files
    }
}

fn gate(
    request: &CatalogRequest<'_>,
    bins: &ProgramFolders,
    switches: Option<&SwitchTable>,
    entries: &mut [CatalogEntry],
) {
    let gate = EligibilityGate {
        config: request.config,
        env: request.env,
        bins: ProgramLookup::of(bins),
        remote: &request.remote,
        openpocket: request.profile.is_openpocket(),
    };
    for entry in entries.iter_mut().filter(|entry| entry.state == EntryState::Ready) {
        let Some(skill) = entry.skill.clone() else { continue };
        let mut decision = gate.decide(&GateSubject {
            skill: &skill,
            key: &entry.skill_key,
            settings: entry.settings(request.config),
            tier: entry.tier,
            generated: entry.generated,
            forced_on: request.overrides.get(&entry.skill_key) == Some(&true),
        });
        let host = host_decision(entry, switches);
        if let Some(reason) = host.clone().filter(|reason| reason.code != ReasonCode::HostHidden) {
            decision.disabled = true;
            decision.reasons.insert(0, reason);
        }
        let hidden = host.filter(|reason| reason.code == ReasonCode::HostHidden);
        entry.hidden_by_host = hidden.or(entry.hidden_by_host.take());
        if let Some(held) = entry.blocked.take() {
            // What is dangerous comes before what is missing: nothing should be installed for it.
            decision.reasons.insert(0, scan::told_of(&entry.name, held));
        }
        let scanned = entry.scan.as_ref().map(|scan| scan.digest.as_str());
        let objection =
            request.vouch.and_then(|vouch| vouch.load_objection(&entry.base_dir, scanned));
        decision.reasons.extend(objection);
        entry.eligible = decision.is_open();
        entry.disabled = decision.disabled;
        entry.blocked_by_allowlist = decision.blocked_by_allowlist;
        entry.platform_incompatible = decision.platform_incompatible;
        entry.via = decision.via.filter(|_| entry.eligible);
        entry.via_machine = decision.via_machine.filter(|_| entry.eligible);
        let is_hold = |reason: &Reason| {
            matches!(
                reason.code,
                ReasonCode::NotInAllowBundled
                    | ReasonCode::MetadataInvalid
                    | ReasonCode::Quarantined
                    | ReasonCode::DraftUnreviewed
            )
        };
        entry.state = if decision.disabled {
            EntryState::Disabled
        } else if decision.reasons.iter().any(is_hold) {
            EntryState::Blocked
        } else if entry.eligible {
            EntryState::Ready
        } else {
            EntryState::NeedsSetup
        };
        entry.missing = decision.missing;
        entry.config_checks = decision.config_checks;
        for reason in decision.reasons {
            entry.note(reason);
        }
    }
}

/// Whether a rule cannot be found by what it is about.
fn is_undescribed(file: &LoadedSkillFile) -> bool {
    let silent = |reason: &Reason| {
        matches!(reason.code, ReasonCode::DescriptionMissing | ReasonCode::FrontmatterMissing)
    };
    file.skill.is_none() && file.reasons.iter().any(silent)
}

/// What the host's settings, or the state of the skill's plugin, say about it.
fn host_decision(entry: &CatalogEntry, switches: Option<&SwitchTable>) -> Option<Reason> {
    if let Some(plugin) = entry.plugin.as_ref().filter(|p| p.state == PluginState::Disabled) {
        let why = plugin.detail.as_deref().unwrap_or("it is switched off");
        let detail = format!("the plugin {} is off: {why}", plugin.name);
        return Some(
            Reason::new(ReasonCode::PluginDisabled, detail)
                .remedy(format!("switch the plugin on in {}", plugin.host)),
        );
    }
    let switches = switches?;
    switches.find(&[&entry.name, &entry.id], &entry.file_path)
}

fn max_candidates(request: &CatalogRequest<'_>) -> usize {
    request.config.limits.max_candidates_per_root.unwrap_or(request.profile.max_candidates)
}

fn walk_rules(request: &CatalogRequest<'_>) -> WalkRules {
    let openpocket = request.profile.is_openpocket();
    WalkRules {
        any_case: openpocket,
        single_files: openpocket && request.config.openpocket_agent.mode != OpenPocketMode::Strict,
        max_candidates: max_candidates(request),
        link_targets: link_targets(request),
    }
}

impl Catalog {
    /// Every program that some skill requires or provides, for hosts that look for them on other
    /// machines.
    pub fn program_names(&self) -> BTreeSet<&str> {
        let mut bins = BTreeSet::new();
        for entry in self.unshadowed() {
            let needs = &entry.requirements;
            let brought = entry.install.iter().flat_map(|spec| &spec.bins);
            let all = needs.bins.iter().chain(&needs.any_bins).chain(brought);
            bins.extend(all.map(String::as_str));
        }
        bins
    }

    /// The skill that is used under that exact name.
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.unshadowed().find(|entry| entry.name == name)
    }

    /// Every entry that is not shadowed by another.
    pub fn unshadowed(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.entries.iter().filter(|entry| entry.state != EntryState::Shadowed)
    }

    /// What a skill is merged by: its name, or its id in OpenPocket's profile.
    pub fn merge_key<'a>(&self, entry: &'a CatalogEntry) -> &'a str {
        if self.merged_by_id { &entry.id } else { &entry.name }
    }

    /// The copies that are shadowed by this skill, highest rank first.
    pub fn shadowed_by<'a>(&'a self, winner: &'a CatalogEntry) -> Vec<&'a CatalogEntry> {
        let mut copies: Vec<&CatalogEntry> = self
            .entries
            .iter()
            .filter(|entry| {
                entry.state == EntryState::Shadowed
                    && self.merge_key(entry) == self.merge_key(winner)
            })
            .collect();
        let rank =
            |entry: &CatalogEntry| self.roots.iter().rposition(|root| entry.source == root.source);
        copies.sort_by_key(|entry| std::cmp::Reverse(rank(entry)));
        copies
    }
}

fn entry(
    root: &SkillRoot,
    candidate: &DiscoveredSkill,
    file: &LoadedSkillFile,
    vouch: Option<&dyn InstallVoucher>,
) -> CatalogEntry {
    let skill = file.skill.as_deref();
    let none = SkillMetadata::default();
    let metadata = skill.and_then(|skill| skill.metadata.as_ref()).unwrap_or(&none);
    let called = match root.naming {
        SkillNaming::FrontMatter => skill.map_or(&candidate.id, |skill| &skill.name),
        SkillNaming::Folder => &candidate.id,
    };
    let name = &match &root.prefix {
        Some(prefix) => format!("{prefix}:{called}"),
        None => called.clone(),
    };
    let (install, refused) = checked_installers(&metadata.install);
    let reasons = file
        .reasons
        .iter()
        .cloned()
        .chain(refused)
        .map(|reason| {
            reason.skill(name.clone()).source(&root.source).path(path_text(&candidate.file))
        })
        .collect();
    let requires = &metadata.requires;
    // Anyone can put a note of its origin into a skill; it counts where a lock says the same.
    let slug =
        file.origin.as_ref().and_then(|origin| origin.slug.as_deref()).filter(|slug| {
            vouch.and_then(|vouch| vouch.installed_slug(&candidate.dir)) == Some(slug)
        });
    CatalogEntry {
        name: name.clone(),
        display_name: skill
            .map_or_else(|| names::display_name(name), |skill| skill.display_name.clone()),
        description: skill.map(|skill| skill.description.clone()).unwrap_or_default(),
        state: if skill.is_some() { EntryState::Ready } else { EntryState::Broken },
        eligible: false,
        source: root.source.clone(),
        tier: root.tier,
        bundled: root.tier == Tier::Bundled,
        plugin: root.plugin.clone(),
        file_path: candidate.file.clone(),
        base_dir: candidate.dir.clone(),
        id: candidate.id.clone(),
        skill_key: metadata.skill_key.as_deref().or(slug).unwrap_or(name).to_owned(),
        key_is_locked: metadata.skill_key.is_none() && slug.is_some(),
        settings_withheld: false,
        primary_env: metadata.primary_env.clone(),
        emoji: metadata.emoji.clone(),
        homepage: skill.and_then(|skill| skill.homepage.clone()),
        always: metadata.always,
        disabled: false,
        blocked_by_allowlist: false,
        blocked_by_agent_filter: false,
        platform_incompatible: false,
        model_visible: false,
        user_invocable: skill.is_some_and(|skill| skill.invocation.user_invocable),
        command_visible: false,
        command_name: None,
        requirements: SkillRequirements {
            bins: requires.bins.clone(),
            any_bins: requires.any_bins.clone(),
            env: requires.env.clone(),
            any_env: requires.any_env.clone(),
            config: requires.config.clone(),
            os: metadata.os.clone(),
            skills: requires.skills.clone(),
        },
        missing: SkillRequirements::default(),
        config_checks: Vec::new(),
        install,
        reviewed: file.origin.as_ref().is_none_or(|origin| origin.vouched),
        via: None,
        via_machine: None,
        generated: candidate.generated,
        content_hash: file.hash.clone(),
        repairs: skill.map(|skill| skill.repairs.clone()).unwrap_or_default(),
        reasons,
        scan: file.judgement.as_ref().map(|judgement| judgement.summary.clone()),
        blocked: file.judgement.as_ref().and_then(|judgement| judgement.blocked.clone()),
        hidden_by_host: root.nested.as_ref().map(|folder| {
            let detail = format!("its host offers it once files below {folder} are worked on");
            Reason::new(ReasonCode::HostHidden, detail)
        }),
        skill: file.skill.clone(),
    }
}

/// The installers that are well formed, and a reason for each that is not.
fn checked_installers(specs: &[InstallSpec]) -> (Vec<InstallSpec>, Vec<Reason>) {
    let (mut valid, mut refused) = (Vec::new(), Vec::new());
    for spec in specs {
        match install::check_spec(spec) {
            Ok(_) => valid.push(spec.clone()),
            Err(reason) => refused.push(reason),
        }
    }
    (valid, refused)
}

fn capped(
    root: &SkillRoot,
    code: ReasonCode,
    count: usize,
    first: &DiscoveredSkill,
    key: &str,
    limit: usize,
) -> Reason {
    Reason::new(
        code,
        format!("{count} left out beyond {limit}, the first is {}", path_text(&first.dir)),
    )
    .source(&root.source)
    .path(path_text(&root.path))
    .remedy(format!("raise {key}, now {limit}"))
}

fn link_targets(request: &CatalogRequest<'_>) -> Vec<PathBuf> {
    let listed = &request.config.load.allow_symlink_targets;
    let listed = listed.iter().map(|target| request.env.expand_home(target));
    // `sinew sync` links agents' folders to the workspace's skills, which are read anyway. OpenClaw
    // and OpenPocket read these themselves, and refuse such links.
    let refuses = matches!(request.profile.name, "openclaw" | "openpocket");
    let synced = request.places.workspace.join("skills");
    // A folder that is itself a link could lead anywhere.
    let real = std::fs::symlink_metadata(&synced).is_ok_and(|facts| facts.is_dir());
    let synced = (real && !refuses).then_some(synced);
    listed.chain(synced).map(|target| std::fs::canonicalize(&target).unwrap_or(target)).collect()
}

/// Names the commands. A skill that is hidden only by the agent's list keeps its command, so that a
/// user who types it gets an answer.
fn name_commands(request: &CatalogRequest<'_>, entries: &mut [CatalogEntry]) -> SlashCommands {
    let files: Vec<String> = entries.iter().map(|entry| path_text(&entry.file_path)).collect();
    let mut wanting: Vec<CommandSkill<'_>> = entries
        .iter()
        .zip(&files)
        .filter(|(entry, _)| {
            let usable = entry.eligible || is_held_dispatch(entry);
            usable && entry.user_invocable && entry.state != EntryState::Shadowed
        })
        .map(|(entry, file)| CommandSkill {
            name: &entry.name,
            description: &entry.description,
            file,
            source: &entry.source,
            skill_source: match entry.tier {
                Tier::Bundled => CommandSource::Bundled,
                Tier::Workspace => CommandSource::Workspace,
                _ => CommandSource::Unknown,
            },
            own: entry.tier.is_own(),
            model_visible: entry.model_visible,
            dispatch: entry.skill.as_ref().and_then(|skill| skill.dispatch.clone()),
            template: None,
            filtered: !entry.command_visible,
            trust: match (entry.eligible, entry.reviewed) {
                (false, _) => CommandTrust::Held,
                (true, false) => CommandTrust::Unreviewed,
                (true, true) => CommandTrust::Full,
            },
        })
        .collect();
    let plain = plain_commands::read(request.config, request.env);
    wanting.extend(plain.iter().map(|command| CommandSkill {
        name: &command.name,
        description: &command.description,
        file: &command.file,
        template: Some(&command.template),
        ..CommandSkill::default()
    }));
    let commands =
        SlashCommands::assign(&wanting, request.reserved_commands.iter().map(String::as_str));
    let names: HashMap<&str, &str> = commands
        .specs()
        .iter()
        .map(|spec| (spec.skill_file.as_str(), spec.name.as_str()))
        .collect();
    for (entry, file) in entries.iter_mut().zip(&files).filter(|(entry, _)| entry.command_visible) {
        entry.command_name = names.get(file.as_str()).map(|name| (*name).to_owned());
    }
    commands
}

/// Whether it is a command for a tool whose skill the guard holds back: the user gets an answer,
/// instead of the message going to the model.
fn is_held_dispatch(entry: &CatalogEntry) -> bool {
    let is_hold = |reason: &Reason| {
        matches!(reason.code, ReasonCode::Quarantined | ReasonCode::DraftUnreviewed)
    };
    entry.skill.as_ref().is_some_and(|skill| skill.dispatch.is_some())
        && entry.state == EntryState::Blocked
        && entry.reasons.iter().any(is_hold)
}

/// A misspelt agent id would otherwise see skills that are hidden from the intended agent.
fn unknown_agent(request: &CatalogRequest<'_>) -> Option<Reason> {
    let agent = request.agent?;
    let known = &request.config.agents.entries;
    if known.is_empty() || known.contains_key(agent) {
        return None;
    }
    let near = sinew_settings::nearest(agent, known.keys().map(String::as_str));
    let remedy = match near.first() {
        Some(near) => format!("did you mean {near}?"),
        None => "add it to agents.entries".to_owned(),
    };
    let detail = format!("the configuration has no agent {agent}; the defaults apply");
    Some(Reason::new(ReasonCode::UnknownAgent, detail).remedy(remedy))
}

fn unknown_skill_keys(config: &Config, entries: &[CatalogEntry]) -> Vec<Reason> {
    let known: std::collections::HashSet<&str> =
        entries.iter().map(|entry| entry.skill_key.as_str()).collect();
    config
        .entries
        .keys()
        .filter(|key| !known.contains(key.as_str()))
        .map(|key| {
            let near = sinew_settings::nearest(key, known.iter().copied());
            let remedy = match near.first() {
                Some(near) => format!("did you mean skills.entries.{near}?"),
                None => "remove it, or install the skill".to_owned(),
            };
            Reason::new(
                ReasonCode::UnknownSkillKey,
                format!("skills.entries.{key} matches no skill"),
            )
            .remedy(remedy)
        })
        .collect()
}

/// By name in natural order; OpenPocket lists its sources one after the other.
fn sort(entries: &mut [CatalogEntry], roots: &[SkillRoot], openpocket: bool) {
    // Entries are large to move, so their indices are sorted.
    let mut places: Vec<usize> = (0..entries.len()).collect();
    places.sort_by(|&a, &b| {
        let (a, b) = (&entries[a], &entries[b]);
        crate::collate::compare(&a.name, &b.name).then_with(|| {
            (&a.name, &a.source, &a.file_path).cmp(&(&b.name, &b.source, &b.file_path))
        })
    });
    if openpocket {
        let rank =
            |entry: &CatalogEntry| roots.iter().rposition(|root| root.source == entry.source);
        places.sort_by_key(|&at| std::cmp::Reverse(rank(&entries[at])));
    }
    for at in 0..entries.len() {
        let mut from = places[at];
        // An entry that was already moved is now where its own index pointed.
        while from < at {
            from = places[from];
        }
        entries.swap(at, from);
    }
}
