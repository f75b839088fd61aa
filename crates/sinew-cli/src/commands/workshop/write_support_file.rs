use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use sinew_engine::{Engine, EngineError};
use sinew_settings::ErrorCode;

use super::shared::{caller, print_events, read_text};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Write a file beside a skill, in references/, templates/, scripts/ or assets/
///
/// It is scanned like a skill; a script is not made executable.
///
/// Examples:
///   sinew workshop write-support-file release-notes references/checklist.md --body "- Tag last."
///   sinew workshop write-support-file release-notes templates/mail.md --body-file mail.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WorkshopSupportFileArgs {
    /// The skill
    skill: String,
    /// The file, below the skill's folder
    path: String,
    /// Its content
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file", allow_hyphen_values = true)]
    body: Option<String>,
    /// Its content, from a file or - for standard input
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
}

pub(super) fn run(
    args: &WorkshopSupportFileArgs,
    engine: &Engine,
    out: &mut Printer,
) -> CommandResult {
    let body =
        read_text(engine, args.body.as_deref(), args.body_file.as_deref())?.ok_or_else(|| {
            EngineError::new(ErrorCode::NoContent, "the file needs a content")
                .hint("give it with --body or --body-file")
        })?;
    let done = engine.workshop().with(|shop| {
        shop.write_support_file(&args.skill, &args.path, &body, &caller(engine, out))
    })?;
    out.data(&json!({"status": "written", "filePath": done.file_path}), |text| {
        writeln!(text, "{} {}", render::good("written"), render::safe(&done.file_path))
    })?;
    print_events(&done.events, out);
    Ok(Exit::Done)
}
