//! Plain commands: Markdown files under a plugin's `commands/`, which are prompts and not skills.

use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sinew_guard::containment;
use sinew_settings::{Config, Environment, path_text};

use crate::hosts;

/// More commands than this are no use to anyone, and chat platforms list a hundred.
const MAX_COMMANDS: usize = 200;
/// Folders below `commands/` are groups; deeper nesting is a mistake.
const MAX_DEPTH: usize = 4;
/// A command is a prompt, not a book.
const MAX_BYTES: u64 = 64 * 1024;

/// The text behind a slash command.
#[derive(Debug)]
pub(crate) struct PlainCommand {
    /// `dir:file`.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) file: String,
    pub(crate) template: String,
}

/// The plain commands of the active plugins, in plugin order, then by name.
pub(crate) fn read(config: &Config, env: &Environment) -> Vec<PlainCommand> {
    let mut commands = Vec::new();
    for plugin in hosts::active_plugins(config, env) {
        let folder = plugin.join("commands");
        // A link must not bring in texts from outside the plugin.
        if !matches!(containment::resolve_inside(&plugin, &folder), Ok(Some(_))) {
            continue;
        }
        if let Ok(dir) = Dir::open_ambient_dir(&folder, ambient_authority()) {
            read_folder(&dir, &folder, Path::new(""), 0, &mut commands);
        }
    }
    commands
}

fn read_folder(
    dir: &Dir,
    root: &Path,
    inside: &Path,
    depth: usize,
    commands: &mut Vec<PlainCommand>,
) {
    let here = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
    let Ok(entries) = dir.read_dir(here) else { return };
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.file_name().into()).collect();
    names.sort();
    for name in names {
        let path = inside.join(&name);
        let hidden = path_text(&name).starts_with('.');
        if hidden || commands.len() >= MAX_COMMANDS {
            continue;
        }
        if name.extension().is_some_and(|extension| extension == "md") {
            commands.extend(read_command(dir, root, &path));
        } else if depth < MAX_DEPTH && dir.symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
            read_folder(dir, root, &path, depth + 1, commands);
        }
    }
}

fn read_command(dir: &Dir, root: &Path, path: &Path) -> Option<PlainCommand> {
    let bytes = containment::open_regular(dir, path).ok()?.read(MAX_BYTES).ok()?;
    let name = path_text(&path.with_extension("")).replace(['/', '\\'], ":");
    // The lenient dialect: a command needs no front matter; its first line describes it.
    let outcome = sinew_skill::read(&bytes, &sinew_skill::ReadOptions::openpocket(&name));
    Some(PlainCommand {
        description: outcome.skill?.description,
        template: outcome.body.into_owned(),
        file: path_text(&root.join(path)),
        name,
    })
}
