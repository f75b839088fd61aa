//! What the commands about registries share: where to look, and how to print reviews and records.

use std::fmt::Write as _;

use sinew_engine::hub::{
    HubError, HubOverrides, HubRecord, InstallReview, InstallTarget, PolicyHub,
};
use sinew_engine::{Engine, EngineError};
use sinew_guard::scan::{FindingSeverity, Verdict};
use sinew_settings::{ErrorCode, ErrorKind};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::question;
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
    pub(crate) fn open<'e>(&self, engine: &'e Engine) -> Result<PolicyHub<'e>, EngineError> {
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

/// Everything that a person needs to know before they say yes or no.
pub(crate) fn write_review(text: &mut String, review: &InstallReview) -> std::fmt::Result {
    render::heading(
        text,
        &format!("{} {}", render::safe(&review.name), render::safe(&review.version)),
    )?;
    writeln!(text, "  {}", render::safe(&review.description))?;
    let reviewed = match review.reviewed {
        true => render::good("reviewed"),
        false => render::warning("unreviewed source"),
    };
    writeln!(text, "  from     {} ({reviewed})", render::safe(&review.source.identity()))?;
    writeln!(text, "  folder   {}", render::safe(&review.key))?;
    writeln!(text, "  files    {}, {} bytes", review.files, review.bytes)?;
    writeln!(text, "  digest   {}", render::safe(&review.digest))?;
    if !review.signature.is_unsigned() {
        writeln!(text, "  signer   {}", render::safe(&review.signature.sentence()))?;
    }
    let verdict = match review.verdict {
        Verdict::Allow => render::good("allow"),
        Verdict::Warn => render::warning("warn"),
        Verdict::Block => render::bad("block"),
    };
    writeln!(text, "  guard    {verdict}, registry says {}", render::safe(&review.upstream))?;
    for finding in review.findings.iter().take(MAX_LISTED) {
        let mark = match finding.severity {
            FindingSeverity::Critical => render::bad("✗"),
            _ => render::warning("!"),
        };
        let (file, line) = (render::safe(&finding.file), finding.line);
        writeln!(text, "    {mark} {} ({file}:{line})", render::safe(&finding.rule))?;
    }
    let can = &review.capabilities;
    for (word, names) in [
        ("hosts", can.hosts.iter().map(|host| host.host.clone()).collect::<Vec<_>>()),
        ("programs", can.binaries.clone()),
        ("packages", can.packages.clone()),
        ("variables", can.env.iter().map(|env| env.name.clone()).collect()),
        ("is given", review.entries.clone()),
        ("reads", can.reads.clone()),
        ("writes", can.writes.clone()),
        ("runs", can.exec.clone()),
        ("stays by", can.persistence.clone()),
        ("needs", review.setup.clone()),
    ] {
        if !names.is_empty() {
            writeln!(text, "  {word:<9}{}", render::safe(&names.join(", ")))?;
        }
    }
    for warning in &review.warnings {
        writeln!(text, "  {} {}", render::warning("!"), render::safe(warning))?;
    }
    match &review.diff {
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

/// Prints what became of each reference; the exit code is that of the most serious failure.
pub(crate) fn print_records(records: &[HubRecord], out: &mut Printer) -> CommandResult {
    out.data(&records, |text| {
        for record in records {
            write_record(text, record)?;
        }
        Ok(())
    })?;
    if !out.is_json() {
        for record in records {
            match &record.message {
                Some(message) if record.reason.is_some() => out.error(message),
                Some(message) => out.note(message),
                None => {}
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
    match question::confirmed(question, false)? {
        true => Ok(()),
        false => Err(EngineError::new(ErrorCode::Rejected, "the answer was no")),
    }
}
