use serde_json::{Value, json};
use sinew_engine::Engine;
use sinew_workshop::OLD_HOME;

use super::shared::{caller, print_decision};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Propose to divide a skill into several, by what its rules are about
///
/// It is one proposal: nothing moves before it is applied, and one `undo` takes all of it back.
///
/// Examples:
///   sinew workshop split
///   sinew workshop split our-mail
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopSplitArgs {
    /// The skill [default: learned-workflows]
    skill: Option<String>,
}

pub(super) fn run(args: &WorkshopSplitArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let by = caller(engine, out);
    let skill = args.skill.as_deref().unwrap_or(OLD_HOME);
    let made = engine.workshop().with(|shop| shop.split(skill, &by))?;
    let Some(done) = made else {
        out.data(&json!({"proposal": Value::Null}), |_| Ok(()))?;
        out.note("there is nothing to divide, or that waits for your decision already");
        return Ok(Exit::No);
    };
    let answer = print_decision(&done, out)?;
    out.hint("`sinew workshop review` shows the files, and applies them with a yes");
    Ok(answer)
}
