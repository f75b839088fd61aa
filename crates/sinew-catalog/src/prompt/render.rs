//! Renders a plan as text. Every field goes through [`Untrusted`].

use sinew_guard::Untrusted;

use super::cost_sheet::{CostSheet, PlannedEntry, PromptPlan};
use super::entry_form::{BASE_CLOSE, EntryForm, SHORT_FORM_NOTE, base_open};
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
    if let EntryForm::OneLine(_) = sheet.form {
        text.push_str(SHORT_FORM_NOTE);
    }
    text.push_str(BLOCK_OPEN);
    for (number, path) in sheet.form.bases() {
        text.push_str(&base_open(number));
        text.push_str(&escape(sheet, path));
        text.push_str(BASE_CLOSE);
    }
    for shown in &plan.shown {
        entry(&mut text, sheet, *shown);
    }
    text.push_str(BLOCK_CLOSE);
    text
}

fn entry(text: &mut String, sheet: &CostSheet<'_>, shown: PlannedEntry) {
    let entry = &sheet.entries[shown.entry];
    let skill = &sheet.request.skills[entry.position];
    let markup = sheet.form.markup();
    text.push_str(markup.open);
    text.push_str(&escape(sheet, skill.name));
    text.push_str(markup.name_close);
    if shown.cap >= SHORTEST {
        text.push_str(markup.description_open);
        text.push_str(&escape(sheet, &entry.text.cut(shown.cap)));
        text.push_str(markup.description_close);
    }
    if let Some(location) = &entry.location {
        text.push_str(markup.location_open);
        text.push_str(&escape(sheet, location));
        text.push_str(markup.location_close);
    }
    if let Some(note) = skill.location_note {
        text.push_str(markup.note_open);
        text.push_str(&escape(sheet, note));
        text.push_str(markup.note_close);
    }
    text.push_str(markup.close);
}

fn escape(sheet: &CostSheet<'_>, field: &str) -> String {
    match sheet.escapes() {
        PromptEscapes::All => Untrusted::new(field).for_prompt_xml(),
        PromptEscapes::KeepApostrophe => Untrusted::new(field).for_prompt_xml_keeping_apostrophe(),
    }
}

/// A note as one line that cannot be mistaken for the block.
pub(super) fn note_line(note: &str) -> String {
    let clean: String = Untrusted::new(note).prompt_chars().collect();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("available_skills>", "available skills>")
}
