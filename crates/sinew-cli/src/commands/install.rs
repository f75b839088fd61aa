use sinew_engine::Engine;
use sinew_engine::EngineError;
use sinew_engine::hub::{
    HubError, HubRecord, InstallReceipt, InstallRisk, PolicyHub, RequestedVersion, RuleAcceptance,
    ShorthandMeaning, SkillInstallRequest, SkillReference, Workdir, parse_requested_version,
};
use sinew_settings::ErrorCode;
use sinew_settings::config::UnattendedAct;

use super::approve::{deciding_actor, terminal_person};
use super::hub::{HubArgs, InstallTargetArgs, print_records, record};
use super::terminal_approver::{GivenAnswers, TerminalApprover, covers, show_review};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Install skills from a registry, GitHub, git, an index, a folder or an archive
///
/// Each skill is verified, scanned and shown before anything is written; without a terminal nothing
/// is installed that you did not approve before: --yes counts there only where approvals.unattended
/// or the installation policy covers it. `owner/name` is a repository on GitHub; with --source
/// clawhub it is a skill of that owner.
///
/// Examples:
///   sinew install todoist-cli
///   sinew install @steipete/todoist-cli@1.2.0
///   sinew install owner/repo@skill#main --global
///   sinew install ./my-skill --as mine
///   sinew install ./my-skill --link
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct InstallArgs {
    /// What to install
    #[arg(required = true, value_name = "REF")]
    references: Vec<String>,
    /// The version, tag or range
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// How `owner/name` is read: github or clawhub
    #[arg(long, value_name = "SOURCE", default_value = "github")]
    source: String,
    /// Another name for the folder
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Replace an existing folder; a copy of local changes is kept
    #[arg(long)]
    overwrite: bool,
    /// Read a folder in place instead of copying it; it is not locked, and changes take effect at once
    #[arg(long, conflicts_with_all = ["version", "name", "overwrite", "global"])]
    link: bool,
    #[command(flatten)]
    place: InstallTargetArgs,
    #[command(flatten)]
    accepted: RiskOverrideArgs,
    /// Keep no copy of what the guard blocks
    #[arg(long)]
    no_quarantine: bool,
    /// Agree to the install itself
    #[arg(long, short)]
    yes: bool,
    /// Do everything except the last step
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    hub: HubArgs,
}

/// Risks accepted beforehand.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Risk overrides")]
pub(crate) struct RiskOverrideArgs {
    /// Accept a skill that its registry flags as suspicious
    #[arg(long)]
    accept_suspicious: bool,
    /// Accept a skill that its registry has not finished scanning
    #[arg(long)]
    accept_pending: bool,
    /// Accept a skill that its registry gives no digests for
    #[arg(long)]
    accept_unverified: bool,
    /// Accept an index that points to another host
    #[arg(long)]
    accept_foreign_host: bool,
    /// Accept a skill with the same name as another one
    #[arg(long)]
    accept_shadowing: bool,
    /// Accept another owner or registry than before
    #[arg(long)]
    accept_owner_change: bool,
    /// Continue despite a warning of the operator's policy
    #[arg(long)]
    acknowledge: bool,
    /// Accept a finding of the guard for exactly these files; needs --digest and --reason
    #[arg(long, value_name = "RULE", requires = "digest", requires = "reason")]
    accept: Vec<String>,
    /// The digest that was shown
    #[arg(long, value_name = "SHA256")]
    digest: Option<String>,
    /// Why it is acceptable
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl RiskOverrideArgs {
    pub(crate) fn accepted_risks(&self) -> impl Iterator<Item = InstallRisk> {
        let flags = [
            (self.accept_suspicious, InstallRisk::Suspicious),
            (self.accept_pending, InstallRisk::Pending),
            (self.accept_unverified, InstallRisk::Unverified),
            (self.accept_foreign_host, InstallRisk::ForeignHost),
            (self.accept_shadowing, InstallRisk::Shadows),
            (self.accept_owner_change, InstallRisk::OwnerChange),
            (self.acknowledge, InstallRisk::Policy),
        ];
        flags.into_iter().filter_map(|(given, risk)| given.then_some(risk))
    }

    /// Refuses what no program may accept: a finding of the guard without a terminal, and a risk
    /// without one unless the configuration lists it.
    pub(crate) fn check(&self, engine: &Engine, out: &Printer) -> Result<(), EngineError> {
        if out.at_terminal() {
            return Ok(());
        }
        let refused = |message: &str, hint: &str| {
            Err(EngineError::new(ErrorCode::NeedsATerminal, message).hint(hint))
        };
        if !self.accept.is_empty() {
            return refused(
                "accepting a finding needs a terminal",
                "run it in a terminal, or accept it on the dashboard",
            );
        }
        if self.accepted_risks().next().is_some() && !covers(engine, UnattendedAct::Risk) {
            return refused(
                "accepting a risk needs a terminal",
                "run it in a terminal, or list `risk` in approvals.unattended",
            );
        }
        Ok(())
    }

    pub(crate) fn acceptance(&self) -> Vec<RuleAcceptance> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let given = |rule: &String| RuleAcceptance {
            rule: rule.clone(),
            digest: text(&self.digest),
            reason: text(&self.reason),
        };
        self.accept.iter().map(given).collect()
    }
}

pub(crate) fn run(args: &InstallArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let reading = match args.source.as_str() {
        "clawhub" => ShorthandMeaning::Registry,
        "github" => ShorthandMeaning::GitHub,
        other => {
            let message = format!("--source is github or clawhub, not `{other}`");
            return Err(EngineError::new(ErrorCode::BadSource, message).into());
        }
    };
    let mut references = Vec::new();
    for text in &args.references {
        let reference = SkillReference::parse(text, reading).map_err(HubError::from);
        references
            .push(with_version(reference.map_err(EngineError::from)?, args.version.as_deref())?);
    }
    if args.name.is_some() && references.len() > 1 {
        let message = "--as names one folder, and there are several references";
        return Err(EngineError::new(ErrorCode::OneAtATime, message).into());
    }
    args.accepted.check(engine, out)?;
    if args.link {
        return link(args, &references, engine, out);
    }
    let hub = args.hub.open(engine)?;
    let workdir = engine.hub().workdir(args.place.place());
    let mut records = Vec::new();
    for (text, reference) in args.references.iter().zip(references) {
        if matches!(reference, SkillReference::GitHub(_)) && !text.contains(':') {
            out.note(&format!("{text} is read as {reference}"));
        }
        let mut request = SkillInstallRequest::new(reference, &terminal_person(engine).to_string());
        request.name.clone_from(&args.name);
        request.overwrite = args.overwrite;
        request.accepted.extend(args.accepted.accepted_risks());
        request.acceptance = args.accepted.acceptance();
        request.quarantine = !args.no_quarantine;
        let result = one(args, engine, &hub, &request, &workdir, out);
        records.push(match result {
            Ok(installed) if args.dry_run => {
                let mut record = HubRecord::installed(text, &installed);
                record.status = "would-install";
                record
            }
            Ok(installed) => {
                let key = installed.key.clone();
                records.push(HubRecord::installed(text, &installed));
                records.extend(needs(args, engine, &hub, &request, &key, &workdir, out));
                continue;
            }
            Err(error) => record(text, error)?,
        });
    }
    print_records(&records, out)
}

/// Installs what a skill needs, each with a question of its own.
fn needs(
    args: &InstallArgs,
    engine: &Engine,
    hub: &PolicyHub<'_>,
    request: &SkillInstallRequest,
    key: &str,
    workdir: &Workdir,
    out: &mut Printer,
) -> Vec<HubRecord> {
    let given = GivenAnswers { install: args.yes, ..GivenAnswers::default() };
    let mut approver = TerminalApprover::new(engine, out, given);
    let needed = hub.install_needs(key, workdir, request, &Default::default(), &mut approver);
    needed.into_iter().map(|needed| needed.record).collect()
}

/// Has folders read where they are.
fn link(
    args: &InstallArgs,
    references: &[SkillReference],
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let mut records = Vec::new();
    let by = deciding_actor(engine, out, UnattendedAct::Install);
    for (text, reference) in args.references.iter().zip(references) {
        let SkillReference::Local(path) = reference else {
            let message = format!("`{text}` is not on this machine");
            return Err(EngineError::new(ErrorCode::NotLocal, message)
                .hint("--link is for folders here: ./my-skill")
                .into());
        };
        let folder = engine.environment().cwd.join(engine.environment().expand_home(path));
        let status = match args.dry_run {
            true => "would-link",
            false if engine.connect().link_folder(&folder, &by)? => "linked",
            false => "unchanged",
        };
        records.push(HubRecord::linked(text, status, &folder));
    }
    print_records(&records, out)
}

fn one(
    args: &InstallArgs,
    engine: &Engine,
    hub: &PolicyHub<'_>,
    request: &SkillInstallRequest,
    workdir: &Workdir,
    out: &mut Printer,
) -> Result<InstallReceipt, HubError> {
    let given = GivenAnswers { install: args.yes, ..GivenAnswers::default() };
    let mut approver = TerminalApprover::new(engine, out, given);
    if !args.dry_run {
        return hub.install(request, workdir, &mut approver);
    }
    let vetted = hub.prepare(request, workdir, &mut approver)?;
    let review = vetted.review();
    show_review(review, out);
    Ok(InstallReceipt {
        key: review.key.clone(),
        name: review.name.clone(),
        version: review.version.clone(),
        digest: review.digest.clone(),
        path: workdir.target(&review.key),
        backup: None,
    })
}

/// `--version` for references that can have one.
fn with_version(
    reference: SkillReference,
    version: Option<&str>,
) -> Result<SkillReference, EngineError> {
    let Some(version) = version else { return Ok(reference) };
    let usage = |message: String| EngineError::new(ErrorCode::BadVersion, message);
    let wanted =
        parse_requested_version(version).map_err(|what| usage(format!("`{version}`: {what}")))?;
    match reference {
        SkillReference::Registry(mut registry) if registry.wanted == RequestedVersion::Latest => {
            registry.wanted = wanted;
            Ok(SkillReference::Registry(registry))
        }
        other => Err(usage(format!("{other} has a version of its own, or cannot have one"))),
    }
}
