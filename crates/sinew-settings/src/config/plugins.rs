//! `plugins`: what contributes skills and commands.

use super::section::section;

section! {
    /// `plugins`: what contributes skills and commands.
    pub struct PluginsSection at "plugins" {
        /// Whether plugins contribute skills and commands.
        "enabled" => enabled: bool = true;
        /// Folders of plugins, in order.
        "load.paths" => paths: Vec<String> = Vec::new();
        /// The one memory plugin that contributes; none switches memory off.
        "slots.memory" => memory_slot: Option<String> = None, shown "memory-core";
        /// If not empty, the plugins that may contribute.
        "allow" => allow: Vec<String> = Vec::new(), shown "all";
        /// Plugins that never contribute.
        "deny" => deny: Vec<String> = Vec::new();
        also {
            /// Plugins that are switched on by name.
            switched_on: Vec<String> = Vec::new();
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
