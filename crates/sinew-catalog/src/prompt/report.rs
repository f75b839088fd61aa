//! What happened to each skill: the record behind `check`, the snapshot and every surface.

use serde::Serialize;
use sinew_settings::config::PromptPlanner;
use sinew_settings::{Reason, ReasonCode};

use super::cost_sheet::{CostSheet, PromptPlan};
use super::rank::PromptRanks;
use super::request::PromptRequest;
use super::text::{SHORTEST, units};

/// How a block was fitted into its budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PromptReport {
    /// The planner used.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub planner: PromptPlanner,
    /// The limit in UTF-16 code units.
    pub budget: usize,
    /// The length in UTF-16 code units.
    pub used: usize,
    /// The target length for the context window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_target: Option<usize>,
    /// Skills that the model may see.
    pub total: usize,
    /// Skills in the text.
    pub included: usize,
    /// Skills that are left out, best first.
    pub omitted: Vec<OmittedSkill>,
    /// Descriptions that were cut, in the order of the text.
    pub shortened: Vec<ShortenedSkill>,
    /// How many skills are shown without their description.
    pub descriptions_omitted: usize,
    /// Whether the notice for the model is included.
    pub notice_shown: bool,
    /// Whether the note on remote skills is included.
    pub remote_note_shown: bool,
    /// The cost of each listed skill, in the order of the text.
    pub per_skill_chars: Vec<usize>,
}

/// A skill that the text leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OmittedSkill {
    /// Its name.
    pub name: String,
    /// `prompt-count` or `prompt-budget`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub reason: ReasonCode,
    /// Its rank among all skills, counted from 1.
    pub rank: usize,
}

/// A skill whose description was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ShortenedSkill {
    /// Its name.
    pub name: String,
    /// UTF-16 code units of the description.
    pub from: usize,
    /// UTF-16 code units that are shown.
    pub to: usize,
}

impl PromptReport {
    pub(super) fn empty(request: &PromptRequest<'_>) -> Self {
        Self {
            planner: request.planner,
            budget: request.limits.max_chars,
            used: 0,
            context_target: None,
            total: request.skills.len(),
            included: 0,
            omitted: Vec::new(),
            shortened: Vec::new(),
            descriptions_omitted: 0,
            notice_shown: false,
            remote_note_shown: false,
            per_skill_chars: Vec::new(),
        }
    }

    /// Whether every skill is in the text, with its whole description.
    pub fn shows_everything(&self) -> bool {
        self.omitted.is_empty() && self.shortened.is_empty() && self.descriptions_omitted == 0
    }

    /// One line for the user, who should also know that skills are missing.
    pub fn warning(&self) -> Option<String> {
        if self.omitted.is_empty() {
            return None;
        }
        let missing = self.omitted.len();
        let of_count = self.omitted.iter().filter(|skill| skill.reason == ReasonCode::PromptCount);
        let key = if of_count.count() * 2 >= missing { COUNT_KEY } else { CHARS_KEY };
        Some(format!(
            "the prompt lists {} of {} skills; raise {key} or pin the ones you need",
            self.included, self.total
        ))
    }
}

const COUNT_KEY: &str = "skills.limits.maxSkillsInPrompt";
const CHARS_KEY: &str = "skills.limits.maxSkillsPromptChars";

/// The report of a plan, and a reason for everything that it does not show in full.
pub(super) fn describe(
    sheet: &CostSheet<'_>,
    ranks: &PromptRanks,
    plan: &PromptPlan,
    remote_note: Option<&str>,
) -> (PromptReport, Vec<Reason>) {
    let request = sheet.request;
    let mut report = PromptReport {
        used: sheet.cost(plan) + remote_note.map_or(0, |note| units(note) + 1),
        context_target: sheet.context_target(),
        included: plan.shown.len(),
        notice_shown: plan.notice,
        remote_note_shown: remote_note.is_some(),
        ..PromptReport::empty(request)
    };
    let mut reasons = Vec::new();
    let about = |code, position: usize, detail: String| {
        let skill = &request.skills[position];
        let reason = Reason::new(code, detail).skill(skill.name);
        let reason = if skill.source.is_empty() { reason } else { reason.source(skill.source) };
        if skill.path.is_empty() { reason } else { reason.path(skill.path) }
    };
    for shown in &plan.shown {
        let entry = &sheet.entries[shown.entry];
        report.per_skill_chars.push(entry.cost(shown.cap));
        if !entry.text.is_cut(shown.cap) {
            continue;
        }
        let from = entry.text.units;
        if shown.cap < SHORTEST {
            report.descriptions_omitted += 1;
            let detail = format!("its description of {from} characters is not in the prompt");
            reasons.push(
                about(ReasonCode::DescriptionOmitted, entry.position, detail)
                    .remedy(raise(CHARS_KEY)),
            );
        } else {
            let to = entry.text.cut_units(shown.cap);
            let name = request.skills[entry.position].name.to_owned();
            report.shortened.push(ShortenedSkill { name, from, to });
            let detail = format!("its description was cut from {from} to {to} characters");
            reasons.push(
                about(ReasonCode::DescriptionShortened, entry.position, detail)
                    .remedy(raise(CHARS_KEY)),
            );
        }
    }
    for (position, code) in omitted(sheet, ranks, plan) {
        let rank = ranks.rank[position];
        let name = request.skills[position].name.to_owned();
        report.omitted.push(OmittedSkill { name, reason: code, rank });
        let (detail, key) = match code {
            ReasonCode::PromptCount => (
                format!("the prompt lists at most {} skills", request.limits.max_skills),
                COUNT_KEY,
            ),
            _ => (format!("the prompt's {} characters are used up", sheet.budget), CHARS_KEY),
        };
        let detail = format!("{detail}, and it ranks {rank} of {}", sheet.total);
        reasons.push(about(code, position, detail).remedy(raise(key)));
    }
    if let Some(note) = request.remote_note.filter(|_| remote_note.is_none() && sheet.total > 0) {
        let detail = format!("the note of {} characters did not fit", units(note));
        reasons.push(Reason::new(ReasonCode::RemoteNoteDropped, detail).remedy(raise(CHARS_KEY)));
    }
    (report, reasons)
}

fn raise(key: &str) -> String {
    format!("raise {key}, or name the skill in skills.prompt.pin")
}

/// The positions that a plan does not show, best first, and the limit that excluded them.
fn omitted(
    sheet: &CostSheet<'_>,
    ranks: &PromptRanks,
    plan: &PromptPlan,
) -> Vec<(usize, ReasonCode)> {
    let mut fate = vec![Some(ReasonCode::PromptCount); sheet.total];
    for entry in &sheet.entries {
        fate[entry.position] = Some(ReasonCode::PromptBudget);
    }
    for shown in &plan.shown {
        fate[sheet.entries[shown.entry].position] = None;
    }
    ranks.best.iter().filter_map(|&position| Some((position, fate[position]?))).collect()
}
