//! `sinew setup --undo`: what setup connected is disconnected, what it had read is left out again.

use std::fmt::Write as _;

use serde::Serialize;
use sinew_engine::{Engine, EngineError};

use super::record::SetupRecord;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// What was taken back.
#[derive(Debug, Default, Serialize)]
struct SetupUndoReport {
    disconnected: Vec<String>,
    /// Agents that stay, with the reason.
    failed: Vec<String>,
    folders: Vec<std::path::PathBuf>,
    written: bool,
}

pub(super) fn run(dry_run: bool, engine: &Engine, out: &mut Printer) -> CommandResult {
    let mut record = SetupRecord::read(engine)?;
    let mut report = SetupUndoReport { written: !dry_run, ..SetupUndoReport::default() };
    for agent in record.agents.clone() {
        match disconnect(&agent, dry_run, engine) {
            Ok(()) => {
                record.agents.remove(&agent);
                report.disconnected.push(agent);
            }
            Err(error) => report.failed.push(format!("{agent}: {}", error.message)),
        }
    }
    let folders: Vec<_> = record.folders.iter().cloned().collect();
    if !folders.is_empty() {
        if !dry_run {
            engine.connect().unregister(&folders).map_err(EngineError::from)?;
        }
        record.folders.clear();
        report.folders = folders;
    }
    if !dry_run {
        record.write(engine)?;
    }
    out.data(&report, |text| write_report(text, &report))?;
    Ok(if report.failed.is_empty() { Exit::Done } else { Exit::No })
}

/// An agent that the user disconnected meanwhile is as it should be.
fn disconnect(agent: &str, dry_run: bool, engine: &Engine) -> Result<(), EngineError> {
    let connections = engine.connect().connections()?;
    let is_connected = connections.iter().any(|one| one.agent == agent && !one.files.is_empty());
    if is_connected {
        engine.connect().disconnect(agent, !dry_run)?;
    }
    Ok(())
}

fn write_report(text: &mut String, report: &SetupUndoReport) -> std::fmt::Result {
    let would = if report.written { "is" } else { "would be" };
    for agent in &report.disconnected {
        writeln!(text, "{} {} {would} disconnected", render::good("✓"), render::safe(agent))?;
    }
    for folder in &report.folders {
        let folder = render::safe(&folder.to_string_lossy());
        writeln!(text, "{} {folder} {would} no longer read", render::good("✓"))?;
    }
    for failure in &report.failed {
        writeln!(text, "{} {}", render::bad("✗"), render::safe(failure))?;
    }
    match report.disconnected.is_empty() && report.folders.is_empty() && report.failed.is_empty() {
        true => writeln!(text, "setup has done nothing here that could be taken back"),
        false => Ok(()),
    }
}
