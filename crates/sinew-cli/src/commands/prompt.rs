use clap::ValueEnum;
use serde::Serialize;
use sinew_catalog::SnapshotRecord;
use sinew_catalog::prompt::{PromptMode, PromptReport};
use sinew_engine::{Engine, PromptOptions, ResolvedSkill};
use sinew_settings::Reason;
use sinew_settings::config::PromptPlanner;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Print the block for an agent's system prompt
///
/// Examples:
///   sinew prompt
///   sinew prompt --for "use \$github for this"
///   sinew prompt --planner openclaw --max-chars 18000 --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PromptArgs {
    /// The message it is for: the skills that fit it keep their descriptions longest
    #[arg(long = "for", value_name = "MESSAGE")]
    message: Option<String>,
    /// How the budget is spent
    #[arg(long, value_enum)]
    planner: Option<PlannerArg>,
    /// The budget in UTF-16 code units
    #[arg(long, value_name = "N")]
    max_chars: Option<usize>,
    /// How much of a prompt this agent gets
    #[arg(long, value_enum, default_value = "full")]
    mode: PromptModeArg,
    /// The tools the agent has; without `read` among them no skill is listed
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…")]
    tools: Option<Vec<String>>,
    /// The tokens that the model's context leaves
    #[arg(long, value_name = "N")]
    context_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PlannerArg {
    Graded,
    Openclaw,
    Prefix,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PromptModeArg {
    Full,
    Minimal,
    None,
}

#[derive(Serialize)]
struct PromptAnswer<'a> {
    /// What goes before it while the workshop is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    guidance: Option<&'a str>,
    prompt: &'a str,
    report: &'a PromptReport,
    reasons: &'a [Reason],
    snapshot: SnapshotRecord<'a>,
    /// The skills that the block names.
    #[serde(rename = "resolvedSkills")]
    resolved_skills: Vec<ResolvedSkill>,
}

pub(crate) fn run(args: &PromptArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let fitting = match &args.message {
        Some(message) => engine.routing().prompt_options(&snapshot, message),
        None => PromptOptions::default(),
    };
    let options = PromptOptions {
        mode: match args.mode {
            PromptModeArg::Full => PromptMode::Full,
            PromptModeArg::Minimal => PromptMode::Minimal,
            PromptModeArg::None => PromptMode::None,
        },
        planner: args.planner.map(|planner| match planner {
            PlannerArg::Graded => PromptPlanner::Graded,
            PlannerArg::Openclaw => PromptPlanner::Openclaw,
            PlannerArg::Prefix => PromptPlanner::Prefix,
        }),
        max_chars: args.max_chars,
        tools: args.tools.clone(),
        context_tokens: args.context_tokens,
        ..fitting
    };
    let block = engine.skills().prompt(&snapshot.catalog, &options);
    super::tell_issues(engine, &snapshot.catalog, out);
    let guidance = engine.workshop().guidance().filter(|_| options.mode == PromptMode::Full);
    let answer = PromptAnswer {
        guidance: guidance.as_deref(),
        prompt: &block.text,
        report: &block.report,
        reasons: &block.reasons,
        snapshot: snapshot.record(),
        resolved_skills: engine.skills().resolved_skills(&snapshot.catalog, &block),
    };
    out.document(&answer, |text| {
        if let Some(guidance) = &guidance {
            text.push_str(&format!("{guidance}\n\n"));
        }
        text.push_str(&block.text);
        if !block.text.is_empty() {
            text.push('\n');
        }
        Ok(())
    })?;
    if !out.is_json() {
        if let Some(warning) = block.report.warning() {
            out.warn(&warning);
            out.hint("`sinew check` lists them; skills.prompt.pin keeps one in its place");
        }
        if block.text.is_empty() {
            match block.reasons.first() {
                Some(reason) => out.reason(reason),
                None => out.note("no skill is visible to the model"),
            }
        }
    }
    Ok(Exit::Done)
}
