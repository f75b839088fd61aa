use std::fmt::Write as _;

use sinew_engine::{DoctorReport, Engine, ProbeHealth};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show what sinew sees on this machine: folders, agents, configuration, problems
///
/// Examples:
///   sinew doctor
///   sinew doctor --profile openclaw --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DoctorArgs {}

pub(crate) fn run(_args: &DoctorArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let diagnosis = engine.status().doctor(&snapshot.catalog);
    out.data(&diagnosis, |text| write_diagnosis(text, &diagnosis))?;
    Ok(Exit::Done)
}

fn write_diagnosis(text: &mut String, diagnosis: &DoctorReport) -> std::fmt::Result {
    render::heading(text, &format!("sinew {}", diagnosis.version))?;
    let mut area = "";
    for probe in &diagnosis.probes {
        if probe.area != area {
            area = probe.area;
            writeln!(text, "\n{area}")?;
        }
        let mark = match probe.health {
            ProbeHealth::Good => render::good("✓"),
            ProbeHealth::Absent => render::dim("·"),
            ProbeHealth::Warn => render::warning("!"),
        };
        writeln!(
            text,
            "  {mark} {:<24} {}",
            render::safe(&probe.name),
            render::safe(&probe.detail)
        )?;
        if let Some(remedy) = probe.remedy.as_ref().filter(|_| probe.health == ProbeHealth::Warn) {
            writeln!(text, "      {} {}", render::dim("→"), render::safe(remedy))?;
        }
    }
    let readable_agents =
        diagnosis.probes.iter().any(|p| p.area == "agents" && p.health == ProbeHealth::Good);
    if readable_agents {
        writeln!(
            text,
            "\n{}",
            render::dim("skills.load.agents = false leaves other agents' skills out")
        )?;
    }
    Ok(())
}
