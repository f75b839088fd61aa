//! Renders a plan as text. Every field goes through [`Untrusted`].

use sinew_guard::Untrusted;

use super::cost_sheet::{
    CostSheet, DESCRIPTION_TO_LOCATION, ENTRY_OPEN, LOCATION_CLOSE, LOCATION_TO_NOTE,
    NAME_TO_DESCRIPTION, NAME_TO_LOCATION, NOTE_CLOSE, PlannedEntry, PromptPlan,
};
use super::request::PromptEscapes;
use super::text::SHORTEST;

pub(super) const BLOCK_OPEN: &str = "<available_skills>\n";
pub(super) const BLOCK_CLOSE: &str = "</available_skills>";

pub(super) fn render(
    sheet: &CostSheet<'_>,
    plan: &PromptPlan,
    remote_note: Option<&str>,
) -> String {
    if plan.shown.is_empty() {
        return String::new();
    }
    let request = sheet.request;
    let mut text = String::with_capacity(sheet.cost(plan) + remote_note.map_or(0, str::len) + 64);
    if let Some(note) = remote_note {
        text.push_str(note);
        text.push('\n');
    }
    text.push_str(&request.wording.introduction(plan.form));
    if plan.notice {
        let included = plan.shown.len();
        text.push_str(&request.wording.notice(
            plan.form,
            (&included.to_string(), &sheet.total.to_string()),
            included == sheet.total,
            request.audit_command,
            request.search_tool,
        ));
    }
    text.push_str(BLOCK_OPEN);
    for shown in &plan.shown {
        entry(&mut text, sheet, *shown);
    }
    text.push_str(BLOCK_CLOSE);
    text
}

fn entry(text: &mut String, sheet: &CostSheet<'_>, shown: PlannedEntry) {
    let entry = &sheet.entries[shown.entry];
    let skill = &sheet.request.skills[entry.position];
    let escape = |field: &str| match sheet.escapes() {
        PromptEscapes::All => Untrusted::new(field).for_prompt_xml(),
        PromptEscapes::KeepApostrophe => Untrusted::new(field).for_prompt_xml_keeping_apostrophe(),
    };
    text.push_str(ENTRY_OPEN);
    text.push_str(&escape(skill.name));
    if shown.cap < SHORTEST {
        text.push_str(NAME_TO_LOCATION);
    } else {
        text.push_str(NAME_TO_DESCRIPTION);
        text.push_str(&escape(&entry.text.cut(shown.cap)));
        text.push_str(DESCRIPTION_TO_LOCATION);
    }
    text.push_str(&escape(skill.location));
    match skill.location_note {
        None => text.push_str(LOCATION_CLOSE),
        Some(note) => {
            text.push_str(LOCATION_TO_NOTE);
            text.push_str(&escape(note));
            text.push_str(NOTE_CLOSE);
        }
    }
}

/// A note as one line that cannot be mistaken for the block.
pub(super) fn note_line(note: &str) -> String {
    let clean: String = Untrusted::new(note).prompt_chars().collect();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("available_skills>", "available skills>")
}
