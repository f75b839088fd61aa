use clap::ValueEnum;
use serde_json::Value;
use sinew_engine::Engine;

use super::proposal_text;
use super::shared::{print_events, record};
use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// List proposals, newest first
///
/// Examples:
///   sinew workshop list
///   sinew workshop list --status quarantined --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopListArgs {
    /// Which ones [default: those that wait for a decision]
    #[arg(long, value_enum)]
    status: Option<ProposalStatusArg>,
    #[command(flatten)]
    whole: WholeListArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProposalStatusArg {
    Pending,
    Quarantined,
    Stale,
    Applied,
    Rejected,
    All,
}

pub(super) fn run(args: &WorkshopListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    print_events(&engine.workshop().check_probation()?, out);
    let mut proposals = engine.workshop().with(|shop| shop.proposals())?;
    proposals.retain(|proposal| {
        let status = proposal.status.as_str();
        match args.status {
            None => matches!(status, "pending" | "quarantined" | "stale"),
            Some(ProposalStatusArg::All) => true,
            Some(ProposalStatusArg::Pending) => status == "pending",
            Some(ProposalStatusArg::Quarantined) => status == "quarantined",
            Some(ProposalStatusArg::Stale) => status == "stale",
            Some(ProposalStatusArg::Applied) => status == "applied",
            Some(ProposalStatusArg::Rejected) => status == "rejected",
        }
    });
    let (width, rows) = (out.width(), out.rows(args.whole.all));
    let records: Vec<Value> = proposals.iter().map(record).collect();
    out.data(&records, |text| {
        let mut table = TextTable::new(vec![
            TableColumn::fixed("STATUS"),
            TableColumn::fixed("ID"),
            TableColumn::fixed("SKILL"),
            TableColumn::fixed("CHANGE").from(70),
            TableColumn::flexible("TITLE"),
        ]);
        let (shown, left) = first_rows(&proposals, rows);
        for proposal in shown {
            table.row(vec![
                proposal_text::status(&proposal.status),
                render::dim(proposal_text::short_id(&proposal.id)),
                render::plain(&proposal.skill_name),
                render::plain(proposal.change.kind()),
                render::plain(&proposal.change_line()),
            ]);
        }
        table.write(text, width)?;
        write_more(text, 0, left, "sinew workshop list --all")
    })?;
    if proposals.is_empty() {
        out.note("there is nothing to decide");
    }
    Ok(Exit::Done)
}
