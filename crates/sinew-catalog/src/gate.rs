//! The gate: what this machine and this configuration allow.
//!
//! Every check runs and every failure is recorded, in one fixed order; the first is the primary
//! reason. `always: true` skips only the checks of requirements.

use sinew_settings::config::{EntrySettings, SecretSetting};
use sinew_settings::{Config, Environment, Reason, ReasonCode, config, platform_alias};
use sinew_skill::{MetadataHealth, Skill, SkillMetadata};

use crate::bins::{ProgramLookup, is_executable};
use crate::entry::{ConfigPathCheck, RequirementOrigin, SkillRequirements};
use crate::install::{self, InstallerSetup, OfferContext};
use crate::profile::Tier;
use crate::remote::RemoteMachines;
use crate::tools;

/// What the gate checks besides the skill.
pub(crate) struct EligibilityGate<'a> {
    pub(crate) config: &'a Config,
    pub(crate) env: &'a Environment,
    pub(crate) bins: ProgramLookup<'a>,
    /// What connected machines have.
    pub(crate) remote: &'a RemoteMachines,
    /// Whether absolute program paths are accepted.
    pub(crate) openpocket: bool,
}

/// What the gate decided.
#[derive(Debug, Default)]
pub(crate) struct GateDecision {
    pub(crate) reasons: Vec<Reason>,
    pub(crate) missing: SkillRequirements,
    pub(crate) config_checks: Vec<ConfigPathCheck>,
    pub(crate) disabled: bool,
    pub(crate) blocked_by_allowlist: bool,
    pub(crate) platform_incompatible: bool,
    /// Set if a requirement is met only on another machine.
    pub(crate) via: Option<RequirementOrigin>,
    /// The machine on which it is met, where it has a name.
    pub(crate) via_machine: Option<String>,
}

impl GateDecision {
    fn meet_elsewhere(&mut self, machine: Option<&str>) {
        self.via = Some(RequirementOrigin::Remote);
        if self.via_machine.is_none() {
            self.via_machine = machine.map(str::to_owned);
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// The skill and its source.
pub(crate) struct GateSubject<'a> {
    pub(crate) skill: &'a Skill,
    pub(crate) key: &'a str,
    /// What the configuration gives to it.
    pub(crate) settings: Option<&'a EntrySettings>,
    pub(crate) tier: Tier,
    pub(crate) generated: bool,
    /// The session forces it on: `enabled: false` is ignored.
    pub(crate) forced_on: bool,
}

impl EligibilityGate<'_> {
    pub(crate) fn decide(&self, subject: &GateSubject<'_>) -> GateDecision {
        let mut decision = GateDecision::default();
        let metadata = subject.skill.metadata.as_ref();
        let always = metadata.is_some_and(|metadata| metadata.always);
        self.switched_off(subject, &mut decision);
        self.secrets(subject, &mut decision);
        self.allow_list(subject, &mut decision);
        let os = metadata.map(|metadata| metadata.os.as_slice()).unwrap_or_default();
        self.platform(os, &mut decision);
        if let Some(metadata) = metadata {
            let mut checks = GateDecision::default();
            self.requirements(subject, metadata, &mut checks);
            decision.config_checks = checks.config_checks;
            if !always {
                decision.via = decision.via.or(checks.via);
                decision.via_machine = decision.via_machine.take().or(checks.via_machine);
                decision.reasons.extend(checks.reasons);
                decision.missing = SkillRequirements { os: decision.missing.os, ..checks.missing };
            }
        }
        if subject.skill.metadata_health == MetadataHealth::Unreadable
            && !self.config.load.tolerate_bad_metadata
        {
            decision.reasons.push(
                Reason::new(
                    ReasonCode::MetadataInvalid,
                    "its requirements cannot be read, so it is not used",
                )
                .remedy("correct the metadata, or set skills.load.tolerateBadMetadata"),
            );
        }
        let reviewed = subject.settings.is_some_and(|e| e.enabled == Some(true));
        // OpenPocket's own way, for users who want it: drafts are used unread.
        let unread = self.config.traces.uses_unread_drafts();
        if subject.generated && !reviewed && !unread {
            decision.reasons.push(
                Reason::new(
                    ReasonCode::DraftUnreviewed,
                    "a program wrote it, and it is not reviewed",
                )
                .remedy(format!(
                    "read it, then set skills.entries.{}.enabled to true",
                    subject.key
                )),
            );
        }
        decision
    }

    fn switched_off(&self, subject: &GateSubject<'_>, decision: &mut GateDecision) {
        if let Some(fault) = self.config.hidden_switches() {
            decision.disabled = true;
            decision.reasons.push(
                Reason::new(
                    ReasonCode::Disabled,
                    format!("the configuration may switch it off, and cannot be read: {fault}"),
                )
                .remedy("correct the configuration; `sinew doctor` shows the fault"),
            );
            return;
        }
        let off = self.config.entries.get(subject.key).is_some_and(|e| e.enabled == Some(false));
        if off && !subject.forced_on {
            decision.disabled = true;
            decision.reasons.push(
                Reason::new(
                    ReasonCode::Disabled,
                    format!("skills.entries.{}.enabled is false", subject.key),
                )
                .remedy(format!("set skills.entries.{}.enabled to true", subject.key)),
            );
        }
    }

    fn secrets(&self, subject: &GateSubject<'_>, decision: &mut GateDecision) {
        let Some(entry) = subject.settings else { return };
        let named = entry.env.iter().map(|(name, secret)| (format!("env.{name}"), secret));
        let key = entry.api_key.iter().map(|secret| ("apiKey".to_owned(), secret));
        for (field, secret) in key.chain(named) {
            if let Some(problem) = self.unavailable(secret) {
                decision.reasons.push(
                    Reason::new(
                        ReasonCode::SecretUnavailable,
                        format!("skills.entries.{}.{field}: {problem}", subject.key),
                    )
                    .remedy("make the secret available, or remove the reference"),
                );
            }
        }
    }

    /// Why a secret cannot be read; commands are only run when they are needed.
    fn unavailable(&self, secret: &SecretSetting) -> Option<String> {
        let SecretSetting::Reference { source, id } = secret else { return None };
        match source.as_str() {
            "env" if self.env.var(id).is_none() => Some(format!("the variable {id} is not set")),
            "file" if !self.env.expand_home(id).is_file() => {
                Some(format!("the file {id} does not exist"))
            }
            "env" | "file" | "exec" | "command" => None,
            other => Some(format!("{other} is not a source of secrets")),
        }
    }

    fn allow_list(&self, subject: &GateSubject<'_>, decision: &mut GateDecision) {
        let allowed = &self.config.skills.allow_bundled;
        let listed = |name: &str| allowed.iter().any(|allowed| allowed == name);
        if subject.tier == Tier::Bundled
            && !allowed.is_empty()
            && !listed(subject.key)
            && !listed(&subject.skill.name)
        {
            decision.blocked_by_allowlist = true;
            decision.reasons.push(
                Reason::new(ReasonCode::NotInAllowBundled, "skills.allowBundled does not list it")
                    .remedy(format!("add {} to skills.allowBundled", subject.skill.name)),
            );
        }
    }

    fn platform(&self, os: &[String], decision: &mut GateDecision) {
        let here = |wanted: &String| platform_alias(wanted) == platform_alias(&self.env.os);
        if os.is_empty() || os.iter().any(here) {
            return;
        }
        if os.iter().any(|wanted| self.remote.has_platform(wanted)) {
            let machine = os.iter().find_map(|wanted| self.remote.machine_of_platform(wanted));
            decision.meet_elsewhere(machine);
        } else {
            decision.platform_incompatible = true;
            decision.missing.os = os.to_vec();
            decision.reasons.push(
                Reason::new(
                    ReasonCode::OsMismatch,
                    format!("it is for {}, but this is {}", os.join(", "), self.env.os),
                )
                .remedy("use it on another machine"),
            );
        }
    }

    fn requirements(
        &self,
        subject: &GateSubject<'_>,
        metadata: &SkillMetadata,
        decision: &mut GateDecision,
    ) {
        let requires = &metadata.requires;
        let has_env = |name: &String| self.has_env(subject, name);
        for name in requires.env.iter().filter(|name| !has_env(name)) {
            decision.missing.env.push(name.clone());
            decision.reasons.push(
                Reason::new(ReasonCode::MissingEnv, format!("{name} is not set"))
                    .remedy(env_remedy(subject, name)),
            );
        }
        if !requires.any_env.is_empty() && !requires.any_env.iter().any(has_env) {
            decision.missing.any_env = requires.any_env.clone();
            decision.reasons.push(
                Reason::new(
                    ReasonCode::MissingAnyEnv,
                    format!("none of {} is set", requires.any_env.join(", ")),
                )
                .remedy(format!("set one of them, or skills.entries.{}.env", subject.key)),
            );
        }
        for path in &requires.config {
            let satisfied = config::is_truthy(&self.config.tree, path);
            decision.config_checks.push(ConfigPathCheck { path: path.clone(), satisfied });
            if !satisfied {
                decision.missing.config.push(path.clone());
                decision.reasons.push(
                    Reason::new(ReasonCode::MissingConfig, format!("{path} is not configured"))
                        .remedy(format!("set {path} in the configuration")),
                );
            }
        }
        for bin in requires.bins.iter().filter(|bin| !self.has_bin(subject, bin)) {
            if self.remote.has_bin(bin) {
                decision.meet_elsewhere(self.remote.machine_with_bin(bin));
                continue;
            }
            decision.missing.bins.push(bin.clone());
            decision.reasons.push(if is_path(bin) && !self.openpocket {
                Reason::new(ReasonCode::BadMetadataField, format!("`bins` names a path: {bin}"))
                    .remedy("name the program alone; it is looked for on PATH")
            } else {
                Reason::new(ReasonCode::MissingBin, format!("{bin} is not installed"))
                    .remedy(self.install_remedy(bin, metadata))
            });
        }
        let has_bin = |bin: &String| self.has_bin(subject, bin);
        if requires.any_bins.is_empty() || requires.any_bins.iter().any(has_bin) {
            return;
        }
        if self.remote.has_any_bin(&requires.any_bins) {
            let machine =
                requires.any_bins.iter().find_map(|bin| self.remote.machine_with_bin(bin));
            decision.meet_elsewhere(machine);
        } else {
            decision.missing.any_bins = requires.any_bins.clone();
            decision.reasons.push(
                Reason::new(
                    ReasonCode::MissingAnyBin,
                    format!("none of {} is installed", requires.any_bins.join(", ")),
                )
                .remedy(self.install_remedy(&requires.any_bins[0], metadata)),
            );
        }
    }

    fn has_env(&self, subject: &GateSubject<'_>, name: &str) -> bool {
        if self.env.var(name).is_some() {
            return true;
        }
        let Some(entry) = subject.settings else { return false };
        let primary = subject.skill.metadata.as_ref().and_then(|m| m.primary_env.as_deref());
        entry.env.get(name).is_some_and(|secret| !secret.is_blank())
            || (primary == Some(name) && entry.api_key.as_ref().is_some_and(|key| !key.is_blank()))
    }

    fn has_bin(&self, subject: &GateSubject<'_>, bin: &str) -> bool {
        if is_path(bin) {
            let path = std::path::Path::new(bin);
            return self.openpocket && path.is_absolute() && is_executable(path);
        }
        self.bins.has(bin) || tools::find_skill_tool(self.env, subject.key, bin).is_some()
    }

    fn install_remedy(&self, bin: &str, metadata: &SkillMetadata) -> String {
        let offer = OfferContext {
            os: &self.env.os,
            prefer_brew: self.config.install.prefer_brew,
            has: &|program| self.bins.has(program),
            // Whether `sudo` is needed is checked at installation; here it is only a hint.
            setup: InstallerSetup { node: self.config.install.node_manager, root: false },
        };
        install::remedy_for_program(bin, &metadata.os, &metadata.install, &offer)
    }
}

fn is_path(bin: &str) -> bool {
    bin.contains(['/', '\\'])
}

fn env_remedy(subject: &GateSubject<'_>, name: &str) -> String {
    let primary = subject.skill.metadata.as_ref().and_then(|m| m.primary_env.as_deref());
    let field = if primary == Some(name) { "apiKey".to_owned() } else { format!("env.{name}") };
    format!("set {name}, or skills.entries.{}.{field}", subject.key)
}
