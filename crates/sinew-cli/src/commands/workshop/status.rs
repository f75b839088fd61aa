use std::fmt::Write as _;

use serde_json::json;
use sinew_engine::Engine;
use sinew_settings::config::ApprovalPolicy;

use super::shared::print_events;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show how many proposals wait, were written, or are held
///
/// Examples:
///   sinew workshop status
///   sinew workshop status --explain
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopStatusArgs {
    /// Say why nothing is captured, reviewed, written or seen
    #[arg(long)]
    explain: bool,
}

pub(super) fn run(args: &WorkshopStatusArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    print_events(&engine.workshop().check_probation()?, out);
    let counts = engine.workshop().with(|shop| shop.status())?;
    let (settings, _) = engine.workshop().settings();
    let causes = if args.explain { engine.workshop().explain()? } else { Vec::new() };
    let mut value = json!(counts);
    if args.explain {
        value["explain"] = json!(causes);
    }
    out.data(&value, |text| {
        let heading = match counts.pending {
            1 => "1 proposal waits for you".to_owned(),
            count => format!("{count} proposals wait for you"),
        };
        render::heading(text, &heading)?;
        for (name, count) in [
            ("quarantined", counts.quarantined),
            ("stale", counts.stale),
            ("applied", counts.applied),
            ("rejected", counts.rejected),
        ] {
            writeln!(text, "  {name:<12} {count}")?;
        }
        let on = match (settings.is_on(), settings.approval_policy) {
            (false, _) => "off; your own commands work",
            (true, ApprovalPolicy::Auto) => "on; safe changes are written at once",
            (true, _) => "on; changes wait for you",
        };
        writeln!(text, "  {:<12} {on}", "for agents")?;
        for cause in &causes {
            writeln!(text, "  {} {}", render::warning(cause.symptom), render::safe(&cause.cause))?;
            writeln!(text, "      {} {}", render::dim("→"), render::safe(&cause.check))?;
        }
        Ok(())
    })?;
    if counts.pending + counts.quarantined + counts.stale > 0 {
        out.hint("`sinew workshop review` goes through them");
    }
    Ok(Exit::Done)
}
