use std::fmt::Write as _;

use sinew_engine::Engine;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, TableColumn, TextTable};

/// List pairs of skills that are hard to tell apart
///
/// Exit 1 when there are any: give them clearer descriptions, or remove one.
///
/// Examples:
///   sinew dedupe
///   sinew dedupe --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DedupeArgs {}

pub(crate) fn run(_args: &DedupeArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let pairs = engine.quality().confusable_skills(&snapshot.catalog);
    let width = out.width();
    out.data(&pairs, |text| {
        if pairs.is_empty() {
            return writeln!(text, "no two skills are hard to tell apart");
        }
        let columns = ["LIKENESS", "SKILL", "SKILL"].map(TableColumn::fixed).into_iter();
        let mut table =
            TextTable::new(columns.chain([TableColumn::flexible("SHARED WORDS")]).collect());
        for pair in &pairs {
            table.row(vec![
                render::plain(&format!("{:.0} %", 100.0 * pair.likeness)),
                render::plain(&pair.a),
                render::plain(&pair.b),
                render::dim(&pair.shared.join(", ")),
            ]);
        }
        table.write(text, width)
    })?;
    Ok(if pairs.is_empty() { Exit::Done } else { Exit::No })
}
