//! The prompt block: what an agent's system prompt says about its skills.
//!
//! A [`PromptRequest`] goes in, a [`PromptBlock`] comes out: the text, a [`PromptReport`] of what
//! was shortened or left out, and a reason for each of those. Lengths are UTF-16 code units, after
//! escaping.
//!
//! ```
//! use sinew_catalog::prompt::{PromptRequest, PromptSkill, build};
//!
//! let skills = [PromptSkill {
//!     name: "weather",
//!     description: "Forecasts & warnings",
//!     location: "~/skills/weather/SKILL.md",
//!     ..PromptSkill::default()
//! }];
//! let block = build(&PromptRequest::new(&skills));
//! assert!(block.text.contains("<description>Forecasts &amp; warnings</description>"));
//! assert_eq!(block.report.included, 1);
//! ```
//!
//! **Invariant:** the text never exceeds the budget, no field can close the block, and a
//! higher-ranked skill is never dropped before a lower-ranked one (planner `graded`). Planning only
//! counts; only the chosen plan is rendered. **Left out on purpose:** scores (`sinew-route`) and
//! who may see a skill (the gate).

mod context;
mod cost_sheet;
mod entry_form;
mod graded_planner;
mod openclaw_planner;
mod prefix_planner;
mod rank;
mod render;
mod report;
mod request;
mod text;
mod wording;

use sinew_settings::config::PromptPlanner;
use sinew_settings::{Reason, ReasonCode};

pub use report::{OmittedSkill, PromptReport, ShortenedSkill};
pub use request::{
    OPENPOCKET_MAX_CHARS, OPENPOCKET_MIN_CHARS, PromptEscapes, PromptLimits, PromptMode,
    PromptRequest, PromptSkill, trigger_hints,
};
pub use wording::{DescriptionForm, NoticeLength, PromptOverhead, PromptWording};

use cost_sheet::{CostSheet, PromptPlan};
use entry_form::EntryForm;

/// The text for the system prompt, and what happened to each skill.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptBlock {
    /// The section, or empty.
    pub text: String,
    /// What was included, shortened and left out.
    pub report: PromptReport,
    /// A reason for each skill that is not shown as its author wrote it.
    pub reasons: Vec<Reason>,
    /// The skills in the text, as positions in the request, in the order of the text.
    pub shown: Vec<usize>,
}

/// Plans and renders the block.
pub fn build(request: &PromptRequest<'_>) -> PromptBlock {
    let Some(code) = refusal(request) else {
        return build_section(request);
    };
    let reason = match code {
        ReasonCode::PromptMode => Reason::new(code, "this prompt mode carries no skills section")
            .remedy("use prompt mode `full` where the agent should see skills"),
        _ => Reason::new(code, "no `read` tool is active, so no skill could be opened")
            .remedy("give the agent a `read` tool"),
    };
    PromptBlock {
        text: String::new(),
        report: PromptReport::empty(request),
        reasons: vec![reason],
        shown: Vec::new(),
    }
}

fn refusal(request: &PromptRequest<'_>) -> Option<ReasonCode> {
    match request.mode {
        PromptMode::Minimal | PromptMode::None => Some(ReasonCode::PromptMode),
        PromptMode::Full if !request.read_tool => Some(ReasonCode::ReadToolMissing),
        PromptMode::Full => None,
    }
}

fn build_section(request: &PromptRequest<'_>) -> PromptBlock {
    let ranks = rank::PromptRanks::of(request);
    let mut sheet = CostSheet::new(request, &ranks, EntryForm::Lines);
    let plan = match request.planner {
        PromptPlanner::Graded => {
            let plan = graded_planner::plan(&sheet);
            match shorter_form(request, &ranks, &sheet, &plan) {
                Some((short, plan)) => {
                    sheet = short;
                    plan
                }
                None => plan,
            }
        }
        PromptPlanner::Openclaw => openclaw_planner::plan(&sheet),
        PromptPlanner::Prefix => prefix_planner::plan(&sheet),
    };
    let plan = context::fit(&sheet, plan);
    let note = remote_note(&sheet, &plan);
    let (report, reasons) = report::describe(&sheet, &ranks, &plan, note.as_deref());
    PromptBlock {
        text: render::render(&sheet, &plan, note.as_deref()),
        report,
        reasons,
        shown: plan.shown.iter().map(|shown| sheet.entries[shown.entry].position).collect(),
    }
}

/// The short form, where it shows more skills or more of their descriptions. Lengths that a caller
/// gave are those of the usual form.
fn shorter_form<'a>(
    request: &'a PromptRequest<'a>,
    ranks: &rank::PromptRanks,
    sheet: &CostSheet<'a>,
    plan: &PromptPlan,
) -> Option<(CostSheet<'a>, PromptPlan)> {
    if request.overhead.is_some() || !graded_planner::says_too_little(sheet, plan) {
        return None;
    }
    let short = CostSheet::new(request, ranks, EntryForm::one_line(request.skills)?);
    let other = graded_planner::plan(&short);
    (short.told(&other) > sheet.told(plan)).then_some((short, other))
}

/// The note on remote skills, if it fits beside everything else: it is dropped first.
fn remote_note(sheet: &CostSheet<'_>, plan: &PromptPlan) -> Option<String> {
    let note = render::note_line(sheet.request.remote_note?);
    let limit = sheet.context_target().map_or(sheet.budget, |target| target.min(sheet.budget));
    let fits = sheet.cost(plan) + text::units(&note) + "\n".len() <= limit;
    (fits && !note.is_empty() && !plan.shown.is_empty()).then_some(note)
}
