//! The answer to a message, for people: the decision, what is offered and what speaks for it, and
//! why others lost.

use std::fmt::{self, Write as _};

use sinew_engine::{RouteAnswer, RouteMatch, percent};
use sinew_route::{AbstainReason, RouteDecision, ScorePart};

use crate::layout::clipped;
use crate::render;

/// Blocks of a full bar.
const BAR: usize = 10;

/// Words shown per skill.
const WORDS: usize = 6;

/// Below this a skill is not worth a line beside what was offered: of one in fifty nothing follows.
const NEAR: f64 = 0.02;

/// What is said about a skill stands below its name.
const INDENT: &str = "         ";

pub(super) fn write(
    text: &mut String,
    answer: &RouteAnswer,
    explain: bool,
    width: usize,
) -> fmt::Result {
    let best = answer.matches.first().map(|found| render::safe(&found.name)).unwrap_or_default();
    let heading = match answer.decision {
        RouteDecision::Match => format!("match: {best}"),
        RouteDecision::Shortlist if !answer.steps.is_empty() => {
            format!("several: {} parts, each with its skill", answer.steps.len())
        }
        RouteDecision::Shortlist if answer.offered == 1 => {
            "shortlist: 1 skill is worth reading".to_owned()
        }
        RouteDecision::Shortlist => {
            format!("shortlist: {} skills are worth reading", answer.offered)
        }
        RouteDecision::None if answer.reason == Some(AbstainReason::OnlyUnavailable) => {
            "none: no skill that fits can be used".to_owned()
        }
        RouteDecision::None => "none: no skill fits".to_owned(),
    };
    render::heading(text, &heading)?;
    for (at, step) in answer.steps.iter().enumerate() {
        let skill = render::safe(&step.skill);
        let room = width.min(110).saturating_sub(skill.chars().count() + "  1. : ".len());
        writeln!(text, "  {}. {}: {skill}", at + 1, clipped(&render::safe(&step.text), room))?;
    }
    let shown = if explain { answer.matches.len() } else { answer.offered };
    let (shown, others) = answer.matches.split_at(shown.min(answer.matches.len()));
    let largest = shown
        .iter()
        .flat_map(|found| found.parts.each())
        .filter(|(name, _)| *name != "name")
        .map(|(_, part)| part.value())
        .fold(1e-9, f64::max);
    for (at, found) in shown.iter().enumerate() {
        let mark = if at < answer.offered { render::good("●") } else { render::dim("○") };
        let (sure, bar) = (percent(found.probability), bar(found.probability, BAR));
        writeln!(text, "  {mark} {sure:>4} {bar}  {}", render::safe(&found.name))?;
        let about = clipped(&render::safe(&found.description), width.min(110) - INDENT.len());
        writeln!(text, "{INDENT}{}", render::dim(&about))?;
        write_parts(text, found, largest, explain, width)?;
        write_words(text, found)?;
    }
    // A pipe gets everything.
    let least = if explain || width == usize::MAX { 0.0 } else { NEAR };
    write_others(text, answer, others, least)?;
    if explain {
        let needed = format!(
            "a match needs {} and a lead of {:.0}; took {} ms; model {}",
            percent(answer.threshold),
            100.0 * answer.margin,
            answer.took.total.div_ceil(1000),
            answer.model
        );
        writeln!(text, "{}", render::dim(&needed))?;
    }
    Ok(())
}

/// What each signal adds, as bars side by side; with numbers one below the other.
fn write_parts(
    text: &mut String,
    found: &RouteMatch,
    largest: f64,
    explain: bool,
    width: usize,
) -> fmt::Result {
    let parts = found.parts.each().filter(|(_, part)| part.weight != 0.0 && part.raw != 0.0);
    if !explain {
        // The bars of all signals stand in one line.
        let blocks = if width < 80 { BAR / 2 - 1 } else { BAR };
        let bars: Vec<String> = parts
            .map(|(name, part)| format!("{name} {}", part_bar(name, part, largest, blocks)))
            .collect();
        // A name that holds a line alone needs no bars.
        return match bars.is_empty() {
            true => Ok(()),
            false => writeln!(text, "{INDENT}{}", bars.join("  ")),
        };
    }
    for (name, part) in parts {
        writeln!(
            text,
            "{INDENT}{name:<8} {} {:>6.2} = {:.2} × {:.2}",
            part_bar(name, part, largest, BAR),
            part.value(),
            part.weight,
            part.normalised
        )?;
    }
    Ok(())
}

/// A name is worth more than all else together: its bar is full and does not shrink the others.
fn part_bar(name: &str, part: ScorePart, largest: f64, blocks: usize) -> render::StyledText {
    bar(if name == "name" { 1.0 } else { part.value() / largest }, blocks)
}

fn write_words(text: &mut String, found: &RouteMatch) -> fmt::Result {
    match shown_words(found) {
        [] => Ok(()),
        words => writeln!(text, "{INDENT}shares {}", render::safe(&words.join(", "))),
    }
}

fn shown_words(found: &RouteMatch) -> &[String] {
    &found.shared[..found.shared.len().min(WORDS)]
}

fn write_others(
    text: &mut String,
    answer: &RouteAnswer,
    others: &[RouteMatch],
    least: f64,
) -> fmt::Result {
    let is_near = |found: &&RouteMatch| found.probability >= least;
    let mut near = others.iter().filter(is_near).peekable();
    if near.peek().is_none() {
        return Ok(());
    }
    writeln!(text, "  {}", render::dim("not close enough:"))?;
    for found in near {
        let first = answer.matches.first().filter(|first| first.id != found.id);
        let (sure, why) = (percent(found.probability), why_lost(first, found));
        let (name, why) = (render::safe(&found.name), render::safe(&why));
        writeln!(text, "    {}", render::dim(&format!("{sure:>4}  {name}: {why}")))?;
    }
    Ok(())
}

/// What a skill lacks that the first has; of the first itself, how little it has.
fn why_lost(first: Option<&RouteMatch>, found: &RouteMatch) -> String {
    let mut why = match shown_words(found) {
        [] => "shares no word".to_owned(),
        words => format!("shares {}", words.join(", ")),
    };
    let Some(first) = first else { return why };
    let meaning = |one: &RouteMatch| one.parts.table.value() + one.parts.encoder.value();
    if found.parts.constraint.normalised < 0.0 {
        why.push_str("; goes against what the message demands");
    } else if found.parts.trigger.normalised < 0.0 {
        why.push_str("; says that it is not for this");
    } else if first.parts.name.raw > found.parts.name.raw {
        why.push_str("; is not named");
    } else if meaning(first) > meaning(found) {
        why.push_str("; further in meaning");
    }
    why
}

/// A share as blocks.
fn bar(share: f64, blocks: usize) -> render::StyledText {
    let full = (share * blocks as f64).round().clamp(0.0, blocks as f64) as usize;
    render::good(&format!("{}{}", "█".repeat(full), "░".repeat(blocks - full)))
}
