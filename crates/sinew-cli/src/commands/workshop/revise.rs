use sinew_engine::Engine;
use sinew_workshop::Revision;

use super::shared::{decided, id, person, text};
use super::suggest::Content;
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Give a proposal new content; it is scanned again
///
/// The way out for what is quarantined or stale. Another skill and a section turn a new skill into
/// an addition.
///
/// Examples:
///   sinew workshop revise 3f2a91c0 --body "- Tag last."
///   sinew workshop revise 3f2a91c0 --redact
///   sinew workshop revise 3f2a91c0 --skill release-notes --section Workflow
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReviseArgs {
    /// The proposal's id, or its start
    id: String,
    /// Another skill
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    #[command(flatten)]
    content: Content,
    /// Cut every line that the scanner objects to
    #[arg(long)]
    redact: bool,
}

pub(super) fn run(args: &ReviseArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = id(engine, &args.id)?;
    let content = &args.content;
    let revision = Revision {
        skill_name: args.skill.clone(),
        title: content.title.clone(),
        description: content.description.clone(),
        body: text(engine, content.body.as_deref(), content.body_file.as_deref())?,
        section: content.section.clone(),
        old_text: content.old.clone(),
        new_text: content.new.clone(),
        redact: args.redact,
    };
    let done = engine.workshop(|shop| shop.revise(&id, &revision, &person(engine)))?;
    decided(&done, out)
}
