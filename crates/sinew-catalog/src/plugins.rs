//! Skills that come with plugins: folders named in a manifest, inside the plugin's own folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sinew_guard::contained;
use sinew_skill::{Code, Reason};

use crate::config::Config;
use crate::environment::{Environment, path_text};

/// A manifest larger than this is none.
const MAX_MANIFEST: u64 = 256 * 1024;

const MANIFEST: &str = "openclaw.plugin.json";

#[derive(Deserialize)]
struct Manifest {
    id: String,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    skills: Vec<String>,
}

/// The skill folders of the enabled plugins, in plugin order, and why others are left out.
pub(crate) fn skill_folders(config: &Config, env: &Environment) -> (Vec<PathBuf>, Vec<Reason>) {
    let mut folders = Vec::new();
    let mut reasons = Vec::new();
    let mut paths: Vec<PathBuf> =
        config.plugins.paths.iter().map(|path| env.expand_home(path)).collect();
    // OpenClaw's own link folder is read where it exists, and never maintained.
    let links = env.openclaw_state().0.join("plugin-skills");
    for plugin in paths.drain(..) {
        match plugin_folders(&plugin, config) {
            Ok(found) => folders.extend(found),
            Err(reason) => reasons.push(reason.path(path_text(&plugin))),
        }
    }
    if links.is_dir() && config.plugins.enabled {
        folders.push(links);
    }
    (folders, reasons)
}

fn plugin_folders(plugin: &Path, config: &Config) -> Result<Vec<PathBuf>, Reason> {
    let skipped =
        |detail: String, remedy: &str| Reason::new(Code::PluginSkipped, detail).remedy(remedy);
    if !config.plugins.enabled {
        return Err(skipped("plugins are switched off".to_owned(), "set plugins.enabled to true"));
    }
    let path = plugin.join(MANIFEST);
    let text = fs::metadata(&path)
        .and_then(|metadata| {
            if metadata.len() > MAX_MANIFEST {
                return Err(std::io::Error::other("the manifest is too large"));
            }
            fs::read_to_string(&path)
        })
        .map_err(|error| {
            skipped(format!("{MANIFEST}: {error}"), "correct the plugin's manifest")
        })?;
    let manifest: Manifest = json5::from_str(&text).map_err(|error| {
        skipped(format!("{MANIFEST}: {error}"), "correct the plugin's manifest")
    })?;
    if config.plugins.disabled.contains(&manifest.id) {
        let remedy = format!("set plugins.entries.{}.enabled to true", manifest.id);
        return Err(skipped(format!("the plugin {} is switched off", manifest.id), &remedy));
    }
    let holds_slot = config.plugins.memory_slot.as_deref().is_none_or(|slot| slot == manifest.id);
    if manifest.kind.as_deref() == Some("memory") && !holds_slot {
        return Err(skipped(
            format!("another plugin than {} holds the memory slot", manifest.id),
            "set plugins.slots.memory",
        ));
    }
    manifest
        .skills
        .iter()
        .map(|relative| {
            let inside = contained::resolve_inside(plugin, &plugin.join(relative));
            let lexical = Path::new(relative).components().all(|part| {
                matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir)
            });
            match inside {
                Ok(Some(_)) if lexical => Ok(plugin.join(relative)),
                Ok(_) => Err(Reason::new(
                    Code::PathEscape,
                    format!("the plugin {} names {relative}, outside its folder", manifest.id),
                )
                .remedy("keep a plugin's skills inside the plugin")),
                Err(error) => Err(skipped(format!("{relative}: {error}"), "correct the manifest")),
            }
        })
        .collect()
}
