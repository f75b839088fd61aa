use std::fmt::Write as _;

use clap::ValueEnum;
use sinew_engine::Engine;
use sinew_engine::hook::{UsageGrouping, UsageReport, UsageRow};

use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// Show what agents made of the skills they were offered, and what the offers cost
///
/// Offers, uses and outcomes come from agents' hooks: see `sinew connect`.
///
/// Examples:
///   sinew usage
///   sinew usage --since 7d
///   sinew usage --by agent --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UsageArgs {
    /// Only what happened in that time: a number with d, h or m (7d, 12h, 30m)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    since: Option<u64>,
    /// What the rows are
    #[arg(long, value_enum, default_value_t = UsageGroupingArg::Skill)]
    by: UsageGroupingArg,
    #[command(flatten)]
    whole: WholeListArgs,
}

/// What the rows are, on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum UsageGroupingArg {
    Skill,
    Agent,
    Project,
}

/// Skills without a use that are named; the others are counted.
const SHOWN_UNUSED: usize = 10;

fn milliseconds(text: &str) -> Result<u64, String> {
    let wrong = || "a number with d, h or m is needed, such as 7d".to_owned();
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, unit)) => (&text[..at], unit),
        None => return Err(wrong()),
    };
    let minutes: u64 = match unit {
        'd' => 24 * 60,
        'h' => 60,
        'm' => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(minutes * 60_000).ok_or_else(wrong)
}

pub(crate) fn run(args: &UsageArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let now = engine.environment().clock.now_ms();
    let since = args.since.map_or(0, |since| now.saturating_sub(since));
    let by = match args.by {
        UsageGroupingArg::Skill => UsageGrouping::Skill,
        UsageGroupingArg::Agent => UsageGrouping::Agent,
        UsageGroupingArg::Project => UsageGrouping::Project,
    };
    let report = engine.hooks().usage(since, by)?;
    let (width, rows) = (out.width(), out.rows(args.whole.all));
    out.data(&report, |text| write_report(text, &report, width, rows))?;
    if report.rows.is_empty() {
        out.hint("`sinew setup` lets your agents ask at every message");
    }
    Ok(Exit::Done)
}

fn write_report(
    text: &mut String,
    report: &UsageReport,
    width: usize,
    rows: usize,
) -> std::fmt::Result {
    if report.rows.is_empty() {
        writeln!(text, "no skill was offered or used")?;
        return write_unused(text, &report.never_used, rows);
    }
    let kind = match report.by {
        UsageGrouping::Skill => "SKILL",
        UsageGrouping::Agent => "AGENT",
        UsageGrouping::Project => "PROJECT",
    };
    let mut table = TextTable::new(vec![
        TableColumn::flexible(kind),
        TableColumn::fixed("OFFERED"),
        TableColumn::fixed("BROUGHT"),
        TableColumn::fixed("USED"),
        TableColumn::fixed("WELL"),
        TableColumn::fixed("BADLY"),
        TableColumn::fixed("FIXED"),
        TableColumn::fixed("CHARS").from(70),
    ]);
    let (shown, left) = first_rows(&report.rows, rows);
    for row in shown.iter().chain((report.rows.len() > 1).then_some(&report.total)) {
        table.row(cells(row));
    }
    table.write(text, width)?;
    write_more(text, 0, left, "sinew usage --all")?;
    write_unused(text, &report.never_used, rows)
}

fn cells(row: &UsageRow) -> Vec<render::StyledText> {
    let used = row.read + row.invoked + row.followed;
    let counts = [row.offered, row.brought, used, row.worked, row.failed, row.corrected];
    let mut cells = vec![render::plain(&row.name)];
    cells.extend(counts.map(|count| render::plain(&count.to_string())));
    cells.push(render::dim(&row.characters.to_string()));
    cells
}

fn write_unused(text: &mut String, unused: &[String], rows: usize) -> std::fmt::Result {
    if unused.is_empty() {
        return Ok(());
    }
    // A pipe gets every name as `--json` has them; a sentence for people names a few.
    let most = if rows == usize::MAX { usize::MAX } else { SHOWN_UNUSED };
    let (shown, left) = first_rows(unused, most);
    let shown: Vec<String> = shown.iter().map(|name| render::safe(name)).collect();
    write!(text, "never used ({}): {}", unused.len(), shown.join(", "))?;
    match left {
        0 => writeln!(text),
        more => writeln!(text, " and {more} more: `sinew usage --all`"),
    }
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn times_are_numbers_with_a_unit() {
        assert_eq!(milliseconds("7d"), Ok(7 * 86_400_000));
        assert_eq!(milliseconds("30m"), Ok(1_800_000));
        for wrong in ["", "7", "d", "-1d", "7w", "99999999999999999999d"] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }
}
