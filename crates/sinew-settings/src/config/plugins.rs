//! `plugins`: what contributes skills and commands.

use super::section::section;

section! {
    /// `plugins`: what contributes skills and commands.
    pub struct PluginsSection at "plugins" {
        /// Whether plugins contribute skills and commands.
        "enabled" => enabled: bool = true;
        /// Folders of plugins, in order.
        "load.paths" => paths: Vec<String> = Vec::new();
        /// The one memory plugin that contributes.
        "slots.memory" => memory_slot: Option<String> = None;
        also {
            /// Plugins that are switched off.
            disabled: Vec<String> = Vec::new();
        }
    }
}

section! {
    /// `plugins.entries.<id>`: one plugin.
    pub struct PluginEntry at "plugins.entries.<id>" {
        /// false switches the plugin off.
        "enabled" => enabled: bool = true;
    }
}
