//! What installed hosts bring: their packages, their plugins, their switches.
//!
//! A host keeps skills in more places than folders of its own: inside its package, in plugins that it
//! installed, in folders that its settings name. These modules read the files that say so, each as its
//! owner does. All of these files are untrusted: they are bounded in size, a path in them must stay in
//! the folder it belongs to, and whatever cannot be used is a reason, never an error.

mod claude_plugins;
mod codex_plugins;
mod copilot_plugins;
mod gemini_extensions;
mod host_files;
mod host_package;
mod openclaw_plugins;
mod plugin_folder;
mod plugin_origin;
mod project_scope;
mod settings_switches;

pub(crate) use copilot_plugins::copilot_home;
pub(crate) use gemini_extensions::is_trusted as gemini_trusts;
pub(crate) use host_files::system_path;
pub use host_package::{HostPackage, find_host_package};
pub(crate) use openclaw_plugins::{active_plugins, plugin_links};
pub(crate) use plugin_folder::PluginFolder;
pub use plugin_origin::{PluginOrigin, PluginState};
pub(crate) use project_scope::{folders_below, folders_to_project_root};
pub use settings_switches::{HostSwitch, HostSwitches};
pub(crate) use settings_switches::{SwitchTable, read_switches};

use std::path::Path;

use sinew_settings::{Config, Environment, Reason};

/// Whose plugins are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginHost {
    /// Claude Code: `installed_plugins.json` and `enabledPlugins`.
    ClaudeCode,
    /// Codex: `[plugins]` of `config.toml`, and its cache.
    Codex,
    /// Copilot CLI: `installedPlugins`, `enabledPlugins`, and marketplaces that are folders.
    Copilot,
    /// Gemini CLI: its extensions.
    Gemini,
    /// OpenClaw: those of its package, `extensions/`, and `plugins.load.paths`.
    OpenClaw,
    /// Folders that each hold one plugin, for hosts that keep no further record.
    Folders(&'static str),
}

/// The folders with skills of a host's plugins, in the host's order, and what was left out.
pub(crate) fn plugin_folders(
    host: PluginHost,
    workspace: &Path,
    config: &Config,
    env: &Environment,
) -> (Vec<PluginFolder>, Vec<Reason>) {
    let mut found = plugin_folder::PluginFinder::default();
    match host {
        PluginHost::ClaudeCode => claude_plugins::find(workspace, env, &mut found),
        PluginHost::Codex => codex_plugins::find(env, &mut found),
        PluginHost::Copilot => copilot_plugins::find(env, &mut found),
        PluginHost::Gemini => gemini_extensions::find(workspace, env, &mut found),
        PluginHost::OpenClaw => openclaw_plugins::find(workspace, config, env, &mut found),
        PluginHost::Folders(template) => plugin_folder::find_in(template, env, &mut found),
    }
    found.finish()
}
