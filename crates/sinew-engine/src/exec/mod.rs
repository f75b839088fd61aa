//! Running programs for skills, and installing what skills need.
//!
//! The order of an installation is fixed: the guard, the operator's policy, the person, the policy
//! again where it warned, and only then a program.

mod deps;
mod install;
mod run;
mod sandbox;

pub use deps::{DepsReport, OffPathProgram};
pub use install::{DependencyQuestion, DepsInstallReport, DepsInstallRequest, InstallStep};
pub use run::{ExecReport, ExecRequest};
pub use sandbox::{SandboxChoice, SandboxGrants, SandboxReport};

use crate::Engine;

/// Programs of skills, with the variables that skills may have.
#[derive(Debug, Clone, Copy)]
pub struct ExecHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// Running programs for skills: `exec`, `deps`.
    pub fn exec(&self) -> ExecHandle<'_> {
        ExecHandle { engine: self }
    }
}
