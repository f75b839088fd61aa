//! How everything that is shown fits a terminal, by rules that no command repeats.
//!
//! A line that is too long goes on below, at a word and under where its text began; a table takes
//! what the terminal has and gives each skill one line; a list that no screen holds ends with how
//! many more there are and how to see them. A pipe gets everything, whole.

mod list_cut;
mod short_home;
mod table;
mod wrap;

pub(crate) use list_cut::{MAX_ROWS, WholeListArgs, beginning, first_rows, write_more};
pub(crate) use short_home::with_short_home;
pub(crate) use table::{TableColumn, TextTable, clipped};
pub(crate) use wrap::fitted;
