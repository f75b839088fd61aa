//! Secrets: random, and stored only as their digest.

use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// 32 random bytes, as people and headers carry them.
pub(super) fn new_secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The digest of a secret, which is stored and compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SecretDigest([u8; 32]);

impl SecretDigest {
    pub(super) fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Whether this is the secret, in constant time.
    pub(super) fn is(&self, secret: &str) -> bool {
        let other = Self::of(secret);
        let differing = self.0.iter().zip(other.0).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0
    }
}

impl std::fmt::Debug for SecretDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known(…)")
    }
}
