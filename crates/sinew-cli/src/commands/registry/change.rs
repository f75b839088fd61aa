use std::fmt::Write as _;

use serde_json::json;
use sinew_engine::{Engine, Error};

use super::remote::{Remote, RemoteArgs, named, skill};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Take a skill back; nobody can install it any more
///
/// Its versions stay as they are, and `undelete` brings them back.
///
/// Examples:
///   sinew registry delete my-skill --reason "replaced by other-skill"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DeleteArgs {
    /// The skill: slug, or @owner/slug
    skill: String,
    /// Why, for the registry's records
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) fn delete(args: &DeleteArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let wanted = skill(&args.skill)?;
    let remote = Remote::open(&args.remote, engine)?;
    remote.publisher()?.delete(named(&wanted), args.reason.as_deref()).map_err(Error::from)?;
    say(out, "deleted", &wanted.slug, true)
}

/// What names a skill that something is done to.
#[derive(Debug, clap::Args)]
pub(crate) struct SkillArgs {
    /// The skill: slug, or @owner/slug
    skill: String,
    #[command(flatten)]
    remote: RemoteArgs,
}

/// What is done to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Doing {
    Undelete,
    Star,
    Unstar,
}

pub(crate) fn run(
    doing: Doing,
    args: &SkillArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let wanted = skill(&args.skill)?;
    let remote = Remote::open(&args.remote, engine)?;
    let publisher = remote.publisher()?;
    let (word, changed) = match doing {
        Doing::Undelete => {
            publisher.undelete(named(&wanted)).map_err(Error::from)?;
            ("undeleted", true)
        }
        Doing::Star => ("starred", !publisher.star(named(&wanted)).map_err(Error::from)?),
        Doing::Unstar => ("unstarred", !publisher.unstar(named(&wanted)).map_err(Error::from)?),
    };
    say(out, word, &wanted.slug, changed)
}

fn say(out: &mut Printer, word: &'static str, slug: &str, changed: bool) -> CommandResult {
    let shown = json!({ "skill": slug, "done": word, "changed": changed });
    out.data(&shown, |text| match changed {
        true => writeln!(text, "{word} {slug}"),
        false => writeln!(text, "{slug} was {word} already"),
    })?;
    Ok(Exit::Done)
}
