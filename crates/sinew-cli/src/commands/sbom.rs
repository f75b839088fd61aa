use std::path::PathBuf;

use sinew_engine::{Engine, EngineError};

use crate::exit::{CommandError, CommandResult, Exit};
use crate::printer::Printer;

/// List the skills that are here as a bill of materials (CycloneDX)
///
/// Each skill with its version, digest, source, signer and the programs that it declares, as JSON for
/// tools that keep count of what a machine or a project carries.
///
/// Examples:
///   sinew sbom
///   sinew sbom --output skills.cdx.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SbomArgs {
    /// Write it to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &SbomArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let bill = engine.hub().bill_of_materials();
    match &args.output {
        Some(file) => std::fs::write(file, format!("{bill:#}\n"))
            .map_err(|error| CommandError::from(EngineError::file("write", file, error)))?,
        None => out.text(&format!("{bill:#}\n"))?,
    }
    Ok(Exit::Done)
}
