use std::fmt::Write as _;

use clap::ValueEnum;
use sinew_engine::Engine;
use sinew_engine::hook::{UsageGrouping, UsageReport, UsageRow};

use crate::exit::{CommandResult, Exit};
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

/// The widest name of a row: a table of 80 columns has room for no more.
const WIDEST_NAME: usize = 26;

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
    out.data(&report, |text| write_report(text, &report))?;
    if report.rows.is_empty() {
        out.hint("`sinew connect <agent>` lets an agent ask at every message");
    }
    Ok(Exit::Done)
}

fn write_report(text: &mut String, report: &UsageReport) -> std::fmt::Result {
    if report.rows.is_empty() {
        writeln!(text, "no skill was offered or used")?;
    } else {
        let kind = match report.by {
            UsageGrouping::Skill => "skill",
            UsageGrouping::Agent => "agent",
            UsageGrouping::Project => "project",
        };
        let head = format!(
            "{kind:<WIDEST_NAME$} {:>7} {:>7} {:>4} {:>4} {:>6} {:>6} {:>7}",
            "offered", "brought", "used", "well", "badly", "fixed", "chars"
        );
        writeln!(text, "{}", render::dim(&head))?;
        for row in report.rows.iter().chain((report.rows.len() > 1).then_some(&report.total)) {
            write_row(text, row)?;
        }
    }
    write_unused(text, &report.never_used)
}

fn write_row(text: &mut String, row: &UsageRow) -> std::fmt::Result {
    let name = render::safe(&row.name);
    // Of a long name the end tells more: it may be a path.
    let cut = name.chars().count().saturating_sub(WIDEST_NAME);
    let name: String = name.chars().skip(cut).collect();
    let used = row.read + row.invoked + row.followed;
    writeln!(
        text,
        "{name:<WIDEST_NAME$} {:>7} {:>7} {used:>4} {:>4} {:>6} {:>6} {:>7}",
        row.offered, row.brought, row.worked, row.failed, row.corrected, row.characters
    )
}

fn write_unused(text: &mut String, unused: &[String]) -> std::fmt::Result {
    if unused.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> =
        unused.iter().take(SHOWN_UNUSED).map(|name| render::safe(name)).collect();
    write!(text, "never used ({}): {}", unused.len(), shown.join(", "))?;
    match unused.len().saturating_sub(SHOWN_UNUSED) {
        0 => writeln!(text),
        more => writeln!(text, " and {more} more"),
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
