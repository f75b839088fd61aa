use std::path::PathBuf;

use sinew_engine::hub::{
    ExchangeDirection, ExchangeRequest, GroupChoice, HubRecord, InstallTarget, MANIFEST_FILE,
    PolicyHub, SkillsManifest, SyncRequest, Workdir, read_foreign_manifests,
};
use sinew_engine::{Engine, EngineError};
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::config::UnattendedAct;
use sinew_settings::{Actor, ErrorCode};

use super::approve::{deciding_actor, terminal_person};
use super::hub::{HubArgs, InstallTargetArgs, print_records, require_yes};
use super::install::RiskOverrideArgs;
use super::terminal_approver::{GivenAnswers, TerminalApprover};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Bring skills and agents' folders in line with skills.toml
///
/// The file is `skills.toml` in the workspace, or in sinew's own folder with --global:
///
///   [sync]
///   agents = ["claude-code", "codex"]     who gets the skills, besides sinew
///   mode = "link"                         or "copy"
///
///   [skills]
///   tides = "^1.2"                        a version at the default registry
///   notes = "github:ada/skills@notes"     any reference that `sinew install` takes
///   deploy = { source = "acme/skills@deploy", groups = ["work"], agents = ["codex"] }
///
/// Everything is scanned and asked about as `sinew install` does; what was edited here stays. The
/// lock keeps exact versions. --push and --pull exchange your own skills and the list of all
/// workspaces with a git repository of yours.
///
/// Examples:
///   sinew sync
///   sinew sync --update --group work
///   sinew sync --frozen                   exactly what the lock names, or fail
///   sinew sync --import                   make skills.toml from clawhub, skills, apm or dotagents
///   sinew sync --push --remote git@example.org:me/skills.git
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    place: InstallTargetArgs,
    /// Another manifest than skills.toml
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A group besides those that belong to every sync
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,
    /// Every group
    #[arg(long, conflicts_with = "group")]
    all_groups: bool,
    /// Look for newer versions of what is installed
    #[arg(long, conflicts_with = "frozen")]
    update: bool,
    /// Fail rather than change anything that the lock records
    #[arg(long)]
    frozen: bool,
    /// Replace what was edited here; a copy of it is kept
    #[arg(long, conflicts_with = "frozen")]
    overwrite: bool,
    /// Leave skills that skills.toml no longer names
    #[arg(long)]
    no_prune: bool,
    /// Add what other programs' files name to skills.toml: skills-lock.json, .clawhub, apm.yml,
    /// agents.toml
    #[arg(long, conflicts_with_all = ["frozen", "update", "push", "pull"])]
    import: bool,
    /// Send your own skills and the global skills.toml to your repository
    #[arg(long, conflicts_with_all = ["pull", "frozen", "file"])]
    push: bool,
    /// Take what your other machines sent, then sync it
    #[arg(long, conflicts_with_all = ["frozen", "file"])]
    pull: bool,
    /// Your git repository, remembered after the first time
    #[arg(long, value_name = "URL")]
    remote: Option<String>,
    /// In a conflict this machine's version of NAME counts (`all` for every one)
    #[arg(long, value_name = "NAME", requires = "push")]
    ours: Vec<String>,
    /// In a conflict the other version of NAME counts (`all` for every one)
    #[arg(long, value_name = "NAME", requires = "pull")]
    theirs: Vec<String>,
    #[command(flatten)]
    accepted: RiskOverrideArgs,
    /// Agree to the installs and removals themselves
    #[arg(long, short)]
    yes: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    hub: HubArgs,
}

pub(crate) fn run(args: &SyncArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    args.accepted.check(engine, out)?;
    if args.remote.is_some() && !args.push && !args.pull {
        let message = "--remote goes with --push or --pull";
        return Err(EngineError::new(ErrorCode::NoSyncRemote, message).into());
    }
    let hub = args.hub.open(engine)?;
    let target = match args.push || args.pull {
        true => InstallTarget::Managed,
        false => args.place.place(),
    };
    let workdir = engine.hub().workdir(target);
    let folder = match target {
        InstallTarget::Workspace => workdir.root.clone(),
        InstallTarget::Managed => workdir.state.clone(),
    };
    let manifest = match &args.file {
        Some(file) => engine.environment().cwd.join(file),
        None => folder.join(MANIFEST_FILE),
    };
    if args.import {
        return import(args, &workdir, &manifest, out);
    }
    let mut records = Vec::new();
    if args.push || args.pull {
        let request = ExchangeRequest {
            direction: if args.push { ExchangeDirection::Push } else { ExchangeDirection::Pull },
            remote: args.remote.clone(),
            ours: args.ours.clone(),
            theirs: args.theirs.clone(),
            actor: deciding_actor(engine, out, UnattendedAct::Install),
        };
        if args.dry_run {
            let records = hub.preview_exchange(&request, &workdir).map_err(EngineError::from)?;
            return finish(&records, out);
        }
        let given = GivenAnswers { install: args.yes, ..GivenAnswers::default() };
        let mut approver = TerminalApprover::new(engine, out, given);
        records = hub.exchange(&request, &workdir, &mut approver).map_err(EngineError::from)?;
        if args.push || !manifest.exists() {
            return finish(&records, out);
        }
    }
    let request = SyncRequest {
        manifest,
        target,
        groups: match args.all_groups {
            true => GroupChoice::All,
            false => GroupChoice::Named(args.group.clone()),
        },
        update: args.update,
        frozen: args.frozen,
        overwrite: args.overwrite,
        prune: None,
        accepted: args.accepted.accepted_risks().collect(),
        acceptance: args.accepted.acceptance(),
        by: terminal_person(engine).to_string(),
    };
    records.extend(sync(args, request, &hub, &workdir, engine, out)?);
    finish(&records, out)
}

fn sync(
    args: &SyncArgs,
    mut request: SyncRequest,
    hub: &PolicyHub<'_>,
    workdir: &Workdir,
    engine: &Engine,
    out: &mut Printer,
) -> Result<Vec<HubRecord>, EngineError> {
    let plan = hub.plan_sync(&request, workdir)?;
    if args.dry_run {
        return Ok(plan.preview());
    }
    if !plan.unnamed.is_empty() && !args.no_prune && !args.frozen {
        request.prune = pruning_actor(&plan.unnamed, args.yes, engine, out);
    }
    let given = GivenAnswers { install: args.yes, ..GivenAnswers::default() };
    let mut approver = TerminalApprover::new(engine, out, given);
    Ok(hub.sync(&plan, &request, workdir, &mut approver)?)
}

/// Who agrees that skills are removed; `None` where no person does.
fn pruning_actor(
    unnamed: &[String],
    yes: bool,
    engine: &Engine,
    out: &mut Printer,
) -> Option<Actor> {
    let question = format!("skills.toml no longer names {}. Remove?", unnamed.join(", "));
    require_yes(&question, yes, out).ok()?;
    let actor = deciding_actor(engine, out, UnattendedAct::Uninstall);
    (!matches!(actor, Actor::Agent { .. })).then_some(actor)
}

/// Adds what other programs' files name to the manifest. Nothing is installed by it.
fn import(
    args: &SyncArgs,
    workdir: &Workdir,
    manifest: &std::path::Path,
    out: &mut Printer,
) -> CommandResult {
    let found = read_foreign_manifests(&workdir.root);
    if found.files.is_empty() {
        let message = format!("no manifest of another program is in {}", workdir.root.display());
        return Err(EngineError::new(ErrorCode::NothingToImport, message)
            .hint("it looks for skills-lock.json, .clawhub/lock.json, apm.yml and agents.toml")
            .into());
    }
    // A file that is there and cannot be read is not written anew.
    let text = match std::fs::read_to_string(manifest) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let message = format!("cannot read {}: {error}", manifest.display());
            return Err(EngineError::new(ErrorCode::FileError, message).into());
        }
    };
    let (text, added) = SkillsManifest::extended(&text, &found).map_err(EngineError::from)?;
    if !args.dry_run {
        atomic::write(manifest, text.as_bytes(), FileAccess::Shared).map_err(|error| {
            let message = format!("cannot write {}: {error}", manifest.display());
            EngineError::new(ErrorCode::FileError, message)
        })?;
    }
    for reason in &found.left_out {
        out.warn(reason);
    }
    let records: Vec<HubRecord> = found
        .skills
        .iter()
        .map(|found| {
            let new = added.contains(&found.skill.name);
            let status = if new { "imported" } else { "unchanged" };
            let resolved = Some(found.skill.reference.to_string());
            HubRecord { resolved, ..HubRecord::done(&found.skill.name, status) }
        })
        .collect();
    if !out.is_json() && !added.is_empty() {
        out.note(&format!("{} names them now; `sinew sync` installs them", manifest.display()));
    }
    print_records(&records, out)
}

fn finish(records: &[HubRecord], out: &mut Printer) -> CommandResult {
    if records.is_empty() && !out.is_json() {
        out.note("there is nothing to do");
        return Ok(Exit::Done);
    }
    print_records(records, out)
}
