//! What happens, in words for a person.

use sinew_engine::acquire::{AcquireProgress, CandidateSummary};
use sinew_engine::approval::CandidateVerdict;

use crate::layout::{TableColumn, TextTable};
use crate::printer::Printer;
use crate::render::{self, StyledText, safe};

/// Tells what happened.
pub(super) fn print_progress(told: &AcquireProgress<'_>, out: &mut Printer) {
    match told {
        AcquireProgress::Run { .. }
        | AcquireProgress::NeedsApproval { .. }
        | AcquireProgress::Answered { .. }
        | AcquireProgress::Closed { .. } => {}
        AcquireProgress::Handled { skill } => {
            out.note(&format!("{skill} is installed and can do this; --anyway looks for another"));
        }
        AcquireProgress::Recalled { region, candidates, reason, installed } => {
            if !installed.is_empty() {
                out.note(&format!("installed skills that may help: {}", installed.join(", ")));
            }
            match region {
                Some(region) if *candidates > 0 => {
                    out.note(&format!("remembered: {candidates} for {region}"));
                }
                _ => out.note(&format!("nothing is remembered: {reason}")),
            }
        }
        AcquireProgress::Searched { keywords, found, relevant, supplemented, problems } => {
            let words = keywords.join(" ");
            out.note(&format!("searched for {words}: {found} found, {relevant} fit"));
            if *supplemented {
                out.note("too few of them; unreviewed sources were asked as well");
            }
            problems.iter().for_each(|problem| out.warn(problem));
        }
        AcquireProgress::Candidates { candidates, .. } => table(candidates, out),
        AcquireProgress::Notice { text, .. } => {
            for line in text.lines() {
                out.ask(&format!("{}\n", render::safe(line)));
            }
        }
        AcquireProgress::Installed { slug, version, folder, .. } => {
            out.note(&format!("installed {slug} {version} in {folder}"));
        }
        AcquireProgress::InstallFailed { slug, detail } => {
            out.warn(&format!("{slug} was not installed: {detail}"));
        }
        AcquireProgress::Plan { .. } => {}
        AcquireProgress::Use { slug, .. } => out.note(&format!("using {slug}")),
        AcquireProgress::Finished { finish } => match finish.failed() {
            None => {}
            Some(kind) => {
                let detail = finish.detail.as_deref().unwrap_or_default();
                out.warn(&format!("{}: {detail}", kind.as_str()));
            }
        },
        AcquireProgress::Waiting { ms } => {
            out.note(&format!("the service failed; trying again in {} seconds", ms / 1000));
        }
        AcquireProgress::Credentials { slug, names: [] } => {
            out.warn(&format!("{slug} was refused; check the credentials"));
        }
        AcquireProgress::Credentials { slug, names } => {
            out.warn(&format!("{slug} was refused; check {}", names.join(", ")));
        }
        AcquireProgress::Dependency { command, installed: true } => {
            out.note(&format!("done: {command}"));
        }
        AcquireProgress::Dependency { command, installed: false } => {
            out.warn(&format!("it did not install what is missing: {command}"));
        }
        AcquireProgress::Learned { region, slug, weight, reflex } => {
            let weight = weight.map(|weight| format!(", weight {weight:.4}")).unwrap_or_default();
            let reflex = if *reflex { ", a reflex" } else { "" };
            out.note(&format!("learned: {slug} for {region}{weight}{reflex}"));
        }
        AcquireProgress::Released { slug } => out.note(&format!("released {slug}")),
        AcquireProgress::Report { report } => {
            for tried in &report.tried {
                out.warn(&format!(
                    "{} {} from {}: {} ({})",
                    tried.slug,
                    tried.version,
                    tried.source,
                    tried.detail,
                    tried.kind.as_str()
                ));
                out.hint(&tried.remedy);
            }
        }
    }
}

/// The candidates, one line each, then what does not fit into a line.
fn table(candidates: &[CandidateSummary], out: &mut Printer) {
    let mut table = TextTable::new(vec![
        TableColumn::fixed("#"),
        TableColumn::fixed("SKILL"),
        TableColumn::fixed("VERSION"),
        TableColumn::flexible("DESCRIPTION"),
        TableColumn::fixed("STARS"),
        TableColumn::fixed("DOWNLOADS"),
        TableColumn::fixed("SOURCE"),
        TableColumn::fixed("SCAN"),
    ]);
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    for (at, shown) in candidates.iter().enumerate() {
        let source = match shown.reviewed {
            true => render::plain(&shown.address),
            false => render::warning(&format!("{} (unreviewed)", shown.address)),
        };
        table.row(vec![
            render::plain(&(at + 1).to_string()),
            render::plain(&shown.slug),
            render::plain(shown.version.as_deref().unwrap_or_default()),
            render::plain(shown.description.as_deref().unwrap_or_default()),
            render::plain(&number(shown.stars)),
            render::plain(&number(shown.downloads)),
            source,
            scan(shown),
        ]);
    }
    let mut text = String::new();
    if table.write(&mut text, out.width()).is_ok() {
        out.ask(&text);
    }
    for shown in candidates {
        let slug = safe(&shown.slug);
        if let Some(history) = &shown.history {
            out.note(&format!("  {slug} {history}"));
        }
        for lesson in &shown.lessons {
            out.warn(&format!("{slug}: {lesson}"));
        }
        if !shown.missing.is_empty() {
            out.warn(&format!("{slug} needs what is not here: {}", shown.missing.join(", ")));
        }
        if let Some(failed) = &shown.failed {
            out.warn(&format!("{slug} cannot be had: {failed}"));
        }
    }
}

fn scan(shown: &CandidateSummary) -> StyledText {
    match shown.scan.map(|scan| scan.verdict) {
        Some(CandidateVerdict::Allow) => render::good("allow"),
        Some(CandidateVerdict::Warn) => render::warning("warn"),
        Some(CandidateVerdict::Block) => render::bad("block"),
        None => render::dim("unknown"),
    }
}
