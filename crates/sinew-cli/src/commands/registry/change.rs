use std::fmt::Write as _;

use serde_json::json;
use sinew_engine::{Engine, EngineError};

use super::remote::{RegistryRemoteArgs, RemoteRegistry, parse_skill, registry_name};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Withdraw a skill; it can no longer be installed
///
/// Its versions stay as they are, and `undelete` brings them back.
///
/// Examples:
///   sinew registry delete my-skill --reason "replaced by other-skill"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RegistryDeleteArgs {
    /// The skill: slug, or @owner/slug
    skill: String,
    /// Why, for the registry's records
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    remote: RegistryRemoteArgs,
}

pub(crate) fn delete(
    args: &RegistryDeleteArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let wanted = parse_skill(&args.skill)?;
    let remote = RemoteRegistry::open(&args.remote, engine)?;
    remote
        .publisher()?
        .delete(registry_name(&wanted), args.reason.as_deref())
        .map_err(EngineError::from)?;
    say(out, "deleted", &wanted.slug, true)
}

/// The skill that a command changes.
#[derive(Debug, clap::Args)]
pub(crate) struct RegistrySkillArgs {
    /// The skill: slug, or @owner/slug
    skill: String,
    #[command(flatten)]
    remote: RegistryRemoteArgs,
}

/// What is done to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RegistrySkillChange {
    Undelete,
    Star,
    Unstar,
}

pub(crate) fn run(
    doing: RegistrySkillChange,
    args: &RegistrySkillArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let wanted = parse_skill(&args.skill)?;
    let remote = RemoteRegistry::open(&args.remote, engine)?;
    let publisher = remote.publisher()?;
    let (word, changed) = match doing {
        RegistrySkillChange::Undelete => {
            publisher.undelete(registry_name(&wanted)).map_err(EngineError::from)?;
            ("undeleted", true)
        }
        RegistrySkillChange::Star => {
            ("starred", !publisher.star(registry_name(&wanted)).map_err(EngineError::from)?)
        }
        RegistrySkillChange::Unstar => {
            ("unstarred", !publisher.unstar(registry_name(&wanted)).map_err(EngineError::from)?)
        }
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
