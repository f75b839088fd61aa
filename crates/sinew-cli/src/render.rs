//! How answers look on a terminal. Text from skills passes [`safe`] before it gets here.

use std::fmt::{self, Write as _};

use owo_colors::{OwoColorize as _, Style};
use sinew_catalog::EntryState;
use sinew_guard::Untrusted;
use sinew_settings::{Reason, ReasonSeverity};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Untrusted text on one line of a terminal.
pub(crate) fn safe(text: &str) -> String {
    Untrusted::new(text.trim()).for_terminal()
}

/// A piece of text and how it looks.
#[derive(Debug, Clone)]
pub(crate) struct StyledText {
    text: String,
    style: Style,
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

/// A probability in percent. Never 0 or 100: it is neither impossible nor certain.
pub(crate) fn percent(probability: f64) -> String {
    format!("{:.0} %", (100.0 * probability).round().clamp(1.0, 99.0))
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

/// A column of a table.
#[derive(Debug)]
pub(crate) struct TableColumn {
    title: &'static str,
    flexible: bool,
}

impl TableColumn {
    /// As wide as what it holds.
    pub(crate) fn fixed(title: &'static str) -> Self {
        Self { title, flexible: false }
    }

    /// Cut to what the terminal leaves.
    pub(crate) fn flexible(title: &'static str) -> Self {
        Self { title, flexible: true }
    }
}

/// Rows under titles, cut to the terminal and whole in a pipe.
#[derive(Debug)]
pub(crate) struct TextTable {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<StyledText>>,
}

/// A flexible column is not made narrower than this.
const MIN_FLEXIBLE: usize = 24;
const GAP: usize = 2;
/// A fixed column is not wider than this on a terminal: one skill with a page-long name must not
/// push everything else off the screen.
const MAX_FIXED: usize = 40;

impl TextTable {
    pub(crate) fn new(columns: Vec<TableColumn>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<StyledText>) {
        self.rows.push(cells);
    }

    pub(crate) fn write(&self, text: &mut String, width: usize) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let titles: Vec<StyledText> = self.columns.iter().map(|column| dim(column.title)).collect();
        let rows = std::iter::once(&titles).chain(&self.rows);
        if width == usize::MAX {
            // A pipe gets whole cells that `cut` can tell apart.
            for row in rows {
                let cells: Vec<String> = row.iter().map(StyledText::to_string).collect();
                writeln!(text, "{}", cells.join("\t"))?;
            }
            return Ok(());
        }
        let widths = self.widths(width);
        for row in rows {
            for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let cut = clipped(&cell.text, width);
                let is_last = at + 1 == row.len();
                let pad = if is_last { 0 } else { width.saturating_sub(cut.width()) + GAP };
                write!(text, "{}{}", cut.style(cell.style), " ".repeat(pad))?;
            }
            writeln!(text)?;
        }
        Ok(())
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let natural: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells =
                    self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width());
                cells.chain([self.columns[at].title.width()]).max().unwrap_or(0)
            })
            .collect();
        let fixed: usize = natural
            .iter()
            .zip(&self.columns)
            .filter(|(_, column)| !column.flexible)
            .map(|(natural, _)| (*natural).min(MAX_FIXED) + GAP)
            .sum();
        let flexible = self.columns.iter().filter(|column| column.flexible).count().max(1);
        let share = (width.saturating_sub(fixed + GAP * flexible) / flexible).max(MIN_FLEXIBLE);
        natural
            .iter()
            .zip(&self.columns)
            .map(|(&natural, column)| natural.min(if column.flexible { share } else { MAX_FIXED }))
            .collect()
    }
}

/// The text, cut to a width with an ellipsis.
pub(crate) fn clipped(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let mut cut = String::new();
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}
