use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Subcommand;
use sinew_engine::{Engine, ModelChoice};
use sinew_guard::eval::{EvalReport, Rate};
use sinew_route::eval::{Figures, Report, Trial};

use super::find::ModelArg;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, Column, Table};

/// Measure sinew against labelled data
///
/// Examples:
///   sinew eval route --skills ./skills --queries questions.jsonl --misses
///   sinew eval triggers my-skill --data triggers.jsonl
///   sinew eval scan --data guard.jsonl.gz --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// The router on questions with answers: `id, query, expected[], also[], kind`; kind none abstains
    Route {
        /// A folder of skills, or JSON lines (.jsonl, .jsonl.gz) with id, name and text
        #[arg(long, value_name = "DIR|JSONL")]
        skills: PathBuf,
        /// The questions
        #[arg(long, value_name = "JSONL")]
        queries: PathBuf,
        /// Which models rank
        #[arg(long, value_enum, default_value = "default")]
        model: ModelArg,
        /// List what went wrong
        #[arg(long)]
        misses: bool,
    },
    /// Whether a skill triggers when it should: rows of query and should_trigger
    Triggers {
        /// The skill
        skill: String,
        /// The rows, as JSON lines or one JSON list
        #[arg(long, value_name = "FILE")]
        data: PathBuf,
    },
    /// The scanner against labelled skills: a line of JSON each, with id, label, tier and files
    Scan {
        /// JSON lines, gzipped or plain
        #[arg(long, value_name = "FILE")]
        data: PathBuf,
    },
}

pub(crate) fn run(args: &EvalArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        Action::Scan { data } => scan(data, engine, out),
        Action::Route { skills, queries, model, misses } => {
            route(skills, queries, (*model).into(), *misses, engine, out)
        }
        Action::Triggers { skill, data } => triggers(skill, data, engine, out),
    }
}

fn scan(data: &Path, engine: &Engine, out: &mut Printer) -> CommandResult {
    let start = Instant::now();
    let report = engine.eval_scan(data, &|| start.elapsed())?;
    let width = out.width();
    out.data(&report, |text| write_report(text, &report, width))?;
    Ok(Exit::Done)
}

fn route(
    skills: &Path,
    queries: &Path,
    model: ModelChoice,
    misses: bool,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let bar = out.progress("reading skills", 0);
    let report =
        engine.eval_route(skills, queries, model, misses, &|done, of| bar.set_of(done, of));
    bar.finish();
    let report = report?;
    out.data(&report, |text| write_route(text, &report))?;
    for bad in &report.problems {
        out.warn(&format!("line {}: {}", bad.line, bad.message));
    }
    Ok(if report.problems.is_empty() { Exit::Done } else { Exit::No })
}

fn write_route(text: &mut String, report: &Report) -> std::fmt::Result {
    let figures = &report.figures;
    render::heading(text, &format!("{} messages over {} skills", figures.messages, report.skills))?;
    let line = |figures: &Figures| {
        let percent = |share: f64| 100.0 * share;
        format!(
            "hit@1 {:.1}  hit@5 {:.1}  ndcg@10 {:.1}  mrr {:.1}",
            percent(figures.hit1),
            percent(figures.hit5),
            percent(figures.ndcg10),
            percent(figures.mrr)
        )
    };
    writeln!(text, "  {:<16} {}", "all", line(figures))?;
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

fn triggers(skill: &str, data: &Path, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.eval_triggers(&snapshot.catalog, skill, data)?;
    let wrong = |trial: &Trial| {
        trial.should_trigger != (trial.rank == Some(1)) && (trial.should_trigger || trial.matched)
    };
    out.data(&report, |text| {
        render::heading(
            text,
            &format!(
                "{} first for {:.0} % of {}, matched by mistake for {:.0} % of {}",
                render::safe(skill),
                100.0 * report.hit1,
                report.should,
                100.0 * report.false_matches,
                report.should_not
            ),
        )?;
        for trial in report.trials.iter().filter(|trial| wrong(trial)) {
            let instead = trial
                .instead
                .as_deref()
                .map(|name| format!(" (first: {})", render::safe(name)))
                .unwrap_or_default();
            let what = if trial.should_trigger { "missed" } else { "stolen" };
            writeln!(text, "  {} {}{instead}", render::warning(what), render::safe(&trial.query))?;
        }
        Ok(())
    })?;
    Ok(if report.trials.iter().any(wrong) { Exit::No } else { Exit::Done })
}

fn write_report(text: &mut String, report: &EvalReport, width: usize) -> std::fmt::Result {
    render::heading(text, &format!("{} labelled skills", report.rows))?;
    let columns = ["TIER", "ROWS", "BLOCKED", "BLOCKED OR WARNED"].map(Column::fixed).into();
    let mut table = Table::new(columns);
    for (tier, counts) in &report.tiers {
        table.row(vec![
            render::plain(tier),
            render::plain(&counts.rows.to_string()),
            render::plain(&rate(&counts.blocked)),
            render::plain(&rate(&counts.block_or_warn)),
        ]);
    }
    table.write(text, width)?;
    for (name, value) in [
        ("recall at block", &report.recall),
        ("payload in the wild", &report.wild_payload),
        ("precision", &report.precision),
        ("false positives", &report.false_positive_rate),
        ("ordinary blocked", &report.ordinary_blocked),
        ("ordinary warned", &report.ordinary_warned),
        ("security tools blocked", &report.hard_blocked),
    ] {
        writeln!(text, "  {name:<24} {}", rate(value))?;
    }
    let time = &report.time;
    writeln!(
        text,
        "  time per skill           p50 {:.2} ms, p95 {:.2} ms, max {:.1} ms",
        time.p50_ms, time.p95_ms, time.max_ms
    )?;
    for wrong in &report.false_positives {
        writeln!(
            text,
            "  blocked but benign: {} ({}) {}",
            render::safe(&wrong.id),
            render::safe(&wrong.tier),
            render::safe(&wrong.findings.join(", "))
        )?;
    }
    Ok(())
}

fn rate(rate: &Rate) -> String {
    let percent = |share: f64| 100.0 * share;
    format!(
        "{}/{} = {:.1} % [{:.1}, {:.1}]",
        rate.hits,
        rate.of,
        percent(rate.rate),
        percent(rate.low),
        percent(rate.high)
    )
}
