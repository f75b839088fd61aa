//! The planner of the reference: the longest run of whole entries that fits.

use super::sheet::{Plan, Sheet};
use super::text::FULL;
use super::wording::Form;

pub(super) fn plan(sheet: &Sheet<'_>) -> Plan {
    sheet
        .longest(FULL, Form::Full, true)
        .or_else(|| sheet.longest(FULL, Form::Full, false))
        .or_else(|| first_anyway(sheet))
        .unwrap_or_else(Plan::empty)
}

/// OpenPocket shows one skill whatever it costs: a prompt with none teaches the agent nothing.
fn first_anyway(sheet: &Sheet<'_>) -> Option<Plan> {
    let wanted = sheet.request.keep_first && !sheet.entries.is_empty();
    wanted.then(|| sheet.first(1, FULL, Form::Full, false))
}
