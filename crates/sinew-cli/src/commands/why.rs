use std::fmt::Write as _;

use sinew_engine::{DecisionExplanation, Engine, ExplanationMark, PromptOptions};

use crate::exit::{CommandResult, Exit};
use crate::layout::clipped;
use crate::printer::Printer;
use crate::render;

/// Say why a skill is in or out, shadowed or cut, and what to do about it
///
/// Examples:
///   sinew why github
///   sinew why github --agent writer
///   sinew why github --for "open a pull request"
///   sinew why --last
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WhyArgs {
    /// The skill's name or key
    #[arg(required_unless_present = "last")]
    skill: Option<String>,
    /// Where it stands for a message, and what its score is made of
    #[arg(long = "for", value_name = "MESSAGE")]
    message: Option<String>,
    /// What a hook last answered an agent, and what came of the turn
    #[arg(long, conflicts_with_all = ["skill", "message"])]
    last: bool,
}

pub(crate) fn run(args: &WhyArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let width = out.width();
    let Some(skill) = args.skill.as_deref().filter(|_| !args.last) else {
        let why = engine.hooks().explain_last()?;
        out.data(&why, |text| write_explanation(text, &why, width))?;
        return Ok(Exit::Done);
    };
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    let entry = engine.find(catalog, skill)?;
    let mut why = engine.skills().explain(catalog, entry, &PromptOptions::default());
    if let Some(message) = &args.message {
        engine.routing().explain_route(&snapshot, entry, message, &mut why);
    }
    out.data(&why, |text| write_explanation(text, &why, width))?;
    Ok(if why.usable { Exit::Done } else { Exit::No })
}

/// Letters of one step: a description may be longer, and `sinew info` shows it.
const SHOWN_TEXT: usize = 400;

fn write_explanation(
    text: &mut String,
    why: &DecisionExplanation,
    width: usize,
) -> std::fmt::Result {
    render::heading(text, &render::safe(&why.answer))?;
    for step in &why.steps {
        let mark = match step.mark {
            ExplanationMark::Pass => render::good("✓"),
            ExplanationMark::Fail => render::bad("✗"),
            ExplanationMark::Note => render::dim("·"),
        };
        let most = if width == usize::MAX { usize::MAX } else { SHOWN_TEXT };
        let said = clipped(&render::safe(&step.text), most);
        writeln!(text, "  {mark} {:<7}  {said}", step.stage)?;
        if let Some(remedy) = &step.remedy {
            writeln!(text, "             {} {}", render::dim("→"), render::safe(remedy))?;
        }
    }
    Ok(())
}
