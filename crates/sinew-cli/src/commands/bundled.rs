use std::fmt::Write as _;

use clap::Subcommand;
use serde::Serialize;
use sinew_catalog::{CatalogEntry, EntryState};
use sinew_engine::Engine;

use super::list::{description, missing};
use super::new::SkillFolderArgs;
use crate::exit::{CommandResult, Exit};
use crate::layout::{TableColumn, TextTable, WholeListArgs, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// The skills that sinew carries: list them, or copy one to change it
///
/// They are offered only where what they need is there. A skill of yours with the same name is used
/// instead, and skills.allowBundled says which may be used at all.
///
/// Examples:
///   sinew bundled list
///   sinew bundled eject github            into the workspace, where your copy wins
///   sinew bundled eject github --global   for every workspace
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BundledArgs {
    #[command(subcommand)]
    action: BundledCommand,
}

impl BundledArgs {
    /// Whether a file is written.
    pub(crate) fn acts(&self) -> bool {
        matches!(self.action, BundledCommand::Eject { .. })
    }
}

#[derive(Debug, Subcommand)]
enum BundledCommand {
    /// List them, with what each lacks here
    List {
        #[command(flatten)]
        whole: WholeListArgs,
    },
    /// Copy one for editing; your copy is used instead
    Eject {
        /// The skill
        name: String,
        #[command(flatten)]
        place: SkillFolderArgs,
    },
}

#[derive(Serialize)]
struct CarriedSkills<'a> {
    skills: Vec<&'a CatalogEntry>,
}

pub(crate) fn run(args: &BundledArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match &args.action {
        BundledCommand::List { whole } => list(*whole, engine, out),
        BundledCommand::Eject { name, place } => eject(name, place, engine, out),
    }
}

fn list(whole: WholeListArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let skills = engine.skills().carried(&snapshot.catalog);
    super::tell_issues(engine, &snapshot.catalog, out);
    let (width, rows) = (out.width(), out.rows(whole.all));
    let ready = skills.iter().filter(|entry| entry.state == EntryState::Ready).count();
    let heading = format!("{ready} of {} carried skills are ready", skills.len());
    let carried = CarriedSkills { skills };
    if width == usize::MAX {
        out.note(&heading);
    }
    out.data(&carried, |text| {
        if width != usize::MAX {
            render::heading(text, &heading)?;
        }
        let mut table = TextTable::new(vec![
            TableColumn::fixed("STATE"),
            TableColumn::fixed("SKILL"),
            TableColumn::flexible("MISSING"),
            TableColumn::flexible("DESCRIPTION").from(80),
        ]);
        let (shown, left) = first_rows(&carried.skills, rows);
        for entry in shown {
            table.row(vec![
                render::state(entry.state),
                render::plain(&entry.name),
                render::plain(&missing(entry)),
                render::dim(&description(entry)),
            ]);
        }
        table.write(text, width)?;
        write_more(text, 0, left, "sinew bundled list --all")
    })?;
    Ok(Exit::Done)
}

fn eject(name: &str, place: &SkillFolderArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let folder = place.folder(engine);
    let ejected = engine.skills().eject(&snapshot.catalog, name, &folder)?;
    out.data(&ejected, |text| {
        writeln!(text, "copied to {}", render::safe(&ejected.path.to_string_lossy()))?;
        match ejected.used {
            true => writeln!(text, "your copy is used instead of the carried one from now on"),
            false => Ok(()),
        }
    })?;
    if !ejected.used {
        out.warn("the copy is not used: sinew does not read that folder, or another copy wins");
        out.hint(&format!("`sinew why {}` says which one is used", ejected.name));
    }
    Ok(Exit::Done)
}
