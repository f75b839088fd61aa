//! A last pass for small context windows: shorter descriptions, the same skills.

use super::cost_sheet::{CostSheet, PlannedEntry, PromptPlan, largest};
use super::text::OMITTED;
use super::wording::DescriptionForm;

/// A shorter description no longer says what a skill is for, however small the window.
const SHORTEST: usize = 64;
/// A higher cap would gain nothing.
const LONGEST: usize = 220;

/// Cuts every description to the longest common cap that meets the target of the context window, or
/// to the shortest if none does. A plan that already meets it is left alone.
pub(super) fn fit(sheet: &CostSheet<'_>, plan: PromptPlan) -> PromptPlan {
    let Some(target) = sheet.context_target() else { return plan };
    if plan.form == DescriptionForm::NamesOnly || sheet.cost(&plan) <= target {
        return plan;
    }
    let meets = |cap: usize| sheet.cost(&capped(sheet, &plan, cap)) <= target;
    let cap = largest(SHORTEST, LONGEST, meets).unwrap_or(SHORTEST);
    let shorter = capped(sheet, &plan, cap);
    let gains = sheet.cost(&shorter) < sheet.cost(&plan);
    if gains { shorter } else { plan }
}

fn capped(sheet: &CostSheet<'_>, plan: &PromptPlan, cap: usize) -> PromptPlan {
    let cut = |shown: &PlannedEntry| PlannedEntry { entry: shown.entry, cap: shown.cap.min(cap) };
    let shown: Vec<PlannedEntry> = plan.shown.iter().map(cut).collect();
    let is_cut = |shown: &PlannedEntry| {
        shown.cap != OMITTED && sheet.entries[shown.entry].text.is_cut(shown.cap)
    };
    let form = if shown.iter().any(is_cut) { DescriptionForm::Shortened } else { plan.form };
    let notice = sheet.needs_notice(form, shown.len());
    let capped = PromptPlan { shown, form, notice };
    if sheet.cost(&capped) <= sheet.budget {
        capped
    } else {
        PromptPlan { notice: false, ..capped }
    }
}
