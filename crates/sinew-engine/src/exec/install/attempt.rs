//! One way to install something, from the policy to the last byte.

use std::fs;

use serde_json::json;
use sinew_catalog::install::{InstallOption, InstallerKind};
use sinew_catalog::{CatalogEntry, Tier};
use sinew_exec::child::ProcessControl;
use sinew_exec::install::{
    FileFetcher, InstallJob, InstallResult, PolicyCheck, PolicyDecision, PolicyNotice,
    PolicyRequest, ToolDownload, download, installer_setup, installer_timeout, missing_manager,
    run,
};
use sinew_settings::{Reason, ReasonCode};

use super::{DependencyQuestion, DepsInstallRequest, InstallStep};
use crate::Engine;
use crate::approval::{ApprovalAnswer, ApprovalQuestion, Approver, InstallProgress};

/// One option on its way.
pub(super) struct InstallerAttempt<'a> {
    pub(super) engine: &'a Engine,
    pub(super) entry: &'a CatalogEntry,
    pub(super) option: &'a InstallOption,
    pub(super) warnings: &'a [String],
    pub(super) request: &'a DepsInstallRequest,
    pub(super) control: &'a ProcessControl,
}

impl InstallerAttempt<'_> {
    /// Everything that happens for one option; the last result says how it ended.
    pub(super) fn run(&self, approver: &mut dyn Approver, results: &mut Vec<InstallResult>) {
        if let Err(reason) = self.go(approver, results) {
            results.push(refused(self.option, &reason));
        }
    }

    fn go(
        &self,
        approver: &mut dyn Approver,
        results: &mut Vec<InstallResult>,
    ) -> Result<(), Reason> {
        if let Some(problem) =
            self.option.problem.as_ref().filter(|p| p.code != ReasonCode::NeedsVersion)
        {
            return Err(problem.clone());
        }
        let acknowledged = self.policy(approver)?;
        let engine = self.engine;
        let setup = installer_setup(engine.config.install.node_manager);
        if let Some(missing) =
            missing_manager(self.option.kind, &setup, &engine.env, &engine.leases)
        {
            let Some((kind, argv)) = missing.offer else { return Err(missing.reason) };
            let label = format!("Install {}, which is missing", setup.manager(self.option.kind));
            match self.ask(approver, InstallStep::Manager, label, &argv, kind) {
                Ok(()) => {}
                Err(reason) if reason.code == ReasonCode::ConsentRequired => {
                    return Err(missing.reason);
                }
                Err(reason) => return Err(reason),
            }
            let id = format!("{}-manager", self.option.id);
            results.push(self.start(&id, kind, &argv, approver));
            if results.last().is_some_and(|result| !result.ok) {
                return Ok(());
            }
        }
        if let Some(tap) = &self.option.tap {
            let argv = ["brew".to_owned(), "tap".to_owned(), tap.clone()];
            self.ask(
                approver,
                InstallStep::Tap,
                format!("Add the tap {tap}"),
                &argv,
                InstallerKind::Brew,
            )?;
            let id = format!("{}-tap", self.option.id);
            results.push(self.start(&id, InstallerKind::Brew, &argv, approver));
            if results.last().is_some_and(|result| !result.ok) {
                return Ok(());
            }
        }
        let option = self.option;
        self.ask(approver, InstallStep::Need, option.label.clone(), &option.argv, option.kind)?;
        if let Some(notice) = acknowledged {
            self.policy_again(&notice)?;
        }
        results.push(match &option.installer.download {
            None => self.start(&option.id, option.kind, &option.argv, approver),
            Some(wanted) => {
                let tool = ToolDownload {
                    id: &option.id,
                    key: &self.entry.skill_key,
                    download: wanted,
                    bins: &option.bins,
                    argv: &option.argv,
                };
                let fetcher = self.fetcher();
                download(&tool, &fetcher, &engine.env, &mut |bytes, of| {
                    approver.progress(&InstallProgress::Downloaded { bytes, of });
                })
            }
        });
        Ok(())
    }

    fn start(
        &self,
        id: &str,
        kind: InstallerKind,
        argv: &[String],
        approver: &mut dyn Approver,
    ) -> InstallResult {
        let job = InstallJob { id, kind, argv, timeout: installer_timeout(self.request.timeout) };
        let (env, leases) = (&self.engine.env, &self.engine.leases);
        run(&job, env, leases, self.control, &mut |stream, bytes| {
            approver.progress(&InstallProgress::Output { stream, bytes });
        })
    }

    fn fetcher(&self) -> FileFetcher {
        let env = &self.engine.env;
        FileFetcher {
            allow: self.engine.config.install.allow_private_hosts.clone(),
            // Behind a proxy that intercepts TLS, this variable names the certificates to trust.
            authorities: env.var_path("SSL_CERT_FILE").and_then(|path| fs::read(path).ok()),
            timeout: installer_timeout(self.request.timeout),
            ..FileFetcher::default()
        }
    }

    fn ask(
        &self,
        approver: &mut dyn Approver,
        step: InstallStep,
        label: String,
        argv: &[String],
        kind: InstallerKind,
    ) -> Result<(), Reason> {
        let mut warnings = self.warnings.to_vec();
        if step == InstallStep::Need {
            warnings.extend(self.own_warnings());
        }
        let question = DependencyQuestion {
            skill: &self.entry.name,
            source: &self.entry.source,
            step,
            label,
            argv,
            touches: touches(kind),
            warnings,
        };
        let (detail, remedy) = match approver.ask(&ApprovalQuestion::Dependency(&question)) {
            ApprovalAnswer::Yes { .. } => return Ok(()),
            ApprovalAnswer::Absent { .. } => {
                ("no person can be asked", "run it in a terminal, or with --yes")
            }
            ApprovalAnswer::No
            | ApprovalAnswer::Others
            | ApprovalAnswer::Pick(_)
            | ApprovalAnswer::Cancel => ("it was declined", "run it again to change your mind"),
        };
        Err(Reason::new(ReasonCode::ConsentRequired, detail)
            .key(self.option.id.as_str())
            .remedy(remedy))
    }

    fn own_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !matches!(self.entry.tier, Tier::Bundled | Tier::Managed | Tier::Extra) {
            warnings
                .push(format!("the skill comes from {}, an unreviewed source", self.entry.source));
        }
        if !self.entry.reviewed {
            warnings.push("the skill has not been reviewed".to_owned());
        }
        if self.option.verified == Some(false) {
            warnings.push("there is no digest: what is downloaded is not verified".to_owned());
        }
        if let Some(problem) = &self.option.problem {
            warnings.push(format!("{}; the newest one is taken", problem.detail));
        }
        warnings
    }

    /// Asks the operator's policy. A notice comes back where a person acknowledged one.
    fn policy(&self, approver: &mut dyn Approver) -> Result<Option<PolicyNotice>, Reason> {
        let name = &self.entry.name;
        match self.ask_policy()? {
            PolicyDecision::Allow => Ok(None),
            PolicyDecision::Block(notice) => Err(blocked(&notice)),
            PolicyDecision::Warn(notice) => {
                let question = ApprovalQuestion::PolicyWarning { skill: name, notice: &notice };
                match approver.ask(&question).is_yes() {
                    true => Ok(Some(notice)),
                    false => Err(warned(&notice)),
                }
            }
        }
    }

    /// Once more before it happens: another answer than the one that was acknowledged stops it.
    fn policy_again(&self, acknowledged: &PolicyNotice) -> Result<(), Reason> {
        match self.ask_policy()? {
            PolicyDecision::Allow => Ok(()),
            PolicyDecision::Warn(notice) if notice == *acknowledged => Ok(()),
            PolicyDecision::Warn(notice) => Err(warned(&notice)),
            PolicyDecision::Block(notice) => Err(blocked(&notice)),
        }
    }

    fn ask_policy(&self) -> Result<PolicyDecision, Reason> {
        let (engine, entry) = (self.engine, self.entry);
        let policy = PolicyCheck {
            config: &engine.config.install_policy,
            env: &engine.env,
            leases: &engine.leases,
        };
        let spec = serde_json::to_value(&self.option.installer.spec).unwrap_or_default();
        policy.ask(&PolicyRequest {
            target_type: "skill",
            target_name: entry.name.clone(),
            source_path: entry.base_dir.clone(),
            source_path_kind: "directory",
            source: Some(entry.source.clone()),
            origin: json!({ "type": entry.source }),
            request: json!({ "kind": "skill-install", "mode": "install" }),
            skill: Some(json!({ "installId": self.option.id, "installSpec": spec })),
        })
    }
}

fn blocked(notice: &PolicyNotice) -> Reason {
    Reason::new(
        ReasonCode::PolicyBlocked,
        format!("the installation policy says no: {}", notice.text()),
    )
    .remedy("ask the person who runs this machine")
}

fn warned(notice: &PolicyNotice) -> Reason {
    Reason::new(
        ReasonCode::PolicyWarned,
        format!("the installation policy warns: {}", notice.text()),
    )
    .remedy("type the skill's name when asked, or pass --acknowledge")
}

pub(super) fn refused(option: &InstallOption, reason: &Reason) -> InstallResult {
    let mut result = InstallResult::without_output(&option.id, &option.argv, Err(reason));
    result.warnings.extend(reason.remedy.clone());
    result
}

/// What an installer may touch, for the question.
fn touches(kind: InstallerKind) -> &'static str {
    match kind {
        InstallerKind::Brew => "brew's own folders, for every user of it",
        InstallerKind::Node => "a folder of sinew's; scripts of the package are not run",
        InstallerKind::Go => "the user's folder of programs; the module is compiled here",
        InstallerKind::Uv => "the user's folders; the package may run code while it is built",
        InstallerKind::Apt => "the whole system; scripts of the package run as root",
        InstallerKind::Download => "the skill's own folder of tools",
    }
}
