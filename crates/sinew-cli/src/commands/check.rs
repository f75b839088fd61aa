use std::fmt::Write as _;

use sinew_catalog::shell_word;
use sinew_catalog::{Catalog, EntryState};
use sinew_engine::{CheckReport, Engine, SkillShortfall, UnlistedSkill};
use sinew_settings::ReasonCode;

use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// Show the whole catalog at a glance: what is ready, what is missing, what the prompt leaves out
///
/// Counts come first, then the skills that need you most: held back, broken, lacking something, not
/// shown to the model. A terminal shows ten of them, and --all every one.
///
/// Examples:
///   sinew check
///   sinew check --all
///   sinew check --agent writer --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    whole: WholeListArgs,
}

/// Skills that are named on a terminal; the others are counted.
const WORST: usize = 10;

pub(crate) fn run(args: &CheckArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.quality().check(&snapshot.catalog);
    super::tell_issues(engine, &snapshot.catalog, out);
    let rows = match out.rows(args.whole.all) {
        usize::MAX => usize::MAX,
        _ => WORST,
    };
    let width = out.width();
    out.data(&report, |text| write_check(text, &report, &snapshot.catalog, rows, width))?;
    Ok(Exit::Done)
}

fn write_check(
    text: &mut String,
    report: &CheckReport,
    catalog: &Catalog,
    rows: usize,
    width: usize,
) -> std::fmt::Result {
    let sum = &report.summary;
    render::heading(text, &format!("{} of {} skills can be used", sum.eligible, sum.total))?;
    let first = |names: &[String], what: &str| {
        names.first().map(|name| format!("`sinew {what} {}`", shell_word(name)))
    };
    // What is missing for a skill of one's own matters more than for one that came with the program.
    let unready = report.missing_requirements.iter().min_by_key(|one| one.bundled);
    let unready = unready.map(|one| one.name.clone());
    let broken = report.broken.first().map(|one| one.name.clone());
    let counts: [(&str, usize, Option<String>); 8] = [
        ("the model sees", sum.model_visible, None),
        ("slash commands", sum.command_visible, None),
        ("need setup", sum.missing_requirements, first(unready.as_slice(), "why")),
        ("switched off", sum.disabled, first(&report.disabled, "enable")),
        ("held back", sum.blocked, first(&report.blocked, "why")),
        ("not for this agent", sum.agent_filtered, None),
        ("broken", sum.broken, first(broken.as_slice(), "why")),
        ("shadowed", sum.shadowed, Some("`sinew list --all`".to_owned())),
    ];
    for (what, count, next) in counts {
        match next.filter(|_| count > 0) {
            Some(next) => writeln!(text, "  {count:>5}  {what:<18}  {}", render::dim(&next))?,
            None => writeln!(text, "  {count:>5}  {what}")?,
        }
    }
    write_prompt(text, report)?;
    write_worst(text, report, catalog, rows, width)
}

fn write_prompt(text: &mut String, report: &CheckReport) -> std::fmt::Result {
    let prompt = &report.prompt;
    let planner = serde_json::to_value(prompt.planner).ok();
    let planner = planner.as_ref().and_then(|planner| planner.as_str()).unwrap_or_default();
    writeln!(
        text,
        "\n  prompt: {} of {} skills in {} of {} characters ({planner})",
        prompt.included, prompt.total, prompt.used, prompt.budget,
    )?;
    if !prompt.shortened.is_empty() {
        writeln!(text, "          {} descriptions shortened", prompt.shortened.len())?;
    }
    match prompt.total - prompt.included {
        0 => Ok(()),
        left => writeln!(text, "          {left} have no room; messages still bring them"),
    }
}

/// The skills that need a person, the most pressing first.
fn write_worst(
    text: &mut String,
    report: &CheckReport,
    catalog: &Catalog,
    rows: usize,
    width: usize,
) -> std::fmt::Result {
    let (carried, own): (Vec<&SkillShortfall>, Vec<&SkillShortfall>) =
        report.missing_requirements.iter().partition(|missing| missing.bundled);
    if !carried.is_empty() {
        let count = carried.len();
        writeln!(text, "\n  {count} carried skills need setup: `sinew list --bundled`")?;
    }
    let mut worst: Vec<(&str, &str, String)> = Vec::new();
    let blocked = catalog.unshadowed().filter(|entry| entry.state == EntryState::Blocked);
    worst.extend(blocked.map(|entry| {
        let why = entry.primary_reason().map(|reason| reason.detail.clone()).unwrap_or_default();
        ("held back", entry.name.as_str(), why)
    }));
    // A code is a key of JSON; on a screen its words stand apart.
    let unlisted = |reason: ReasonCode| reason.to_string().replace('-', " ");
    let broken = report.broken.iter().map(|one| ("broken", &*one.name, unlisted(one.reason)));
    worst.extend(broken);
    worst.extend(own.iter().map(|one| ("needs setup", &*one.name, lacks(one))));
    // What only the budget of the prompt leaves out waits for no one: messages still bring it.
    let counts =
        |one: &&UnlistedSkill| rows == usize::MAX || one.reason != ReasonCode::PromptBudget;
    let hidden = report.not_injected.iter().filter(counts);
    worst.extend(hidden.map(|one| ("not shown", &*one.name, unlisted(one.reason))));
    if worst.is_empty() {
        return Ok(());
    }
    writeln!(text)?;
    let (shown, left) = first_rows(&worst, rows);
    let mut table = TextTable::new(vec![
        TableColumn::fixed(""),
        TableColumn::fixed(""),
        TableColumn::flexible(""),
    ]);
    for (state, name, why) in shown {
        table.row(vec![render::dim(state), render::plain(name), render::plain(why)]);
    }
    table.write_rows(text, 2, width)?;
    write_more(text, 2, left, "sinew check --all")
}

/// What a skill lacks, in one line.
fn lacks(skill: &SkillShortfall) -> String {
    let missing = &skill.missing;
    let parts = [
        &missing.bins,
        &missing.any_bins,
        &missing.env,
        &missing.any_env,
        &missing.config,
        &missing.os,
    ];
    let what: Vec<&str> = parts.iter().flat_map(|list| list.iter().map(String::as_str)).collect();
    format!("lacks {}", what.join(", "))
}
