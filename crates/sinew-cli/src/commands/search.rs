use std::fmt::Write as _;

use sinew_engine::Engine;
use sinew_engine::hub::{
    NameMatching, RegistryQuery, SearchCandidate, SearchReport, SearchSources,
};

use super::hub::HubArgs;
use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable};
use crate::printer::Printer;
use crate::render;

/// Search registries for skills
///
/// Reviewed registries are asked first; if fewer than two results fit, unreviewed sources are asked
/// as well, and each of their rows says so. Nothing is installed. Exit 1 when nothing is found.
///
/// Examples:
///   sinew search youtube transcript
///   sinew search pdf --source all
///   sinew search todoist --prefix --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SearchArgs {
    /// Words
    #[arg(required = true)]
    words: Vec<String>,
    /// Where: all, clawhub, github, skills-sh, or a name under hub.registries
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Rows per source
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: usize,
    /// Exactly this name
    #[arg(long, conflicts_with = "prefix")]
    exact: bool,
    /// Names that start so
    #[arg(long)]
    prefix: bool,
    #[command(flatten)]
    hub: HubArgs,
}

pub(crate) fn run(args: &SearchArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let hub = args.hub.open(engine)?;
    let query = RegistryQuery {
        words: args.words.join(" "),
        keywords: None,
        sources: args.source.as_deref().map(SearchSources::parse).unwrap_or_default(),
        matching: match (args.exact, args.prefix) {
            (true, _) => NameMatching::Exact,
            (_, true) => NameMatching::Prefix,
            _ => NameMatching::Words,
        },
        limit: args.limit.clamp(1, 200),
    };
    let report = engine.hub().search(&hub, &query)?;
    let width = out.width();
    out.data(&report, |text| write_report(text, &report, width))?;
    if !out.is_json() {
        for diagnostic in &report.diagnostics {
            out.note(diagnostic);
        }
    }
    Ok(if report.candidates.is_empty() { Exit::No } else { Exit::Done })
}

fn write_report(text: &mut String, report: &SearchReport, width: usize) -> std::fmt::Result {
    if let Some(age) = report.age_ms {
        let minutes = age / 60_000;
        writeln!(text, "{}", render::warning(&format!("from the cache, {minutes} minutes old")))?;
    }
    if report.candidates.is_empty() {
        return writeln!(text, "nothing was found");
    }
    let mut table = TextTable::new(vec![
        TableColumn::fixed("REFERENCE"),
        TableColumn::fixed("VERSION").from(80),
        TableColumn::fixed("REVIEW"),
        TableColumn::fixed("SCAN"),
        TableColumn::fixed("STARS").from(100),
        TableColumn::fixed("DOWNLOADS").from(120),
        TableColumn::fixed("HISTORY").from(100),
        TableColumn::flexible("WHAT IT IS FOR"),
    ]);
    for row in &report.candidates {
        table.row(cells(row));
    }
    table.write(text, width)
}

fn cells(row: &SearchCandidate) -> Vec<render::StyledText> {
    let candidate = &row.candidate;
    let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
    let history = row.history.as_ref().map(|history| match history.blacklisted {
        true => "blacklisted".to_owned(),
        false => format!("{} ok, {} failed", history.success, history.fail),
    });
    vec![
        render::plain(&candidate.reference),
        render::plain(candidate.version.as_deref().unwrap_or_default()),
        match candidate.reviewed {
            true => render::good("reviewed"),
            false => render::warning("unreviewed"),
        },
        match candidate.verdict.as_str() {
            "clean" => render::good("clean"),
            "malicious" => render::bad("malicious"),
            other => render::warning(other),
        },
        render::dim(&number(candidate.stars)),
        render::dim(&number(candidate.downloads)),
        render::dim(history.as_deref().unwrap_or_default()),
        render::plain(&candidate.summary),
    ]
}
