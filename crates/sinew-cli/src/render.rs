//! How answers look on a terminal. Text from skills passes [`safe`] before it gets here.

use std::fmt::{self, Write as _};

use owo_colors::{OwoColorize as _, Style};
use sinew_catalog::EntryState;
use sinew_guard::Untrusted;
use sinew_settings::{Reason, ReasonSeverity};

/// Untrusted text on one line of a terminal; a line break is a space there.
pub(crate) fn safe(text: &str) -> String {
    let text = text.trim();
    if !text.contains(['\n', '\t']) {
        return Untrusted::new(text).for_terminal();
    }
    let lines = text.split(['\n', '\t']).map(|line| line.trim_matches([' ', '\r']));
    let line = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    Untrusted::new(&line).for_terminal()
}

/// A piece of text and how it looks.
#[derive(Debug, Clone)]
pub(crate) struct StyledText {
    text: String,
    style: Style,
}

impl StyledText {
    /// The text without its style.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How it looks.
    pub(crate) fn style(&self) -> Style {
        self.style
    }
}

impl fmt::Display for StyledText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text.style(self.style))
    }
}

fn styled(text: &str, style: Style) -> StyledText {
    StyledText { text: safe(text), style }
}

pub(crate) fn plain(text: &str) -> StyledText {
    styled(text, Style::new())
}

pub(crate) fn dim(text: &str) -> StyledText {
    styled(text, Style::new().dimmed())
}

pub(crate) fn good(text: &str) -> StyledText {
    styled(text, Style::new().green())
}

pub(crate) fn bad(text: &str) -> StyledText {
    styled(text, Style::new().red())
}

pub(crate) fn warning(text: &str) -> StyledText {
    styled(text, Style::new().yellow())
}

/// A state in its colour.
pub(crate) fn state(state: EntryState) -> StyledText {
    let style = match state {
        EntryState::Ready => Style::new().green(),
        EntryState::NeedsSetup => Style::new().yellow(),
        EntryState::Broken | EntryState::Blocked => Style::new().red(),
        EntryState::Disabled | EntryState::Excluded | EntryState::Shadowed => Style::new().dimmed(),
    };
    styled(state.as_str(), style)
}

/// The answer in one line, before the details.
pub(crate) fn heading(text: &mut String, heading: &str) -> fmt::Result {
    writeln!(text, "{}", heading.bold())
}

/// A reason and its next step.
pub(crate) fn reason(text: &mut String, reason: &Reason) -> fmt::Result {
    let mark = match reason.severity {
        ReasonSeverity::Error => bad("✗"),
        ReasonSeverity::Warn => warning("!"),
        ReasonSeverity::Info => dim("·"),
    };
    writeln!(text, "  {mark} {}", safe(&reason.to_string()))?;
    match &reason.remedy {
        Some(remedy) => writeln!(text, "      {} {}", dim("→"), safe(remedy)),
        None => Ok(()),
    }
}

/// A unified diff in colour; without colour the signs say the same.
pub(crate) fn diff(text: &mut String, diff: &str) -> fmt::Result {
    for line in diff.lines() {
        let shown = Untrusted::new(line).for_terminal();
        let styled = match line.chars().next() {
            Some('+') => good(&shown),
            Some('-') => bad(&shown),
            Some('@') => dim(&shown),
            _ => {
                writeln!(text, "{shown}")?;
                continue;
            }
        };
        writeln!(text, "{styled}")?;
    }
    Ok(())
}
