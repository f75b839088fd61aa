//! The prefix planner: the longest run of full entries that fits.

use super::cost_sheet::{CostSheet, PromptPlan};
use super::text::FULL;
use super::wording::DescriptionForm;

pub(super) fn plan(sheet: &CostSheet<'_>) -> PromptPlan {
    sheet
        .longest(FULL, DescriptionForm::Full, true)
        .or_else(|| sheet.longest(FULL, DescriptionForm::Full, false))
        .or_else(|| first_anyway(sheet))
        .unwrap_or_else(PromptPlan::empty)
}

/// OpenPocket shows one skill whatever it costs: a prompt without any is useless to the agent.
fn first_anyway(sheet: &CostSheet<'_>) -> Option<PromptPlan> {
    let wanted = sheet.request.keep_first && !sheet.entries.is_empty();
    wanted.then(|| sheet.first(1, FULL, DescriptionForm::Full, false))
}
