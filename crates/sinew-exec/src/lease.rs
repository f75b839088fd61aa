//! Leases: a run has the variables of its skills, and only while it runs.
//!
//! Each child gets its own map, so that two runs with different values for one name do not affect
//! each other, and nothing has to be restored: when a lease is dropped, even by a panic, its values
//! remain only in the children that were started with it. **Must never happen here:** the process
//! environment read or written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use sinew_guard::env;
use sinew_settings::{Environment, Reason, ReasonCode};

use crate::env_plan::EnvPlan;
use crate::env_value::{EnvValue, SecretMasker};

/// The leases of one engine; it knows which names are leased.
#[derive(Debug, Clone, Default)]
pub struct EnvLeases(Arc<Mutex<BTreeMap<String, usize>>>);

/// The variables of one run. Dropping it ends the lease.
#[derive(Debug)]
pub struct EnvLease {
    vars: BTreeMap<String, EnvValue>,
    /// What was left out, and why.
    pub records: Vec<Reason>,
    leases: EnvLeases,
}

impl EnvLeases {
    /// Leases the variables of a plan. A name that the host already has keeps the host's value.
    pub fn acquire(&self, plan: EnvPlan, host: &Environment) -> EnvLease {
        let mut records = plan.records;
        let mut vars = BTreeMap::new();
        for planned in plan.vars {
            if is_set(host, &planned.name) {
                records.push(externally_set(&planned.name, &planned.skill));
            } else {
                vars.insert(planned.name, planned.value);
            }
        }
        let mut active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in vars.keys() {
            *active.entry(name.clone()).or_default() += 1;
        }
        EnvLease { vars, records, leases: self.clone() }
    }

    /// The names that are leased now.
    pub fn active_env_keys(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// The environment of a program that is not part of a run: an installer, a policy, another
    /// agent's command. It contains nothing that is leased and nothing that controls programs.
    pub fn bystander_env(&self, host: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut vars = env::inherited_by_child(host);
        vars.retain(|name, _| !active.contains_key(name));
        vars
    }
}

impl EnvLease {
    /// The names and values that the child gets.
    pub fn vars(&self) -> impl Iterator<Item = (&str, &EnvValue)> {
        self.vars.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A masker that removes the leased values from text.
    pub fn masker(&self) -> SecretMasker {
        SecretMasker::new(self.vars.values())
    }
}

impl Drop for EnvLease {
    fn drop(&mut self) {
        let mut active = self.leases.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in self.vars.keys() {
            if let Some(count) = active.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    active.remove(name);
                }
            }
        }
    }
}

/// Whether the host has a variable, blank or not. Windows ignores case.
pub(crate) fn is_set(host: &Environment, name: &str) -> bool {
    match host.os.as_str() {
        "win32" => host.vars.keys().any(|known| known.eq_ignore_ascii_case(name)),
        _ => host.vars.contains_key(name),
    }
}

pub(crate) fn externally_set(name: &str, skill: &str) -> Reason {
    Reason::new(ReasonCode::EnvExternallySet, format!("{name} is already set; that value is used"))
        .key(name)
        .skill(skill)
        .remedy(format!("unset {name} to use the configured value"))
}
