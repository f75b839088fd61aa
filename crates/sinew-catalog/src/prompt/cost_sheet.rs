//! The planner's sheet: every candidate with its cost, and the total of a plan.

use std::borrow::Cow;

use super::entry_form::EntryForm;
use super::rank::PromptRanks;
use super::request::{PromptEscapes, PromptRequest};
use super::text::{DescriptionText, FULL, SHORTEST, escaped_units, units};
use super::wording::{DescriptionForm, PromptOverhead};

/// A host's tokens per character of this section: the section may use a fifth of the window's
/// tokens, counted as characters.
const TOKENS_PER_CHAR: u64 = 5;

/// One candidate.
pub(super) struct SheetEntry<'a> {
    /// Its position in the request.
    pub(super) position: usize,
    /// Its rank among all skills, counted from 1.
    pub(super) rank: usize,
    /// Its cost without a description.
    pub(super) identity: usize,
    /// The cost of a description's markup.
    line: usize,
    /// Where it is; `None` where that follows from its name.
    pub(super) location: Option<Cow<'a, str>>,
    /// Its description.
    pub(super) text: DescriptionText<'a>,
}

impl SheetEntry<'_> {
    /// The cost of the entry with its description at this cap.
    pub(super) fn cost(&self, cap: usize) -> usize {
        let line = if cap < SHORTEST { 0 } else { self.line };
        self.identity + line + self.text.cost(cap)
    }
}

/// A candidate that is listed, and the length of its description.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedEntry {
    /// Its index on the sheet.
    pub(super) entry: usize,
    /// The cap of its description.
    pub(super) cap: usize,
}

/// What will be rendered.
#[derive(Debug, Clone)]
pub(super) struct PromptPlan {
    /// The entries, in display order.
    pub(super) shown: Vec<PlannedEntry>,
    /// The introduction that fits them.
    pub(super) form: DescriptionForm,
    /// Whether the notice is included.
    pub(super) notice: bool,
}

impl PromptPlan {
    /// The plan if nothing fits.
    pub(super) fn empty() -> Self {
        Self { shown: Vec::new(), form: DescriptionForm::Full, notice: false }
    }
}

/// The candidates within the limit on their number, in display order.
pub(super) struct CostSheet<'a> {
    pub(super) request: &'a PromptRequest<'a>,
    pub(super) form: EntryForm<'a>,
    pub(super) entries: Vec<SheetEntry<'a>>,
    pub(super) overhead: PromptOverhead,
    pub(super) budget: usize,
    /// All visible skills, including those beyond the limit.
    pub(super) total: usize,
}

impl<'a> CostSheet<'a> {
    pub(super) fn new(
        request: &'a PromptRequest<'a>,
        ranks: &PromptRanks,
        form: EntryForm<'a>,
    ) -> Self {
        let markup = form.markup();
        let entry = |position: usize| {
            let skill = &request.skills[position];
            let field = |text: &str| escaped_units(text, request.escapes);
            let location = form.location(skill);
            let place = location.as_deref().map_or(0, |location| {
                markup.location_open.len() + field(location) + markup.location_close.len()
            });
            let note = skill
                .location_note
                .map_or(0, |note| markup.note_open.len() + field(note) + markup.note_close.len());
            let names = markup.open.len() + field(skill.name) + markup.name_close.len();
            let identity = names + place + note + markup.close.len();
            let line = markup.description_open.len() + markup.description_close.len();
            let text = DescriptionText::of(skill, request.escapes);
            SheetEntry { position, rank: ranks.rank[position], identity, line, location, text }
        };
        let entries = ranks.within_skill_limit(request).into_iter().map(entry).collect();
        Self {
            request,
            entries,
            form,
            overhead: request.overhead.unwrap_or_else(|| {
                request.wording.overhead(request.audit_command, request.search_tool)
            }),
            budget: request.limits.max_chars,
            total: request.skills.len(),
        }
    }

    /// The cost of everything around `included` entries.
    pub(super) fn frame(&self, form: DescriptionForm, included: usize, notice: bool) -> usize {
        let notice = if notice { self.overhead.notice(form, included, self.total) } else { 0 };
        let preamble = self.form.preamble_units(self.escapes());
        self.overhead.introduction(form) + self.overhead.block + preamble + notice
    }

    /// Whether a plan of this form needs a notice.
    pub(super) fn needs_notice(&self, form: DescriptionForm, included: usize) -> bool {
        form != DescriptionForm::Full || included < self.total
    }

    /// The length of the text that a plan renders to, without the remote note.
    pub(super) fn cost(&self, plan: &PromptPlan) -> usize {
        if plan.shown.is_empty() {
            return 0;
        }
        let entries: usize =
            plan.shown.iter().map(|shown| self.entries[shown.entry].cost(shown.cap)).sum();
        self.frame(plan.form, plan.shown.len(), plan.notice) + entries
    }

    /// How many skills a plan shows, and how much of their descriptions.
    pub(super) fn told(&self, plan: &PromptPlan) -> (usize, usize) {
        let text = |shown: &PlannedEntry| match shown.cap < SHORTEST {
            true => 0,
            false => self.entries[shown.entry].text.units.min(shown.cap),
        };
        (plan.shown.len(), plan.shown.iter().map(text).sum())
    }

    /// The first `count` entries, each with this cap.
    pub(super) fn first(
        &self,
        count: usize,
        cap: usize,
        form: DescriptionForm,
        notice: bool,
    ) -> PromptPlan {
        let shown = (0..count).map(|entry| PlannedEntry { entry, cap }).collect();
        PromptPlan { shown, form, notice: notice && self.needs_notice(form, count) }
    }

    /// A plan with everything in full, if that fits.
    pub(super) fn everything(&self, notice: bool) -> Option<PromptPlan> {
        let plan = self.first(self.entries.len(), FULL, DescriptionForm::Full, notice);
        (!plan.shown.is_empty() && self.cost(&plan) <= self.budget).then_some(plan)
    }

    /// As many of the first entries as fit with this cap.
    pub(super) fn longest(
        &self,
        cap: usize,
        form: DescriptionForm,
        notice: bool,
    ) -> Option<PromptPlan> {
        let mut cost: usize = self.entries.iter().map(|entry| entry.cost(cap)).sum();
        for count in (1..=self.entries.len()).rev() {
            let owed = notice && self.needs_notice(form, count);
            if cost + self.frame(form, count, owed) <= self.budget {
                return Some(self.first(count, cap, form, notice));
            }
            cost -= self.entries[count - 1].cost(cap);
        }
        None
    }

    /// How long the section should be for this context window.
    pub(super) fn context_target(&self) -> Option<usize> {
        let tokens = self.request.context_tokens?;
        Some(usize::try_from(tokens / TOKENS_PER_CHAR).unwrap_or(usize::MAX))
    }

    /// Which characters are escaped.
    pub(super) fn escapes(&self) -> PromptEscapes {
        self.request.escapes
    }
}

/// The largest value in `low..=high` that `fits`, which must hold up to some point and not after
/// it.
pub(super) fn largest(low: usize, high: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if low > high || !fits(low) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    Some(low)
}

/// Length of the lines around the entries.
pub(super) fn block_units(open: &str, close: &str) -> usize {
    units(open) + units(close)
}
