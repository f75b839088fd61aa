use std::fmt::Write as _;

use sinew_engine::{Details, Engine};
use sinew_exec::{EnvState, From};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show everything known about one skill
///
/// Examples:
///   sinew info github
///   sinew info github --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InfoArgs {
    /// The skill's name or key
    skill: String,
}

pub(crate) fn run(args: &InfoArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    let entry = engine.find(catalog, &args.skill)?;
    let info = engine.details(catalog, entry);
    out.data(&info, |text| write_info(text, &info))?;
    Ok(Exit::Done)
}

fn write_info(text: &mut String, info: &Details<'_>) -> std::fmt::Result {
    let entry = info.entry;
    let emoji =
        entry.emoji.as_deref().map(|emoji| format!("{} ", render::safe(emoji))).unwrap_or_default();
    render::heading(
        text,
        &format!("{emoji}{} — {}", render::safe(&entry.name), entry.state.as_str()),
    )?;
    writeln!(text, "{}\n", render::safe(&entry.description))?;
    let mut field = |name: &str, value: &str| -> std::fmt::Result {
        if value.is_empty() {
            return Ok(());
        }
        writeln!(text, "  {:<12} {}", name, render::safe(value))
    };
    field("file", &entry.file_path.to_string_lossy())?;
    field("source", &format!("{} (tier {})", entry.source, entry.tier.as_str()))?;
    field("key", &entry.skill_key)?;
    field("homepage", entry.homepage.as_deref().unwrap_or_default())?;
    field("command", &entry.command_name.as_deref().map(|c| format!("/{c}")).unwrap_or_default())?;
    field("model", if entry.model_visible { "sees it" } else { "does not see it" })?;
    if let Some(chars) = info.prompt_chars {
        field("prompt cost", &format!("{chars} characters"))?;
    }
    let needs = &entry.requirements;
    field("needs", &join(&[&needs.bins, &needs.env, &needs.config]))?;
    field("needs one of", &join(&[&needs.any_bins, &needs.any_env]))?;
    field("only on", &needs.os.join(", "))?;
    field("digest", &entry.content_hash)?;
    write_env(text, &info.env)?;
    if entry.via.is_some() {
        writeln!(text, "  found on a machine that the host is connected to")?;
    }
    if !entry.reasons.is_empty() {
        writeln!(text)?;
        for reason in &entry.reasons {
            render::reason(text, reason)?;
        }
    }
    if !info.shadowed.is_empty() {
        writeln!(text, "\n  used instead of")?;
        for copy in &info.shadowed {
            writeln!(
                text,
                "    {} ({})",
                render::safe(&copy.file_path.to_string_lossy()),
                copy.source
            )?;
        }
    }
    Ok(())
}

/// Where each declared variable comes from, and what stands in its way.
fn write_env(text: &mut String, env: &[EnvState]) -> std::fmt::Result {
    for state in env {
        let from = match (state.from, state.blank) {
            (From::Host, true) => render::warning("set on this machine, but blank"),
            (From::Host, false) => render::good("set on this machine"),
            (From::Config, _) => render::good("set in the configuration"),
            (From::Missing, _) => render::bad("not set"),
        };
        let blocked = match state.blocked {
            Some(class) => format!("; no skill may set it: {}", class.meaning()),
            None => String::new(),
        };
        writeln!(text, "  {:<12} {from}{blocked}", render::safe(&state.name))?;
    }
    Ok(())
}

fn join(lists: &[&Vec<String>]) -> String {
    lists.iter().flat_map(|list| list.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
}
