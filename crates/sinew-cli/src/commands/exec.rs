use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use sinew_cortex::failure::FailureKind;
use sinew_engine::{
    Engine, ExecReport, ExecRequest, OutcomeEffect, SandboxChoice, SandboxGrants, SandboxReport,
};
use sinew_exec::child::{OutputStream, ProcessControl, StdoutMode};
use sinew_exec::classify::RunOutcome;
use sinew_exec::run::{RETRY_AFTER, RetryPolicy};
use sinew_settings::ReasonSeverity;
use sinew_settings::config::UnattendedAct;

use crate::commands::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::signals;
use crate::stdin::{self, RewindableStdin};

/// Run a command with a skill's variables, and learn from how it went
///
/// The command gets the variables that the skill declares and you configured, and none that control
/// loaders or interpreters. Its output is passed through; sinew's own messages go to standard
/// error, as JSON with --json. The exit code is the command's. After an API error the command is
/// run once more, three seconds later.
///
/// With --sandbox it runs in a box (Linux): it reaches the folder it runs in, the skill's folder, the
/// system's programs, and the network where the skill declares or shows a need of it. Skills that
/// were acquired for one task always run so; the configuration's security.sandbox says more.
///
/// Examples:
///   sinew exec github -- gh pr list
///   sinew exec notion --timeout 60 -- python3 sync.py
///   sinew exec pdf --sandbox --allow-read ~/Documents -- python3 merge.py
///   sinew exec notion --no-retry -- curl -X POST https://api.notion.com/v1/pages -d @page.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExecArgs {
    /// The skill's name or key
    skill: String,
    /// The area of the task, for what is learned [default: the skill's own]
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// Stop the command after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Do not retry after an API error, for commands that must not run twice
    #[arg(long)]
    no_retry: bool,
    /// Run the command in a box, or not at all
    #[arg(long, conflicts_with = "no_sandbox")]
    sandbox: bool,
    /// Run it without a box; where it would have one, this needs a terminal
    #[arg(long)]
    no_sandbox: bool,
    /// A file or folder that it may read in the box
    #[arg(long, value_name = "PATH", conflicts_with = "no_sandbox")]
    allow_read: Vec<PathBuf>,
    /// A file or folder that it may change in the box
    #[arg(long, value_name = "PATH", conflicts_with = "no_sandbox")]
    allow_write: Vec<PathBuf>,
    /// Give it a network in the box
    #[arg(long, conflicts_with = "no_sandbox")]
    allow_network: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl ExecArgs {
    /// What the options add to a box; paths are those of the folder where the command was typed.
    fn grants(&self) -> SandboxGrants {
        let absolute = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths
                .iter()
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
                .collect()
        };
        SandboxGrants {
            read: absolute(&self.allow_read),
            write: absolute(&self.allow_write),
            network: self.allow_network,
        }
    }
}

/// What a shell says for a program that is not there.
const NOT_FOUND: u8 = 127;
/// What a shell adds to the number of a signal.
const SIGNALLED: i32 = 128;
/// What `timeout` says for a command that took too long.
const TIMED_OUT: u8 = 124;

pub(crate) fn run(args: &ExecArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    thread::scope(|scope| {
        // Opened beside the catalog and the command, the memory adds little to either's time.
        scope.spawn(|| engine.exec().prepare_cortex());
        execute(args, engine, out)
    })
}

fn execute(args: &ExecArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let entry = engine.find(&snapshot.catalog, &args.skill)?;
    let control = ProcessControl::default();
    signals::forward(&control);
    let mut stdin = RewindableStdin::of_process();
    let mut rewind = || stdin.rewind();
    let request = ExecRequest {
        argv: &args.command,
        region: args.region.as_deref(),
        timeout: args.timeout.map(Duration::from_secs),
        stdin: stdin::stdin(),
        stdout: StdoutMode::Inherit,
        retry: match args.no_retry {
            true => RetryPolicy::Never,
            false => RetryPolicy::Once { after: RETRY_AFTER, rewind: &mut rewind },
        },
        sandbox: match (args.sandbox, args.no_sandbox) {
            (true, _) => SandboxChoice::Required,
            (_, true) => SandboxChoice::Declined(deciding_actor(engine, out, UnattendedAct::Risk)),
            _ => SandboxChoice::Configured,
        },
        grants: args.grants(),
    };
    let mut pass = |stream: OutputStream, bytes: &[u8]| {
        if stream == OutputStream::Err {
            out.pass_error(bytes);
        }
    };
    let report = engine.exec().run(&snapshot.catalog, entry, request, &control, &mut pass)?;
    if out.is_json() {
        out.json_note(&report)?;
    } else {
        tell(&report, out);
    }
    Ok(exit(&report))
}

fn tell(report: &ExecReport, out: &mut Printer) {
    match &report.sandbox {
        SandboxReport::On { ports, .. } => {
            let network = if ports.is_empty() { "no network" } else { "a network" };
            out.note(&format!("ran in a sandbox, with {network}"));
        }
        SandboxReport::Unavailable { why } => {
            out.warn(&format!("ran without the sandbox that such skills get: {why}"));
        }
        SandboxReport::Off { .. } => {}
    }
    for record in report.records.iter().filter(|record| record.severity > ReasonSeverity::Info) {
        out.warn(&record.detail);
    }
    tell_outcome(report, out);
    match (&report.learned, &report.not_learned) {
        (Some(learned), _) => tell_learned(learned, out),
        (None, Some(error)) => out.warn(&format!("nothing was learned: {error}")),
        (None, None) => {}
    }
}

/// What the memory makes of it, in a line.
fn tell_learned(learned: &OutcomeEffect, out: &mut Printer) {
    if let Some(runs) = learned.runs {
        let all = runs.success + runs.fail;
        out.note(&format!(
            "learned: {} worked {} of {all} times in {}",
            learned.skill, runs.success, learned.region
        ));
    }
    for lesson in &learned.lessons {
        out.note(lesson);
    }
}

fn tell_outcome(report: &ExecReport, out: &mut Printer) {
    let run = &report.run;
    if run.attempts > 1 {
        out.note("tried twice: the first time the other side did not answer");
    }
    if run.outcome == RunOutcome::Success || run.interrupted {
        return;
    }
    out.warn(&format!("{}: {}", run.outcome.as_str(), run.detail));
    if let Some(why) = run.not_retried {
        out.note(&format!("not tried again: {why}"));
    }
    let Some(kind) = run.outcome.failure() else { return };
    if !report.withheld.is_empty() && kind == FailureKind::AuthError {
        let names: Vec<&str> =
            report.withheld.iter().filter_map(|record| record.key.as_deref()).collect();
        out.note(&format!(
            "not passed on, because the skill does not declare it: {}",
            names.join(", ")
        ));
    }
    if let Some(remedy) = remedy(kind, &report.skill) {
        out.hint(&remedy);
    }
    if matches!(report.sandbox, SandboxReport::On { .. }) {
        out.hint("if the sandbox was in its way: --allow-read, --allow-write, --allow-network");
    }
}

/// What to do about a command that failed.
fn remedy(kind: FailureKind, skill: &str) -> Option<String> {
    match kind {
        FailureKind::DependencyMissing => {
            Some(format!("install what is missing: `sinew deps {skill}`"))
        }
        FailureKind::AuthError => {
            Some(format!("check the credentials: `sinew info {skill}` shows which are set"))
        }
        FailureKind::ApiError => Some("try again later".to_owned()),
        FailureKind::TaskMismatch | FailureKind::RuntimeError => None,
    }
}

/// The command's own exit code, as a shell would tell it.
fn exit(report: &ExecReport) -> Exit {
    let run = &report.run;
    let code = match (run.exit_code, run.signal) {
        (Some(code), _) => u8::try_from(code).unwrap_or(u8::MAX),
        (None, Some(signal)) => u8::try_from(SIGNALLED + signal).unwrap_or(u8::MAX),
        (None, None) if run.rule == "no-program" => NOT_FOUND,
        (None, None) => TIMED_OUT,
    };
    Exit::Of(code)
}
