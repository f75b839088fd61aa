use sinew_engine::Engine;
use sinew_workshop::ProposalRevision;

use super::shared::{caller, print_decision, read_text, resolve_id};
use super::suggest::ProposalTextArgs;
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Give a proposal new content; it is scanned again
///
/// Use it for proposals that are quarantined or stale. With --skill and --section a new skill
/// becomes an addition to another.
///
/// Examples:
///   sinew workshop revise 3f2a91c0 --body "- Tag last."
///   sinew workshop revise 3f2a91c0 --redact
///   sinew workshop revise 3f2a91c0 --skill release-notes --section Workflow
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopReviseArgs {
    /// The proposal's id, or its first characters
    id: String,
    /// Another skill
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,
    #[command(flatten)]
    content: ProposalTextArgs,
    /// Cut every line that the scanner objects to
    #[arg(long)]
    redact: bool,
}

pub(super) fn run(args: &WorkshopReviseArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let id = resolve_id(engine, &args.id)?;
    let content = &args.content;
    let revision = ProposalRevision {
        skill_name: args.skill.clone(),
        title: content.title.clone(),
        description: content.description.clone(),
        body: read_text(engine, content.body.as_deref(), content.body_file.as_deref())?,
        section: content.section.clone(),
        old_text: content.old.clone(),
        new_text: content.new.clone(),
        redact: args.redact,
    };
    let done = engine.workshop().with(|shop| shop.revise(&id, &revision, &caller(engine, out)))?;
    print_decision(&done, out)
}
