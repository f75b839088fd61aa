use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_engine::hub::InstallTarget;
use sinew_engine::{Engine, EngineError, NeighbourReport, NewSkill, NewSkillRequest};
use sinew_route::RouteDecision;
use sinew_settings::ErrorCode;

use crate::background;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Write a new skill from a template, and show how it routes
///
/// The skill passes every rule set and the guard before it is written; nothing is overwritten.
/// Then what it is for is routed as a message, and the three skills that come closest are shown:
/// where one of them comes first, the description needs other words.
///
/// Examples:
///   sinew new invoice-export                  asks what it is for
///   sinew new invoice-export --from "export invoices from the billing system as PDF"
///   sinew new tides --from "tide tables for harbours" --global
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct NewArgs {
    /// The skill's name: lower-case letters, digits and hyphens
    name: String,
    /// What it should do, in a sentence or two
    #[arg(long, value_name = "TEXT")]
    from: Option<String>,
    #[command(flatten)]
    place: SkillFolderArgs,
}

/// Which folder gets a skill that is written here.
#[derive(Debug, clap::Args)]
pub(crate) struct SkillFolderArgs {
    /// For every workspace, not just this one
    #[arg(long)]
    global: bool,
    /// Into this folder [default: the workspace's skills]
    #[arg(long, value_name = "DIR", conflicts_with = "global")]
    dir: Option<PathBuf>,
}

impl SkillFolderArgs {
    /// The folder that gets the skill's own one.
    pub(crate) fn folder(&self, engine: &Engine) -> PathBuf {
        match &self.dir {
            Some(dir) => engine.environment().cwd.join(dir),
            None => {
                let place = match self.global {
                    true => InstallTarget::Managed,
                    false => InstallTarget::Workspace,
                };
                engine.hub().workdir(place).skills
            }
        }
    }
}

/// Neighbours that are shown.
const NEIGHBOURS: usize = 3;

#[derive(Serialize)]
struct NewSkillReport<'a> {
    #[serde(flatten)]
    skill: &'a NewSkill,
    /// The carried skill that it replaces, if it has the name of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<&'a Path>,
    route: &'a NeighbourReport,
}

pub(crate) fn run(args: &NewArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let purpose = match &args.from {
        Some(purpose) => purpose.clone(),
        None => ask_purpose(&args.name, out)?,
    };
    let folder = args.place.folder(engine);
    let request = NewSkillRequest { name: args.name.clone(), purpose: purpose.clone(), folder };
    let skill = engine.skills().create(&request)?;
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    let entry = catalog.unshadowed().find(|entry| entry.name == skill.name);
    let is_read = entry.is_some_and(|entry| entry.file_path.starts_with(&request.folder));
    let route = engine.routing().neighbours(&snapshot, &skill.name, &purpose, NEIGHBOURS);
    let copies = entry.map(|entry| catalog.shadowed_by(entry)).unwrap_or_default();
    let replaces = copies.iter().find(|copy| copy.bundled && is_read);
    let replaces = replaces.map(|copy| copy.file_path.as_path());
    let report = NewSkillReport { skill: &skill, replaces, route: &route };
    out.data(&report, |text| write_report(text, &report))?;
    if !is_read {
        out.warn("sinew does not read that folder, or another skill of this name is used");
        out.hint("`sinew doctor` shows the folders that are read");
    } else if let Some(first) = route.nearest.iter().find(|other| other.before) {
        out.hint(&format!(
            "{} comes first for these words: say in the description what sets this one apart, then `sinew why {} --for \"…\"`",
            first.name, skill.name
        ));
    }
    out.note(
        "the description is yours now: put in the words that users say, then fill in the steps",
    );
    background::request_work(engine.environment(), engine.options());
    Ok(Exit::Done)
}

/// Asks the person at the terminal what a skill is for.
fn ask_purpose(name: &str, out: &Printer) -> Result<String, EngineError> {
    if !out.can_ask() {
        let said = "there is no terminal to ask on what the skill is for";
        return Err(EngineError::new(ErrorCode::CannotChoose, said)
            .hint(format!("`sinew new {} --from \"<what it should do>\"`", render::safe(name))));
    }
    inquire::Text::new("What should it do?")
        .with_help_message("a sentence or two")
        .prompt()
        .map_err(|error| {
            EngineError::new(ErrorCode::NotChosen, format!("nothing was written: {error}"))
                .caused_by(error)
        })
}

fn write_report(text: &mut String, report: &NewSkillReport<'_>) -> std::fmt::Result {
    let (skill, route) = (report.skill, report.route);
    writeln!(text, "wrote {}", render::safe(&skill.path.to_string_lossy()))?;
    if let Some(carried) = report.replaces {
        let carried = render::safe(&carried.to_string_lossy());
        writeln!(text, "it is used instead of the carried one, {carried}")?;
    }
    let mark = render::good("✓");
    writeln!(text, "  {mark} passes {}; the guard allows it", skill.rules.join(", "))?;
    writeln!(text, "  {}", render::dim(&skill.description))?;
    let decision = match route.decision {
        RouteDecision::Match => "a match",
        RouteDecision::Shortlist => "a shortlist",
        RouteDecision::None => "none",
    };
    writeln!(text, "\n“{}” gives {decision}:", render::safe(&route.message))?;
    let own = route.probability.map(|own| (own, skill.name.as_str(), true, true));
    let others = route.nearest.iter();
    let others = others.map(|one| (one.probability, one.name.as_str(), false, one.usable));
    let mut rows: Vec<(f64, &str, bool, bool)> = own.into_iter().chain(others).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (probability, name, is_own, usable) in rows {
        let mark = if is_own { render::good("●") } else { render::dim("○") };
        let note = match (is_own, usable) {
            (true, _) => "this skill",
            (false, true) => "",
            (false, false) => "cannot be used here now",
        };
        let gap = if note.is_empty() { "" } else { "  " };
        let (name, likely) = (render::safe(name), sinew_engine::percent(probability));
        writeln!(text, "  {mark} {likely:>4} {name}{gap}{}", render::dim(note))?;
    }
    Ok(())
}
