//! The default planner: shorten by rank, evenly, before any skill is dropped.
//!
//! The ladder is data with one interpreter. Each rung gives the caps of two groups, the *protected*
//! (the best ranked, if a message is known) and the others, and says which may be dropped. The
//! first rung that fits wins.
//!
//! **Invariant:** every dropped skill ranks below every remaining one.

use super::cost_sheet::{CostSheet, PlannedEntry, PromptPlan, largest};
use super::text::{FULL, OMITTED};
use super::wording::DescriptionForm;

/// A description of this length still says what a skill is for.
const SHORT: usize = 64;
/// A description of this length says it well.
const LONG: usize = 220;

/// The caps of a group: raised evenly from `floor` up to `ceiling`.
#[derive(Clone, Copy)]
struct CapRange {
    floor: usize,
    ceiling: usize,
}

const fn at(cap: usize) -> CapRange {
    CapRange { floor: cap, ceiling: cap }
}

const fn shared(floor: usize, ceiling: usize) -> CapRange {
    CapRange { floor, ceiling }
}

/// Which skills stay.
#[derive(Clone, Copy)]
enum KeepPolicy {
    Everyone,
    /// The lowest ranked are dropped one by one, but no protected one.
    Protected,
    /// Only the protected stay.
    OnlyProtected,
    /// Of the protected, the lowest ranked are dropped one by one.
    BestProtected,
}

struct LadderRung {
    others: CapRange,
    protected: CapRange,
    keep: KeepPolicy,
}

/// Rungs that lose text but no skill.
const SHORTENING: [LadderRung; 5] = [
    LadderRung { others: shared(SHORT, FULL), protected: at(FULL), keep: KeepPolicy::Everyone },
    LadderRung { others: at(SHORT), protected: shared(LONG, FULL), keep: KeepPolicy::Everyone },
    LadderRung { others: shared(4, SHORT - 1), protected: at(LONG), keep: KeepPolicy::Everyone },
    LadderRung { others: at(OMITTED), protected: at(LONG), keep: KeepPolicy::Everyone },
    LadderRung {
        others: at(OMITTED),
        protected: shared(SHORT, LONG - 1),
        keep: KeepPolicy::Everyone,
    },
];

/// Rungs that lose skills.
const DROPPING: [LadderRung; 3] = [
    LadderRung { others: at(OMITTED), protected: at(SHORT), keep: KeepPolicy::Protected },
    LadderRung {
        others: at(OMITTED),
        protected: shared(4, SHORT - 1),
        keep: KeepPolicy::OnlyProtected,
    },
    LadderRung { others: at(OMITTED), protected: at(OMITTED), keep: KeepPolicy::BestProtected },
];

pub(super) fn plan(sheet: &CostSheet<'_>) -> PromptPlan {
    if let Some(plan) = sheet.everything(true).or_else(|| sheet.everything(false)) {
        return plan;
    }
    let ladder = PlanLadder::new(sheet);
    // The notice is dropped before a skill is, but not before text is shortened.
    for rungs in [&SHORTENING[..], &DROPPING[..]] {
        for notice in [true, false] {
            if let Some(plan) = rungs.iter().find_map(|rung| ladder.try_rung(rung, notice)) {
                return plan;
            }
        }
    }
    PromptPlan::empty()
}

/// Whether a plan drops skills, or cuts descriptions to less than says what a skill is for.
pub(super) fn says_too_little(sheet: &CostSheet<'_>, plan: &PromptPlan) -> bool {
    let poor = |shown: &PlannedEntry| {
        shown.cap < SHORT && sheet.entries[shown.entry].text.units > shown.cap
    };
    plan.shown.len() < sheet.entries.len() || plan.shown.iter().any(poor)
}

struct PlanLadder<'s, 'a> {
    sheet: &'s CostSheet<'a>,
    /// Indexes of the entries, best first.
    best: Vec<usize>,
    /// How many of the best are protected.
    protected: usize,
    /// A level at which every description is complete.
    top: usize,
}

impl<'s, 'a> PlanLadder<'s, 'a> {
    fn new(sheet: &'s CostSheet<'a>) -> Self {
        let mut best: Vec<usize> = (0..sheet.entries.len()).collect();
        best.sort_by_key(|&entry| sheet.entries[entry].rank);
        let wanted = if sheet.request.message_known { sheet.request.full_descriptions } else { 0 };
        Self {
            sheet,
            protected: wanted.min(best.len()),
            best,
            top: sheet.entries.iter().map(|entry| entry.text.units).max().unwrap_or(0),
        }
    }

    fn try_rung(&self, rung: &LadderRung, notice: bool) -> Option<PromptPlan> {
        let (count, form) = self.keep(rung, notice)?;
        let frame = self.sheet.frame(form, count, notice);
        let room = self.sheet.budget.checked_sub(frame)?;
        let level = largest(0, self.top, |level| self.entries_cost(rung, count, level) <= room)?;
        let mut left = room - self.entries_cost(rung, count, level);
        let mut shown = Vec::with_capacity(count);
        let mut sharing = true;
        for (place, &entry) in self.best[..count].iter().enumerate() {
            let cap = self.cap(rung, place, level);
            let next = self.cap(rung, place, level + 1);
            let entry_cost = |cap| self.sheet.entries[entry].cost(cap);
            let more = entry_cost(next) - entry_cost(cap);
            sharing &= more <= left;
            left -= if sharing { more } else { 0 };
            shown.push(PlannedEntry { entry, cap: if sharing { next } else { cap } });
        }
        shown.sort_by_key(|shown| shown.entry);
        Some(PromptPlan { shown, form, notice })
    }

    /// How many of the best stay with every cap at its floor, and the form of their descriptions.
    fn keep(&self, rung: &LadderRung, notice: bool) -> Option<(usize, DescriptionForm)> {
        let (least, most) = match rung.keep {
            KeepPolicy::Everyone => (self.best.len(), self.best.len()),
            KeepPolicy::Protected => (self.protected, self.best.len()),
            KeepPolicy::OnlyProtected => (self.protected, self.protected),
            KeepPolicy::BestProtected => (1, self.protected),
        };
        let mut cost = self.entries_cost(rung, most, 0);
        for count in (least.max(1)..=most).rev() {
            let form = self.form(rung, count);
            if cost + self.sheet.frame(form, count, notice) <= self.sheet.budget {
                return Some((count, form));
            }
            cost -= self.entry_cost(rung, count - 1, 0);
        }
        None
    }

    fn form(&self, rung: &LadderRung, count: usize) -> DescriptionForm {
        let described = (self.protected > 0 && rung.protected.ceiling > OMITTED)
            || (count > self.protected && rung.others.ceiling > OMITTED);
        if described { DescriptionForm::Shortened } else { DescriptionForm::NamesOnly }
    }

    fn cap(&self, rung: &LadderRung, place: usize, level: usize) -> usize {
        let caps = if place < self.protected { rung.protected } else { rung.others };
        caps.floor.saturating_add(level).min(caps.ceiling)
    }

    fn entry_cost(&self, rung: &LadderRung, place: usize, level: usize) -> usize {
        self.sheet.entries[self.best[place]].cost(self.cap(rung, place, level))
    }

    fn entries_cost(&self, rung: &LadderRung, count: usize, level: usize) -> usize {
        (0..count).map(|place| self.entry_cost(rung, place, level)).sum()
    }
}
