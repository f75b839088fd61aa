use std::fmt::Write as _;

use sinew_cortex::simulate::{
    ReflexGrant, RegretCell, SimulationRequest, SimulationTables, simulate,
};

use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable};
use crate::printer::Printer;
use crate::render;

/// Run the policies over simulated worlds, and print the tables
///
/// Three worlds: clean successes (exact), regret against the best of three skills, and reflexes by
/// reliability. Expected values are in brackets.
///
/// Examples:
///   sinew cortex simulate
///   sinew cortex simulate --policy bayes --cadence 1/day --rng 7
///   sinew cortex simulate --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexSimulateArgs {
    /// Only policies whose name contains this: cortex, bayes, thompson, mean, ucb
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Only cadences whose name contains this: weekly, daily, 1/week, 5/day …
    #[arg(long, value_name = "NAME")]
    cadence: Option<String>,
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    rng: u64,
}

pub(super) fn run(args: &CortexSimulateArgs, out: &mut Printer) -> CommandResult {
    let wanted = SimulationRequest {
        cadence: args.cadence.as_deref(),
        policy: args.policy.as_deref(),
        seed: args.rng,
    };
    let tables = simulate(&wanted);
    let width = out.width();
    out.data(&tables, |text| write_tables(text, &tables, width))?;
    Ok(Exit::Done)
}

fn write_tables(text: &mut String, tables: &SimulationTables, width: usize) -> std::fmt::Result {
    if !tables.clean.is_empty() {
        render::heading(text, "A. Clean successes from 0.5")?;
        write_clean(text, tables, width)?;
    }
    if tables.regret.iter().any(|row| !row.cells.is_empty()) {
        render::heading(text, "\nB. Regret against the best skill (standard error)")?;
        write_regret(text, tables, width)?;
    }
    if !tables.calibration.is_empty() {
        render::heading(
            text,
            "\nC. Reflexes by reliability: ever, first use, share of uses, failed",
        )?;
        write_calibration(text, tables, width)?;
    }
    Ok(())
}

fn write_clean(text: &mut String, tables: &SimulationTables, width: usize) -> std::fmt::Result {
    let titles = ["CADENCE", "TO 0.90", "DAYS", "TO 0.80", "FIRST REFLEX"];
    let mut table = TextTable::new(titles.map(TableColumn::fixed).into());
    let number = |found: Option<u32>, said: Option<u32>| {
        let found = found.map_or("-".to_owned(), |found| found.to_string());
        match said {
            Some(said) => render::plain(&format!("{found} [{said}]")),
            None => render::plain(&found),
        }
    };
    for row in &tables.clean {
        let (to_90, days, to_80, reflex) = row.said;
        let found = row.days.map_or("-".to_owned(), |days| format!("{days:.1}"));
        table.row(vec![
            render::plain(row.cadence),
            number(row.to_90, Some(to_90)),
            render::plain(&format!("{found} [{days}]")),
            number(row.to_80, Some(to_80)),
            number(row.first_reflex, reflex),
        ]);
    }
    table.write(text, width)?;
    let each = tables.one_window.iter();
    let each: Vec<String> =
        each.map(|(n, found, said)| format!("{n} → {found:.4} [{said}]")).collect();
    writeln!(text, "all within one window: {}", each.join(", "))
}

fn write_regret(text: &mut String, tables: &SimulationTables, width: usize) -> std::fmt::Result {
    let columns = tables.regret.first().map(|row| row.cells.as_slice()).unwrap_or_default();
    let titles = std::iter::once("POLICY").chain(columns.iter().map(|cell| cell.column));
    let mut table = TextTable::new(titles.map(TableColumn::fixed).collect());
    let shown = |cell: &RegretCell| {
        let said = match cell.said_error {
            Some(error) => format!("{} ({error})", cell.said),
            None => cell.said.to_string(),
        };
        let line = format!("{:.1} ({:.2}) [{said}]", cell.regret, cell.error);
        if cell.distance() < 3.0 { render::plain(&line) } else { render::warning(&line) }
    };
    for row in &tables.regret {
        let cells = std::iter::once(render::plain(row.policy)).chain(row.cells.iter().map(shown));
        table.row(cells.collect());
    }
    table.write(text, width)
}

fn write_calibration(
    text: &mut String,
    tables: &SimulationTables,
    width: usize,
) -> std::fmt::Result {
    let columns = tables.calibration.first().map(|row| row.grants.as_slice()).unwrap_or_default();
    let titles = std::iter::once("RELIABILITY").chain(columns.iter().map(|grant| grant.gate));
    let mut table = TextTable::new(titles.map(TableColumn::fixed).collect());
    let shown = |grant: &ReflexGrant| {
        let found = match grant.first {
            None => "0".to_owned(),
            Some(first) => format!(
                "{:.0} % @{first}, {:.1} %, fails {:.0} %",
                100.0 * grant.ever,
                100.0 * grant.share,
                100.0 * grant.failed
            ),
        };
        render::plain(&format!("{found} [{}]", grant.said))
    };
    for row in &tables.calibration {
        let first = render::plain(&format!("{:.2}", row.reliability));
        table.row(std::iter::once(first).chain(row.grants.iter().map(shown)).collect());
    }
    table.write(text, width)
}
