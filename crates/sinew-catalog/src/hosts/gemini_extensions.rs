//! Gemini CLI's extensions, and which folders it trusts.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_settings::{Environment, Reason, ReasonSeverity};

use super::host_files::{self, kept, system_path};
use super::plugin_folder::{
    FolderShape, MAX_PLUGINS, PluginFinder, child_folders, clipped, is_plain_name, skipped,
};
use super::plugin_origin::{PluginOrigin, PluginState};

/// Gemini CLI reads `skills/SKILL.md` and `skills/<folder>/SKILL.md`.
const SHAPE: FolderShape = FolderShape { prefixed: false, depth: Some(1) };

/// Gemini CLI's own folder.
pub(super) fn gemini_home(env: &Environment) -> PathBuf {
    env.var_path("GEMINI_CLI_HOME").unwrap_or_else(|| env.home.clone()).join(".gemini")
}

/// Gemini CLI's settings, the file that decides first: system, workspace, user.
pub(super) fn gemini_settings(
    workspace: &Path,
    env: &Environment,
    reasons: &mut Vec<Reason>,
) -> Vec<(&'static str, Value)> {
    let system = match env.os.as_str() {
        "darwin" => "/Library/Application Support/GeminiCli/settings.json",
        "win32" => "C:/ProgramData/gemini-cli/settings.json",
        _ => "/etc/gemini-cli/settings.json",
    };
    let system =
        env.var_path("GEMINI_CLI_SYSTEM_SETTINGS_PATH").unwrap_or_else(|| system_path(env, system));
    let files = [
        ("system", system),
        ("project", workspace.join(".gemini/settings.json")),
        ("user", gemini_home(env).join("settings.json")),
    ];
    let read = files.into_iter();
    read.filter_map(|(scope, path)| Some((scope, kept(host_files::read_json(&path), reasons)?)))
        .collect()
}

pub(super) fn find(workspace: &Path, env: &Environment, found: &mut PluginFinder) {
    let folder = gemini_home(env).join("extensions");
    if !folder.is_dir() {
        return;
    }
    let rules = folder.join("extension-enablement.json");
    let rules = kept(host_files::read_json(&rules), &mut found.reasons).unwrap_or_default();
    for installed in child_folders(&folder).into_iter().take(MAX_PLUGINS) {
        let record = installed.join(".gemini-extension-install.json");
        let record = kept(host_files::read_json(&record), &mut found.reasons).unwrap_or_default();
        let text =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        // A linked extension is used where it is.
        let linked =
            text(&record, "source").filter(|_| text(&record, "type").as_deref() == Some("link"));
        let root = linked.map_or(installed, PathBuf::from);
        let Some(manifest) =
            kept(host_files::read_json(&root.join("gemini-extension.json")), &mut found.reasons)
        else {
            let detail = "it has no gemini-extension.json that can be read".to_owned();
            found.report(skipped(detail, &root).severity(ReasonSeverity::Warn));
            continue;
        };
        let Some(name) = text(&manifest, "name").filter(|name| is_plain_name(name)) else {
            found.report(skipped("its name cannot be used".to_owned(), &root));
            continue;
        };
        if !found.admit(&name, &root) {
            continue;
        }
        let on = is_enabled(&rules, &name, workspace);
        let origin = PluginOrigin {
            host: "gemini".to_owned(),
            version: text(&manifest, "version").map(|version| clipped(&version)),
            marketplace: None,
            state: if on { PluginState::Enabled } else { PluginState::Disabled },
            detail: (!on).then(|| "extension-enablement.json switches it off here".to_owned()),
            name,
        };
        found.add(&root, &origin, &[], &["skills"], &SHAPE);
    }
}

/// Whether an extension is on in a folder: its rules are paths, `!` before one switches off, a `*` after
/// it means the folders below, and the last rule that fits counts.
fn is_enabled(rules: &Value, name: &str, workspace: &Path) -> bool {
    let overrides =
        rules.get(name).and_then(|rule| rule.get("overrides")).and_then(Value::as_array);
    let mut on = true;
    for rule in overrides.into_iter().flatten().filter_map(Value::as_str) {
        let (switches_on, path) = match rule.strip_prefix('!') {
            Some(path) => (false, path),
            None => (true, rule),
        };
        let (below, path) = match path.strip_suffix('*') {
            Some(path) => (true, path),
            None => (false, path),
        };
        let path = Path::new(path.trim_end_matches('/'));
        if workspace == path || (below && workspace.starts_with(path)) {
            on = switches_on;
        }
    }
    on
}

/// Whether Gemini CLI trusts a folder: it reads a project's skills in no other.
pub(crate) fn is_trusted(workspace: &Path, env: &Environment, reasons: &mut Vec<Reason>) -> bool {
    let settings = gemini_settings(workspace, env, reasons);
    // A project cannot say that it is to be trusted.
    let asked =
        settings.iter().filter(|(scope, _)| *scope != "project").find_map(|(_, settings)| {
            settings.get("security")?.get("folderTrust")?.get("enabled")?.as_bool()
        });
    if asked == Some(false) {
        return true;
    }
    let path = env
        .var_path("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
        .unwrap_or_else(|| gemini_home(env).join("trustedFolders.json"));
    let rules = kept(host_files::read_json(&path), reasons).unwrap_or_default();
    let workspace = std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_path_buf());
    // The longest path that fits decides.
    let mut decision: Option<(usize, bool)> = None;
    for (path, word) in rules.as_object().into_iter().flatten() {
        let written = PathBuf::from(path);
        let real = std::fs::canonicalize(&written).unwrap_or(written);
        let (folder, trusted) = match word.as_str() {
            Some("TRUST_FOLDER") => (real, true),
            Some("TRUST_PARENT") => (real.parent().map_or(real.clone(), Path::to_path_buf), true),
            Some("DO_NOT_TRUST") => (real, false),
            _ => continue,
        };
        let length = folder.components().count();
        if workspace.starts_with(&folder) && decision.is_none_or(|(known, _)| length > known) {
            decision = Some((length, trusted));
        }
    }
    decision.is_some_and(|(_, trusted)| trusted)
}
