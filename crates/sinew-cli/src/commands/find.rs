use std::fmt::Write as _;

use clap::ValueEnum;
use sinew_engine::{CatalogRouter, Engine, Found, ModelChoice};
use sinew_route::{Decision, Match, RouteResult};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Find the right skills for a message, or say that none fits
///
/// The answer is a match (one skill, with confidence), a shortlist worth reading, or none. Exit 1
/// when nothing fits.
///
/// Examples:
///   sinew find "who changed this line, and why?"
///   sinew find --explain "make these pictures smaller"
///   sinew find --json --top 3 "open a pull request"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FindArgs {
    /// What the user said
    message: String,
    /// Show what each score is made of, and the words it shares with the message
    #[arg(long)]
    explain: bool,
    /// How many skills to show (5, or what route.top says)
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Which models rank
    #[arg(long, value_enum, default_value = "default")]
    model: ModelArg,
}

/// Which models rank, on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ModelArg {
    /// What route.model says: all that the program carries, unless it says otherwise
    Default,
    /// Words and static vectors
    Static,
    /// Words alone
    Words,
    /// With the model in the folder that route.file names
    File,
    /// With the model behind route.remote.url
    Remote,
}

impl From<ModelArg> for ModelChoice {
    fn from(arg: ModelArg) -> Self {
        match arg {
            ModelArg::Default => Self::Default,
            ModelArg::Static => Self::Static,
            ModelArg::Words => Self::Words,
            ModelArg::File => Self::File,
            ModelArg::Remote => Self::Remote,
        }
    }
}

pub(crate) fn run(args: &FindArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    super::tell_issues(engine, &snapshot.catalog, out);
    let mut router = engine.router(&snapshot.catalog, args.model.into());
    if let Some(notice) = &router.status.notice {
        out.warn(notice);
    }
    let Found { result, held_back } = router.find(&args.message, args.top);
    out.data(&result, |text| write_result(text, &result, args.explain))?;
    if let Some(held) = held_back {
        out.note(&format!("{} would fit, but cannot be used yet", held.name));
        out.hint(&format!("`sinew why {}` names what it lacks", held.name));
    }
    for degraded in &result.degraded {
        out.note(&format!("{} ({})", degraded.message, degraded.remedy));
    }
    fill_behind(&mut router, out)?;
    Ok(if result.is_none() { Exit::No } else { Exit::Done })
}

/// The answer is out; a person at a terminal can wait for the next one to be better.
pub(crate) fn fill_behind(
    router: &mut CatalogRouter,
    out: &Printer,
) -> Result<(), sinew_engine::Error> {
    let pending = router.pending();
    if pending == 0 || !out.can_ask() {
        return Ok(());
    }
    let bar = out.progress("learning the skills by heart", pending);
    let filled = router.fill(&|count| bar.add(count));
    bar.finish();
    filled
}

fn write_result(text: &mut String, result: &RouteResult, explain: bool) -> std::fmt::Result {
    let best = result.matches.first().map(|found| render::safe(&found.name)).unwrap_or_default();
    render::heading(
        text,
        &match result.decision {
            Decision::Match => format!("match: {best}"),
            Decision::Shortlist => {
                format!("shortlist: {} skills are worth reading", result.offered)
            }
            Decision::None => "none: no skill fits".to_owned(),
        },
    )?;
    let shown = if explain { result.matches.len() } else { result.offered };
    for (at, found) in result.matches.iter().take(shown).enumerate() {
        let mark = if at < result.offered { render::good("●") } else { render::dim("○") };
        let (percent, bar) = (100.0 * found.probability, bar(found.probability));
        writeln!(text, "  {mark} {percent:>3.0} % {bar} {}", render::safe(&found.name))?;
        writeln!(text, "          {}", render::dim(&cut(&found.description, 100)))?;
        if explain {
            write_parts(text, found)?;
        }
    }
    let others: Vec<String> = result
        .matches
        .iter()
        .skip(shown)
        .map(|found| format!("{} {:.0} %", found.name, 100.0 * found.probability))
        .collect();
    if !others.is_empty() {
        writeln!(text, "{}", render::dim(&format!("  not close enough: {}", others.join(", "))))?;
    }
    if explain {
        writeln!(
            text,
            "{}",
            render::dim(&format!(
                "a match needs {:.0} % and a lead of {:.0}; model {}; {} µs",
                100.0 * result.threshold,
                100.0 * result.margin,
                result.model,
                result.took.total
            ))
        )?;
    }
    Ok(())
}

fn write_parts(text: &mut String, found: &Match) -> std::fmt::Result {
    for (name, part) in found.parts.each().filter(|(_, part)| part.weight != 0.0 && part.raw != 0.0)
    {
        writeln!(
            text,
            "            {name:<8} {:>6.2} = {:.2} × {:.2}",
            part.value(),
            part.weight,
            part.normalised
        )?;
    }
    if !found.terms.is_empty() {
        let words: Vec<&str> = found.terms.iter().take(8).map(|term| term.term.as_str()).collect();
        writeln!(text, "            words    {}", render::safe(&words.join(", ")))?;
    }
    Ok(())
}

/// A share as ten blocks.
fn bar(share: f64) -> render::Styled {
    let full = (share * 10.0).round().clamp(0.0, 10.0) as usize;
    render::good(&format!("{}{}", "█".repeat(full), "░".repeat(10 - full)))
}

fn cut(text: &str, length: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= length {
        return line;
    }
    format!("{}…", line.chars().take(length - 1).collect::<String>())
}
