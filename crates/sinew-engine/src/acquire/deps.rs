//! What a skill lacked while it was used: the command that would install it, and installing it after
//! a yes that names that command.

use sinew_catalog::install::InstallOption;
use sinew_cortex::acquire::AcquireRun;
use sinew_exec::child::ProcessControl;
use sinew_hub::lock::ApprovalMethod;

use super::flow::AcquireDriver;
use crate::approval::{ApprovalAnswer, ApprovalQuestion, Approver};
use crate::{DepsInstallRequest, EngineError, InstallStep};

impl AcquireDriver<'_> {
    /// The command that would install what is missing, as the skill's author and this machine see it.
    pub(super) fn install_command(
        &self,
        slug: &str,
        missing: Option<&str>,
    ) -> Result<Option<String>, EngineError> {
        let found = self.with_entry(slug, |_, entry| {
            let options = self.engine.exec().install_options(entry);
            let brings = |option: &&InstallOption| {
                missing.is_none_or(|bin| option.bins.iter().any(|known| known == bin))
            };
            let best = options.iter().filter(brings).find(|option| option.preferred);
            best.or_else(|| options.iter().find(brings)).map(|option| option.argv.join(" "))
        })?;
        Ok(found.flatten())
    }

    /// Installs it; whether what was missing is there now. Without a known way, the person was asked to
    /// do it themselves.
    pub(super) fn install_dependency(
        &mut self,
        run: &AcquireRun,
        command: &str,
    ) -> Result<bool, EngineError> {
        let slug = run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
        let installed = self.with_entry(&slug, |catalog, entry| {
            let options = self.engine.exec().install_options(entry);
            let option = options.iter().find(|option| option.argv.join(" ") == command)?;
            let request = DepsInstallRequest { option: Some(option.id.clone()), timeout: None };
            let mut approver = SingleCommandApprover { command };
            let control = ProcessControl::default();
            Some(self.engine.exec().install_deps(catalog, entry, &request, &mut approver, &control))
        })?;
        match installed.flatten() {
            Some(done) => Ok(done?.ok()),
            None => Ok(sinew_catalog::find_program(&self.engine.env, command).is_some()),
        }
    }
}

/// The answer of a person who agreed to one command and to nothing else.
struct SingleCommandApprover<'a> {
    command: &'a str,
}

impl Approver for SingleCommandApprover<'_> {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        match question {
            ApprovalQuestion::Dependency(asked)
                if asked.step == InstallStep::Need && asked.argv.join(" ") == self.command =>
            {
                ApprovalAnswer::yes("the person who agreed to the command", ApprovalMethod::Prompt)
            }
            _ => ApprovalAnswer::No,
        }
    }
}
