mod progress;
mod terminal_host;

use std::ffi::OsString;
use std::fmt::Write as _;

use sinew_cortex::acquire::{AcquireEnding, AcquireRun};
use sinew_engine::acquire::{AcquireRequest, AcquireStatus, AcquireWait};
use sinew_engine::hub::HubOverrides;
use sinew_engine::{Engine, EngineError};
use sinew_settings::{ErrorCode, ErrorKind};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

pub(crate) use terminal_host::TerminalHost;

/// Runs that stopped in the middle that are named before a new one.
const MAX_NOTED: usize = 3;

/// Find a skill for a task, use it once, and put it back
///
/// Asks the memory first, and registries where it knows nothing; shows what was found with the
/// scanner's verdict; installs once you agree to exactly those files; uses the skill, learns from
/// the outcome and removes it again, unless you keep it. What cannot be decided here waits:
/// --resume continues the run. With a command, the skill is used by running it; otherwise the agent
/// that follows the skill reports the outcome with `sinew report <run>`. With --json, one line per
/// event.
///
/// Exit 0 done or in use, 1 nothing was found or worked, 3 the answer was no or is still needed.
///
/// Examples:
///   sinew acquire "manage my to-do list"
///   sinew acquire "what is the weather in Bergen" -- curl -s https://wttr.in/Bergen
///   sinew acquire --yes-to todoist-cli@sha256:41aa… "manage my to-do list" --json
///   sinew acquire --resume
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AcquireArgs {
    /// What is to be done
    #[arg(required_unless_present_any = ["resume", "cancel"], conflicts_with_all = ["resume", "cancel"])]
    task: Option<String>,
    /// Continue a run; the latest one if none is named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Stop a run and remove what it installed; the latest one if none is named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with = "resume")]
    cancel: Option<String>,
    /// Agree to a skill with exactly this digest: to installing it and to its plan
    #[arg(long, value_name = "SLUG@DIGEST")]
    yes_to: Vec<String>,
    /// Ask about this one of the candidates that are shown: its number, or its name
    #[arg(long, value_name = "NUMBER|SLUG", conflicts_with = "cancel")]
    pick: Option<String>,
    /// The area of the task
    #[arg(long, value_name = "NAME", requires = "task")]
    region: Option<String>,
    /// English words to search with, three to five
    #[arg(long, value_name = "WORD,…", value_delimiter = ',', requires = "task")]
    keywords: Vec<String>,
    /// Look for a skill even if an installed one seems to fit
    #[arg(long, requires = "task")]
    anyway: bool,
    /// The registry to ask: an address, or a configured name
    #[arg(long, value_name = "REGISTRY")]
    registry: Option<String>,
    /// A command that uses the skill
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &AcquireArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    for given in &args.yes_to {
        if given
            .rsplit_once("@sha256:")
            .is_none_or(|(slug, hex)| slug.is_empty() || hex.len() != 64)
        {
            let message = format!("`{given}` is not a skill with its digest");
            return Err(EngineError::new(ErrorCode::BadDigest, message)
                .hint("write it as shown: slug@sha256:…, with all 64 digits")
                .into());
        }
    }
    let market =
        engine.hub().market(&HubOverrides { registry: args.registry.clone(), offline: false })?;
    let acquisition = engine.hub().acquisition(&market);
    if args.task.is_some() {
        note_runs_cut_short(&acquisition.open_runs()?, out);
    }
    let mut host =
        TerminalHost::new(engine, out, &args.yes_to, &args.command).picking(args.pick.as_deref());
    let standing = match (&args.task, &args.resume, &args.cancel) {
        (Some(task), ..) => {
            let wish = AcquireRequest {
                task: task.clone(),
                region: args.region.clone(),
                keywords: args.keywords.clone(),
                anyway: args.anyway,
                ..AcquireRequest::default()
            };
            acquisition.begin(&wish, &mut host)?
        }
        (None, Some(run), _) => {
            acquisition.resume(&named(run, &acquisition.open_runs()?)?, &mut host)?
        }
        (None, None, run) => {
            let run = run.as_deref().unwrap_or_default();
            acquisition.cancel(&named(run, &acquisition.open_runs()?)?, &mut host)?
        }
    };
    host.check_pick(&standing.run.id)?;
    print_status(&standing, out)
}

/// Says which runs stopped in the middle: nothing half done of them counts, and they can be taken up.
fn note_runs_cut_short(open: &[AcquireRun], out: &mut Printer) {
    let cut_short = open.iter().rev().filter(|run| run.state.goes_on_by_itself());
    for run in cut_short.take(MAX_NOTED) {
        let (id, state) = (&run.id, run.state.name());
        out.note(&format!("the run {id} of {} stopped in {state}", run.updated.day()));
        out.hint(&format!("`sinew acquire --resume {id}` goes on, `--cancel {id}` ends it"));
    }
}

/// The run that is meant: the one that is named, or the latest that is not over.
fn named(run: &str, open: &[AcquireRun]) -> Result<String, EngineError> {
    match (run, open) {
        ("", []) => Err(EngineError::new(ErrorCode::NoRun, "no run is open")
            .hint("`sinew acquire <task>` begins one")),
        ("", [.., latest]) => Ok(latest.id.clone()),
        (run, _) => Ok(run.to_owned()),
    }
}

/// Says where the run stands and what comes next, and gives the exit code for it.
pub(crate) fn print_status(standing: &AcquireStatus, out: &mut Printer) -> CommandResult {
    let run = standing.run.id.as_str();
    if out.is_json() {
        let line = serde_json::json!({
            "event": "standing",
            "run": run,
            "state": standing.run.state.name(),
            "waits": standing.waits,
        });
        out.json_line(&line)?;
    }
    let (exit, hint) = match &standing.waits {
        AcquireWait::Nothing { end } => (of_end(*end), None),
        AcquireWait::Approval { approval } => (
            Exit::Failed(ErrorKind::Refused),
            Some(format!("`sinew approve {}`, then `sinew acquire --resume {run}`", approval.id)),
        ),
        AcquireWait::Use { slug, folder } => (
            Exit::Done,
            Some(format!(
                "follow {}, then `sinew report {run} --result ok`, or `--result fail --kind …` ({slug})",
                folder.join("SKILL.md").display()
            )),
        ),
        AcquireWait::Outcome { .. } => (
            Exit::Failed(ErrorKind::Refused),
            Some(format!("tell how it went: `sinew report {run} --result ok|fail`")),
        ),
        AcquireWait::Credentials { .. } => (
            Exit::Failed(ErrorKind::Refused),
            Some(format!("correct the credentials, then `sinew acquire --resume {run}`")),
        ),
        AcquireWait::Notice | AcquireWait::Retry => {
            (Exit::Done, Some(format!("`sinew acquire --resume {run}` goes on")))
        }
    };
    if !out.is_json() {
        let state = standing.run.state.name();
        let mut text = String::new();
        writeln!(text, "{run} {state}").map_err(std::io::Error::other)?;
        out.text(&text)?;
    }
    if let Some(hint) = hint {
        out.hint(&hint);
    }
    Ok(exit)
}

fn of_end(end: AcquireEnding) -> Exit {
    match end {
        AcquireEnding::Handled | AcquireEnding::Retained | AcquireEnding::Released => Exit::Done,
        AcquireEnding::NoCandidates
        | AcquireEnding::InstallFailed
        | AcquireEnding::AllCandidates => Exit::No,
        AcquireEnding::Declined | AcquireEnding::Expired | AcquireEnding::Cancelled => {
            Exit::Failed(ErrorKind::Refused)
        }
    }
}
