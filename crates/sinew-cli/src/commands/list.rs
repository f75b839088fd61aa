use std::path::Path;

use serde::Serialize;
use sinew_catalog::{CatalogEntry, EntryState};
use sinew_engine::Engine;
use sinew_settings::Reason;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, TableColumn, TextTable};

/// List every skill, whether an agent can use it, and what is missing
///
/// Examples:
///   sinew list                     all skills
///   sinew list --eligible          only those an agent can use now
///   sinew list --all -v            shadowed copies too, with what each one lacks
///   sinew list --profile openclaw  as OpenClaw sees them
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListArgs {
    /// Only skills that pass the gate
    #[arg(long)]
    eligible: bool,
    /// Shadowed copies too
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SkillListing<'a> {
    workspace_dir: &'a Path,
    managed_skills_dir: &'a Path,
    skills: Vec<&'a CatalogEntry>,
    issues: Vec<Reason>,
}

pub(crate) fn run(
    args: &ListArgs,
    verbose: bool,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    let skills: Vec<&CatalogEntry> = catalog
        .entries
        .iter()
        .filter(|entry| args.all || entry.state != EntryState::Shadowed)
        .filter(|entry| !args.eligible || entry.eligible)
        .collect();
    super::tell_issues(engine, catalog, out);
    let managed = engine.hub().managed_folder();
    let listing = SkillListing {
        workspace_dir: engine.workspace(),
        managed_skills_dir: &managed,
        skills,
        issues: engine.status().issues(catalog),
    };
    let ready = listing.skills.iter().filter(|entry| entry.state == EntryState::Ready).count();
    let heading = format!("{ready} of {} skills are ready", listing.skills.len());
    let width = out.width();
    if width == usize::MAX {
        // A pipe gets rows and nothing else.
        out.note(&heading);
    }
    out.data(&listing, |text| {
        if width != usize::MAX {
            render::heading(text, &heading)?;
        }
        let mut columns = vec![TableColumn::fixed("STATE"), TableColumn::fixed("SKILL")];
        columns.push(TableColumn::flexible("DESCRIPTION"));
        columns.push(TableColumn::fixed("SOURCE"));
        if verbose {
            columns.push(TableColumn::flexible("MISSING"));
        }
        let mut table = TextTable::new(columns);
        for entry in &listing.skills {
            let mut row = vec![
                render::state(entry.state),
                render::plain(&entry.name),
                render::plain(&description(entry)),
                render::dim(&entry.source),
            ];
            if verbose {
                row.push(render::plain(&missing(entry)));
            }
            table.row(row);
        }
        table.write(text, width)
    })?;
    if listing.skills.is_empty() {
        out.hint("put a skill into ./skills/<name>/SKILL.md, or see `sinew doctor` for the folders that are read");
    } else if listing.skills.iter().any(|entry| entry.state != EntryState::Ready) {
        out.note("`sinew why <skill>` says why a skill is not ready, and what to do about it");
    }
    Ok(Exit::Done)
}

/// A skill that could not be loaded has no description; its error is what people need.
fn description(entry: &CatalogEntry) -> String {
    match entry.state {
        EntryState::Broken => entry.primary_reason().map(ToString::to_string).unwrap_or_default(),
        _ => entry.description.clone(),
    }
}

fn missing(entry: &CatalogEntry) -> String {
    entry
        .primary_reason()
        .map(|reason| {
            let others = entry.reasons.iter().filter(|r| r.stage == reason.stage).count() - 1;
            let more = if others > 0 { format!(" (+{others})") } else { String::new() };
            format!("{}{more}", reason.remedy.as_deref().unwrap_or(&reason.detail))
        })
        .unwrap_or_default()
}
