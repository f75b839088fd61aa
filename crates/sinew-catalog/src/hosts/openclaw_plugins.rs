//! OpenClaw's plugins: those in its package, in `extensions/` of its state folder and of the workspace,
//! and those that the configuration names; and the folder of links that it makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sinew_settings::config::PluginsSection;
use sinew_settings::{Config, Environment, Reason, ReasonCode, ReasonSeverity, path_text};

use super::host_files;
use super::host_package::{self, HostPackage};
use super::plugin_folder::{
    FolderShape, PluginFinder, PluginFolder, child_folders, clipped, folder_inside, is_plain_name,
    skipped,
};
use super::plugin_origin::{PluginOrigin, PluginState};

const MANIFEST: &str = "openclaw.plugin.json";

/// The memory plugin that holds the slot where the configuration names none.
const DEFAULT_MEMORY: &str = "memory-core";

const SHAPE: FolderShape = FolderShape { prefixed: false, depth: None };

/// Where a plugin was found, which decides whether it is on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PluginPlace {
    /// Named in `plugins.load.paths`.
    Config,
    /// In the workspace, whose author is not the user.
    Workspace,
    /// In the user's own folder.
    Global,
    /// In OpenClaw's package.
    Package,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenClawManifest {
    id: String,
    #[serde(default)]
    kind: Value,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    channels: Vec<String>,
    #[serde(default)]
    enabled_by_default: bool,
    #[serde(default)]
    version: Option<String>,
}

pub(super) fn find(workspace: &Path, config: &Config, env: &Environment, found: &mut PluginFinder) {
    for (root, place) in plugin_roots(workspace, config, env) {
        let manifest = match read_manifest(&root) {
            Ok(manifest) => manifest,
            Err(reason) => {
                found.report(reason);
                continue;
            }
        };
        if manifest.skills.is_empty() || !found.admit(&manifest.id, &root) {
            continue;
        }
        if let Err((detail, remedy)) = check(&manifest, place, config) {
            // What came with the package and is off by itself is no news to anyone.
            if place != PluginPlace::Package || config.plugins.disabled.contains(&manifest.id) {
                found.report(skipped(detail, &root).remedy(remedy));
            }
            continue;
        }
        let origin = PluginOrigin {
            host: "openclaw".to_owned(),
            name: manifest.id.clone(),
            version: manifest.version.as_deref().map(clipped).or_else(|| package_version(&root)),
            marketplace: None,
            state: PluginState::Enabled,
            detail: None,
        };
        found.add(&root, &origin, &manifest.skills, &[], &SHAPE);
    }
}

/// The folders of the plugins that may contribute, in plugin order.
pub(crate) fn active_plugins(config: &Config, env: &Environment) -> Vec<PathBuf> {
    let paths = config.plugins.paths.iter().map(|path| env.expand_home(path));
    paths
        .filter(|root| {
            read_manifest(root)
                .is_ok_and(|manifest| check(&manifest, PluginPlace::Config, config).is_ok())
        })
        .collect()
}

/// Every folder that may be a plugin. Those that the configuration names come first, as in OpenClaw: of
/// two plugins with one id they count.
fn plugin_roots(
    workspace: &Path,
    config: &Config,
    env: &Environment,
) -> Vec<(PathBuf, PluginPlace)> {
    let mut roots: Vec<(PathBuf, PluginPlace)> = Vec::new();
    for path in &config.plugins.paths {
        roots.push((env.expand_home(path), PluginPlace::Config));
    }
    let mut below = |folder: &Path, place: PluginPlace| {
        let plugins = child_folders(folder).into_iter().filter(|root| root.join(MANIFEST).exists());
        roots.extend(plugins.map(|root| (root, place)));
    };
    below(&workspace.join(".openclaw/extensions"), PluginPlace::Workspace);
    below(&env.openclaw_state().0.join("extensions"), PluginPlace::Global);
    if let Some(package) = package(env, workspace) {
        let shipped = ["dist/extensions", "extensions"].map(|path| package.root.join(path));
        if let Some(folder) = shipped.iter().find(|folder| folder.is_dir()) {
            below(folder, PluginPlace::Package);
        }
    }
    roots
}

/// The OpenClaw that is installed here.
pub(super) fn package(env: &Environment, workspace: &Path) -> Option<HostPackage> {
    host_package::find_host_package(env, "openclaw", "openclaw", workspace)
}

fn package_version(root: &Path) -> Option<String> {
    let manifest = host_files::read_json(&root.join("package.json")).ok()??;
    manifest.get("version").and_then(Value::as_str).map(clipped)
}

fn read_manifest(plugin: &Path) -> Result<OpenClawManifest, Reason> {
    let bad = |detail: String| {
        skipped(format!("{MANIFEST}: {detail}"), plugin)
            .severity(ReasonSeverity::Warn)
            .remedy("correct the plugin's manifest")
    };
    let path = plugin.join(MANIFEST);
    // A manifest that is a link could be any file of the machine.
    if path.is_symlink() {
        return Err(bad("it is a link".to_owned()));
    }
    let value = match host_files::read_json(&path) {
        Ok(Some(value)) => value,
        Ok(None) => return Err(bad("there is none".to_owned())),
        Err(reason) => return Err(bad(reason.detail)),
    };
    let manifest: OpenClawManifest =
        serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
    match is_plain_name(&manifest.id) {
        true => Ok(manifest),
        false => Err(bad("its id cannot be used".to_owned())),
    }
}

/// Whether OpenClaw would use a plugin, by its own order of questions; else why not, and what to do.
fn check(
    manifest: &OpenClawManifest,
    place: PluginPlace,
    config: &Config,
) -> Result<(), (String, String)> {
    let (id, plugins) = (&manifest.id, &config.plugins);
    let entry = format!("plugins.entries.{id}.enabled");
    let no = |detail: String, remedy: String| Err((detail, remedy));
    if !plugins.enabled {
        return no("plugins are switched off".to_owned(), "set plugins.enabled to true".to_owned());
    }
    if plugins.deny.contains(id) {
        return no(format!("plugins.deny names {id}"), "take it out of plugins.deny".to_owned());
    }
    if plugins.disabled.contains(id) {
        return no(format!("the plugin {id} is switched off"), format!("set {entry} to true"));
    }
    let channel = channel_switch(manifest, config);
    if channel == Some(false) {
        return no(
            format!("its channel is switched off: {id}"),
            format!("set channels.{id}.enabled to true"),
        );
    }
    let allowed = plugins.allow.contains(id);
    let named = plugins.switched_on.contains(id);
    let holds_slot = memory_slot(plugins) == Some(id.as_str());
    if place == PluginPlace::Workspace && !allowed && !named {
        return no(
            format!("the workspace brings the plugin {id}, which is not switched on"),
            format!("set {entry} to true if you trust the workspace"),
        );
    }
    if !holds_slot {
        let by_channel = place == PluginPlace::Package && channel == Some(true);
        if !plugins.allow.is_empty() && !allowed && !by_channel {
            return no(
                format!("plugins.allow does not name {id}"),
                format!("add {id} to plugins.allow"),
            );
        }
        let by_itself = place != PluginPlace::Package || manifest.enabled_by_default;
        if !named && !by_channel && !by_itself {
            return no(
                format!("{id} is off unless it is switched on"),
                format!("set {entry} to true"),
            );
        }
    }
    check_memory(manifest, plugins)
}

/// Of the plugins that are for memory alone, only the one that holds the slot contributes.
fn check_memory(
    manifest: &OpenClawManifest,
    plugins: &PluginsSection,
) -> Result<(), (String, String)> {
    let only_memory = match &manifest.kind {
        Value::String(kind) => kind == "memory",
        Value::Array(kinds) => kinds.len() == 1 && kinds[0] == "memory",
        _ => false,
    };
    if !only_memory || memory_slot(plugins) == Some(manifest.id.as_str()) {
        return Ok(());
    }
    let detail = match memory_slot(plugins) {
        Some(holder) => {
            format!("{holder} holds the memory slot, and not {}", manifest.id)
        }
        None => "the memory slot is switched off".to_owned(),
    };
    Err((detail, format!("set plugins.slots.memory to {}", manifest.id)))
}

fn memory_slot(plugins: &PluginsSection) -> Option<&str> {
    match plugins.memory_slot.as_deref().map(str::trim) {
        None | Some("") => Some(DEFAULT_MEMORY),
        Some(slot) if slot.eq_ignore_ascii_case("none") => None,
        Some(slot) => Some(slot),
    }
}

/// What `channels` says about the channels of a plugin.
fn channel_switch(manifest: &OpenClawManifest, config: &Config) -> Option<bool> {
    let channels = config.tree.get("channels")?;
    let ids = manifest.channels.iter().chain(std::iter::once(&manifest.id));
    let switch = |id: &String| channels.get(id)?.get("enabled")?.as_bool();
    ids.filter_map(switch).next()
}

/// The skills that OpenClaw links to from `plugin-skills`, as far as `known` does not hold them: each
/// target in OpenClaw's package or its state folder is a root of its own, any other an escape.
pub(crate) fn plugin_links(
    workspace: &Path,
    config: &Config,
    env: &Environment,
    known: &[PluginFolder],
) -> (Vec<PathBuf>, Vec<Reason>) {
    let (mut roots, mut reasons) = (Vec::new(), Vec::new());
    let state = env.openclaw_state().0;
    let links = state.join("plugin-skills");
    if !links.is_dir() || !config.plugins.enabled {
        return (roots, reasons);
    }
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let real_state = real(&state);
    let package = package(env, workspace).map(|package| real(&package.root));
    let known: Vec<PathBuf> = known.iter().map(|folder| real(&folder.path)).collect();
    for link in child_folders(&links) {
        let target = real(&link);
        if known.iter().any(|folder| target.starts_with(folder)) {
            continue;
        }
        if target.starts_with(&real_state) {
            roots.push(link);
        } else if package.as_ref().is_some_and(|package| target.starts_with(package)) {
            // The package is here, so its plugins were asked: this one is off now.
            reasons.push(
                skipped("the link leads to a plugin that is not in use".to_owned(), &link)
                    .remedy("OpenClaw removes the link when it next lists its skills"),
            );
        } else if package.is_none() && is_openclaw(&target) {
            roots.push(target);
        } else {
            reasons.push(
                Reason::new(
                    ReasonCode::SymlinkEscape,
                    format!("the link points to {}", path_text(&target)),
                )
                .source("openclaw-extra")
                .path(path_text(&link))
                .remedy("remove the link; OpenClaw makes those that it needs"),
            );
        }
    }
    (roots, reasons)
}

/// Whether a folder lies in a package of OpenClaw, one that is on no PATH.
fn is_openclaw(folder: &Path) -> bool {
    folder.ancestors().skip(1).take(8).any(|above| {
        let manifest = host_files::read_json(&above.join("package.json"));
        let name = manifest.ok().flatten().and_then(|m| m.get("name")?.as_str().map(str::to_owned));
        name.as_deref() == Some("openclaw") && folder_inside(above, "openclaw", "").is_ok()
    })
}
