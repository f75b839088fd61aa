//! Variables written into a shared environment: applied, counted, and restored.
//!
//! For hosts that keep a table of variables for their agents. A name that was absent before is
//! absent again after the last release, even after a panic. The environment of the process itself
//! cannot be a target: changing it while threads run is unsound.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew_settings::{Reason, ReasonCode};

use crate::env_plan::{EnvPlan, conflict_reason};
use crate::env_value::EnvValue;
use crate::lease::externally_set;

/// An environment that variables are written into.
pub trait EnvTarget {
    /// The value of a name.
    fn get(&self, name: &str) -> Option<String>;
    /// Sets a name to a value.
    fn set(&mut self, name: &str, value: &str);
    /// Removes a name.
    fn remove(&mut self, name: &str);
}

impl EnvTarget for BTreeMap<String, String> {
    fn get(&self, name: &str) -> Option<String> {
        BTreeMap::get(self, name).cloned()
    }

    fn set(&mut self, name: &str, value: &str) {
        self.insert(name.to_owned(), value.to_owned());
    }

    fn remove(&mut self, name: &str) {
        BTreeMap::remove(self, name);
    }
}

/// One applied name. It was absent before: a name that has a value keeps it.
#[derive(Debug)]
struct LedgerEntry {
    value: EnvValue,
    owner: String,
    count: usize,
}

#[derive(Debug)]
struct LedgerState<T> {
    target: T,
    lines: BTreeMap<String, LedgerEntry>,
    records: Vec<Reason>,
}

/// The ledger of one target.
#[derive(Debug)]
pub struct EnvLedger<T: EnvTarget>(Arc<Mutex<LedgerState<T>>>);

impl<T: EnvTarget> Clone for EnvLedger<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Variables that are in the target until this is released or dropped.
#[derive(Debug)]
pub struct AppliedEnv<T: EnvTarget> {
    ledger: EnvLedger<T>,
    names: Vec<String>,
    /// What was left out, and why.
    pub records: Vec<Reason>,
}

impl<T: EnvTarget> EnvLedger<T> {
    /// A ledger for a target.
    pub fn new(target: T) -> Self {
        Self(Arc::new(Mutex::new(LedgerState {
            target,
            lines: BTreeMap::new(),
            records: Vec::new(),
        })))
    }

    /// Applies the variables of a plan.
    pub fn acquire(&self, plan: EnvPlan) -> AppliedEnv<T> {
        let mut records = plan.records;
        let mut names = Vec::new();
        let mut book = self.book();
        let LedgerState { target, lines, .. } = &mut *book;
        for planned in plan.vars {
            let name = planned.name;
            let standing = target.get(&name);
            if let Some(line) = lines.get_mut(&name) {
                line.count += 1;
                if line.value != planned.value {
                    records.push(conflict_reason(&name, &line.owner, &planned.skill));
                }
                if standing.is_none() {
                    target.set(&name, line.value.expose());
                }
            } else if standing.is_some() {
                records.push(externally_set(&name, &planned.skill));
                continue;
            } else {
                target.set(&name, planned.value.expose());
                let (value, owner) = (planned.value, planned.skill);
                lines.insert(name.clone(), LedgerEntry { value, owner, count: 1 });
            }
            names.push(name);
        }
        AppliedEnv { ledger: self.clone(), names, records }
    }

    /// The names that are applied now.
    pub fn active_env_keys(&self) -> Vec<String> {
        self.book().lines.keys().cloned().collect()
    }

    /// Gives access to the target.
    pub fn with_target<R>(&self, with: impl FnOnce(&mut T) -> R) -> R {
        with(&mut self.book().target)
    }

    /// Records of releases since the last call.
    pub fn take_records(&self) -> Vec<Reason> {
        std::mem::take(&mut self.book().records)
    }

    /// A panic elsewhere leaves the state consistent: each change to it is complete.
    fn book(&self) -> MutexGuard<'_, LedgerState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: EnvTarget> AppliedEnv<T> {
    /// Releases now; a second release, by dropping, changes nothing.
    pub fn release(&mut self) {
        let mut book = self.ledger.book();
        let LedgerState { target, lines, records } = &mut *book;
        for name in self.names.drain(..) {
            let Some(line) = lines.get_mut(&name) else { continue };
            let standing = target.get(&name);
            line.count -= 1;
            if line.count > 0 {
                if standing.is_none() {
                    target.set(&name, line.value.expose());
                }
                continue;
            }
            let Some(line) = lines.remove(&name) else { continue };
            if standing.is_some_and(|standing| standing != line.value.expose()) {
                records.push(
                    Reason::new(
                        ReasonCode::EnvChangedExternally,
                        format!("{name} was changed by another program and is left alone"),
                    )
                    .key(name.as_str())
                    .skill(line.owner.as_str()),
                );
                continue;
            }
            target.remove(&name);
        }
    }
}

impl<T: EnvTarget> Drop for AppliedEnv<T> {
    fn drop(&mut self) {
        self.release();
    }
}
