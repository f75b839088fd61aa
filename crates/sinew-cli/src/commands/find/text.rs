//! The answer to a message, for people: the decision, what is offered and what speaks for it, and
//! why others lost.

use std::fmt::{self, Write as _};

use sinew_engine::{RouteAnswer, RouteMatch};
use sinew_route::{AbstainReason, RouteDecision, ScorePart};

use crate::render;

/// Blocks of a full bar.
const BAR: usize = 10;

/// Words shown per skill.
const WORDS: usize = 6;

pub(super) fn write(
    text: &mut String,
    message: &str,
    answer: &RouteAnswer,
    explain: bool,
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
        let (part, skill) = (render::safe(&cut(&step.text, 60)), render::safe(&step.skill));
        writeln!(text, "  {}. {part}: {skill}", at + 1)?;
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
        let (percent, bar) = (100.0 * found.probability, bar(found.probability));
        writeln!(text, "  {mark} {percent:>3.0} % {bar} {}", render::safe(&found.name))?;
        writeln!(text, "          {}", render::dim(&cut(&found.description, 100)))?;
        write_parts(text, found, largest, explain)?;
        write_words(text, message, found)?;
    }
    write_others(text, message, answer, others)?;
    if explain {
        let needed = format!(
            "a match needs {:.0} % and a lead of {:.0}; model {}; {} µs",
            100.0 * answer.threshold,
            100.0 * answer.margin,
            answer.model,
            answer.took.total
        );
        writeln!(text, "{}", render::dim(&needed))?;
    }
    Ok(())
}

/// What each signal adds, as bars side by side; with numbers one below the other.
fn write_parts(text: &mut String, found: &RouteMatch, largest: f64, explain: bool) -> fmt::Result {
    let parts = found.parts.each().filter(|(_, part)| part.weight != 0.0 && part.raw != 0.0);
    if !explain {
        let bars: Vec<String> =
            parts.map(|(name, part)| format!("{name} {}", part_bar(name, part, largest))).collect();
        return writeln!(text, "          {}", bars.join("  "));
    }
    for (name, part) in parts {
        writeln!(
            text,
            "          {name:<8} {} {:>6.2} = {:.2} × {:.2}",
            part_bar(name, part, largest),
            part.value(),
            part.weight,
            part.normalised
        )?;
    }
    Ok(())
}

/// A name is worth more than all else together: its bar is full and does not shrink the others.
fn part_bar(name: &str, part: ScorePart, largest: f64) -> render::StyledText {
    bar(if name == "name" { 1.0 } else { part.value() / largest })
}

fn write_words(text: &mut String, message: &str, found: &RouteMatch) -> fmt::Result {
    let words = shared_words(message, found);
    if words.is_empty() {
        return Ok(());
    }
    writeln!(text, "          shares {}", render::safe(&words.join(", ")))
}

fn write_others(
    text: &mut String,
    message: &str,
    answer: &RouteAnswer,
    others: &[RouteMatch],
) -> fmt::Result {
    if others.is_empty() {
        return Ok(());
    }
    writeln!(text, "  {}", render::dim("not close enough:"))?;
    for found in others {
        let first = answer.matches.first().filter(|first| first.id != found.id);
        let (percent, why) = (100.0 * found.probability, why_lost(message, first, found));
        let line = format!("{percent:.0} % {}: {}", render::safe(&found.name), render::safe(&why));
        writeln!(text, "    {}", render::dim(&line))?;
    }
    Ok(())
}

/// What a skill lacks that the first has; of the first itself, how little it has.
fn why_lost(message: &str, first: Option<&RouteMatch>, found: &RouteMatch) -> String {
    let words = shared_words(message, found);
    let mut why = match words.as_slice() {
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

/// The words of the message that a skill shares, as they were written; an English word that stands
/// for one of another language is shown by its stem.
fn shared_words(message: &str, found: &RouteMatch) -> Vec<String> {
    let lower = message.to_lowercase();
    let written = |stem: &str| {
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        // Stemming may change the last letter: "try", "tries" and "tri".
        let end = stem.char_indices().last().map_or(0, |(at, _)| at).max(2);
        let start = stem.get(..end).unwrap_or(stem);
        words.find(|word| word.starts_with(start)).unwrap_or(stem).to_owned()
    };
    let mut words: Vec<String> = Vec::new();
    for word in found.terms.iter().map(|term| written(&term.term)) {
        if words.len() < WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// A share as blocks.
fn bar(share: f64) -> render::StyledText {
    let full = (share * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    render::good(&format!("{}{}", "█".repeat(full), "░".repeat(BAR - full)))
}

fn cut(text: &str, length: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= length {
        return line;
    }
    format!("{}…", line.chars().take(length - 1).collect::<String>())
}
