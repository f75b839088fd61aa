use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use sinew_engine::Engine;

use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show a skill's folder: its path, and on a desktop the folder itself
///
/// Examples:
///   sinew open github
///   cd "$(sinew open github)"        in a pipe only the path is printed
///   sinew open github --print        print the path, and open nothing
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct OpenArgs {
    /// The skill's name or key
    skill: String,
    /// Only print the path
    #[arg(long)]
    print: bool,
}

#[derive(Serialize)]
struct SkillFolder<'a> {
    skill: &'a str,
    folder: &'a Path,
    file: &'a Path,
}

pub(crate) fn run(args: &OpenArgs, engine: &Engine, out: &mut Printer) -> CommandResult {
    let snapshot = engine.snapshot();
    let entry = engine.find(&snapshot.catalog, &args.skill)?;
    let folder =
        SkillFolder { skill: &entry.name, folder: &entry.base_dir, file: &entry.file_path };
    out.data(&folder, |text| writeln!(text, "{}", render::safe(&folder.folder.to_string_lossy())))?;
    if entry.bundled {
        let name = render::safe(&entry.name);
        out.note(&format!("sinew carries it: `sinew bundled eject {name}` makes a copy to change"));
    }
    let env = engine.environment();
    let has_desktop = env.os != "linux"
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env.var(name).is_some());
    if !args.print && has_desktop && out.can_ask() && out.width() != usize::MAX {
        environment::open_with_system(&entry.base_dir.to_string_lossy());
    }
    Ok(Exit::Done)
}
