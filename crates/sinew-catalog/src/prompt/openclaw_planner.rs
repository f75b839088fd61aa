//! The planner of current OpenClaw, for hosts that compare byte by byte: a prefix by name, then one
//! cap for every description.

use super::cost_sheet::{CostSheet, PromptPlan, largest};
use super::text::{OMITTED, SHORTEST};
use super::wording::DescriptionForm;

/// The longest description in its compact format.
const LONGEST: usize = 220;

pub(super) fn plan(sheet: &CostSheet<'_>) -> PromptPlan {
    for notice in [true, false] {
        if let Some(plan) = sheet.everything(notice) {
            return plan;
        }
        if let Some(names) = sheet.longest(OMITTED, DescriptionForm::NamesOnly, notice) {
            return with_texts(sheet, names.shown.len()).unwrap_or(names);
        }
    }
    PromptPlan::empty()
}

/// The chosen names with the longest common cap that fits together with the notice.
fn with_texts(sheet: &CostSheet<'_>, count: usize) -> Option<PromptPlan> {
    let frame = sheet.frame(DescriptionForm::Shortened, count, true);
    let fits = |cap: usize| {
        let entries: usize = sheet.entries[..count].iter().map(|entry| entry.cost(cap)).sum();
        frame + entries <= sheet.budget
    };
    let cap = largest(SHORTEST, LONGEST, fits)?;
    Some(sheet.first(count, cap, DescriptionForm::Shortened, true))
}
