use clap::ValueEnum;
use serde_json::Value;
use sinew_engine::Engine;

use super::shared::{log, record};
use super::show;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, Column, Table};

/// List proposals, newest first
///
/// Examples:
///   sinew workshop list
///   sinew workshop list --status quarantined --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListArgs {
    /// Which ones [default: those that wait for somebody]
    #[arg(long, value_enum)]
    status: Option<StatusArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StatusArg {
    Pending,
    Quarantined,
    Stale,
    Applied,
    Rejected,
    All,
}

pub(super) fn run(args: &ListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    log(&engine.check_probation()?, out);
    let mut proposals = engine.workshop(|shop| shop.proposals())?;
    proposals.retain(|proposal| {
        let status = proposal.status.as_str();
        match args.status {
            None => matches!(status, "pending" | "quarantined" | "stale"),
            Some(StatusArg::All) => true,
            Some(StatusArg::Pending) => status == "pending",
            Some(StatusArg::Quarantined) => status == "quarantined",
            Some(StatusArg::Stale) => status == "stale",
            Some(StatusArg::Applied) => status == "applied",
            Some(StatusArg::Rejected) => status == "rejected",
        }
    });
    let width = out.width();
    let records: Vec<Value> = proposals.iter().map(record).collect();
    out.data(&records, |text| {
        let mut table = Table::new(vec![
            Column::fixed("STATUS"),
            Column::fixed("ID"),
            Column::fixed("SKILL"),
            Column::fixed("CHANGE"),
            Column::flexible("TITLE"),
        ]);
        for proposal in &proposals {
            table.row(vec![
                show::status(&proposal.status),
                render::dim(show::short_id(&proposal.id)),
                render::plain(&proposal.skill_name),
                render::plain(proposal.change.kind()),
                render::plain(&proposal.title),
            ]);
        }
        table.write(text, width)
    })?;
    if proposals.is_empty() {
        out.note("there is nothing to decide");
    }
    Ok(Exit::Done)
}
