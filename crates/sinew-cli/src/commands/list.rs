use std::path::Path;

use serde::Serialize;
use sinew_catalog::{Entry, State};
use sinew_engine::Engine;
use sinew_skill::Reason;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render::{self, Column, Table};

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
    /// Show what each skill lacks and what to do about it
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing<'a> {
    workspace_dir: &'a Path,
    managed_skills_dir: &'a Path,
    skills: Vec<&'a Entry>,
    issues: Vec<Reason>,
}

pub(crate) fn run(args: &ListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    let skills: Vec<&Entry> = catalog
        .entries
        .iter()
        .filter(|entry| args.all || entry.state != State::Shadowed)
        .filter(|entry| !args.eligible || entry.eligible)
        .collect();
    super::tell_issues(engine, catalog, out);
    let managed = engine.managed_folder();
    let listing = Listing {
        workspace_dir: engine.workspace(),
        managed_skills_dir: &managed,
        skills,
        issues: engine.issues(catalog),
    };
    let ready = listing.skills.iter().filter(|entry| entry.state == State::Ready).count();
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
        let mut columns = vec![Column::fixed("STATE"), Column::fixed("SKILL")];
        columns.push(Column::flexible("DESCRIPTION"));
        columns.push(Column::fixed("SOURCE"));
        if args.verbose {
            columns.push(Column::flexible("MISSING"));
        }
        let mut table = Table::new(columns);
        for entry in &listing.skills {
            let mut row = vec![
                render::state(entry.state),
                render::plain(&entry.name),
                render::plain(&description(entry)),
                render::dim(&entry.source),
            ];
            if args.verbose {
                row.push(render::plain(&missing(entry)));
            }
            table.row(row);
        }
        table.write(text, width)
    })?;
    if listing.skills.is_empty() {
        out.hint("put a skill into ./skills/<name>/SKILL.md, or see `sinew doctor` for the folders that are read");
    } else if listing.skills.iter().any(|entry| entry.state != State::Ready) {
        out.note("`sinew why <skill>` says why a skill is not ready, and what to do about it");
    }
    Ok(Exit::Done)
}

/// A skill that could not be loaded has no description; its error is what people need.
fn description(entry: &Entry) -> String {
    match entry.state {
        State::Broken => entry.primary_reason().map(ToString::to_string).unwrap_or_default(),
        _ => entry.description.clone(),
    }
}

fn missing(entry: &Entry) -> String {
    entry
        .primary_reason()
        .map(|reason| {
            let others = entry.reasons.iter().filter(|r| r.stage == reason.stage).count() - 1;
            let more = if others > 0 { format!(" (+{others})") } else { String::new() };
            format!("{}{more}", reason.remedy.as_deref().unwrap_or(&reason.detail))
        })
        .unwrap_or_default()
}
