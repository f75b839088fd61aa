//! The token with which programs reach this machine's server.

use std::io::ErrorKind as Io;

use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::private_files::{self, PrivateFileError};
use sinew_settings::ErrorCode;

use crate::{EngineError, SettingsHandle};

/// Random bytes of a token: too many to guess.
const BYTES: usize = 32;

impl SettingsHandle<'_> {
    /// The token, made at its first use and kept for its owner alone.
    pub fn access_token(&self) -> Result<String, EngineError> {
        let path = self.engine.env.sinew_home().join("token");
        let mut made = [0; BYTES];
        getrandom::fill(&mut made).map_err(|error| {
            EngineError::new(ErrorCode::NoEntropy, format!("no random numbers: {error}"))
        })?;
        let token = base64url(&made);
        match private_files::create_new(&path, format!("{token}\n").as_bytes()) {
            Ok(()) => return Ok(token),
            Err(error) if error.kind() == Io::AlreadyExists => {}
            Err(error) => return Err(EngineError::file("write", &path, error)),
        }
        let renew = "remove the file; a new token is made at the next start";
        let bytes = private_files::read(&path).map_err(|error| match error {
            PrivateFileError::Io(error) => EngineError::file("read", &path, error),
            exposed => EngineError::new(ErrorCode::TokenExposed, exposed.to_string()).hint(renew),
        })?;
        let text = String::from_utf8_lossy(&bytes);
        let token = text.trim();
        if token.len() >= BYTES && token.chars().all(|c| c.is_ascii_graphic()) {
            return Ok(token.to_owned());
        }
        if token.is_empty() {
            // A process was killed while it wrote the file.
            let token = base64url(&made);
            atomic::write(&path, format!("{token}\n").as_bytes(), FileAccess::OwnerOnly)
                .map_err(|error| EngineError::file("write", &path, error))?;
            return Ok(token);
        }
        let said = format!("{} holds no token", path.display());
        Err(EngineError::new(ErrorCode::BadToken, said).hint(renew))
    }
}

/// Bytes in the alphabet that needs no escaping in headers and addresses.
fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let word = part(0) << 16 | part(1) << 8 | part(2);
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}
