//! Rows under titles: one line each on a terminal, whole cells in a pipe.

use std::fmt::{self, Write as _};

use owo_colors::OwoColorize as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::render::{StyledText, dim};

/// A column of a table.
#[derive(Debug)]
pub(crate) struct TableColumn {
    title: &'static str,
    flexible: bool,
    /// The narrowest terminal that shows it.
    from: usize,
}

impl TableColumn {
    /// As wide as what it holds.
    pub(crate) fn fixed(title: &'static str) -> Self {
        Self { title, flexible: false, from: 0 }
    }

    /// Cut to what the terminal leaves.
    pub(crate) fn flexible(title: &'static str) -> Self {
        Self { title, flexible: true, from: 0 }
    }

    /// Left out where the terminal is narrower than this.
    pub(crate) fn from(mut self, width: usize) -> Self {
        self.from = width;
        self
    }
}

/// Rows under titles, cut to the terminal and whole in a pipe.
#[derive(Debug)]
pub(crate) struct TextTable {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<StyledText>>,
}

/// A flexible column is not made narrower than this while another can give way.
const MIN_FLEXIBLE: usize = 18;
/// No column is made narrower than this: of fewer letters nothing can be made out.
const MIN_COLUMN: usize = 8;
const GAP: usize = 2;
/// A fixed column is not wider than this on a terminal: one skill with a page-long name must not
/// push everything else off the screen.
const MAX_FIXED: usize = 40;
/// Wider than this no table gets: the eye loses the row.
const MAX_TABLE: usize = 200;

impl TextTable {
    pub(crate) fn new(columns: Vec<TableColumn>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<StyledText>) {
        self.rows.push(cells);
    }

    pub(crate) fn write(&self, text: &mut String, width: usize) -> fmt::Result {
        self.write_rows(text, 0, width)
    }

    /// The same, indented by so many columns on a terminal.
    pub(crate) fn write_rows(&self, text: &mut String, indent: usize, width: usize) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let titles: Vec<StyledText> = self.columns.iter().map(|column| dim(column.title)).collect();
        let has_titles = self.columns.iter().any(|column| !column.title.is_empty());
        let rows = has_titles.then_some(&titles).into_iter().chain(&self.rows);
        if width == usize::MAX {
            // A pipe gets whole cells that `cut` can tell apart; rows without titles are lines of a
            // report.
            let (lead, gap) = if has_titles { (0, "\t") } else { (indent, "  ") };
            for row in rows {
                let cells: Vec<String> = row.iter().map(StyledText::to_string).collect();
                writeln!(text, "{}{}", " ".repeat(lead), cells.join(gap).trim_end_matches(' '))?;
            }
            return Ok(());
        }
        let widths = self.widths(width.min(MAX_TABLE).saturating_sub(indent), width);
        for row in rows {
            let mut line = " ".repeat(indent);
            let mut pad = 0;
            for (cell, width) in row.iter().zip(&widths) {
                let Some(width) = *width else { continue };
                let cut = clipped(cell.text(), width);
                if !cut.is_empty() {
                    write!(line, "{}{}", " ".repeat(pad), cut.style(cell.style()))?;
                    pad = 0;
                }
                pad += width.saturating_sub(cut.width()) + GAP;
            }
            writeln!(text, "{line}")?;
        }
        Ok(())
    }

    /// The width of each column; `None` for one that this terminal has no room for.
    fn widths(&self, room: usize, terminal: usize) -> Vec<Option<usize>> {
        let mut widths: Vec<Option<usize>> =
            (0..self.columns.len()).map(|at| self.natural(at, terminal)).collect();
        let shown = widths.iter().flatten().count();
        let room = room.saturating_sub(GAP * shown.saturating_sub(1));
        // The widest gives way first, so that short columns stay whole: flexible ones down to what
        // is worth reading, then whatever is widest.
        for (only_flexible, least) in [(true, MIN_FLEXIBLE), (false, MIN_COLUMN)] {
            while widths.iter().flatten().sum::<usize>() > room {
                let widest = widths
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| !only_flexible || self.columns[*at].flexible)
                    .filter_map(|(at, width)| width.filter(|width| *width > least).map(|w| (w, at)))
                    .max();
                let Some((width, at)) = widest else { break };
                widths[at] = Some(width - 1);
            }
        }
        widths
    }

    fn natural(&self, at: usize, terminal: usize) -> Option<usize> {
        let column = &self.columns[at];
        let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text().width());
        let widest = cells.max().unwrap_or(0);
        // A column that says nothing in any row takes no room.
        if terminal < column.from || widest == 0 {
            return None;
        }
        let natural = widest.max(column.title.width());
        // Names leave the larger part of a row to what they mean.
        let most = MAX_FIXED.min(terminal * 2 / 5);
        Some(if column.flexible { natural } else { natural.min(most) })
    }
}

/// The text, cut to a width with an ellipsis: at a word where there is one.
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
    let next = text[cut.len()..].chars().next();
    let inside_a_word = next.is_some_and(|c| c != ' ' && c.width() == Some(1));
    if inside_a_word
        && let Some(space) = cut.rfind(' ')
        // A single long word is better cut than left out.
        && cut[..space].width() * 2 >= width
    {
        cut.truncate(space);
    }
    cut.truncate(cut.trim_end_matches([' ', ',', ';', ':', '.', '(']).len());
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::{TableColumn, TextTable, clipped};
    use crate::render::plain;

    fn table() -> TextTable {
        let mut table = TextTable::new(vec![
            TableColumn::fixed("STATE"),
            TableColumn::fixed("SKILL"),
            TableColumn::flexible("DESCRIPTION"),
            TableColumn::fixed("SOURCE").from(100),
        ]);
        let description =
            "Read the tides of a harbour and say when the water is high enough to sail";
        for name in
            ["tides", "akka-net-aspire-configuration", "a-name-of-thirty-letters-and-more-x"]
        {
            table.row(vec![
                plain("ready"),
                plain(name),
                plain(description),
                plain("claude-code-personal"),
            ]);
        }
        table
    }

    fn drawn(table: &TextTable, width: usize) -> String {
        let mut text = String::new();
        table.write(&mut text, width).expect("written");
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn every_row_is_one_line_that_fits() {
        for width in 40..=220 {
            let drawn = drawn(&table(), width);
            assert_eq!(drawn.lines().count(), 4, "{width}");
            for line in drawn.lines() {
                assert!(line.width() <= width, "{width}: {line}");
                assert_eq!(line.trim_end(), line, "{width}");
            }
        }
    }

    #[test]
    fn a_narrow_terminal_loses_a_column_before_names_lose_letters() {
        let narrow = drawn(&table(), 80);
        assert!(!narrow.contains("SOURCE") && narrow.contains("akka-net-aspire-configuration"));
        assert!(drawn(&table(), 140).contains("claude-code-personal"));
        assert!(drawn(&table(), usize::MAX).contains("\tclaude-code-personal"), "a pipe gets all");
    }

    #[test]
    fn texts_are_cut_at_words() {
        assert_eq!(clipped("one two three", 13), "one two three");
        assert_eq!(clipped("one two three", 10), "one two…");
        assert_eq!(clipped("one two, three", 10), "one two…");
        assert_eq!(clipped("unbreakable", 6), "unbre…");
        assert_eq!(clipped("a unbreakable", 8), "a unbre…");
        assert_eq!(clipped("复检收敛时触发", 7), "复检收…");
    }
}
