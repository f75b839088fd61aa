//! Programs and platforms of machines that a host is connected to.
//!
//! A host that can run commands on other machines says so here; connecting and probing are up to
//! the host. What those machines have satisfies `os`, `bins` and `anyBins`, never a variable or a
//! setting.

use std::collections::BTreeSet;

use sinew_settings::platform_alias;

/// One connected machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteMachine {
    /// What the host calls it.
    pub id: String,
    /// Its platform.
    pub platform: String,
    /// Its programs, as far as skills need them.
    pub bins: BTreeSet<String>,
}

/// What connected machines have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteMachines {
    /// The machines that have a name.
    pub named: Vec<RemoteMachine>,
    /// Their platforms.
    pub platforms: Vec<String>,
    /// Their programs, out of those that [`Catalog::program_names`](crate::Catalog::program_names)
    /// lists.
    pub bins: BTreeSet<String>,
    /// A line for the prompt that says how to reach them.
    pub note: Option<String>,
}

impl RemoteMachines {
    /// Whether one of them has that platform.
    pub fn has_platform(&self, wanted: &str) -> bool {
        let alias = platform_alias(wanted);
        self.platforms.iter().any(|platform| platform_alias(platform) == alias)
            || self.machine_of_platform(wanted).is_some()
    }

    /// The machine with that platform, where it has a name.
    pub fn machine_of_platform(&self, wanted: &str) -> Option<&str> {
        let wanted = platform_alias(wanted);
        let named = self.named.iter().find(|machine| platform_alias(&machine.platform) == wanted);
        named.map(|machine| machine.id.as_str())
    }

    /// The machine with that program, where it has a name.
    pub fn machine_with_bin(&self, name: &str) -> Option<&str> {
        let named = self.named.iter().find(|machine| machine.bins.contains(name));
        named.map(|machine| machine.id.as_str())
    }

    /// Whether one of them has that program.
    pub fn has_bin(&self, name: &str) -> bool {
        self.bins.contains(name) || self.machine_with_bin(name).is_some()
    }

    /// Whether one of them has any of those programs.
    pub fn has_any_bin(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.has_bin(name))
    }
}
