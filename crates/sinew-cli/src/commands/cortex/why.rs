use std::fmt::Write as _;

use sinew_cortex::acquire::{AcquireReport, AcquireRun};
use sinew_cortex::explain::{PlanMode, RecallAction, RegionMatchKind};
use sinew_engine::{Cortex, TaskRecall, WhyAnswer};

use super::show::write_candidate;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show the whole decision for a task, a skill or a run
///
/// Exit 1 when nothing that is known fits.
///
/// Examples:
///   sinew cortex why "manage my to-do list"
///   sinew cortex why todoist
///   sinew cortex why 01K9ZW3M4N5P6Q7R8S9TAVBWCX
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexWhyArgs {
    /// A task in your own words, a skill, or a run
    about: String,
}

pub(super) fn run(args: &CortexWhyArgs, cortex: &Cortex<'_>, out: &mut Printer) -> CommandResult {
    let why = cortex.why(&args.about)?;
    out.data(&why, |text| match &why {
        WhyAnswer::Task(recalled) => write_task(text, recalled),
        WhyAnswer::Skill { slug, regions, blacklisted } => {
            let listed = if *blacklisted { ", which is never offered" } else { "" };
            render::heading(text, &format!("{}{listed}", render::safe(slug)))?;
            for (region, view) in regions {
                writeln!(text, "in {} ({} days idle)", render::safe(region), view.days_idle)?;
                write_candidate(text, view)?;
                write_numbers(text, view)?;
            }
            Ok(())
        }
        WhyAnswer::Run(run) => write_run(text, run),
    })?;
    Ok(match &why {
        WhyAnswer::Task(recalled)
            if recalled.explanation.decision.action == RecallAction::Search =>
        {
            Exit::No
        }
        _ => Exit::Done,
    })
}

fn write_task(text: &mut String, recalled: &TaskRecall) -> std::fmt::Result {
    let told = &recalled.explanation;
    let decision = &told.decision;
    let slug = decision.slug.as_deref().map(render::safe).unwrap_or_default();
    let heading = match (decision.action, decision.mode) {
        (RecallAction::Search, _) => "search: nothing that was learned fits".to_owned(),
        (RecallAction::Present, PlanMode::Reflex) => format!("reflex: {slug}"),
        (RecallAction::Present, PlanMode::Standard) => {
            format!("present: {slug}, with a question first")
        }
    };
    render::heading(text, &heading)?;
    let because = match (decision.action, decision.mode) {
        (RecallAction::Present, PlanMode::Standard) => "no reflex:",
        _ => "because",
    };
    writeln!(text, "  {because} {}", render::safe(&decision.reason))?;
    let words = if told.task_signals.is_empty() {
        "the task has no words to go by".to_owned()
    } else {
        told.task_signals.join(", ")
    };
    writeln!(text, "  words   {}", render::safe(&words))?;
    let matched = &told.matched;
    match (&told.region, matched.kind) {
        (Some(region), kind) => {
            let by = match kind {
                RegionMatchKind::Named => "named by the caller".to_owned(),
                RegionMatchKind::Lexical => {
                    format!("score {:.2} by {}", matched.score, matched.shared.join(", "))
                }
                RegionMatchKind::Meaning => format!("score {:.2} by what it means", matched.score),
                RegionMatchKind::None => String::new(),
            };
            writeln!(text, "  region  {} ({by})", render::safe(region))?;
        }
        (None, _) => writeln!(text, "  region  none")?,
    }
    if let Some(second) = matched.runner_up.as_ref().filter(|second| second.near_tie) {
        let tie = format!("nearly  {} with {:.2}", second.region, second.score);
        writeln!(text, "  {}", render::warning(&tie))?;
    }
    for view in &told.candidates {
        write_candidate(text, view)?;
        write_numbers(text, view)?;
    }
    for told in &recalled.lessons {
        let here = match told.found {
            Some(true) => ", there now",
            Some(false) => ", not there now",
            None => "",
        };
        let sure = format!(" ({:.0} of 100 sure{here})", 100.0 * told.lesson.confidence);
        writeln!(text, "  lesson: {}{sure}", render::safe(&super::lesson(&told.lesson.lesson)))?;
    }
    Ok(())
}

/// What both policies make of a candidate.
fn write_numbers(
    text: &mut String,
    view: &sinew_cortex::explain::CandidateView,
) -> std::fmt::Result {
    let place = |rank: Option<usize>| rank.map_or("-".to_owned(), |rank| rank.to_string());
    let bayes = view.bayes;
    let numbers = format!(
        "bayes a {:.2} b {:.2}, mean {:.3} + {:.3} = {:.3}, at least {:.3}; place {} by cortex, {} by bayes",
        bayes.a,
        bayes.b,
        bayes.mean,
        bayes.bonus,
        bayes.score,
        bayes.lb,
        place(view.rank.cortex),
        place(view.rank.bayes)
    );
    writeln!(text, "      {}", render::dim(&numbers))
}

fn write_run(text: &mut String, run: &AcquireRun) -> std::fmt::Result {
    render::heading(text, &format!("{}: {}", run.id, run.state.name()))?;
    writeln!(text, "  words   {}", render::safe(&run.signals.join(", ")))?;
    writeln!(text, "  region  {}", render::safe(run.region.as_deref().unwrap_or("none")))?;
    for (at, offer) in run.candidates.iter().enumerate() {
        let mark = if at == run.cursor { render::good("●") } else { render::dim("○") };
        let slug = render::safe(&offer.slug);
        writeln!(
            text,
            "  {mark} {slug} {} from {}",
            render::safe(offer.version()),
            render::safe(&offer.source)
        )?;
    }
    for consent in &run.consents {
        let said = format!("{} said yes to {} ({:?})", consent.who, consent.subject, consent.act);
        writeln!(text, "  {}", render::safe(&said))?;
    }
    let report = AcquireReport::of(run);
    for row in &report.tried {
        let tried = format!("{} failed: {} {}", row.slug, row.kind, row.detail);
        writeln!(text, "  {}", render::safe(&tried))?;
        writeln!(text, "      {} {}", render::dim("→"), render::safe(&row.remedy))?;
    }
    Ok(())
}
