use std::fmt::Write as _;

use sinew_engine::Engine;
use sinew_engine::connect::{AgentContext, ContextCost};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show what the list of skills costs each agent in every session
///
/// Characters and estimated tokens (a token has about four characters) of the list as the agent
/// would write it, before it cuts anything itself; the same in library mode, where only a core is
/// listed; and the skills that cost most. `--agent` shows one agent.
///
/// Examples:
///   sinew context
///   sinew context --agent claude-code
///   sinew context --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ContextArgs {}

pub(crate) fn run(_args: &ContextArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let contexts = engine.connect().context(engine.agent())?;
    out.beginning(&contexts, "sinew context", |text| write_contexts(text, &contexts))?;
    if contexts.is_empty() {
        out.note("no agent was found on this machine");
        out.hint("`sinew context --agent claude-code` shows what one would list");
    }
    Ok(Exit::Done)
}

fn write_contexts(text: &mut String, contexts: &[AgentContext]) -> std::fmt::Result {
    for context in contexts {
        let state = match context.library {
            Some(true) => " (library mode)",
            Some(false) | None => "",
        };
        render::heading(text, &format!("{}{state}", context.title))?;
        write_cost(text, "all skills", &context.all)?;
        match &context.core {
            Some(core) => write_cost(text, "in library mode", core)?,
            None => writeln!(text, "  {}", render::dim("has no library mode"))?,
        }
        for skill in &context.costliest {
            let name = render::safe(&skill.name);
            writeln!(text, "    {:>6} characters  {name}", skill.characters)?;
        }
        if context.library == Some(false) && context.all != ContextCost::default() {
            let hint = format!("`sinew connect {} --library` switches it on", context.agent);
            writeln!(text, "  {}", render::dim(&hint))?;
        }
    }
    Ok(())
}

fn write_cost(text: &mut String, what: &str, cost: &ContextCost) -> std::fmt::Result {
    let ContextCost { skills, characters, tokens } = cost;
    writeln!(text, "  {what:<15} {skills:>4} skills {characters:>6} characters, {tokens} tokens")
}
