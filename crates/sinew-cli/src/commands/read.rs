use sinew_engine::Engine;
use sinew_guard::Untrusted;

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Print a skill's text, or one of its files
///
/// Nothing outside the skill's folder is ever read. On a terminal, control characters are shown as
/// escapes; a pipe gets the bytes of the text as they are. A skill that the scanner blocks is shown
/// with --blocked, in a terminal only.
///
/// Examples:
///   sinew read github
///   sinew read github references/api.md
///   sinew read ~/skills/github/SKILL.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReadArgs {
    /// The skill's name or key, or a location as the prompt block gives it
    skill: String,
    /// A file below the skill's folder
    file: Option<String>,
    /// Show a skill that the scanner blocks; in a terminal only
    #[arg(long)]
    blocked: bool,
}

pub(crate) fn run(args: &ReadArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let file = engine.skills().read_file(&snapshot.catalog, &args.skill, args.file.as_deref())?;
    if !(args.blocked && out.at_terminal()) {
        engine.skills().check_not_blocked(&snapshot.catalog, &file)?;
    }
    let for_terminal = out.width() != usize::MAX;
    if !for_terminal && !out.is_json() {
        out.raw(&file.text)?;
        return Ok(Exit::Done);
    }
    out.document(&file, |text| {
        text.push_str(&Untrusted::new(&file.text).for_terminal_block());
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(())
    })?;
    if args.file.is_none() && !file.files.is_empty() && for_terminal {
        out.note(&format!("its other files: {}", crate::render::safe(&file.files.join(", "))));
    }
    Ok(Exit::Done)
}
