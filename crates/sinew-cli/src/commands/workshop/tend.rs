use std::fmt::Write as _;

use serde_json::{Value, json};
use sinew_engine::Engine;

use super::proposal_text;
use super::shared::{caller, print_events, record};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Look through what was learned, and propose what would make it better
///
/// It finds skills that overlap, contradict each other, fail, were never used or name commands that
/// are gone, and proposes to merge, rewrite or retire them. Nothing is applied.
///
/// Examples:
///   sinew workshop tend
///   sinew workshop tend --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopTendArgs {}

pub(super) fn run(_: &WorkshopTendArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let by = caller(engine, out);
    let report = engine.workshop().with(|shop| shop.tend(&by))?;
    let records: Vec<Value> = report.proposals.iter().map(record).collect();
    out.data(&json!({"skills": report.skills, "proposals": records}), |text| {
        for proposal in &report.proposals {
            let id = render::dim(proposal_text::short_id(&proposal.id));
            writeln!(text, "{} {id}", render::safe(&proposal.title))?;
            writeln!(text, "  {}", render::safe(&proposal.reason))?;
            for quote in &proposal.evidence {
                writeln!(text, "  {} {}", render::dim("·"), render::safe(quote))?;
            }
        }
        if report.proposals.is_empty() {
            let looked = format!("{} learned skills, nothing to propose", report.skills);
            writeln!(text, "{}", render::dim(&looked))?;
        }
        Ok(())
    })?;
    print_events(&report.events, out);
    Ok(Exit::Done)
}
