//! Claude Code's plugins: what is installed, which of it is switched on, and where its skills are.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_settings::{Environment, Reason, ReasonSeverity};

use super::host_files::{self, kept, system_path};
use super::plugin_folder::{
    FolderShape, MAX_PLUGINS, PluginFinder, clipped, folder_inside, is_plain_name, named_folders,
    skipped,
};
use super::plugin_origin::{PluginOrigin, PluginState};

/// Claude Code reads `skills/<folder>/SKILL.md` and no deeper, and names a skill after its folder.
const SHAPE: FolderShape = FolderShape { prefixed: true, depth: Some(1) };

/// Claude Code's own folder.
pub(super) fn claude_home(env: &Environment) -> PathBuf {
    env.var_path("CLAUDE_CONFIG_DIR").unwrap_or_else(|| env.home.join(".claude"))
}

/// One of Claude Code's settings files.
pub(super) struct ClaudeSettings {
    /// Whose settings they are, as a person would say it.
    pub(super) scope: &'static str,
    pub(super) value: Value,
}

/// Every settings file that applies, the one that decides first: managed, local, project, user.
pub(super) fn claude_settings(
    workspace: &Path,
    env: &Environment,
    reasons: &mut Vec<Reason>,
) -> Vec<ClaudeSettings> {
    let managed = match env.os.as_str() {
        "darwin" => "/Library/Application Support/ClaudeCode/managed-settings.json",
        "win32" => "C:/Program Files/ClaudeCode/managed-settings.json",
        _ => "/etc/claude-code/managed-settings.json",
    };
    let files = [
        ("managed", system_path(env, managed)),
        ("local", workspace.join(".claude/settings.local.json")),
        ("project", workspace.join(".claude/settings.json")),
        ("user", claude_home(env).join("settings.json")),
    ];
    let read = files.into_iter().filter_map(|(scope, path)| {
        let value = kept(host_files::read_json(&path), reasons)?;
        Some(ClaudeSettings { scope, value })
    });
    read.collect()
}

pub(super) fn find(workspace: &Path, env: &Environment, found: &mut PluginFinder) {
    let folder = claude_home(env).join("plugins");
    let record = folder.join("installed_plugins.json");
    let Some(installed) = kept(host_files::read_json(&record), &mut found.reasons) else { return };
    let Some(plugins) = installed.get("plugins").and_then(Value::as_object) else { return };
    let settings = claude_settings(workspace, env, &mut found.reasons);
    let marketplaces =
        kept(host_files::read_json(&folder.join("known_marketplaces.json")), &mut found.reasons)
            .unwrap_or_default();
    for (id, installs) in plugins.iter().take(MAX_PLUGINS) {
        let (name, marketplace) = id.rsplit_once('@').unwrap_or((id, ""));
        if !is_plain_name(name) {
            found.report(skipped(format!("its name cannot be used: {}", clipped(id)), &record));
            continue;
        }
        // One install, or one for each scope.
        let all = match installs {
            Value::Array(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        let Some(install) = install_for(all, workspace) else {
            let detail = format!("{} is installed for another project", clipped(id));
            found.report(skipped(detail, &record));
            continue;
        };
        let Some(path) = install.get("installPath").and_then(Value::as_str) else {
            let detail = format!("{} has no installPath", clipped(id));
            found.report(skipped(detail, &record).severity(ReasonSeverity::Warn));
            continue;
        };
        let offer = MarketplaceOffer::read(&marketplaces, marketplace, name, &mut found.reasons);
        let root = offer.folder.clone().unwrap_or_else(|| PathBuf::from(path));
        if !root.is_absolute() || !root.is_dir() {
            let detail = format!("{} is installed, and its folder is missing", clipped(id));
            found.report(
                skipped(detail, &root)
                    .severity(ReasonSeverity::Warn)
                    .remedy(format!("run `claude plugin install {}`", clipped(id))),
            );
            continue;
        }
        if !found.admit(id, &root) {
            continue;
        }
        let manifest = root.join(".claude-plugin/plugin.json");
        let manifest =
            kept(host_files::read_json(&manifest), &mut found.reasons).unwrap_or_default();
        let (state, detail) = switch(&settings, id);
        let written = manifest.get("version").or_else(|| install.get("version"));
        let origin = PluginOrigin {
            host: "claude-code".to_owned(),
            name: name.to_owned(),
            version: written.and_then(Value::as_str).map(clipped),
            marketplace: (!marketplace.is_empty()).then(|| clipped(marketplace)),
            state,
            detail: Some(detail),
        };
        let mut named = named_folders(&manifest);
        named.extend(offer.skills.iter().cloned());
        // A marketplace that lists the skills of a plugin means these and no others.
        let usual: &[&str] = if offer.skills.is_empty() { &["skills"] } else { &[] };
        found.add(&root, &origin, &named, usual, &SHAPE);
    }
}

/// The install that counts here: one for this project, else one for the user or the machine.
fn install_for<'a>(installs: &'a [Value], workspace: &Path) -> Option<&'a Value> {
    let project =
        |install: &Value| install.get("projectPath").and_then(Value::as_str).map(PathBuf::from);
    let here = |install: &&Value| project(install).is_some_and(|path| workspace.starts_with(path));
    installs.iter().find(here).or_else(|| installs.iter().find(|one| project(one).is_none()))
}

/// Whether a plugin is on, and which settings say so.
fn switch(settings: &[ClaudeSettings], id: &str) -> (PluginState, String) {
    let written = settings.iter().find_map(|settings| {
        let on = settings.value.get("enabledPlugins")?.get(id)?.as_bool()?;
        Some((on, settings.scope))
    });
    match written {
        Some((true, scope)) => (PluginState::Enabled, format!("the {scope} settings switch it on")),
        Some((false, scope)) => {
            (PluginState::Disabled, format!("the {scope} settings switch it off"))
        }
        None => (PluginState::Disabled, "no settings switch it on".to_owned()),
    }
}

/// What the marketplace says about a plugin.
#[derive(Debug, Default)]
struct MarketplaceOffer {
    /// A marketplace that is a folder here is used in place.
    folder: Option<PathBuf>,
    /// The skills that it lists for the plugin.
    skills: Vec<String>,
}

impl MarketplaceOffer {
    fn read(known: &Value, marketplace: &str, plugin: &str, reasons: &mut Vec<Reason>) -> Self {
        let Some(entry) = known.get(marketplace) else { return Self::default() };
        let Some(home) = entry.get("installLocation").and_then(Value::as_str) else {
            return Self::default();
        };
        let home = PathBuf::from(home);
        let list = home.join(".claude-plugin/marketplace.json");
        let Some(list) = kept(host_files::read_json(&list), reasons) else {
            return Self::default();
        };
        let plugins = list.get("plugins").and_then(Value::as_array);
        let named = |offer: &&Value| offer.get("name").and_then(Value::as_str) == Some(plugin);
        let Some(offer) = plugins.into_iter().flatten().find(named) else { return Self::default() };
        let kind = entry.get("source").and_then(|source| source.get("source"));
        let in_place = kind.and_then(Value::as_str) == Some("directory");
        let path = offer.get("source").and_then(Value::as_str).filter(|_| in_place);
        let folder = path.and_then(|path| {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            folder_inside(&home, plugin, path).map_err(|reason| reasons.push(reason)).ok()
        });
        Self { folder, skills: named_folders(offer) }
    }
}
