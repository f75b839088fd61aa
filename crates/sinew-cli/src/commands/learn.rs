//! `sinew learn`: a finished run becomes a proposal.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sinew_engine::{Engine, EngineError, LearnReport, LearnSource};
use sinew_settings::ErrorCode;
use sinew_settings::config::TraceSource;
use sinew_traces::{MAX_FILE, TraceAgent};
use sinew_workshop::{EventLevel, LearnResult, LearnStatus};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Turn a finished run into a skill draft, to be reviewed
///
/// Reads transcripts of Claude Code, Codex, OpenClaw and OpenPocket, and sinew's own traces; the
/// format is detected. Runs that succeeded become proposals with a replay script; secrets, personal
/// data and typed text are removed first.
///
/// Examples:
///   sinew learn session.jsonl
///   sinew learn --latest --agent claude-code
///   sinew learn --since 7d --agent codex
///   sinew learn
///   sinew learn - < trace.jsonl
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LearnArgs {
    /// A transcript, a folder of them, or - for standard input [default: new sessions of the agents
    /// that traces.sources names]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Whose transcript it is: claude-code, codex, openclaw, openpocket or generic
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The newest session of the agent on this machine
    #[arg(long, conflicts_with_all = ["path", "since"], requires = "agent")]
    latest: bool,
    /// Every session of the agent that changed in the last days, such as 7d [default:
    /// traces.maxAgeDays]
    #[arg(long, value_name = "DAYS", num_args = 0..=1, conflicts_with = "path", requires = "agent")]
    since: Option<Option<String>>,
    /// Let the configured model reword the drafts; its text passes the same gates
    #[arg(long)]
    rewrite: bool,
}

impl LearnArgs {
    /// Whether `--agent` was taken for the transcript's. The option has the name of the global one,
    /// which chooses whose list of skills applies.
    pub(super) fn takes_agent(&self) -> bool {
        self.agent.is_some()
    }

    fn agent(&self) -> Result<Option<TraceAgent>, EngineError> {
        let Some(name) = self.agent.as_deref() else { return Ok(None) };
        match TraceAgent::from_name(name) {
            Some(agent) => Ok(Some(agent)),
            None => {
                let known: Vec<&str> = TraceAgent::ALL.iter().map(|(name, _)| *name).collect();
                let told = format!("no transcripts of `{name}` are known");
                Err(EngineError::new(ErrorCode::UnknownAgent, told)
                    .hint(format!("known: {}", known.join(", "))))
            }
        }
    }

    fn from(&self, agent: Option<TraceAgent>, engine: &Engine) -> Result<LearnSource, EngineError> {
        if let (true, Some(agent)) = (self.latest, agent) {
            return Ok(LearnSource::Latest(agent));
        }
        if let (Some(since), Some(agent)) = (&self.since, agent) {
            let Some(since) = since else {
                return Ok(LearnSource::Since(agent, engine.config().traces.max_age_days));
            };
            let days = since.trim_end_matches('d').parse().map_err(|_| {
                EngineError::new(ErrorCode::BadDays, format!("`{since}` is not a number of days"))
                    .hint("write 7d for a week")
            })?;
            return Ok(LearnSource::Since(agent, days));
        }
        match self.path.as_deref() {
            Some(path) if path == Path::new("-") => {
                let mut bytes = Vec::new();
                std::io::stdin()
                    .take(MAX_FILE + 1)
                    .read_to_end(&mut bytes)
                    .map_err(|error| EngineError::file("read", Path::new("standard input"), error))?;
                Ok(LearnSource::Bytes(bytes))
            }
            Some(path) => Ok(LearnSource::Path(path.to_owned())),
            None if engine.config().traces.sources.iter().any(|source| *source != TraceSource::Live) => {
                Ok(LearnSource::Sources)
            }
            None => Err(EngineError::new(ErrorCode::NoTranscript, "name a transcript").hint(
                "or let traces.sources of the configuration name agents whose sessions are looked through",
            )),
        }
    }
}

pub(super) fn run(args: &LearnArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let agent = args.agent()?;
    let from = args.from(agent, engine)?;
    let bar = out.bytes("reading");
    let report = engine.traces().learn(&from, agent, &|done, of| {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        bar.set_of(size(done), size(of));
    });
    bar.finish();
    let mut report = report?;
    if args.rewrite {
        engine.traces().rewrite_drafts(&mut report)?;
        if !report.more.is_empty() {
            out.note("drafts of runs that are only counted keep their own words");
        }
    }
    out.data(&report, |text| write(text, &report))?;
    for file in &report.files {
        let counts = file.counts;
        let odd = [
            (counts.malformed, "no JSON"),
            (counts.oversize, "too long"),
            (counts.unknown, "of an unknown type"),
        ];
        for (count, what) in odd.into_iter().filter(|(count, _)| *count > 0) {
            out.note(&format!("{}: {count} of {} lines are {what}", file.path, counts.lines));
        }
    }
    for skipped in &report.skipped {
        out.note(&format!("skipped {}: {}", skipped.path, skipped.reason));
    }
    for event in report.events() {
        match event.level() {
            EventLevel::Debug => {}
            EventLevel::Info => out.note(&event.line()),
            EventLevel::Warn => out.warn(&event.line()),
        }
    }
    if let Some(id) = report.runs.iter().find_map(waiting) {
        let id = id.get(..8).unwrap_or(id);
        out.hint(&format!("`sinew workshop inspect {id}` shows it, `apply {id}` writes it"));
    }
    Ok(if report.is_empty() { Exit::No } else { Exit::Done })
}

/// The proposal that waits for review.
fn waiting(run: &LearnResult) -> Option<&str> {
    let is_new = matches!(run.became, LearnStatus::Proposed | LearnStatus::Revised);
    run.proposal.as_ref().filter(|_| is_new).map(|proposal| proposal.id.as_str())
}

fn word(became: LearnStatus) -> impl std::fmt::Display {
    match became {
        LearnStatus::Proposed => render::good("proposed"),
        LearnStatus::Revised => render::good("revised"),
        LearnStatus::Written => render::good("written"),
        LearnStatus::Quarantined => render::bad("quarantined"),
        LearnStatus::Known => render::dim("known"),
        LearnStatus::Skipped => render::warning("skipped"),
    }
}

fn write(text: &mut String, report: &LearnReport) -> std::fmt::Result {
    for run in &report.runs {
        let word = word(run.became);
        let name = match &run.draft {
            Some(draft) => draft.name.as_str(),
            None => run.task.as_str(),
        };
        let steps =
            if run.steps == 1 { "1 step".to_owned() } else { format!("{} steps", run.steps) };
        writeln!(
            text,
            "{word} {} {}",
            render::safe(name),
            render::dim(&format!("{} · {steps}", run.agent))
        )?;
        if let Some(reason) = &run.reason {
            writeln!(text, "  {}", render::safe(reason))?;
        }
        if let Some(draft) = &run.draft {
            let why = draft.confidence.explanation();
            writeln!(text, "  confidence {} ({})", draft.confidence.as_str(), render::safe(&why))?;
            if !draft.parameters.is_empty() {
                writeln!(text, "  parameters {}", render::safe(&draft.parameters.join(", ")))?;
            }
            if let Some(risk) = draft.risk {
                writeln!(text, "  {} {}", render::warning("risk"), risk.as_str())?;
            }
        }
        if !run.redactions.is_empty() {
            let kinds = run.redactions.iter().map(|(kind, count)| format!("{kind} {count}"));
            writeln!(text, "  redacted {}", render::safe(&kinds.collect::<Vec<_>>().join(", ")))?;
        }
        if let Some(path) = &run.skill_path {
            writeln!(text, "  {}", render::safe(path))?;
        }
    }
    for (became, count) in &report.more {
        writeln!(text, "{} {count} more", word(*became))?;
    }
    if report.runs.is_empty() {
        writeln!(text, "{}", render::dim("no run in it"))?;
    }
    Ok(())
}
