//! Reading and replacing another program's configuration file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::{CodedError, Environment, ErrorCode};

use super::agents::ConnectScope;
use super::edit::{ConfigDocument, ConfigEditError, ConfigFormat};

/// A larger file is not taken for a configuration.
const MAX_FILE: u64 = 16 << 20;

/// A file as it was found.
#[derive(Debug, Clone)]
pub(crate) struct AgentConfigFile {
    /// Its real path, with links resolved.
    pub(crate) path: PathBuf,
    /// `None` where there is none.
    pub(crate) text: Option<String>,
}

impl AgentConfigFile {
    /// Reads a file. A link is followed only where its target is the user's own.
    pub(crate) fn read(
        env: &Environment,
        workspace: &Path,
        path: &Path,
    ) -> Result<Self, CodedError> {
        let failed = |error: io::Error| CodedError::file("read", path, error);
        let path = match fs::symlink_metadata(path) {
            Ok(facts) if facts.is_symlink() => behind(env, workspace, path)?,
            Ok(_) => path.to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(failed(error)),
        };
        let text = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
            Ok(facts) if !facts.is_file() || facts.len() > MAX_FILE => {
                return Err(failed(io::Error::other(
                    "it is not a regular file, or too large for a configuration",
                )));
            }
            Ok(_) => Some(fs::read_to_string(&path).map_err(failed)?),
        };
        Ok(Self { path, text })
    }

    pub(crate) fn digest(&self) -> Option<String> {
        self.text.as_deref().map(digest)
    }

    pub(crate) fn document(&self, format: ConfigFormat) -> Result<ConfigDocument, CodedError> {
        ConfigDocument::read(format, self.text.as_deref().unwrap_or_default())
            .map_err(|trouble| unreadable_error(&self.path, &trouble))
    }

    /// Copies the file to a backup beside it.
    pub(crate) fn back_up(&self, stamp: &str) -> Result<Option<PathBuf>, CodedError> {
        let Some(text) = &self.text else { return Ok(None) };
        let failed = |error: io::Error| CodedError::file("back up", &self.path, error);
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let backup = (0..)
            .map(|number| match number {
                0 => format!("{name}.sinew-{stamp}.bak"),
                number => format!("{name}.sinew-{stamp}-{number}.bak"),
            })
            .map(|name| self.path.with_file_name(name))
            .find(|path| !path.exists())
            .unwrap_or_default();
        // The copy keeps the file's mode, because the backup holds the same secrets.
        fs::copy(&self.path, &backup).map_err(failed)?;
        match fs::read(&backup).map_err(failed)? == text.as_bytes() {
            true => Ok(Some(backup)),
            false => Err(changed(&self.path)),
        }
    }

    /// Replaces the file, unless it was changed since it was read.
    pub(crate) fn replace(&self, text: &str, scope: ConnectScope) -> Result<(), CodedError> {
        let now = match fs::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(CodedError::file("read", &self.path, error)),
        };
        if now.as_deref() != self.text.as_ref().map(String::as_bytes) {
            return Err(changed(&self.path));
        }
        let access = match (&self.text, scope) {
            (Some(_), _) => FileAccess::Same,
            (None, ConnectScope::User) => FileAccess::OwnerOnly,
            (None, ConnectScope::Project) => FileAccess::Shared,
        };
        atomic::write(&self.path, text.as_bytes(), access)
            .map_err(|error| CodedError::file("write", &self.path, error))
    }
}

pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The target of a link, where that is below the home or the project.
fn behind(env: &Environment, workspace: &Path, link: &Path) -> Result<PathBuf, CodedError> {
    let refused = |what: String| {
        CodedError::new(ErrorCode::LinkLeadsOut, what)
            .hint("replace the link with the file, or change the file yourself")
    };
    let target = fs::canonicalize(link)
        .map_err(|_| refused(format!("{} is a broken link", link.display())))?;
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match target.starts_with(real(&env.home)) || target.starts_with(real(workspace)) {
        true => Ok(target),
        false => Err(refused(format!(
            "{} is a link to {}, which is not below your home",
            link.display(),
            target.display()
        ))),
    }
}

fn changed(path: &Path) -> CodedError {
    CodedError::new(
        ErrorCode::ChangedMeanwhile,
        format!("{} changed while it was being edited", path.display()),
    )
    .hint("try again; nothing was written")
}

pub(crate) fn unreadable_error(path: &Path, trouble: &ConfigEditError) -> CodedError {
    let code = match trouble {
        ConfigEditError::Syntax { .. } => ErrorCode::BadSyntax,
        ConfigEditError::Shape { .. } => ErrorCode::BadShape,
    };
    CodedError::new(code, format!("{}: {trouble}", path.display()))
        .hint("correct the file; nothing was written")
}
