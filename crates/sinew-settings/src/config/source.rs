//! The file that a configuration is read from.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;

use super::Config;
use crate::{Environment, Reason, path_text};

/// A configuration larger than this is a mistake.
const MAX_CONFIG: u64 = 4 * 1024 * 1024;

/// Where the configuration was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigSource {
    /// The file.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// A configuration, what was wrong with it, and where it came from.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    /// The configuration, defaults where it says nothing usable.
    pub config: Config,
    /// What was wrong with it.
    pub reasons: Vec<Reason>,
    /// Where it came from.
    pub source: ConfigSource,
}

impl LoadedConfig {
    /// Reads a file. One that is not there means the defaults; one that cannot be read is a reason,
    /// and closes the gate.
    pub fn read(path: PathBuf) -> Self {
        let (config, mut reasons, exists) = match read_config_text(&path) {
            Ok(text) => {
                let (config, reasons) = Config::from_text(&text);
                (config, reasons, true)
            }
            // A file where the folder should be holds no configuration either.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                (Config::default(), Vec::new(), false)
            }
            Err(error) => {
                let (config, reasons) = Config::closed(format!("the file cannot be read: {error}"));
                (config, reasons, true)
            }
        };
        for reason in &mut reasons {
            reason.path = Some(path_text(&path));
        }
        Self { config, reasons, source: ConfigSource { path, exists } }
    }
}

/// The text of a configuration file, as far as it can be one.
pub fn read_config_text(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > MAX_CONFIG {
        return Err(io::Error::other("it is too large"));
    }
    fs::read_to_string(path)
}

impl Environment {
    /// The file that a profile is configured by, unless the caller names another.
    pub fn config_path(&self, profile: &str) -> PathBuf {
        if let Some(path) = self.var_path("SINEW_CONFIG") {
            return path;
        }
        match profile {
            "openclaw" => self.openclaw_config(),
            "openpocket" => self.openpocket_home().join("config.json"),
            _ => self.sinew_home().join("config.json5"),
        }
    }
}
