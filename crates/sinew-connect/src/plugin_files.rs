//! The plugins that the program carries, as files. They are those of `integrations/`, which is where they
//! are changed; a test keeps both the same.

use crate::agents::PluginFile;

macro_rules! plugin_files {
    ($folder:literal: $($name:literal)*) => {
        &[$(PluginFile {
            name: $name,
            text: include_str!(concat!("../data/", $folder, "/", $name)),
        }),*]
    };
}

pub(crate) const OPENCLAW: &[PluginFile] =
    plugin_files!("openclaw": "package.json" "openclaw.plugin.json" "index.js");

pub(crate) const OPENCODE: &[PluginFile] = plugin_files!("opencode": "sinew.js");

pub(crate) const OPENPOCKET: &[PluginFile] = plugin_files!("openpocket": "SKILL.md");

/// The line of a plugin that names the program, where the agent's configuration cannot.
pub(crate) const PROGRAM_LINE: &str = "const PROGRAM = \"sinew\";";
