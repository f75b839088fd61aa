use std::fmt::Write as _;

use sinew_engine::Engine;
use sinew_workshop::VersionCause;

use super::proposal_text;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// List what was written to a skill, newest first
///
/// Examples:
///   sinew workshop history release-notes
///   sinew workshop history release-notes --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopHistoryArgs {
    /// The skill
    skill: String,
}

pub(super) fn run(args: &WorkshopHistoryArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let versions = engine.workshop().with(|shop| shop.history(&args.skill))?;
    let command = format!("sinew workshop history {}", render::safe(&args.skill));
    out.beginning(&versions, &command, |text| {
        for version in &versions {
            let action = match version.action {
                VersionCause::Apply => render::good("applied"),
                VersionCause::SupportFile => render::good("support file"),
                VersionCause::Undo => render::warning("undone"),
                VersionCause::Rollback => render::warning("rolled back"),
                VersionCause::Promote => render::good("promoted"),
                VersionCause::Retire => render::warning("retired"),
                VersionCause::Save => render::dim("kept"),
            };
            let when = i64::try_from(version.at)
                .ok()
                .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
            let when = when.map(|when| when.to_string()).unwrap_or_default();
            writeln!(text, "{action} {} by {}", render::plain(&when), render::safe(&version.by))?;
            writeln!(text, "  {} {}", render::dim("version "), render::dim(&version.id))?;
            if let Some(proposal) = &version.proposal_id {
                writeln!(
                    text,
                    "  {} {}",
                    render::dim("proposal"),
                    proposal_text::short_id(proposal)
                )?;
            }
            for file in &version.files {
                let hash = |hash: &Option<String>| match hash {
                    Some(hash) => hash.get(..8).unwrap_or(hash).to_owned(),
                    None => "absent".to_owned(),
                };
                let (path, before, after) =
                    (render::safe(&file.path), hash(&file.before), hash(&file.after));
                writeln!(text, "  {path} {before} → {after}")?;
            }
        }
        Ok(())
    })?;
    if versions.is_empty() {
        out.note("the workshop never wrote this skill");
    }
    Ok(if versions.is_empty() { Exit::No } else { Exit::Done })
}
