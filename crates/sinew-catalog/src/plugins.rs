//! Skills that come with plugins: folders named in a manifest, inside the plugin's own folder.

use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Deserialize;
use sinew_guard::containment;
use sinew_settings::{Config, Environment, Reason, ReasonCode, ReasonSeverity, path_text};

/// A larger file is not a manifest.
const MAX_MANIFEST: u64 = 256 * 1024;

const MANIFEST: &str = "openclaw.plugin.json";

#[derive(Deserialize)]
struct PluginManifest {
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
    // OpenClaw's own link folder is read if it exists, but never maintained.
    let links = env.openclaw_state().0.join("plugin-skills");
    for plugin in paths.drain(..) {
        let manifest = match read_manifest(&plugin, config) {
            Ok(manifest) => manifest,
            Err(reason) => {
                reasons.push(reason.path(path_text(&plugin)));
                continue;
            }
        };
        for relative in &manifest.skills {
            match skill_folder(&plugin, &manifest.id, relative) {
                Ok(folder) => folders.push(folder),
                Err(reason) => reasons.push(reason.path(path_text(&plugin))),
            }
        }
    }
    if links.is_dir() && config.plugins.enabled {
        folders.push(links);
    }
    (folders, reasons)
}

/// The folders of the plugins that may contribute, in plugin order.
pub(crate) fn active_plugins(config: &Config, env: &Environment) -> Vec<PathBuf> {
    let paths = config.plugins.paths.iter().map(|path| env.expand_home(path));
    paths.filter(|plugin| read_manifest(plugin, config).is_ok()).collect()
}

fn skipped(detail: String, remedy: &str) -> Reason {
    Reason::new(ReasonCode::PluginSkipped, detail).remedy(remedy)
}

/// The manifest of a plugin that is allowed to contribute.
fn read_manifest(plugin: &Path, config: &Config) -> Result<PluginManifest, Reason> {
    if !config.plugins.enabled {
        return Err(skipped("plugins are switched off".to_owned(), "set plugins.enabled to true"));
    }
    let bad = |detail: String| {
        skipped(format!("{MANIFEST}: {detail}"), "correct the plugin's manifest")
            .severity(ReasonSeverity::Warn)
    };
    let dir = Dir::open_ambient_dir(plugin, ambient_authority()).map_err(|e| bad(e.to_string()))?;
    let file =
        containment::open_regular(&dir, Path::new(MANIFEST)).map_err(|e| bad(e.to_string()))?;
    let bytes = file.read(MAX_MANIFEST).map_err(|e| bad(e.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let manifest: PluginManifest = json5::from_str(&text).map_err(|e| bad(e.to_string()))?;
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
    Ok(manifest)
}

/// A skill folder that is inside its plugin, both by name and after following links.
fn skill_folder(plugin: &Path, id: &str, relative: &str) -> Result<PathBuf, Reason> {
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let folder = plugin.join(relative);
    match containment::resolve_inside(plugin, &folder) {
        Ok(Some(_)) if Path::new(relative).components().all(plain) => Ok(folder),
        Ok(_) => Err(Reason::new(
            ReasonCode::PathEscape,
            format!("the plugin {id} names {relative}, outside its folder"),
        )
        .remedy("keep a plugin's skills inside the plugin")),
        Err(error) => Err(skipped(format!("{relative}: {error}"), "correct the manifest")
            .severity(ReasonSeverity::Warn)),
    }
}
