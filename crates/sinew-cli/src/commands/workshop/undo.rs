use std::fmt::Write as _;

use sinew_engine::Engine;
use sinew_workshop::{UndoForce, UndoTarget};

use super::shared::{caller, print_events, resolve_id};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Undo a write, or restore an earlier version of a skill
///
/// A file that was changed by hand since then is left alone; --force saves its content as a version
/// first. An undo can be undone by its id in the history.
///
/// Examples:
///   sinew workshop undo release-notes
///   sinew workshop undo 3f2a91c0
///   sinew workshop undo release-notes --to 7c1e55d2-…
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopUndoArgs {
    /// A skill, a proposal's id, or a version's id
    what: String,
    /// The version to go back to; everything after it is undone
    #[arg(long, value_name = "VERSION")]
    to: Option<String>,
    /// Even if the file was changed by hand
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &WorkshopUndoArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let wish = match &args.to {
        Some(version) => UndoTarget::BackTo { skill: args.what.clone(), version: version.clone() },
        None => wish(&args.what, engine)?,
    };
    let force = if args.force { UndoForce::Yes } else { UndoForce::No };
    let done = engine.workshop().with(|shop| shop.undo(&wish, force, &caller(engine, out)))?;
    out.data(&done, |text| {
        let what = if done.restored == "absent" { "removed" } else { "restored" };
        writeln!(text, "{} {}", render::good(what), render::safe(&done.skill_path))
    })?;
    print_events(&done.events, out);
    Ok(Exit::Done)
}

/// An id where one is known by it, else a skill.
fn wish(what: &str, engine: &Engine) -> Result<UndoTarget, sinew_engine::EngineError> {
    let proposal = resolve_id(engine, what)?;
    let is_proposal = engine.workshop().with(|shop| shop.inspect(&proposal)).is_ok();
    let is_uuid = what.len() == 36 && what.split('-').count() == 5;
    Ok(match is_proposal || is_uuid {
        true => UndoTarget::Id(proposal),
        false => UndoTarget::Skill(what.to_owned()),
    })
}
