use std::fmt::Write as _;

use sinew_engine::{Engine, percent};

use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// List pairs of skills that are hard to tell apart
///
/// Exit 1 when there are any: give them clearer descriptions, or remove one.
///
/// Examples:
///   sinew dedupe
///   sinew dedupe --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DedupeArgs {
    #[command(flatten)]
    whole: WholeListArgs,
}

pub(crate) fn run(args: &DedupeArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let pairs = engine.quality().confusable_skills(&snapshot.catalog);
    let (width, rows) = (out.width(), out.rows(args.whole.all));
    out.data(&pairs, |text| {
        if pairs.is_empty() {
            return writeln!(text, "no two skills are hard to tell apart");
        }
        let mut table = TextTable::new(vec![
            TableColumn::fixed("LIKE"),
            TableColumn::flexible("SKILL"),
            TableColumn::flexible("SKILL"),
            TableColumn::flexible("SHARED WORDS").from(70),
        ]);
        let (shown, left) = first_rows(&pairs, rows);
        for pair in shown {
            // Only copies are alike to the last word.
            let like = match pair.likeness >= 1.0 {
                true => "100 %".to_owned(),
                false => percent(pair.likeness),
            };
            table.row(vec![
                render::plain(&like),
                render::plain(&pair.a),
                render::plain(&pair.b),
                render::dim(&pair.shared.join(", ")),
            ]);
        }
        table.write(text, width)?;
        write_more(text, 0, left, "sinew dedupe --all")
    })?;
    Ok(if pairs.is_empty() { Exit::Done } else { Exit::No })
}
