//! `sinew eval route`: the router on questions with answers.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum as _;
use sinew_engine::{Engine, EngineError, EvalData, EvalRunSide, ModelComparison};
use sinew_guard::atomic::{self, FileAccess};
use sinew_route::eval::{ConfidenceInterval, RankingFigures, RouteEvalReport};

use super::{EvalDataArgs, html};
use crate::commands::find::ModelArg;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

#[derive(Debug, clap::Args)]
pub(super) struct EvalRouteArgs {
    #[command(flatten)]
    data: EvalDataArgs,
    /// Which models rank
    #[arg(long, value_enum, default_value = "default")]
    model: ModelArg,
    /// List what went wrong
    #[arg(long)]
    misses: bool,
    /// Write a page with all figures, and with what went wrong
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    html: Option<PathBuf>,
    /// Show how much better B is than A: models, or reports saved with --json
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["model", "misses"])]
    compare: Vec<String>,
}

pub(super) fn run(args: &EvalRouteArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let data = args.data.files();
    match args.compare.as_slice() {
        [first, second] => compare(first, second, data, engine, out),
        _ => measure(args, data, engine, out),
    }
}

fn measure(
    args: &EvalRouteArgs,
    data: EvalData<'_>,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let misses = args.misses || args.html.is_some();
    let bar = out.progress("reading skills", 0);
    let report = engine.quality().eval_route(data, args.model.into(), misses, &|done, of| {
        bar.set_of(done, of);
    });
    bar.finish();
    let mut report = report?;
    if let Some(path) = &args.html {
        atomic::write(path, html::page(&report).as_bytes(), FileAccess::Shared)
            .map_err(|error| EngineError::file("write", path, error))?;
    }
    if !args.misses {
        report.misses.clear();
    }
    out.data(&report, |text| write_route(text, &report))?;
    for bad in &report.problems {
        out.warn(&format!("line {}: {}", bad.line, bad.message));
    }
    if let Some(path) = &args.html {
        out.note(&format!("the page is in {}", path.display()));
    }
    Ok(if report.problems.is_empty() { Exit::Done } else { Exit::No })
}

fn compare(
    first: &str,
    second: &str,
    data: EvalData<'_>,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let side = |name: &str| match ModelArg::from_str(name, false) {
        Ok(model) => EvalRunSide::Models(model.into()),
        Err(_) => EvalRunSide::Saved(PathBuf::from(name)),
    };
    let bar = out.progress("reading skills", 0);
    let sides = [&side(first), &side(second)];
    let compared = engine.quality().compare_route(sides, data, &|done, of| bar.set_of(done, of));
    bar.finish();
    let compared = compared?;
    out.data(&compared, |text| write_compared(text, &compared))?;
    Ok(Exit::Done)
}

fn write_compared(text: &mut String, compared: &ModelComparison) -> std::fmt::Result {
    let difference = &compared.difference;
    render::heading(text, &format!("{} messages in both", difference.messages))?;
    writeln!(text, "  from       {}", render::safe(&compared.first))?;
    writeln!(text, "  to         {}", render::safe(&compared.second))?;
    for (name, value, interval) in [
        ("hit@1", difference.hit1, difference.hit1_interval),
        ("hit@5", difference.hit5, difference.hit5_interval),
        ("ndcg@10", difference.ndcg10, difference.ndcg10_interval),
    ] {
        writeln!(text, "  {name:<10} {:+.1} points {}", 100.0 * value, range(interval, true))?;
    }
    writeln!(text, "  first now  {} that were not; {} no longer", difference.won, difference.lost)
}

/// An interval in percent.
fn range(interval: ConfidenceInterval, signed: bool) -> String {
    let (low, high) = (100.0 * interval.low, 100.0 * interval.high);
    if signed { format!("[{low:+.1}, {high:+.1}]") } else { format!("[{low:.1}, {high:.1}]") }
}

fn write_route(text: &mut String, report: &RouteEvalReport) -> std::fmt::Result {
    let figures = &report.figures;
    render::heading(text, &format!("{} messages over {} skills", figures.messages, report.skills))?;
    writeln!(text, "  {:<16} {}", "all", line(figures))?;
    for (name, interval) in report.intervals.iter().filter(|_| figures.messages > 0) {
        writeln!(text, "  {:<16} {name} {}", "95 % interval", range(*interval, false))?;
    }
    for (kind, figures) in &report.by_kind {
        writeln!(text, "  {:<16} {} ({})", render::safe(kind), line(figures), figures.messages)?;
    }
    let (abstain, decision) = (&report.abstain, &report.decision);
    writeln!(
        text,
        "  abstain          precision {:.1}  recall {:.1}  wrong {:.1}",
        100.0 * abstain.precision,
        100.0 * abstain.recall,
        100.0 * abstain.wrong_abstentions
    )?;
    writeln!(
        text,
        "  match            right {:.1} % of the time",
        100.0 * decision.match_precision
    )?;
    if let Some(should_not) = &report.should_not {
        writeln!(
            text,
            "  should not       matched all the same {:.1} % of {}",
            100.0 * should_not.false_matches,
            should_not.messages
        )?;
    }
    writeln!(
        text,
        "  latency          p50 {} µs, p99 {} µs",
        report.latency.total.p50, report.latency.total.p99
    )?;
    writeln!(text, "  model            {}", report.model)?;
    for miss in &report.misses {
        writeln!(
            text,
            "  miss {}: {} -> {}",
            render::safe(&miss.id),
            render::safe(&miss.query),
            render::safe(&miss.first.join(", "))
        )?;
    }
    Ok(())
}

fn line(figures: &RankingFigures) -> String {
    let percent = |share: f64| 100.0 * share;
    format!(
        "hit@1 {:.1}  hit@5 {:.1}  ndcg@10 {:.1}  mrr {:.1}",
        percent(figures.hit1),
        percent(figures.hit5),
        percent(figures.ndcg10),
        percent(figures.mrr)
    )
}
