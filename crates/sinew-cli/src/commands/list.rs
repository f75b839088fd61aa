use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use sinew_catalog::shell_word;
use sinew_catalog::{CatalogEntry, EntryState};
use sinew_engine::Engine;
use sinew_settings::Reason;

use crate::background;
use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, first_rows, write_more};
use crate::printer::{Printer, cleaned, cleaned_each};
use crate::render;

/// List every skill, whether an agent can use it, and what is missing
///
/// Your own skills come first. Of those that sinew carries, the ones that lack something here are
/// counted, and shown with --bundled or --all. With words, only skills that mention them are listed.
/// A terminal shows what fits a screen, and --all everything.
///
/// Examples:
///   sinew list                     your skills, and the carried ones that can be used
///   sinew list pull request        those whose name or description holds both words
///   sinew list --eligible          only those an agent can use now
///   sinew list --bundled           every skill that sinew carries
///   sinew list --all -v            shadowed copies too, with what each one lacks
///   sinew list --profile openclaw  as OpenClaw sees them
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListArgs {
    /// Only skills that mention each of these words
    words: Vec<String>,
    /// Only skills that pass the gate
    #[arg(long)]
    eligible: bool,
    /// Only skills that came with the program, whatever they lack
    #[arg(long)]
    bundled: bool,
    /// Everything: shadowed copies and carried skills that lack something too, however many
    #[arg(long)]
    all: bool,
}

impl ListArgs {
    /// The command that shows what this one leaves out.
    fn whole(&self) -> String {
        let mut command = "sinew list --all".to_owned();
        for (flag, is_set) in [(" --eligible", self.eligible), (" --bundled", self.bundled)] {
            command.push_str(if is_set { flag } else { "" });
        }
        for word in &self.words {
            command.push(' ');
            command.push_str(&super::deps::command_line(std::slice::from_ref(word)));
        }
        command
    }
}

/// Names that a sentence lists.
const SHOWN_NAMES: usize = 6;

/// Carried skills that keep their place below a long list of the user's own.
const CARRIED_ROWS: usize = 8;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SkillListing<'a> {
    #[serde(serialize_with = "cleaned")]
    workspace_dir: &'a Path,
    #[serde(serialize_with = "cleaned")]
    managed_skills_dir: &'a Path,
    #[serde(serialize_with = "cleaned_each")]
    skills: Vec<&'a CatalogEntry>,
    /// Your skills that are used instead of a carried one of the same name.
    #[serde(serialize_with = "cleaned_each")]
    replaces_bundled: Vec<&'a str>,
    #[serde(serialize_with = "cleaned_each")]
    issues: Vec<Reason>,
}

pub(crate) fn run(
    args: &ListArgs,
    verbose: bool,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let snapshot = engine.snapshot_for_listing();
    let catalog = &snapshot.catalog;
    let skills: Vec<&CatalogEntry> = catalog
        .entries
        .iter()
        .filter(|entry| args.all || entry.state != EntryState::Shadowed)
        .filter(|entry| !args.eligible || entry.eligible)
        .filter(|entry| !args.bundled || entry.bundled)
        .filter(|entry| entry.mentions(&args.words))
        .collect();
    super::tell_issues(engine, catalog, out);
    let managed = engine.hub().managed_folder();
    let bundled_copies: HashSet<&str> = catalog
        .entries
        .iter()
        .filter(|entry| entry.bundled && entry.state == EntryState::Shadowed)
        .map(|entry| catalog.merge_key(entry))
        .collect();
    let replacing = catalog
        .unshadowed()
        .filter(|entry| !entry.bundled && bundled_copies.contains(catalog.merge_key(entry)));
    let listing = SkillListing {
        workspace_dir: engine.workspace(),
        managed_skills_dir: &managed,
        skills,
        replaces_bundled: replacing.map(|entry| entry.name.as_str()).collect(),
        issues: engine.status().issues(catalog),
    };
    // What is looked for by its words is shown, whatever it lacks.
    let whole = args.all || args.bundled || !args.words.is_empty();
    let groups = SkillGroups::of(&listing.skills, whole, &args.words);
    let (width, rows) = (out.width(), out.rows(args.all));
    if width == usize::MAX {
        // A pipe gets rows and nothing else.
        out.note(&groups.heading());
    }
    let more = args.whole();
    out.large_data(&listing, |text| groups.write(text, verbose, width, rows, &more))?;
    for note in groups.notes() {
        out.note(&note);
    }
    let names = listing.replaces_bundled.as_slice();
    if !names.is_empty() {
        let which = if names.len() == 1 { "the carried one" } else { "the carried ones" };
        let (shown, left) = first_rows(names, out.rows(args.all).min(SHOWN_NAMES));
        let more = if left > 0 { format!(" and {left} more") } else { String::new() };
        let shown = shown.join(", ");
        out.note(&format!("used instead of {which} of the same name: {shown}{more}"));
    }
    if listing.skills.is_empty() && !args.words.is_empty() {
        let message = super::deps::command_line(&args.words);
        out.hint(&format!("`sinew find {message}` looks for what is meant, not for words"));
        return Ok(Exit::No);
    }
    if listing.skills.is_empty() {
        out.hint("`sinew new my-skill` writes one; `sinew doctor` shows the folders that are read");
    } else if groups.own.is_empty() && !args.bundled && args.words.is_empty() {
        out.note("`sinew new my-skill` writes a skill of your own");
    }
    if engine.routing().work_is_due(&snapshot) {
        background::request_work(engine.environment(), engine.options());
    }
    if let Some(unready) = groups.shown().find(|entry| entry.state != EntryState::Ready) {
        let name = shell_word(&unready.name);
        out.note(&format!("`sinew why {name}` says why it is not ready, and what to do about it"));
    }
    Ok(Exit::Done)
}

/// What is listed: the user's own skills, and apart from them those that came with the program.
struct SkillGroups<'a> {
    own: Vec<&'a CatalogEntry>,
    carried: Vec<&'a CatalogEntry>,
    /// Carried skills that were asked for, and how many of them there are with those left out.
    carried_total: usize,
    /// Carried skills that lack something here, and are only counted.
    unready: usize,
    /// Carried skills that skills.allowBundled does not name.
    not_allowed: usize,
    /// Whether they were looked for by words.
    searched: bool,
}

impl<'a> SkillGroups<'a> {
    fn of(skills: &[&'a CatalogEntry], whole: bool, words: &[String]) -> Self {
        let (mut carried, mut own): (Vec<&CatalogEntry>, Vec<&CatalogEntry>) =
            skills.iter().partition(|entry| entry.bundled);
        if !words.is_empty() {
            // Those that are called so come before those that only speak of it.
            for group in [&mut own, &mut carried] {
                group.sort_by_key(|entry| !is_called(entry, words));
            }
        }
        let carried_total = carried.len();
        let (hidden, carried): (Vec<&CatalogEntry>, Vec<&CatalogEntry>) =
            carried.into_iter().partition(|entry| !whole && entry.is_idle_carried());
        let not_allowed = hidden.iter().filter(|entry| entry.blocked_by_allowlist).count();
        let unready = hidden.len() - not_allowed;
        Self { own, carried, carried_total, unready, not_allowed, searched: !words.is_empty() }
    }

    fn shown(&self) -> impl Iterator<Item = &&'a CatalogEntry> {
        self.own.iter().chain(&self.carried)
    }

    fn heading(&self) -> String {
        let ready = |of: &[&CatalogEntry]| {
            of.iter().filter(|entry| entry.state == EntryState::Ready).count()
        };
        let (own, carried) = (ready(&self.own), ready(&self.carried));
        if self.searched {
            let (ready, all) = (own + carried, self.own.len() + self.carried_total);
            return match all {
                0 => "no skill mentions that".to_owned(),
                1 => "1 skill mentions that".to_owned(),
                _ => format!("{all} skills mention that, {ready} of them ready"),
            };
        }
        match (self.own.len(), self.carried_total) {
            (0, 0) => "no skill is listed".to_owned(),
            (all, 0) => format!("{own} of {all} skills are ready"),
            (0, all) => format!("{carried} of {all} carried skills are ready"),
            (all, of) => {
                format!(
                    "{own} of {all} skills of yours are ready, and {carried} of {of} carried ones"
                )
            }
        }
    }

    fn write(
        &self,
        text: &mut String,
        verbose: bool,
        width: usize,
        rows: usize,
        more: &str,
    ) -> std::fmt::Result {
        if width == usize::MAX {
            let all: Vec<&CatalogEntry> = self.shown().copied().collect();
            return table(&all, verbose, true).write(text, width);
        }
        render::heading(text, &self.heading())?;
        let carried = self.carried.len().min(CARRIED_ROWS);
        let (own, own_left) = first_rows(&self.own, rows.saturating_sub(carried));
        table(own, verbose, true).write(text, width)?;
        write_more(text, 0, own_left, more)?;
        if !self.own.is_empty() && !self.carried.is_empty() {
            text.push('\n');
            render::heading(text, "Carried by sinew")?;
        }
        let (carried, carried_left) = first_rows(&self.carried, rows.saturating_sub(own.len()));
        table(carried, verbose, false).write(text, width)?;
        write_more(text, 0, carried_left, more)
    }

    /// What is not shown, in a line each.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.unready > 0 {
            let need = if self.unready == 1 { "skill needs" } else { "skills need" };
            let count = self.unready;
            notes.push(format!(
                "{count} carried {need} a program, a key or another system: `sinew list --bundled`"
            ));
        }
        if self.not_allowed > 0 {
            let are = if self.not_allowed == 1 { "skill is" } else { "skills are" };
            let count = self.not_allowed;
            notes.push(format!("{count} carried {are} left out by skills.allowBundled"));
        }
        notes
    }
}

/// Whether each of the words stands in the skill's name.
fn is_called(entry: &CatalogEntry, words: &[String]) -> bool {
    let name = entry.name.to_lowercase();
    words.iter().all(|word| name.contains(&word.to_lowercase()))
}

fn table(skills: &[&CatalogEntry], verbose: bool, with_source: bool) -> TextTable {
    let mut columns = vec![TableColumn::fixed("STATE"), TableColumn::fixed("SKILL")];
    columns.push(TableColumn::flexible("DESCRIPTION"));
    if with_source {
        columns.push(TableColumn::fixed("SOURCE").from(100));
    }
    if verbose {
        columns.push(TableColumn::flexible("MISSING"));
    }
    let mut table = TextTable::new(columns);
    for entry in skills {
        let mut row = vec![
            render::state(entry.state),
            render::plain(&entry.name),
            render::plain(&description(entry)),
        ];
        if with_source {
            row.push(render::dim(&entry.source));
        }
        if verbose {
            row.push(render::plain(&missing(entry)));
        }
        table.row(row);
    }
    table
}

/// A skill that could not be loaded has no description; its error is what people need.
pub(super) fn description(entry: &CatalogEntry) -> String {
    match entry.state {
        EntryState::Broken => entry.primary_reason().map(ToString::to_string).unwrap_or_default(),
        _ => entry.description.clone(),
    }
}

/// What a skill lacks, and what to do about it.
pub(super) fn missing(entry: &CatalogEntry) -> String {
    entry
        .primary_reason()
        .map(|reason| {
            let others = entry.reasons.iter().filter(|r| r.stage == reason.stage).count() - 1;
            let more = if others > 0 { format!(" (+{others})") } else { String::new() };
            format!("{}{more}", reason.remedy.as_deref().unwrap_or(&reason.detail))
        })
        .unwrap_or_default()
}
