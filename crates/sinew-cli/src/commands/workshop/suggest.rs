use std::path::PathBuf;

use serde_json::{Map, Value, json};
use sinew_engine::Engine;
use sinew_workshop::{ProposalRequest, WorkshopCaller};

use super::shared::{caller, print_decision, read_text};
use crate::exit::CommandResult;
use crate::printer::Printer;

/// Propose a change to a skill of the workspace
///
/// Without --section or --old it is a new skill, or an addition to `## Workflow` where the skill
/// exists. It waits for `apply`, unless the policy is auto.
///
/// Examples:
///   sinew workshop suggest --skill release-notes --body "- Tag last."
///   sinew workshop suggest --skill release-notes --section Pitfalls --body-file notes.md
///   sinew workshop suggest --skill release-notes --old "- Tag first." --new "- Tag last."
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopSuggestArgs {
    /// The skill; its name is normalised
    #[arg(long, value_name = "NAME")]
    skill: String,
    #[command(flatten)]
    content: ProposalTextArgs,
    /// Why this is worth keeping
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Queue it, whatever the policy says
    #[arg(long)]
    queue: bool,
}

/// The texts of a change.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ProposalTextArgs {
    /// A line for lists
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    /// What the skill is for, in the words a user would use
    #[arg(long, value_name = "TEXT")]
    pub(super) description: Option<String>,
    /// The text: imperative bullets
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file", allow_hyphen_values = true)]
    pub(super) body: Option<String>,
    /// The text, from a file or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) body_file: Option<PathBuf>,
    /// The heading to add under
    #[arg(long, value_name = "HEADING")]
    pub(super) section: Option<String>,
    /// Exact text to replace
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) old: Option<String>,
    /// What to put in its place
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) new: Option<String>,
}

impl ProposalTextArgs {
    /// The parameters of the tool that say the same.
    pub(super) fn parameters(
        &self,
        engine: &Engine,
    ) -> Result<Map<String, Value>, sinew_engine::EngineError> {
        let body = read_text(engine, self.body.as_deref(), self.body_file.as_deref())?;
        let texts = [
            ("title", self.title.as_ref()),
            ("description", self.description.as_ref()),
            ("body", body.as_ref()),
            ("section", self.section.as_ref()),
            ("oldText", self.old.as_ref()),
            ("newText", self.new.as_ref()),
        ];
        let given =
            texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text?))));
        Ok(given.collect())
    }
}

pub(super) fn run(args: &WorkshopSuggestArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let mut parameters = args.content.parameters(engine)?;
    parameters.insert("skillName".to_owned(), json!(args.skill));
    if let Some(reason) = &args.reason {
        parameters.insert("reason".to_owned(), json!(reason));
    }
    if args.queue {
        parameters.insert("apply".to_owned(), json!(false));
    }
    let caller = WorkshopCaller {
        by: caller(engine, out),
        agent_id: engine.agent().map(str::to_owned),
        session_id: None,
    };
    let (draft, origin) = ProposalRequest::from_parameters(&Value::Object(parameters), &caller)
        .map_err(sinew_engine::EngineError::from)?;
    let done = engine.workshop().with(|shop| shop.suggest(&draft, &origin))?;
    print_decision(&done, out)
}
