//! Tokens: one per origin, stored so that only their owner can read them.
//!
//! **Must never happen here:** a token for one origin used for another.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_guard::private_files::{self, PrivateFileError};
use sinew_settings::{Environment, ErrorCode};
use url::Url;

use crate::error::HubError;
use crate::net::{AccessToken, origin};

#[derive(Debug, Default, Serialize, Deserialize)]
struct CredentialsFile {
    #[serde(default)]
    tokens: BTreeMap<String, String>,
}

/// The upstream client's own file: one registry and its token.
#[derive(Debug, Deserialize)]
struct ClawhubConfig {
    registry: Option<String>,
    token: Option<String>,
}

/// Where tokens are stored.
#[derive(Debug)]
pub struct RegistryCredentials<'a> {
    env: &'a Environment,
}

impl<'a> RegistryCredentials<'a> {
    /// The credentials of this machine.
    pub fn new(env: &'a Environment) -> Self {
        Self { env }
    }

    /// sinew's own file.
    pub fn path(&self) -> PathBuf {
        self.env.sinew_home().join("credentials.json")
    }

    /// The token for a registry; tokens from the environment are for the default registry only.
    pub fn find(&self, base: &Url, is_default: bool) -> Result<Option<AccessToken>, HubError> {
        if is_default {
            for name in ["SINEW_TOKEN", "CLAWHUB_TOKEN", "CLAWHUB_AUTH_TOKEN"] {
                if let Some(token) = self.env.var(name).and_then(AccessToken::new) {
                    return Ok(Some(token));
                }
            }
        }
        if let Some(token) = self.load()?.tokens.get(&origin(base)) {
            return Ok(AccessToken::new(token));
        }
        Ok(self.upstream(base))
    }

    /// Stores a token for an origin.
    pub fn save(&self, base: &Url, token: &AccessToken) -> Result<(), HubError> {
        self.change(|stored| {
            stored.tokens.insert(origin(base), token.expose().to_owned());
        })
    }

    /// Deletes the token of an origin.
    pub fn remove(&self, base: &Url) -> Result<(), HubError> {
        self.change(|stored| drop(stored.tokens.remove(&origin(base))))
    }

    fn change(&self, change: impl FnOnce(&mut CredentialsFile)) -> Result<(), HubError> {
        let path = self.path();
        let failed = |error: std::io::Error| HubError::file("write", &path, error);
        private_files::create_folder(&self.env.sinew_home()).map_err(failed)?;
        let _lock = FileLock::acquire(&path.with_extension("lock")).map_err(failed)?;
        let mut stored = self.load()?;
        change(&mut stored);
        let text = serde_json::to_string_pretty(&stored).unwrap_or_default() + "\n";
        atomic::write(&path, text.as_bytes(), FileAccess::OwnerOnly).map_err(failed)
    }

    fn load(&self) -> Result<CredentialsFile, HubError> {
        let path = self.path();
        let bytes = match private_files::read(&path) {
            Ok(bytes) => bytes,
            Err(PrivateFileError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(CredentialsFile::default());
            }
            Err(error) => {
                let message = format!("{} is not used: {error}", path.display());
                return Err(HubError::new(ErrorCode::Auth, message)
                    .hint(format!("chmod 600 {}", path.display())));
            }
        };
        serde_json::from_slice(&bytes).map_err(|_| {
            // The parser's message could quote a piece of the file, and that is a secret.
            HubError::new(ErrorCode::Auth, format!("{} is not readable JSON", path.display()))
                .hint("remove it and log in again: sinew registry login")
        })
    }

    /// The upstream client's token, if it is for exactly this origin.
    fn upstream(&self, base: &Url) -> Option<AccessToken> {
        let env = self.env;
        let path = env.var_path("CLAWHUB_CONFIG_PATH").unwrap_or_else(|| {
            let folder = match env.os.as_str() {
                "darwin" => env.home.join("Library/Application Support"),
                _ => env.var_path("XDG_CONFIG_HOME").unwrap_or_else(|| env.home.join(".config")),
            };
            folder.join("clawhub/config.json")
        });
        let config: ClawhubConfig = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let registry = Url::parse(&config.registry?).ok()?;
        (origin(&registry) == origin(base)).then(|| AccessToken::new(&config.token?)).flatten()
    }
}
