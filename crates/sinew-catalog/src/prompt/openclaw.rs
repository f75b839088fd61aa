//! The planner of current OpenClaw, for hosts that compare byte by byte: a prefix by name, then
//! one cap for every description.

use super::sheet::{Plan, Sheet, largest};
use super::text::{OMITTED, SHORTEST};
use super::wording::Form;

/// The longest text of its compact format.
const LONGEST: usize = 220;

pub(super) fn plan(sheet: &Sheet<'_>) -> Plan {
    for notice in [true, false] {
        if let Some(plan) = sheet.everything(notice) {
            return plan;
        }
        if let Some(names) = sheet.longest(OMITTED, Form::NamesOnly, notice) {
            return with_texts(sheet, names.shown.len()).unwrap_or(names);
        }
    }
    Plan::empty()
}

/// The chosen names with the longest common cap that fits beside its notice.
fn with_texts(sheet: &Sheet<'_>, count: usize) -> Option<Plan> {
    let frame = sheet.frame(Form::Shortened, count, true);
    let fits = |cap: usize| {
        let entries: usize = sheet.entries[..count].iter().map(|entry| entry.cost(cap)).sum();
        frame + entries <= sheet.budget
    };
    let cap = largest(SHORTEST, LONGEST, fits)?;
    Some(sheet.first(count, cap, Form::Shortened, true))
}
