//! Lists that are longer than a screen.

use std::fmt::{self, Write as _};

use crate::render;

/// Rows of a list that are shown unasked. With what stands around it, a screen keeps below forty
/// lines, which is what a person can take in without scrolling.
pub(crate) const MAX_ROWS: usize = 28;

/// The option by which a list is shown to its end.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct WholeListArgs {
    /// Show every row, however many there are
    #[arg(long)]
    pub(crate) all: bool,
}

/// The rows that are shown, and how many are left. A single row is never left out: the line that
/// counts it would take its place.
pub(crate) fn first_rows<T>(rows: &[T], room: usize) -> (&[T], usize) {
    if rows.len() <= room.saturating_add(1) {
        return (rows, 0);
    }
    (&rows[..room], rows.len() - room)
}

/// How many rows are not shown, and the command that shows them.
pub(crate) fn write_more(
    text: &mut String,
    indent: usize,
    left: usize,
    command: &str,
) -> fmt::Result {
    match left {
        0 => Ok(()),
        left => {
            let said = format!("and {left} more: `{command}`");
            writeln!(text, "{}{}", " ".repeat(indent), render::dim(&said))
        }
    }
}

/// Lines of an answer that a screen shows where it cannot be cut by rows.
const MAX_LINES: usize = 36;

/// The beginning of a text that was laid out for a terminal, and how to see the rest; a pipe gets all.
pub(crate) fn beginning(whole: &str, width: usize, command: &str) -> String {
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let room = if width == usize::MAX { usize::MAX } else { MAX_LINES };
    let (shown, left) = first_rows(&lines, room);
    let mut text = shown.concat();
    if left > 0 {
        let said = format!("and {left} more lines: `{command} | less`");
        let _ = writeln!(text, "{}", render::dim(&said));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINES, beginning, first_rows, write_more};

    #[test]
    fn a_long_answer_shows_its_beginning_and_the_way_to_the_rest() {
        let whole = "line\n".repeat(100);
        let text = beginning(&whole, 80, "sinew cortex show");
        let text = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(text.lines().count(), MAX_LINES + 1);
        assert!(text.ends_with("and 64 more lines: `sinew cortex show | less`\n"), "{text}");
        assert_eq!(beginning(&whole, usize::MAX, "sinew cortex show"), whole);
    }

    #[test]
    fn a_list_is_cut_only_where_that_saves_a_line() {
        assert_eq!(first_rows(&[1, 2, 3], 3), (&[1, 2, 3][..], 0));
        assert_eq!(first_rows(&[1, 2, 3, 4], 3), (&[1, 2, 3, 4][..], 0));
        assert_eq!(first_rows(&[1, 2, 3, 4, 5], 3), (&[1, 2, 3][..], 2));
        assert_eq!(first_rows(&[1, 2], usize::MAX), (&[1, 2][..], 0));
    }

    #[test]
    fn what_is_left_out_is_counted_with_the_way_to_it() {
        let mut text = String::new();
        write_more(&mut text, 2, 170, "sinew list --all").expect("written");
        write_more(&mut text, 2, 0, "sinew list --all").expect("written");
        let shown = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(shown, "  and 170 more: `sinew list --all`\n");
    }
}
