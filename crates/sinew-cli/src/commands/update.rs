use sinew_engine::hub::{HubRecord, UpdateRequest, UpdateStatus, parse_requested_version};
use sinew_engine::{Engine, EngineError};
use sinew_settings::ErrorCode;

use super::approve::terminal_person;
use super::hub::{HubArgs, InstallTargetArgs, print_records, record};
use super::install::RiskOverrideArgs;
use super::terminal_approver::{GivenAnswers, TerminalApprover};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Bring installed skills up to date
///
/// Shows what would change before it changes anything: files, text, capabilities and findings. A
/// changed skill needs a new approval. Local changes are never replaced without --overwrite, and
/// then a copy is kept. Exit 0 only when every skill is current or was updated.
///
/// Examples:
///   sinew update                  what is newer, and what would change
///   sinew update todoist-cli
///   sinew update --all --dry-run
///   sinew update --all --yes --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct UpdateArgs {
    /// The skills, by folder or slug; without one, what is newer is shown and nothing is changed
    #[arg(value_name = "REF")]
    references: Vec<String>,
    /// Everything that is installed
    #[arg(long, conflicts_with = "references")]
    all: bool,
    /// The version, tag or range
    #[arg(long, value_name = "VERSION", conflicts_with = "all")]
    version: Option<String>,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Replace local changes; a copy is kept
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    place: InstallTargetArgs,
    #[command(flatten)]
    accepted: RiskOverrideArgs,
    /// Agree to the update itself
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    hub: HubArgs,
}

pub(crate) fn run(args: &UpdateArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    // Nothing was named, so that nothing is changed.
    let only_looks = args.references.is_empty() && !args.all;
    let dry_run = args.dry_run || only_looks;
    let hub = args.hub.open(engine)?;
    let workdir = engine.hub().workdir(args.place.place());
    let usage = |what: &str| EngineError::new(ErrorCode::BadVersion, what.to_owned());
    let wanted =
        args.version.as_deref().map(|version| parse_requested_version(version).map_err(usage));
    args.accepted.check(engine, out)?;
    let how = UpdateRequest {
        dry_run,
        overwrite: args.overwrite,
        accepted: args.accepted.accepted_risks().collect(),
        acceptance: args.accepted.acceptance(),
        wanted: wanted.transpose()?.unwrap_or_default(),
        by: terminal_person(engine).to_string(),
        neighbours: Vec::new(),
    };
    let lock = workdir.lock(engine.environment()).map_err(EngineError::from)?;
    let keys: Vec<String> = match args.all || only_looks {
        true => lock.skills.keys().cloned().collect(),
        false => args.references.clone(),
    };
    if keys.is_empty() && !out.is_json() {
        out.note("nothing is installed here, so there is nothing to update");
        out.hint(
            "skills that you wrote or that came with an agent are updated where they come from",
        );
        return Ok(Exit::Done);
    }
    if !dry_run {
        // What turned malicious meanwhile is held back, whether there is an update or not.
        match hub.check_upstream(if args.all { &[] } else { &keys }, &workdir) {
            Ok(problems) => {
                for problem in problems {
                    out.warn(&format!("verdicts were not checked: {}", problem.message));
                }
            }
            Err(error) if keys.len() == 1 => {
                return print_records(&[record(&keys[0], error)?], out);
            }
            Err(error) => out.warn(&format!("verdicts were not checked: {}", error.message)),
        }
    }
    let mut records = Vec::new();
    for key in &keys {
        let given = GivenAnswers { install: args.yes, ..GivenAnswers::default() };
        let mut approver = TerminalApprover::new(engine, out, given);
        records.push(match hub.update(key, &how, &workdir, &mut approver) {
            Ok(updated) => HubRecord::updated(&updated),
            Err(error) => record(key, error)?,
        });
    }
    let available = UpdateStatus::Available.as_str();
    let waiting = records.iter().any(|record| record.status == available);
    if waiting && only_looks {
        out.hint("`sinew update --all` brings them in, each after a question");
    }
    Ok(match print_records(&records, out)? {
        Exit::Done if waiting => Exit::No,
        other => other,
    })
}
