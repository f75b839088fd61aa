//! Programs and platforms of machines that a host is connected to.
//!
//! A host that can run commands on other machines says so here; connecting and probing are up to
//! the host. What those machines have satisfies `os`, `bins` and `anyBins`, never a variable or a
//! setting.

use std::collections::BTreeSet;

use sinew_settings::platform_alias;

/// What connected machines have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteMachines {
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
        let wanted = platform_alias(wanted);
        self.platforms.iter().any(|platform| platform_alias(platform) == wanted)
    }

    /// Whether one of them has that program.
    pub fn has_bin(&self, name: &str) -> bool {
        self.bins.contains(name)
    }

    /// Whether one of them has any of those programs.
    pub fn has_any_bin(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.has_bin(name))
    }
}
