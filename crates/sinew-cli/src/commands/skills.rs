use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use sinew_catalog::{CatalogEntry, EntryState, Tier};
use sinew_engine::{Engine, EngineError, ValidationTarget};
use sinew_settings::ErrorCode;
use sinew_skill::validate::RuleSet;

use crate::exit::{CommandResult, Exit};
use crate::layout::{WholeListArgs, clipped, first_rows, write_more};
use crate::printer::Printer;
use crate::render;

/// OpenPocket's own commands, with its folders and its behaviour
///
/// Examples:
///   sinew skills list --all
///   sinew skills load --all
///   sinew skills validate --strict
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SkillsArgs {
    #[command(subcommand)]
    action: SkillsCommand,
}

impl SkillsArgs {
    /// Whether files are moved.
    pub(crate) fn acts(&self) -> bool {
        matches!(self.action, SkillsCommand::Migrate | SkillsCommand::Load { .. })
    }
}

#[derive(Debug, Subcommand)]
enum SkillsCommand {
    /// List the workspace's skills; gates are not applied
    List {
        /// Every source
        #[arg(long)]
        all: bool,
    },
    /// Copy bundled skills into the workspace; an existing one is never overwritten
    Load {
        /// All of them, without asking
        #[arg(long)]
        all: bool,
    },
    /// Validate the skills of every source
    Validate {
        /// The strict rules
        #[arg(long)]
        strict: bool,
    },
    /// Turn single files (foo.md) in the workspace into folders (foo/SKILL.md)
    Migrate,
}

#[derive(Serialize)]
struct OpenPocketListRow<'a> {
    source: &'a str,
    name: &'a str,
    id: &'a str,
    description: &'a str,
    path: &'a PathBuf,
}

pub(crate) fn run(args: &SkillsArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    match args.action {
        SkillsCommand::List { all } => list(all, engine, out),
        SkillsCommand::Load { all } => load(all, engine, out),
        SkillsCommand::Validate { strict } => {
            let strict = strict
                || engine.config().openpocket_agent.mode
                    == sinew_settings::config::OpenPocketMode::Strict;
            let rules = if strict { RuleSet::OpenPocketStrict } else { RuleSet::OpenPocket };
            let whole = WholeListArgs { all: true };
            super::validate::validate(&ValidationTarget::Sources, rules, false, whole, engine, out)
        }
        SkillsCommand::Migrate => migrate(engine, out),
    }
}

fn list(all: bool, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let listed: Vec<OpenPocketListRow<'_>> = snapshot
        .catalog
        .entries
        .iter()
        .filter(|entry| entry.skill.is_some())
        .filter(|entry| {
            if all { entry.state != EntryState::Shadowed } else { entry.tier == Tier::Workspace }
        })
        .map(|entry| OpenPocketListRow {
            source: &entry.source,
            name: &entry.name,
            id: &entry.id,
            description: &entry.description,
            path: &entry.file_path,
        })
        .collect();
    super::tell_issues(engine, &snapshot.catalog, out);
    // Each takes a line for its file as well.
    let rows = out.rows(false) / 3;
    let width = out.width();
    out.data(&listed, |text| {
        let (shown, left) = first_rows(&listed, rows);
        for skill in shown {
            let (name, description) = (render::safe(skill.name), render::safe(skill.description));
            writeln!(
                text,
                "[{}] {name} ({}): {}",
                skill.source,
                render::safe(skill.id),
                clipped(&description, width)
            )?;
            writeln!(text, "    {}", render::safe(&skill.path.to_string_lossy()))?;
        }
        write_more(text, 0, left, "sinew list --all")
    })?;
    if listed.is_empty() {
        out.warn("there are no skills here");
        out.hint("`sinew skills load --all` copies the bundled ones");
    }
    Ok(Exit::Done)
}

fn load(all: bool, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let loadable = engine.skills().loadable_skills(&snapshot.catalog);
    let there_were_none = loadable.is_empty();
    let chosen: Vec<&CatalogEntry> = if all || there_were_none {
        loadable
    } else if out.can_ask() {
        ask(&loadable)?
    } else {
        return Err(EngineError::new(
            ErrorCode::CannotChoose,
            "there is no terminal to choose skills on",
        )
        .hint("`sinew skills load --all` copies them all")
        .into());
    };
    let report = engine.skills().load_into_workspace(&chosen)?;
    out.data(&report, |text| {
        for id in &report.copied {
            writeln!(text, "copied {}", render::safe(id))?;
        }
        writeln!(
            text,
            "selected={} copied={} skipped={}",
            report.selected,
            report.copied.len(),
            report.skipped.len()
        )
    })?;
    Ok(if there_were_none || !report.copied.is_empty() { Exit::Done } else { Exit::No })
}

fn ask<'a>(loadable: &[&'a CatalogEntry]) -> Result<Vec<&'a CatalogEntry>, EngineError> {
    let options: Vec<String> = loadable
        .iter()
        .map(|entry| format!("{}: {}", render::safe(&entry.id), render::safe(&entry.description)))
        .collect();
    let chosen =
        inquire::MultiSelect::new("Which skills?", options).raw_prompt().map_err(|error| {
            EngineError::new(ErrorCode::NotChosen, format!("nothing was chosen: {error}"))
                .caused_by(error)
        })?;
    Ok(chosen.into_iter().map(|choice| loadable[choice.index]).collect())
}

fn migrate(engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let report = engine.skills().migrate_single_files(&snapshot.catalog)?;
    out.data(&report, |text| {
        for path in &report.migrated {
            writeln!(text, "wrote {}", render::safe(&path.to_string_lossy()))?;
        }
        writeln!(text, "migrated={} skipped={}", report.migrated.len(), report.skipped.len())
    })?;
    Ok(Exit::Done)
}
