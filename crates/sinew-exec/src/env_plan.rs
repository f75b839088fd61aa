//! Which variables a skill's configuration gives to a run: collected and sanitised.
//!
//! A skill *declares* names; only the user's configuration supplies values. A refused variable
//! becomes a record that names the skill and the variable, never the value.

use std::collections::BTreeMap;

use sinew_catalog::CatalogEntry;
use sinew_guard::env::{self, EnvRecord, EnvRefusal, SkillEnv};
use sinew_settings::config::EntrySettings;
use sinew_settings::{Environment, Reason, ReasonCode, ReasonSeverity};

use crate::env_value::EnvValue;
use crate::secret::{self, SecretCommands};

/// The rules for variables.
#[derive(Debug, Clone, Copy)]
pub struct EnvRules<'a> {
    /// Whether a skill's own entry may set a credential that the skill declares.
    pub allow_declared_credentials: bool,
    /// Names that hold the host's own credentials.
    pub host_credentials: &'a [String],
}

/// A skill that takes part in a run, with its configuration.
#[derive(Debug, Clone, Copy)]
pub struct CoveredSkill<'a> {
    /// The skill.
    pub entry: &'a CatalogEntry,
    /// Its section of the configuration, if there is one.
    pub settings: Option<&'a EntrySettings>,
}

impl CoveredSkill<'_> {
    /// The names that the skill declares: `primaryEnv` and `requires.env`, and the alternatives of
    /// `requires.anyEnv`.
    pub fn declared_names(&self) -> Vec<String> {
        let needs = &self.entry.requirements;
        let mut names: Vec<String> = self.entry.primary_env.iter().cloned().collect();
        for name in needs.env.iter().chain(&needs.any_env) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Its variables as the guard judges them.
    pub fn guard_view<'a>(&'a self, declared: &'a [String], rules: &EnvRules<'a>) -> SkillEnv<'a> {
        SkillEnv {
            skill: &self.entry.name,
            declared,
            reviewed: self.entry.reviewed,
            allow_declared_credentials: rules.allow_declared_credentials,
            host_credentials: rules.host_credentials,
        }
    }
}

/// A variable that may be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedVar {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: EnvValue,
    /// The skill whose configuration it comes from.
    pub skill: String,
}

/// The variables of a run, and a record for each that is refused or suspicious.
#[derive(Debug, Clone, Default)]
pub struct EnvPlan {
    /// The allowed variables; if several skills set one name, the first skill's value.
    pub vars: Vec<PlannedVar>,
    /// The refused ones, and why.
    pub records: Vec<Reason>,
}

impl EnvPlan {
    /// Collects and sanitises for the covered skills, in their order.
    pub fn of(
        covered: &[CoveredSkill<'_>],
        rules: &EnvRules<'_>,
        environment: &Environment,
        commands: SecretCommands<'_>,
    ) -> Self {
        let mut plan = Self::default();
        for skill in covered {
            plan.add(skill, rules, environment, commands);
        }
        plan
    }

    fn add(
        &mut self,
        skill: &CoveredSkill<'_>,
        rules: &EnvRules<'_>,
        environment: &Environment,
        commands: SecretCommands<'_>,
    ) {
        let Some(settings) = skill.settings.filter(|settings| settings.enabled != Some(false))
        else {
            return;
        };
        let requested = self.candidates(skill, settings, environment, commands);
        let declared = skill.declared_names();
        let judged = skill.guard_view(&declared, rules);
        let (allowed, records) = env::filter_variables(&judged, &requested);
        self.records.extend(records.iter().map(reason));
        for (name, value) in allowed {
            let value = EnvValue::new(value);
            match self.vars.iter().find(|planned| planned.name == name) {
                Some(first) if first.value != value => {
                    self.records.push(conflict_reason(&name, &first.skill, &skill.entry.name));
                }
                Some(_) => {}
                None => {
                    self.vars.push(PlannedVar { name, value, skill: skill.entry.name.clone() });
                }
            }
        }
    }

    /// The `env` pairs, then the API key under its own name, unless a pair has it.
    fn candidates(
        &mut self,
        skill: &CoveredSkill<'_>,
        settings: &EntrySettings,
        environment: &Environment,
        commands: SecretCommands<'_>,
    ) -> BTreeMap<String, String> {
        let mut requested: BTreeMap<String, String> = BTreeMap::new();
        let pairs = settings.env.iter().map(|(name, secret)| (name.trim(), secret));
        let primary = skill.entry.primary_env.as_deref();
        let key = settings.api_key.as_ref().and_then(|key| Some((primary?, key)));
        for (name, secret) in pairs.chain(key) {
            if requested.keys().any(|known| known.eq_ignore_ascii_case(name)) {
                continue;
            }
            match secret::resolve(secret, environment, commands) {
                Ok(value) if !name.is_empty() && !value.expose().is_empty() => {
                    requested.insert(name.to_owned(), value.expose().to_owned());
                }
                Ok(_) => self.records.push(
                    Reason::new(ReasonCode::EnvEmpty, "it has no name or no value")
                        .key(name)
                        .skill(skill.entry.name.as_str())
                        .remedy("give it a value, or remove it from the skill's entry"),
                ),
                Err(problem) => self.records.push(
                    Reason::new(ReasonCode::SecretUnavailable, format!("{name}: {problem}"))
                        .key(name)
                        .skill(skill.entry.name.as_str())
                        .remedy("make the secret available, or remove the reference"),
                ),
            }
        }
        requested
    }
}

/// The guard's record as a reason with a next step.
pub(crate) fn reason(record: &EnvRecord) -> Reason {
    let (detail, remedy) = match record.class {
        Some(class @ (EnvRefusal::Undeclared | EnvRefusal::Unreviewed)) => (
            class.meaning(),
            "declare it in the skill's primaryEnv or requires.env, if the skill needs it",
        ),
        Some(class) => (class.meaning(), "remove it from the skill's entry"),
        None => ("the value is very long or looks encoded", "check what was configured"),
    };
    Reason::new(record.code, format!("{}: {detail}", record.key))
        .key(record.key.as_str())
        .skill(record.skill.as_str())
        .remedy(remedy)
}

/// The reason for a variable that a run does not inherit: worth knowing, but not a mistake.
pub(crate) fn withheld_reason(record: &EnvRecord) -> Reason {
    let mut reason = reason(record).severity(ReasonSeverity::Info);
    let declarable = matches!(record.class, Some(EnvRefusal::Undeclared | EnvRefusal::Unreviewed));
    reason.remedy = reason.remedy.filter(|_| declarable);
    reason
}

/// Two skills set different values; the values are not shown.
pub(crate) fn conflict_reason(name: &str, first: &str, second: &str) -> Reason {
    Reason::new(
        ReasonCode::EnvConflict,
        format!("{name}: {first} and {second} set different values; that of {first} is used"),
    )
    .key(name)
    .skill(second)
    .remedy("give both entries the same value, or run them apart")
}
