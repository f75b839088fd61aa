//! Tokens: who may do what. Shown once, stored as a hash that needs a secret outside the database.
//!
//! **Must never happen here:** a token in clear in a document, a record, an error or a `Debug`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sinew_guard::private_files::{self, PrivateFileError};
use sinew_store::{
    DocumentVersion, ExpectedVersion, JsonText, KeyRange, Store, StoreError, StoreOp,
};

use super::audit;
use super::model::{RegistryAuditEntry, TOKENS};
use super::names;

/// What every token starts with, so that secret scanners know it.
const PREFIX: &str = "clh_";
/// Characters behind the prefix: 32 random bytes in base 62.
const LENGTH: usize = 43;
/// How old the noted last use of a token may be, so that not every request writes to the database.
const USE_NOTED_EVERY: u64 = 60 * 60 * 1000;

/// What the holder of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenRole {
    /// Search, inspect, install, star.
    Read,
    /// Also publish and delete, under the holder's own names.
    Publish,
    /// Everything, under every name.
    Admin,
}

impl TokenRole {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Publish => "publish",
            Self::Admin => "admin",
        }
    }
}

/// A token that is wanted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewToken {
    /// What it is for.
    pub label: String,
    /// Whom it acts for.
    pub handle: String,
    /// Other owners that the holder may publish for.
    pub owners: Vec<String>,
    /// What it allows.
    pub role: TokenRole,
    /// When it ends, in milliseconds.
    pub expires_at: Option<u64>,
}

impl NewToken {
    /// Checks that the handles it acts for are valid owner names.
    pub(super) fn check(&self) -> Result<(), TokenError> {
        for handle in self.owners.iter().chain([&self.handle]) {
            if names::handle(handle).as_deref() != Some(handle) {
                return Err(TokenError::BadHandle(handle.clone()));
            }
        }
        Ok(())
    }
}

/// What is known of a token. The token itself is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// Its public name, by which it is revoked.
    pub id: String,
    /// What it is for.
    pub label: String,
    /// Whom it acts for.
    pub handle: String,
    /// Other owners that the holder may publish for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// What it allows.
    pub role: TokenRole,
    /// When it was made.
    pub created_at: u64,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// When it was last used, give or take an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<u64>,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<u64>,
}

impl TokenInfo {
    /// Whether it is valid at a time.
    pub fn is_live(&self, now: u64) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether its last use should be noted again.
    pub(crate) fn use_is_worth_noting(&self, now: u64) -> bool {
        now.saturating_sub(self.last_used_at.unwrap_or(0)) > USE_NOTED_EVERY
    }

    /// Whether the holder may publish under a name.
    pub(crate) fn may_publish_as(&self, owner: &str) -> bool {
        match self.role {
            TokenRole::Admin => true,
            TokenRole::Publish => {
                self.handle == owner || self.owners.iter().any(|own| own == owner)
            }
            TokenRole::Read => false,
        }
    }
}

/// A token in clear: shown once, to the caller who asked for it.
pub struct TokenSecret(String);

impl TokenSecret {
    /// The text to show.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why a token cannot be made, found or used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name of the holder cannot be an owner's.
    #[error("`{0}` cannot be the name of an owner")]
    BadHandle(String),
    /// No such token.
    #[error("there is no token `{0}`")]
    Unknown(String),
    /// No login waits under this code.
    #[error("no login waits under the code `{0}`")]
    NoLogin(String),
    /// The secret that hashes are made with cannot be read.
    #[error("the registry's pepper cannot be used: {0}")]
    Pepper(#[from] PrivateFileError),
    /// The secret that hashes are made with is empty or short: anyone could make the hash of a token.
    #[error("the registry's pepper has {found} bytes of {PEPPER_BYTES}; restore it from a copy")]
    WeakPepper {
        /// Its length.
        found: usize,
    },
    /// The system has no randomness.
    #[error("this system gives no random numbers: {0}")]
    Random(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The length of the secret that hashes are made with.
const PEPPER_BYTES: usize = 32;

/// The tokens of a registry.
#[derive(Clone)]
pub struct TokenStore {
    pub(super) store: Arc<dyn Store>,
    pepper: Arc<[u8]>,
}

impl fmt::Debug for TokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({:?})", self.store.location())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenDoc {
    /// The hash, for the comparison that takes the same time for every token.
    hash: String,
    #[serde(flatten)]
    info: TokenInfo,
}

impl TokenStore {
    /// The tokens in a store; their pepper is in `folder`, and is created where it is missing.
    pub fn open(store: Arc<dyn Store>, folder: &Path) -> Result<Self, TokenError> {
        let path = folder.join("pepper");
        if !path.exists() {
            match private_files::create_new(&path, &random_bytes()?) {
                // Another process created it first; its pepper is used.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => other.map_err(PrivateFileError::from)?,
            }
        }
        let pepper = private_files::read(&path)?;
        if pepper.len() < PEPPER_BYTES {
            return Err(TokenError::WeakPepper { found: pepper.len() });
        }
        Ok(Self { store, pepper: pepper.into() })
    }

    /// Makes a token.
    pub fn create(
        &self,
        wanted: NewToken,
        now: u64,
    ) -> Result<(TokenSecret, TokenInfo), TokenError> {
        wanted.check()?;
        let secret = TokenSecret(format!("{PREFIX}{}", base62(random_bytes()?)));
        let hash = self.hash(secret.reveal());
        let info = TokenInfo {
            // Enough of the hash to name it; the token cannot be found from it.
            id: hash[..12].to_owned(),
            label: wanted.label,
            handle: wanted.handle,
            owners: wanted.owners,
            role: wanted.role,
            created_at: now,
            expires_at: wanted.expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        let doc = TokenDoc { hash: hash.clone(), info: info.clone() };
        let entry = RegistryAuditEntry {
            who: "console".to_owned(),
            note: Some(format!("{} for {}", info.role.as_str(), info.handle)),
            digest: Some(info.id.clone()),
            ..audit::empty_entry()
        };
        self.store.transact(&[
            StoreOp::put(TOKENS, &hash, ExpectedVersion::Absent, JsonText::of(&doc)?),
            audit::append_op("token-create", &entry, now)?,
        ])?;
        Ok((secret, info))
    }

    /// Every token, in the order in which they were made.
    pub fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let mut all: Vec<TokenInfo> = self.docs()?.into_iter().map(|(_, doc)| doc.info).collect();
        all.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(all)
    }

    /// Whether an admin token is live.
    pub fn has_admin(&self, now: u64) -> Result<bool, TokenError> {
        Ok(self.list()?.iter().any(|token| token.role == TokenRole::Admin && token.is_live(now)))
    }

    /// Ends a token at once, by its id or, where only one has it, its label.
    pub fn revoke(&self, wanted: &str, now: u64) -> Result<TokenInfo, TokenError> {
        let docs = self.docs()?;
        let named = |doc: &TokenDoc| doc.info.id == wanted || doc.info.label == wanted;
        let mut live = docs.into_iter().filter(|(_, doc)| named(doc) && doc.info.is_live(now));
        let (Some((version, mut doc)), None) = (live.next(), live.next()) else {
            return Err(TokenError::Unknown(wanted.to_owned()));
        };
        doc.info.revoked_at = Some(now);
        let entry = RegistryAuditEntry {
            who: "console".to_owned(),
            digest: Some(doc.info.id.clone()),
            ..audit::empty_entry()
        };
        self.store.transact(&[
            StoreOp::put(TOKENS, &doc.hash, ExpectedVersion::Version(version), JsonText::of(&doc)?),
            audit::append_op("token-revoke", &entry, now)?,
        ])?;
        Ok(doc.info)
    }

    /// Whose token it is. The store is asked each time: a revoked token ends with the next request,
    /// whichever process revoked it.
    pub(crate) fn holder(&self, token: &str, now: u64) -> Result<Option<TokenInfo>, StoreError> {
        let found = self.look_up(token)?.map(|(_, doc)| doc.info);
        Ok(found.filter(|info| info.is_live(now)))
    }

    /// Notes that a token was used, so that an admin sees which ones are no longer needed.
    pub(crate) fn note_use(&self, token: &str, now: u64) -> Result<(), StoreError> {
        if let Some((version, mut doc)) = self.look_up(token)? {
            doc.info.last_used_at = Some(now);
            self.store.put(
                TOKENS,
                &doc.hash,
                ExpectedVersion::Version(version),
                JsonText::of(&doc)?,
            )?;
        }
        Ok(())
    }

    fn look_up(&self, token: &str) -> Result<Option<(DocumentVersion, TokenDoc)>, StoreError> {
        if !looks_like_one(token) {
            return Ok(None);
        }
        let hash = self.hash(token);
        let Some(found) = self.store.get(TOKENS, &hash)? else { return Ok(None) };
        let doc: TokenDoc = found.body.read()?;
        let is_it = same(doc.hash.as_bytes(), hash.as_bytes());
        Ok(is_it.then_some((found.version, doc)))
    }

    fn docs(&self) -> Result<Vec<(DocumentVersion, TokenDoc)>, TokenError> {
        let mut docs = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.store.list(TOKENS, KeyRange::ALL.after(&after), 1000)?;
            let Some(last) = page.last() else { return Ok(docs) };
            after.clone_from(&last.key);
            for found in &page {
                docs.push((found.version, found.body.read()?));
            }
        }
    }

    pub(super) fn hash(&self, token: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(&self.pepper);
        hasher.update(token.as_bytes());
        hex(&hasher.finalize())
    }
}

/// The token of an `Authorization` header.
pub(crate) fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn looks_like_one(token: &str) -> bool {
    token.strip_prefix(PREFIX).is_some_and(|rest| {
        rest.len() == LENGTH && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Compares in constant time.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(crate) fn random_bytes() -> Result<[u8; 32], TokenError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
    Ok(bytes)
}

/// The bytes as one number in base 62, always of the same length.
fn base62(mut number: [u8; 32]) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = [b'0'; LENGTH];
    for digit in text.iter_mut().rev() {
        let mut rest = 0u32;
        for byte in &mut number {
            let value = rest * 256 + u32::from(*byte);
            *byte = (value / 62) as u8;
            rest = value % 62;
        }
        *digit = DIGITS[rest as usize];
    }
    text.iter().map(|&digit| char::from(digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_62_keeps_every_bit() {
        assert_eq!(base62([0; 32]), "0".repeat(LENGTH));
        let mut one = [0; 32];
        one[31] = 63;
        assert!(base62(one).ends_with("011"));
        assert_ne!(base62([255; 32]), base62([254; 32]));
        assert!(looks_like_one(&format!("{PREFIX}{}", base62([255; 32]))));
    }

    #[test]
    fn the_scheme_word_has_no_case() {
        assert_eq!(bearer_token("bEaReR  clh_x "), Some("clh_x"));
        for bad in ["", "Bearer", "Bearer ", "Basic clh_x", "clh_x"] {
            assert_eq!(bearer_token(bad), None, "{bad:?}");
        }
    }
}
