//! Where the configuration comes from, and bringing OpenClaw's over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::{Config, Environment, Profile, path_text};
use sinew_guard::atomic::{self, Access, Lock};
use sinew_skill::{Code, Reason};

use crate::{Error, ErrorKind};

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
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) source: ConfigSource,
}

/// The file a profile is configured by, unless the caller names another.
pub(crate) fn default_path(profile: &Profile, env: &Environment) -> PathBuf {
    if let Some(path) = env.var_path("SINEW_CONFIG") {
        return path;
    }
    match profile.name {
        "openclaw" => env.openclaw_config(),
        "openpocket" => env.openpocket_home().join("config.json"),
        _ => env.sinew_home().join("config.json5"),
    }
}

/// Reads a configuration. A file that is not there means the defaults; one that cannot be read is
/// a reason, and means the defaults too.
pub(crate) fn load(path: PathBuf) -> Loaded {
    let (config, mut reasons, exists) = match read_text(&path) {
        Ok(text) => {
            let (config, reasons) = Config::from_text(&text);
            (config, reasons, true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            (Config::default(), Vec::new(), false)
        }
        Err(error) => {
            let reason =
                Reason::new(Code::BadConfigValue, format!("the file cannot be read: {error}"))
                    .remedy("correct the file; until then every default holds");
            (Config::default(), vec![reason], true)
        }
    };
    for reason in &mut reasons {
        reason.path = Some(path_text(&path));
    }
    Loaded { config, reasons, source: ConfigSource { path, exists } }
}

fn read_text(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > MAX_CONFIG {
        return Err(io::Error::other("it is too large"));
    }
    fs::read_to_string(path)
}

/// What an import brought over.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// The file that was read.
    pub from: PathBuf,
    /// The file that was written, unless this was a trial.
    pub to: PathBuf,
    /// The sections that came over.
    pub sections: Vec<String>,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
    /// The text that was written or would be.
    #[serde(skip)]
    pub text: String,
}

/// Sections that mean the same to both programs.
const SECTIONS: &[&str] = &["skills", "agents", "plugins"];

/// Copies the sections that both programs share from OpenClaw's configuration into sinew's.
pub(crate) fn import_openclaw(env: &Environment, write: bool) -> Result<Import, Error> {
    let from = env.openclaw_config();
    let text = read_text(&from).map_err(|error| {
        Error::file("read", &from, &error)
            .hint("set OPENCLAW_CONFIG_PATH when OpenClaw keeps its configuration elsewhere")
    })?;
    let theirs: serde_json::Value = json5::from_str(&text).map_err(|error| {
        Error::new(
            ErrorKind::Environment,
            "bad-config",
            format!("{} is not JSON5: {error}", from.display()),
        )
    })?;
    let to = env.sinew_home().join("config.json5");
    let lock = write.then(|| Lock::acquire(&env.sinew_home().join("config.lock")));
    if let Some(Err(error)) = &lock {
        return Err(Error::file("lock", &to, error));
    }
    let existing = match read_text(&to) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::file("read", &to, &error)),
    };
    let mut ours: serde_json::Value = match existing.as_deref().map(json5::from_str) {
        None => serde_json::json!({}),
        Some(Ok(tree @ serde_json::Value::Object(_))) => tree,
        Some(_) => {
            return Err(Error::new(
                ErrorKind::Environment,
                "bad-config",
                format!("{} is not a JSON5 map", to.display()),
            )
            .hint("correct or remove it, then import again"));
        }
    };
    let mut sections = Vec::new();
    for section in SECTIONS {
        if let (Some(value), Some(map)) = (theirs.get(section), ours.as_object_mut()) {
            map.insert((*section).to_owned(), value.clone());
            sections.push((*section).to_owned());
        }
    }
    let text = serde_json::to_string_pretty(&ours).unwrap_or_default() + "\n";
    let mut import = Import { from, to, sections, backup: None, text };
    if write {
        let failed = |error: io::Error| Error::file("write", &import.to, &error);
        if existing.is_some() {
            import.backup = Some(atomic::backup(&import.to).map_err(failed)?);
        }
        let failed = |error: io::Error| Error::file("write", &import.to, &error);
        atomic::write(&import.to, import.text.as_bytes(), Access::OwnerOnly).map_err(failed)?;
    }
    Ok(import)
}
