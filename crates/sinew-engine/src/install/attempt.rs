//! One way to install something, from the policy to the last byte.

use std::fs;

use serde_json::json;
use sinew_catalog::install::{InstallOption, Kind};
use sinew_catalog::{Entry, Tier};
use sinew_exec::child::Control;
use sinew_exec::install::{
    Decision, Fetcher, InstallResult, Job, Notice, Policy, PolicyRequest, Tool, download,
    missing_manager, run, setup, timeout,
};
use sinew_skill::{Code, Reason};

use super::{Answer, Consent, InstallRequest, Person, Step};
use crate::Engine;

/// One option on its way.
pub(super) struct Attempt<'a> {
    pub(super) engine: &'a Engine,
    pub(super) entry: &'a Entry,
    pub(super) option: &'a InstallOption,
    pub(super) warnings: &'a [String],
    pub(super) request: &'a InstallRequest,
    pub(super) control: &'a Control,
}

impl Attempt<'_> {
    /// Everything that happens for one option; the last result says how it ended.
    pub(super) fn run(&self, person: &mut dyn Person, results: &mut Vec<InstallResult>) {
        if let Err(reason) = self.go(person, results) {
            results.push(refused(self.option, &reason));
        }
    }

    fn go(&self, person: &mut dyn Person, results: &mut Vec<InstallResult>) -> Result<(), Reason> {
        if let Some(problem) = self.option.problem.as_ref().filter(|p| p.code != Code::NeedsVersion)
        {
            return Err(problem.clone());
        }
        let acknowledged = self.policy(person)?;
        let engine = self.engine;
        let setup = setup(engine.config.install.node_manager);
        if let Some(missing) =
            missing_manager(self.option.kind, &setup, &engine.env, &engine.leases)
        {
            let Some((kind, argv)) = missing.offer else { return Err(missing.reason) };
            let label = format!("Install {}, which is missing", setup.manager(self.option.kind));
            match self.ask(person, Step::Manager, label, &argv, kind) {
                Ok(()) => {}
                Err(reason) if reason.code == Code::ConsentRequired => return Err(missing.reason),
                Err(reason) => return Err(reason),
            }
            let id = format!("{}-manager", self.option.id);
            results.push(self.start(&id, kind, &argv, person));
            if results.last().is_some_and(|result| !result.ok) {
                return Ok(());
            }
        }
        if let Some(tap) = &self.option.tap {
            let argv = ["brew".to_owned(), "tap".to_owned(), tap.clone()];
            self.ask(person, Step::Tap, format!("Add the tap {tap}"), &argv, Kind::Brew)?;
            let id = format!("{}-tap", self.option.id);
            results.push(self.start(&id, Kind::Brew, &argv, person));
            if results.last().is_some_and(|result| !result.ok) {
                return Ok(());
            }
        }
        let option = self.option;
        self.ask(person, Step::Need, option.label.clone(), &option.argv, option.kind)?;
        if let Some(notice) = acknowledged {
            self.policy_again(&notice)?;
        }
        results.push(match &option.installer.download {
            None => self.start(&option.id, option.kind, &option.argv, person),
            Some(wanted) => {
                let tool = Tool {
                    id: &option.id,
                    key: &self.entry.skill_key,
                    download: wanted,
                    bins: &option.bins,
                    argv: &option.argv,
                };
                let fetcher = self.fetcher();
                download(&tool, &fetcher, &engine.env, &mut |bytes, of| {
                    person.downloaded(bytes, of);
                })
            }
        });
        Ok(())
    }

    fn start(
        &self,
        id: &str,
        kind: Kind,
        argv: &[String],
        person: &mut dyn Person,
    ) -> InstallResult {
        let job = Job { id, kind, argv, timeout: timeout(self.request.timeout) };
        let (env, leases) = (&self.engine.env, &self.engine.leases);
        run(&job, env, leases, self.control, &mut |stream, bytes| person.output(stream, bytes))
    }

    fn fetcher(&self) -> Fetcher {
        let env = &self.engine.env;
        Fetcher {
            allow: self.engine.config.install.allow_private_hosts.clone(),
            // Whoever stands behind a proxy that opens TLS has said whom to trust.
            authorities: env.var_path("SSL_CERT_FILE").and_then(|path| fs::read(path).ok()),
            timeout: timeout(self.request.timeout),
            ..Fetcher::default()
        }
    }

    fn ask(
        &self,
        person: &mut dyn Person,
        step: Step,
        label: String,
        argv: &[String],
        kind: Kind,
    ) -> Result<(), Reason> {
        let mut warnings = self.warnings.to_vec();
        if step == Step::Need {
            warnings.extend(self.own_warnings());
        }
        let question = Consent {
            skill: &self.entry.name,
            source: &self.entry.source,
            step,
            label,
            argv,
            touches: touches(kind),
            warnings,
        };
        let (detail, remedy) = match person.consent(&question) {
            Answer::Yes => return Ok(()),
            Answer::No => ("somebody said no", "run it again to change your mind"),
            Answer::Nobody => ("nobody is here to agree", "run it in a terminal, or with --yes"),
        };
        Err(Reason::new(Code::ConsentRequired, detail).key(self.option.id.as_str()).remedy(remedy))
    }

    fn own_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !matches!(self.entry.tier, Tier::Bundled | Tier::Managed | Tier::Extra) {
            warnings
                .push(format!("the skill comes from {}, which nobody reviews", self.entry.source));
        }
        if !self.entry.reviewed {
            warnings.push("nobody has reviewed the skill".to_owned());
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
    fn policy(&self, person: &mut dyn Person) -> Result<Option<Notice>, Reason> {
        let name = &self.entry.name;
        match self.ask_policy()? {
            Decision::Allow => Ok(None),
            Decision::Block(notice) => Err(blocked(&notice)),
            Decision::Warn(notice) => match person.acknowledge(name, &notice) {
                Answer::Yes => Ok(Some(notice)),
                _ => Err(warned(&notice)),
            },
        }
    }

    /// Once more before it happens: another answer than the one that was acknowledged stops it.
    fn policy_again(&self, acknowledged: &Notice) -> Result<(), Reason> {
        match self.ask_policy()? {
            Decision::Allow => Ok(()),
            Decision::Warn(notice) if notice == *acknowledged => Ok(()),
            Decision::Warn(notice) => Err(warned(&notice)),
            Decision::Block(notice) => Err(blocked(&notice)),
        }
    }

    fn ask_policy(&self) -> Result<Decision, Reason> {
        let (engine, entry) = (self.engine, self.entry);
        let policy = Policy {
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

fn blocked(notice: &Notice) -> Reason {
    Reason::new(Code::PolicyBlocked, format!("the installation policy says no: {}", notice.text()))
        .remedy("ask whoever runs this machine")
}

fn warned(notice: &Notice) -> Reason {
    Reason::new(Code::PolicyWarned, format!("the installation policy warns: {}", notice.text()))
        .remedy("type the skill's name when asked, or pass --acknowledge")
}

pub(super) fn refused(option: &InstallOption, reason: &Reason) -> InstallResult {
    let mut result = InstallResult::without_output(&option.id, &option.argv, Err(reason));
    result.warnings.extend(reason.remedy.clone());
    result
}

/// What an installer may touch, for the question.
fn touches(kind: Kind) -> &'static str {
    match kind {
        Kind::Brew => "brew's own folders, for every user of it",
        Kind::Node => "a folder of sinew's; scripts of the package are not run",
        Kind::Go => "the user's folder of programs; the module is compiled here",
        Kind::Uv => "the user's folders; the package may run code while it is built",
        Kind::Apt => "the whole system; scripts of the package run as root",
        Kind::Download => "the skill's own folder of tools",
    }
}
