//! Codex's plugins: `[plugins."name@marketplace"]` of its configuration, and the copies in its cache.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_settings::{Environment, Reason, ReasonSeverity};

use super::host_files::{self, kept, system_path};
use super::plugin_folder::{
    FolderShape, MAX_PLUGINS, PluginFinder, child_folders, clipped, is_plain_name, named_folders,
    skipped,
};
use super::plugin_origin::{PluginOrigin, PluginState};
use crate::collate;

const SHAPE: FolderShape = FolderShape { prefixed: true, depth: None };

/// Where Codex puts skills that it made of a plugin's commands.
const MIGRATED: &str = ".codex-plugin/migrated-command-skills";

/// Codex's own folder.
pub(super) fn codex_home(env: &Environment) -> PathBuf {
    env.var_path("CODEX_HOME").unwrap_or_else(|| env.home.join(".codex"))
}

/// Codex's configuration files, the one that decides first.
fn codex_configs(env: &Environment, reasons: &mut Vec<Reason>) -> Vec<Value> {
    let files = [
        system_path(env, "/etc/codex/managed_config.toml"),
        codex_home(env).join("config.toml"),
        system_path(env, "/etc/codex/config.toml"),
    ];
    files.iter().filter_map(|path| kept(host_files::read_toml(path), reasons)).collect()
}

/// The file that is the user's.
pub(super) fn codex_user_config(env: &Environment, reasons: &mut Vec<Reason>) -> Option<Value> {
    kept(host_files::read_toml(&codex_home(env).join("config.toml")), reasons)
}

pub(super) fn find(env: &Environment, found: &mut PluginFinder) {
    let cache = codex_home(env).join("plugins/cache");
    if !cache.is_dir() {
        return;
    }
    let configs = codex_configs(env, &mut found.reasons);
    let mut plugins = 0;
    for marketplace in child_folders(&cache) {
        for plugin in child_folders(&marketplace) {
            plugins += 1;
            if plugins > MAX_PLUGINS {
                return;
            }
            add(&marketplace, &plugin, &configs, found);
        }
    }
}

fn add(marketplace: &Path, plugin: &Path, configs: &[Value], found: &mut PluginFinder) {
    let text = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let (Some(market), Some(folder)) = (text(marketplace), text(plugin)) else { return };
    let Some(root) = newest(plugin) else {
        found.report(skipped(format!("{folder} has no version in Codex's cache"), plugin));
        return;
    };
    let manifests = [".codex-plugin/plugin.json", ".claude-plugin/plugin.json"];
    let manifest = manifests
        .iter()
        .find_map(|path| kept(host_files::read_json(&root.join(path)), &mut found.reasons));
    let Some(manifest) = manifest else {
        let detail = format!("{} has no manifest that can be read", clipped(&folder));
        found.report(skipped(detail, &root).severity(ReasonSeverity::Warn));
        return;
    };
    let named = manifest.get("name").and_then(Value::as_str).unwrap_or(&folder);
    if !is_plain_name(named) {
        found.report(skipped(format!("its name cannot be used: {}", clipped(named)), &root));
        return;
    }
    let id = format!("{folder}@{market}");
    if !found.admit(&id, &root) {
        return;
    }
    let (state, detail) = switch(configs, &id);
    let version = text(&root);
    let origin = PluginOrigin {
        host: "codex".to_owned(),
        name: named.to_owned(),
        version: manifest.get("version").and_then(Value::as_str).map(clipped).or(version),
        marketplace: Some(clipped(&market)),
        state,
        detail: Some(detail),
    };
    let paths = named_folders(&manifest);
    // A manifest that names its folders means these alone.
    let usual: &[&str] = if paths.is_empty() { &["skills", MIGRATED] } else { &[MIGRATED] };
    found.add(&root, &origin, &paths, usual, &SHAPE);
}

/// The version that is used: a local one, else the newest.
fn newest(plugin: &Path) -> Option<PathBuf> {
    let local = plugin.join("local");
    if local.is_dir() {
        return Some(local);
    }
    child_folders(plugin).into_iter().max_by(|a, b| {
        let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
        let (a, b) = (name(a).unwrap_or_default(), name(b).unwrap_or_default());
        numbers(&a).cmp(&numbers(&b)).then_with(|| collate::compare(&a, &b))
    })
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

fn switch(configs: &[Value], id: &str) -> (PluginState, String) {
    let feature =
        configs.iter().find_map(|config| config.get("features")?.get("plugins")?.as_bool());
    if feature == Some(false) {
        return (PluginState::Disabled, "features.plugins is off in config.toml".to_owned());
    }
    let entry = configs.iter().find_map(|config| config.get("plugins")?.get(id));
    match entry.map(|entry| entry.get("enabled").and_then(Value::as_bool).unwrap_or(true)) {
        Some(true) => (PluginState::Enabled, "config.toml switches it on".to_owned()),
        Some(false) => (PluginState::Disabled, "config.toml switches it off".to_owned()),
        None => (PluginState::Disabled, "config.toml does not name it".to_owned()),
    }
}
