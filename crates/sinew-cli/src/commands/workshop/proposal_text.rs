//! How proposals look on a terminal.

use std::fmt::{self, Write as _};

use sinew_engine::percent;
use sinew_guard::Untrusted;
use sinew_workshop::{
    GateReport, ProbationStatus, Proposal, ProposalChange, ProposalFinding, ProposalPreview,
    ProposalState, ProposalUpdate,
};

use crate::render::{self, StyledText, bad, dim, good, plain, safe, warning};

/// Characters per token, roughly, for English and Markdown.
const CHARS_PER_TOKEN: usize = 4;

/// An id, short enough to type.
pub(super) fn short_id(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// A status in its colour.
pub(super) fn status(status: &ProposalState) -> StyledText {
    match status {
        ProposalState::Pending => warning("pending"),
        ProposalState::Applied => good("applied"),
        ProposalState::Rejected { undone: true } => dim("undone"),
        ProposalState::Rejected { undone: false } => dim("rejected"),
        ProposalState::Quarantined { .. } => bad("quarantined"),
        ProposalState::Stale { .. } => bad("stale"),
    }
}

/// One line about what became of a proposal, and why.
pub(super) fn write_decision(text: &mut String, done: &ProposalUpdate) -> fmt::Result {
    let proposal = &done.proposal;
    let id = short_id(&proposal.id);
    writeln!(text, "{} {} {}", status(&proposal.status), safe(&proposal.skill_name), dim(id))?;
    if let Some(path) = &done.skill_path {
        writeln!(text, "  {}", safe(path))?;
    }
    why(text, proposal)?;
    findings(text, &proposal.scan_findings)
}

fn why(text: &mut String, proposal: &Proposal) -> fmt::Result {
    match &proposal.status {
        ProposalState::Quarantined { quarantine_reason: reason }
        | ProposalState::Stale { stale_reason: reason } => {
            writeln!(text, "  {}", safe(reason))
        }
        _ => Ok(()),
    }
}

/// What the scanner found, where, and what to change.
pub(super) fn findings(text: &mut String, findings: &[ProposalFinding]) -> fmt::Result {
    for finding in findings {
        let severity = match finding.is_critical() {
            true => bad(&finding.severity),
            false => warning(&finding.severity),
        };
        let place = match finding.line {
            0 => finding.file.clone(),
            line => format!("{}:{line}", finding.file),
        };
        writeln!(text, "  {severity} {} {}", safe(&finding.rule_id), dim(&place))?;
        writeln!(text, "      {}", safe(&finding.message))?;
        if !finding.excerpt.is_empty() {
            writeln!(text, "      {} {}", dim("|"), safe(&finding.excerpt))?;
        }
        if !finding.suggestion.is_empty() {
            writeln!(text, "      {} {}", dim("→"), safe(&finding.suggestion))?;
        }
    }
    Ok(())
}

/// The name of a line, padded so that what follows stands in one column.
fn label(style: fn(&str) -> StyledText, name: &str) -> String {
    format!("{}{}", style(name), " ".repeat(8usize.saturating_sub(name.len())))
}

/// A proposal with everything a decision needs.
pub(super) fn preview(text: &mut String, preview: &ProposalPreview) -> fmt::Result {
    let proposal = &preview.proposal;
    let heading = format!("{}: {}", proposal.skill_name, proposal.title);
    render::heading(text, &safe(&heading))?;
    writeln!(
        text,
        "  {} {} · {} · from {} · revision {}",
        status(&proposal.status),
        dim(short_id(&proposal.id)),
        proposal.change.kind(),
        plain(source(proposal)),
        proposal.revision
    )?;
    writeln!(text, "  {} {}", label(dim, "why"), safe(&proposal.reason))?;
    for quote in &proposal.evidence {
        writeln!(text, "  {} “{}”", label(dim, "said"), safe(quote))?;
    }
    match &proposal.probation {
        Some(ProbationStatus::Trial { .. }) => {
            writeln!(text, "  {} it has to prove itself", label(dim, "trial"))?;
        }
        Some(ProbationStatus::Promoted { .. }) => {
            writeln!(text, "  {} it has proved itself", label(good, "trial"))?;
        }
        Some(ProbationStatus::Questioned { proposal }) => {
            let id = short_id(proposal);
            writeln!(text, "  {} {} asks whether it should go", label(warning, "trial"), dim(id))?;
        }
        None => {}
    }
    why(text, proposal)?;
    if let Some(problem) = &preview.problem {
        writeln!(text, "  {} {}", label(bad, "problem"), safe(problem))?;
    }
    gates(text, &preview.gates)?;
    let tokens = |chars: usize| chars.div_ceil(CHARS_PER_TOKEN);
    let (before, after) = (preview.before.chars().count(), preview.after.chars().count());
    writeln!(
        text,
        "  {} about {} tokens when it is read, {:+} by this",
        label(dim, "cost"),
        tokens(after),
        i64::try_from(tokens(after)).unwrap_or(0) - i64::try_from(tokens(before)).unwrap_or(0)
    )?;
    findings(text, &proposal.scan_findings)?;
    writeln!(text)?;
    let ProposalChange::Create { files, generated: Some(_), .. } = &proposal.change else {
        return render::diff(text, &preview.diff());
    };
    // A draft is judged as a whole: its page as a reader sees it, and what comes with it.
    page(text, &preview.after)?;
    for (path, file) in files {
        writeln!(text)?;
        writeln!(text, "  {} {}, {} lines", label(dim, "with"), safe(path), file.lines().count())?;
    }
    Ok(())
}

/// A skill's page as a reader sees it: without front matter and marks of headings.
fn page(text: &mut String, file: &str) -> fmt::Result {
    let body = sinew_skill::split_front_matter(file).map_or(file, |fenced| fenced.body);
    for line in body.trim().lines() {
        let shown = Untrusted::new(line).for_terminal();
        match line.trim_start_matches('#') {
            title if title.len() < line.len() && title.starts_with(' ') => {
                render::heading(text, &safe(title))?;
            }
            _ => writeln!(text, "{shown}")?,
        }
    }
    Ok(())
}

fn source(proposal: &Proposal) -> &'static str {
    match proposal.source {
        sinew_workshop::ProposalSource::Tool => "the tool",
        sinew_workshop::ProposalSource::AgentEnd => "a correction",
        sinew_workshop::ProposalSource::Reviewer => "the reviewer",
        sinew_workshop::ProposalSource::Trace => "a finished run",
        sinew_workshop::ProposalSource::Probation => "its uses",
    }
}

/// Neighbours, messages won and lost, and what else a gate says.
fn gates(text: &mut String, gates: &GateReport) -> fmt::Result {
    if let Some(owner) = gates.ownership {
        writeln!(text, "  {} the skill is {}", label(warning, "owner"), owner.as_str())?;
    }
    for near in gates.duplicate.iter().flat_map(|duplicate| &duplicate.near) {
        // Only what says exactly the same is wholly alike.
        let is_same = near.likeness >= 1.0;
        let percent = if is_same { "100 %".to_owned() } else { percent(near.likeness) };
        writeln!(text, "  {} {} is {percent} alike", label(dim, "near"), safe(&near.skill))?;
    }
    if let Some(trigger) = &gates.trigger {
        for query in &trigger.gained {
            writeln!(text, "  {} “{}”", label(good, "gains"), safe(query))?;
        }
        for query in &trigger.missed {
            writeln!(text, "  {} “{}”", label(warning, "misses"), safe(query))?;
        }
        for lost in trigger.objections() {
            writeln!(text, "  {} {}", label(bad, "takes"), safe(&lost))?;
        }
    }
    for name in &gates.prompt_budget {
        writeln!(text, "  {} the prompt loses {}", label(warning, "prompt"), safe(name))?;
    }
    for shape in &gates.shape {
        writeln!(
            text,
            "  {} {} (it retells instead of telling)",
            label(warning, "shape"),
            safe(shape)
        )?;
    }
    Ok(())
}
