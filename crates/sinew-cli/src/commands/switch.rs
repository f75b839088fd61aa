use std::fmt::Write as _;

use serde::Serialize;
use sinew_engine::{Engine, SkillSettingsPatch};
use sinew_settings::config::UnattendedAct;

use super::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Switch skills on
///
/// Writes skills.entries.<key>.enabled to the configuration; its comments stay, and the file as
/// it was stays beside it. Only a person can, or what approvals.unattended lists as settings.
///
/// Examples:
///   sinew enable github
///   sinew enable github weather
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct EnableArgs {
    /// The skills, by name or key
    #[arg(value_name = "SKILL", required = true)]
    skills: Vec<String>,
}

/// Switch skills off
///
/// No agent gets a skill that is off, and nothing runs for it. Only a person can, or what
/// approvals.unattended lists as settings.
///
/// Examples:
///   sinew disable github
///   sinew disable github weather
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DisableArgs {
    /// The skills, by name or key
    #[arg(value_name = "SKILL", required = true)]
    skills: Vec<String>,
}

#[derive(Serialize)]
struct SwitchRecord {
    skill: String,
    enabled: bool,
    changed: bool,
}

pub(crate) fn enable(args: &EnableArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    switch(&args.skills, true, engine, out)
}

pub(crate) fn disable(args: &DisableArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    switch(&args.skills, false, engine, out)
}

fn switch(wanted: &[String], enabled: bool, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let catalog = &snapshot.catalog;
    // Every name is looked up before the first is switched: a typo changes nothing.
    let entries =
        wanted.iter().map(|name| engine.find(catalog, name)).collect::<Result<Vec<_>, _>>()?;
    let actor = deciding_actor(engine, out, UnattendedAct::Settings);
    let patch = SkillSettingsPatch { enabled: Some(enabled), ..SkillSettingsPatch::default() };
    let mut records = Vec::new();
    for entry in entries {
        let changed = entry.disabled == enabled;
        if changed {
            engine.settings().set_skill(entry, &patch, &actor)?;
        }
        records.push(SwitchRecord { skill: entry.name.clone(), enabled, changed });
    }
    out.data(&records, |text| {
        for record in &records {
            let already = if record.changed { "" } else { " already" };
            let state = if record.enabled { "on" } else { "off" };
            writeln!(text, "{} is{already} switched {state}", render::safe(&record.skill))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
