//! What the commands about registries share: where to look, how to ask, how to tell.

use std::fmt::Write as _;

use sinew_engine::hub::{
    ApprovalMethod, Hub, HubError, HubOverrides, HubRecord, InstallApprover, InstallConcern,
    InstallDecision, InstallReview, InstallTarget, ReviewOccasion,
};
use sinew_engine::{Engine, EngineError};
use sinew_guard::scan::{FindingSeverity, Verdict};
use sinew_settings::{Actor, ErrorCode, ErrorKind};

use super::approve::terminal_person;
use crate::exit::{CommandResult, Exit};
use crate::printer::{Printer, ProgressBar};
use crate::render;

/// Files that a question lists.
const MAX_LISTED: usize = 12;

/// Where to look, and whether the network may be used.
#[derive(Debug, clap::Args)]
pub(crate) struct HubArgs {
    /// The registry to look a bare slug up in: a URL, or a name under hub.registries
    #[arg(long, value_name = "URL")]
    pub(crate) registry: Option<String>,
    /// Make no network connection; use what was fetched before
    #[arg(long)]
    pub(crate) offline: bool,
}

impl HubArgs {
    pub(crate) fn open(&self, engine: &Engine) -> Result<Hub, EngineError> {
        engine.hub().open(&HubOverrides { registry: self.registry.clone(), offline: self.offline })
    }
}

/// Which folder is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTargetArgs {
    /// For every workspace, not just this one
    #[arg(long)]
    pub(crate) global: bool,
}

impl InstallTargetArgs {
    pub(crate) fn place(&self) -> InstallTarget {
        if self.global { InstallTarget::Managed } else { InstallTarget::Workspace }
    }
}

/// The person at the terminal, and what they said on the command line.
pub(crate) struct TerminalApprover<'a> {
    pub(crate) yes: bool,
    pub(crate) engine: &'a Engine,
    pub(crate) out: &'a mut Printer,
}

impl TerminalApprover<'_> {
    /// The user at the terminal, as records name them.
    fn approver_name(&self) -> String {
        terminal_person(self.engine).to_string()
    }

    fn confirmed(&mut self, question: &str) -> InstallDecision {
        if !self.out.can_ask() {
            return InstallDecision::Nobody { id: None };
        }
        match inquire::Confirm::new(question).with_default(false).prompt() {
            Ok(true) => InstallDecision::Yes {
                by: self.approver_name(),
                method: ApprovalMethod::Prompt,
                reason: None,
            },
            _ => InstallDecision::No,
        }
    }
}

impl InstallApprover for TerminalApprover<'_> {
    fn concern(&mut self, concern: &InstallConcern) -> InstallDecision {
        // `--yes` answers the ordinary question; each risk has a flag of its own.
        self.out.warn(&concern.to_string());
        self.confirmed("Go on all the same?")
    }

    fn approve(&mut self, proposal: &InstallReview) -> InstallDecision {
        if self.yes {
            return InstallDecision::Yes {
                by: self.approver_name(),
                method: ApprovalMethod::Flag,
                reason: None,
            };
        }
        if !self.out.can_ask() {
            // An answer to exactly these files counts; without one, the question waits for a person.
            let asking = Actor::Agent { name: "sinew install".to_owned() };
            return self.engine.hub().answer_from_approvals(proposal, &asking).unwrap_or_else(
                |error| {
                    self.out.warn(&format!("the question was not kept: {}", error.message));
                    InstallDecision::Nobody { id: None }
                },
            );
        }
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = write_proposal(&mut text, proposal);
        self.out.ask(&text);
        let question = match proposal.occasion {
            ReviewOccasion::Update => "Update it?",
            ReviewOccasion::Install | ReviewOccasion::Restore => "Install it?",
        };
        self.confirmed(question)
    }
}

/// Everything the user needs to decide.
pub(crate) fn write_proposal(text: &mut String, proposal: &InstallReview) -> std::fmt::Result {
    render::heading(
        text,
        &format!("{} {}", render::safe(&proposal.name), render::safe(&proposal.version)),
    )?;
    writeln!(text, "  {}", render::safe(&proposal.description))?;
    let reviewed = match proposal.reviewed {
        true => render::good("reviewed"),
        false => render::warning("unreviewed source"),
    };
    writeln!(text, "  from     {} ({reviewed})", render::safe(&proposal.source.identity()))?;
    writeln!(text, "  folder   {}", render::safe(&proposal.key))?;
    writeln!(text, "  files    {}, {} bytes", proposal.files, proposal.bytes)?;
    writeln!(text, "  digest   {}", render::safe(&proposal.digest))?;
    let verdict = match proposal.verdict {
        Verdict::Allow => render::good("allow"),
        Verdict::Warn => render::warning("warn"),
        Verdict::Block => render::bad("block"),
    };
    writeln!(text, "  guard    {verdict}, registry says {}", render::safe(&proposal.upstream))?;
    for finding in proposal.findings.iter().take(MAX_LISTED) {
        let mark = match finding.severity {
            FindingSeverity::Critical => render::bad("✗"),
            _ => render::warning("!"),
        };
        let (file, line) = (render::safe(&finding.file), finding.line);
        writeln!(text, "    {mark} {} ({file}:{line})", render::safe(&finding.rule))?;
    }
    let can = &proposal.capabilities;
    for (word, names) in [
        ("hosts", can.hosts.iter().map(|host| host.host.clone()).collect::<Vec<_>>()),
        ("programs", can.binaries.clone()),
        ("packages", can.packages.clone()),
        ("variables", can.env.iter().map(|env| env.name.clone()).collect()),
        ("reads", can.reads.clone()),
        ("writes", can.writes.clone()),
        ("runs", can.exec.clone()),
        ("stays by", can.persistence.clone()),
        ("needs", proposal.setup.clone()),
    ] {
        if !names.is_empty() {
            writeln!(text, "  {word:<9}{}", render::safe(&names.join(", ")))?;
        }
    }
    for warning in &proposal.warnings {
        writeln!(text, "  {} {}", render::warning("!"), render::safe(warning))?;
    }
    match &proposal.diff {
        Some(diff) => write_diff(text, diff),
        None => Ok(()),
    }
}

/// What a new version changes.
pub(crate) fn write_diff(
    text: &mut String,
    diff: &sinew_engine::hub::VersionDiff,
) -> std::fmt::Result {
    writeln!(text, "  changes  {} → {}", render::safe(&diff.from), render::safe(&diff.to))?;
    for (mark, paths) in [("+", &diff.added), ("-", &diff.removed), ("~", &diff.changed)] {
        for path in paths.iter().take(MAX_LISTED) {
            writeln!(text, "    {mark} {}", render::safe(path))?;
        }
        if paths.len() > MAX_LISTED {
            writeln!(text, "    {mark} … {} more", paths.len() - MAX_LISTED)?;
        }
    }
    for ability in &diff.gained {
        writeln!(text, "    {} {}", render::warning("now"), render::safe(ability))?;
    }
    for ability in &diff.lost {
        writeln!(text, "    {} {}", render::dim("no longer"), render::safe(ability))?;
    }
    for finding in &diff.findings {
        let place = format!("{}:{}", finding.file, finding.line);
        writeln!(
            text,
            "    {} {} ({})",
            render::bad("new finding"),
            render::safe(&finding.rule),
            render::safe(&place)
        )?;
    }
    for field in &diff.front_matter {
        writeln!(text, "    {} {}", render::warning("steering"), render::safe(field))?;
    }
    for line in diff.text.lines() {
        let shown = match line.chars().next() {
            Some('+') => render::good(line),
            Some('-') => render::bad(line),
            _ => render::dim(line),
        };
        writeln!(text, "    {shown}")?;
    }
    Ok(())
}

/// A bar for downloads, which appears when the first bytes do.
pub(crate) fn download_progress(out: &Printer) -> impl FnMut(u64, Option<u64>) + use<> {
    let bar: ProgressBar = out.bytes("downloading");
    move |bytes, of| {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        bar.set_of(size(bytes), size(of.unwrap_or(bytes)));
        if of == Some(bytes) {
            bar.finish();
        }
    }
}

/// Tells what became of each reference; the exit code is that of the most serious one.
pub(crate) fn print_records(records: &[HubRecord], out: &mut Printer) -> CommandResult {
    out.data(&records, |text| {
        for record in records {
            write_record(text, record)?;
        }
        Ok(())
    })?;
    if !out.is_json() {
        for record in records {
            if let Some(message) = &record.message {
                out.error(message);
            }
            for hint in &record.hints {
                out.hint(hint);
            }
        }
    }
    Ok(HubRecord::worst_kind(records).map_or(Exit::Done, Exit::Failed))
}

fn write_record(text: &mut String, record: &HubRecord) -> std::fmt::Result {
    if record.reason.is_some() {
        // Errors go where errors go, with their hints.
        for finding in record.findings.iter().take(MAX_LISTED) {
            let place = format!("{}:{}", finding.file, finding.line);
            writeln!(
                text,
                "{} {} {} {}",
                render::bad("✗"),
                render::safe(&finding.rule),
                render::dim(&place),
                render::safe(&finding.message)
            )?;
        }
        return Ok(());
    }
    let what = record.resolved.as_deref().unwrap_or(&record.reference);
    let mark =
        if record.status == "available" { render::warning("↑") } else { render::good("✓") };
    write!(text, "{mark} {} {}", render::safe(what), record.status)?;
    if let Some(path) = &record.path {
        write!(text, " {}", render::dim(&path.to_string_lossy()))?;
    }
    writeln!(text)?;
    if let Some(backup) = &record.backup {
        writeln!(
            text,
            "    a copy of what was there: {}",
            render::safe(&backup.to_string_lossy())
        )?;
    }
    match &record.diff {
        Some(diff) if record.status != "current" => write_diff(text, diff),
        _ => Ok(()),
    }
}

/// Whether an error is about one reference, so that the others can go on.
pub(crate) fn record(reference: &str, error: HubError) -> Result<HubRecord, EngineError> {
    match error.kind() {
        ErrorKind::Usage => Err(EngineError::from(error)),
        _ => Ok(HubRecord::failed(reference, error)),
    }
}

/// A question that needs a terminal or `--yes`.
pub(crate) fn require_yes(question: &str, yes: bool, out: &mut Printer) -> Result<(), EngineError> {
    if yes {
        return Ok(());
    }
    if !out.can_ask() {
        return Err(EngineError::new(
            ErrorCode::NeedsApproval,
            format!("{question} There is no terminal to ask on"),
        )
        .hint("run it in a terminal, or with --yes"));
    }
    match inquire::Confirm::new(question).with_default(false).prompt() {
        Ok(true) => Ok(()),
        _ => Err(EngineError::new(ErrorCode::Rejected, "the answer was no")),
    }
}
