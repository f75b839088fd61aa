//! Copilot CLI's plugins: those that it copied into its folder, and those that it uses where a
//! marketplace on this machine has them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_settings::{Environment, Reason, ReasonSeverity};

use super::host_files::{self, kept};
use super::plugin_folder::{
    FolderShape, MAX_PLUGINS, PluginFinder, clipped, folder_inside, is_plain_name, named_folders,
    skipped,
};
use super::plugin_origin::{PluginOrigin, PluginState};

/// Copilot names a plugin's skills as their authors do, and reads groups of skills.
const SHAPE: FolderShape = FolderShape { prefixed: false, depth: None };

/// Where a plugin's manifest may be, the one that counts first.
const MANIFESTS: &[&str] = &[
    ".plugin/plugin.json",
    "plugin.json",
    ".github/plugin/plugin.json",
    ".claude-plugin/plugin.json",
];

/// Where a marketplace's list may be, likewise.
const LISTS: &[&str] = &[
    "marketplace.json",
    ".plugin/marketplace.json",
    ".github/plugin/marketplace.json",
    ".claude-plugin/marketplace.json",
];

/// Copilot's own folder.
pub(crate) fn copilot_home(env: &Environment) -> PathBuf {
    env.var_path("COPILOT_HOME").unwrap_or_else(|| env.home.join(".copilot"))
}

/// The settings that a person writes.
pub(super) fn copilot_settings(env: &Environment, reasons: &mut Vec<Reason>) -> Value {
    let path = copilot_home(env).join("settings.json");
    kept(host_files::read_json(&path), reasons).unwrap_or_default()
}

pub(super) fn find(env: &Environment, found: &mut PluginFinder) {
    let settings = copilot_settings(env, &mut found.reasons);
    let record = copilot_home(env).join("config.json");
    let config = kept(host_files::read_json(&record), &mut found.reasons).unwrap_or_default();
    let installed = config.get("installedPlugins").and_then(Value::as_array);
    for plugin in installed.into_iter().flatten().take(MAX_PLUGINS) {
        let text = |key: &str| plugin.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, market) = (text("name"), text("marketplace"));
        let root = PathBuf::from(text("cache_path"));
        if !root.is_absolute() || !root.is_dir() {
            let detail = format!("{} is installed, and its folder is missing", clipped(name));
            found.report(skipped(detail, &record).severity(ReasonSeverity::Warn));
            continue;
        }
        let recorded = plugin.get("enabled").and_then(Value::as_bool);
        add(name, market, &root, switch(&settings, name, market, recorded), found);
    }
    // A plugin of a marketplace that is a folder here is used in place.
    let switched = settings.get("enabledPlugins").and_then(Value::as_object);
    for id in switched.into_iter().flatten().map(|(id, _)| id).take(MAX_PLUGINS) {
        let Some((name, market)) = id.rsplit_once('@') else { continue };
        if let Some(root) = place_in_market(&settings, market, name, &mut found.reasons) {
            add(name, market, &root, switch(&settings, name, market, None), found);
        }
    }
}

fn add(
    name: &str,
    market: &str,
    root: &Path,
    (state, detail): (PluginState, &'static str),
    found: &mut PluginFinder,
) {
    if !is_plain_name(name) {
        found.report(skipped(format!("its name cannot be used: {}", clipped(name)), root));
        return;
    }
    if !found.admit(&format!("{name}@{market}"), root) {
        return;
    }
    let manifest = MANIFESTS
        .iter()
        .find_map(|path| kept(host_files::read_json(&root.join(path)), &mut found.reasons))
        .unwrap_or_default();
    let origin = PluginOrigin {
        host: "copilot".to_owned(),
        name: name.to_owned(),
        version: manifest.get("version").and_then(Value::as_str).map(clipped),
        marketplace: (!market.is_empty()).then(|| clipped(market)),
        state,
        detail: Some(detail.to_owned()),
    };
    let named = named_folders(&manifest);
    // A manifest that names its folders means these alone.
    let usual: &[&str] = if named.is_empty() { &["skills"] } else { &[] };
    found.add(root, &origin, &named, usual, &SHAPE);
}

/// Whether a plugin is on: as the settings say, else as its installation was recorded.
fn switch(
    settings: &Value,
    name: &str,
    market: &str,
    recorded: Option<bool>,
) -> (PluginState, &'static str) {
    let ids = [format!("{name}@{market}"), name.to_owned()];
    let switches = settings.get("enabledPlugins");
    let said = ids.iter().find_map(|id| switches?.get(id)?.as_bool());
    match (said, recorded) {
        (Some(true), _) => (PluginState::Enabled, "settings.json switches it on"),
        (Some(false), _) => (PluginState::Disabled, "settings.json switches it off"),
        (None, Some(false)) => (PluginState::Disabled, "config.json switches it off"),
        (None, Some(true)) => (PluginState::Enabled, "config.json switches it on"),
        (None, None) => (PluginState::Disabled, "no settings switch it on"),
    }
}

/// Where a plugin lies in a marketplace that is a folder of this machine.
fn place_in_market(
    settings: &Value,
    market: &str,
    plugin: &str,
    reasons: &mut Vec<Reason>,
) -> Option<PathBuf> {
    let source = settings.get("extraKnownMarketplaces")?.get(market)?.get("source")?;
    let is_folder = source.get("source").and_then(Value::as_str) == Some("directory");
    let home = source.get("path").and_then(Value::as_str).filter(|_| is_folder)?;
    let home = PathBuf::from(home);
    let list =
        LISTS.iter().find_map(|list| kept(host_files::read_json(&home.join(list)), reasons))?;
    let plugins = list.get("plugins").and_then(Value::as_array)?;
    let named = |offer: &&Value| offer.get("name").and_then(Value::as_str) == Some(plugin);
    let path = plugins.iter().find(named)?.get("source")?.as_str()?;
    let below = list.get("metadata").and_then(|about| about.get("pluginRoot")?.as_str());
    let tidy = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    let path = match below.map(tidy) {
        Some(below) if !path.starts_with("./") && !below.is_empty() => {
            format!("{below}/{}", tidy(path))
        }
        _ => tidy(path),
    };
    folder_inside(&home, plugin, &path).map_err(|reason| reasons.push(reason)).ok()
}
