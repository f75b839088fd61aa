//! A folder of skills that a plugin brings, and how it is checked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use sinew_guard::containment;
use sinew_settings::{Environment, Reason, ReasonCode, ReasonSeverity, path_text};

use super::host_files;
use super::plugin_origin::{PluginOrigin, PluginState};

/// More plugins than this are an accident or an attack; a busy machine has some dozens.
pub(super) const MAX_PLUGINS: usize = 500;

/// Folders that one manifest may name.
const MAX_FOLDERS: usize = 32;

/// Names in records are cut to this: they come from files of others.
const MAX_NAME: usize = 128;

/// A folder of skills of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginFolder {
    pub(crate) path: PathBuf,
    pub(crate) origin: PluginOrigin,
    /// What stands before the names of its skills, where the host puts the plugin's name there.
    pub(crate) prefix: Option<String>,
    /// How deep skills are looked for, if the host has a rule.
    pub(crate) depth: Option<usize>,
}

/// Gathers folders and reasons; of two plugins with one id, the first counts.
#[derive(Debug, Default)]
pub(super) struct PluginFinder {
    pub(super) folders: Vec<PluginFolder>,
    pub(super) reasons: Vec<Reason>,
    seen: BTreeSet<String>,
}

impl PluginFinder {
    /// Whether a plugin of that id may be added; a second one is reported.
    pub(super) fn admit(&mut self, id: &str, place: &Path) -> bool {
        if self.seen.len() >= MAX_PLUGINS {
            let reason = skipped(format!("there are more than {MAX_PLUGINS} plugins"), place)
                .severity(ReasonSeverity::Warn)
                .remedy("remove plugins that are not used");
            if !self.reasons.contains(&reason) {
                self.reasons.push(reason);
            }
            return false;
        }
        if self.seen.insert(id.to_owned()) {
            return true;
        }
        let detail = format!("another plugin is called {} and was found first", clipped(id));
        self.reasons.push(skipped(detail, place).severity(ReasonSeverity::Warn));
        false
    }

    pub(super) fn report(&mut self, reason: Reason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Adds the folders of a plugin: those that it names and those that are usual, as far as they lie
    /// inside it. A missing usual folder is no fault.
    pub(super) fn add(
        &mut self,
        root: &Path,
        origin: &PluginOrigin,
        named: &[String],
        usual: &[&str],
        shape: &FolderShape,
    ) {
        if named.len() > MAX_FOLDERS {
            let detail = format!("{} names more than {MAX_FOLDERS} folders", origin.name);
            self.report(skipped(detail, root).severity(ReasonSeverity::Warn));
        }
        let usual = usual.iter().filter(|path| root.join(path).is_dir()).map(|p| (*p).to_owned());
        let mut paths: Vec<String> = usual.collect();
        for path in named.iter().take(MAX_FOLDERS) {
            let tidy = path.trim().trim_start_matches("./").trim_end_matches('/').to_owned();
            if !paths.contains(&tidy) {
                paths.push(tidy);
            }
        }
        for path in paths {
            match folder_inside(root, &origin.name, &path) {
                Ok(folder) => self.folders.push(PluginFolder {
                    path: folder,
                    origin: origin.clone(),
                    prefix: shape.prefixed.then(|| origin.name.clone()),
                    depth: shape.depth,
                }),
                Err(reason) => self.report(reason),
            }
        }
    }

    pub(super) fn finish(self) -> (Vec<PluginFolder>, Vec<Reason>) {
        (self.folders, self.reasons)
    }
}

/// How a host reads the folders of its plugins.
#[derive(Debug, Clone, Copy)]
pub(super) struct FolderShape {
    /// Whether the plugin's name stands before those of its skills.
    pub(super) prefixed: bool,
    /// How deep it looks.
    pub(super) depth: Option<usize>,
}

pub(super) fn skipped(detail: String, place: &Path) -> Reason {
    Reason::new(ReasonCode::PluginSkipped, detail).path(path_text(place))
}

pub(super) fn clipped(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}

/// Whether text can be a plugin's name: it becomes part of the names of skills and of paths.
pub(super) fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "-_. @/".contains(c);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain) && !name.contains("..")
}

/// A folder that is inside its plugin, both by name and after following links.
pub(super) fn folder_inside(plugin: &Path, id: &str, relative: &str) -> Result<PathBuf, Reason> {
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let folder = if relative.is_empty() || relative == "." {
        plugin.to_path_buf()
    } else {
        plugin.join(relative)
    };
    let inside_by_name = Path::new(relative).components().all(plain);
    match containment::resolve_inside(plugin, &folder) {
        Ok(Some(_)) if inside_by_name => Ok(folder),
        Ok(_) => Err(Reason::new(
            ReasonCode::PathEscape,
            format!("the plugin {} names {}, outside its folder", clipped(id), clipped(relative)),
        )
        .path(path_text(plugin))
        .remedy("keep a plugin's skills inside the plugin")),
        Err(_) if !inside_by_name => Err(Reason::new(
            ReasonCode::PathEscape,
            format!("the plugin {} names {}, outside its folder", clipped(id), clipped(relative)),
        )
        .path(path_text(plugin))
        .remedy("keep a plugin's skills inside the plugin")),
        Err(error) => Err(skipped(format!("{}: {error}", clipped(relative)), plugin)
            .severity(ReasonSeverity::Warn)
            .remedy("correct the manifest")),
    }
}

/// The paths that a manifest names under `skills`: one text or several.
pub(super) fn named_folders(manifest: &Value) -> Vec<String> {
    match manifest.get("skills") {
        Some(Value::String(path)) => vec![path.clone()],
        Some(Value::Array(paths)) => {
            paths.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// The manifests by which plugins of one format or another are known, best known first.
const MANIFESTS: &[&str] = &[
    ".claude-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".plugin/plugin.json",
    "plugin.json",
];

/// Plugins that are known by their folder alone. The template names the host, and ends in `/*` where each
/// folder is a plugin, or in `/*/*/*` where folders are marketplaces, plugins and versions.
pub(super) fn find_in(template: &str, env: &Environment, found: &mut PluginFinder) {
    let (host, path) = template.split_once('=').unwrap_or(("", template));
    let base = env.expand_home(path.trim_end_matches("/*"));
    if path.matches("/*").count() == 1 {
        for root in child_folders(&base) {
            add_folder(host, &root, None, found);
        }
        return;
    }
    for marketplace in child_folders(&base) {
        let name = marketplace.file_name().map(|name| name.to_string_lossy().into_owned());
        for plugin in child_folders(&marketplace) {
            // Versions are named by hashes; the one that came last is used.
            let changed = |folder: &PathBuf| fs::metadata(folder).and_then(|f| f.modified()).ok();
            if let Some(root) = child_folders(&plugin).into_iter().max_by_key(changed) {
                add_folder(host, &root, name.as_deref(), found);
            }
        }
    }
}

fn add_folder(host: &str, root: &Path, marketplace: Option<&str>, found: &mut PluginFinder) {
    let manifest = MANIFESTS.iter().find_map(|manifest| {
        host_files::kept(host_files::read_json(&root.join(manifest)), &mut found.reasons)
    });
    let Some(manifest) = manifest else { return };
    let folder_name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = manifest.get("name").and_then(Value::as_str).map(str::to_owned);
    let Some(name) = name.or(folder_name).filter(|name| is_plain_name(name)) else {
        found.report(skipped("its name cannot be used".to_owned(), root));
        return;
    };
    if !found.admit(&format!("{name}@{}", marketplace.unwrap_or_default()), root) {
        return;
    }
    let origin = PluginOrigin {
        host: host.to_owned(),
        version: manifest.get("version").and_then(Value::as_str).map(clipped),
        marketplace: marketplace.map(clipped),
        state: PluginState::Enabled,
        detail: marketplace.map(|_| {
            "it is installed; whether it is on, its host keeps in a database of its own".to_owned()
        }),
        name,
    };
    let shape = FolderShape { prefixed: true, depth: None };
    found.add(root, &origin, &named_folders(&manifest), &["skills"], &shape);
}

/// The folders below a folder, in byte order; links that leave it are not followed.
pub(super) fn child_folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let visible = |name: &std::ffi::OsStr| !name.to_string_lossy().starts_with('.');
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| visible(&entry.file_name()))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .take(MAX_PLUGINS * 2)
        .collect();
    folders.sort();
    folders
}
