//! `sinew eval scan`: the scanner on labelled skills.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use sinew_engine::Engine;
use sinew_guard::eval::{RateEstimate, ScanEvalReport};

use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable};
use crate::printer::Printer;
use crate::render;

pub(super) fn run(data: &Path, engine: &Engine, out: &mut Printer) -> CommandResult {
    let start = Instant::now();
    let report = engine.quality().eval_scan(data, &|| start.elapsed())?;
    let width = out.width();
    out.data(&report, |text| write_report(text, &report, width))?;
    Ok(Exit::Done)
}

fn write_report(text: &mut String, report: &ScanEvalReport, width: usize) -> std::fmt::Result {
    render::heading(text, &format!("{} labelled skills", report.rows))?;
    let columns = ["TIER", "ROWS", "BLOCKED", "BLOCKED OR WARNED"].map(TableColumn::fixed).into();
    let mut table = TextTable::new(columns);
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

fn rate(rate: &RateEstimate) -> String {
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
