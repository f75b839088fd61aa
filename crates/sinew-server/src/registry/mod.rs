//! The team registry: skills that a team publishes for itself, for the clients that exist already.
//!
//! It speaks ClawHub's API, so that the unmodified `clawhub` client logs in, publishes, searches,
//! installs and updates, and answers discovery indexes, so that the `skills` client installs. What
//! is published is scanned first, kept under its digest, and never changed afterwards.
//!
//! Metadata lies in a [`Store`], files in a folder or a bucket. [`index`] holds the words of all
//! skills in memory; [`audit`] records every change, and tells other servers of it.
//!
//! **Must never happen here:** a version whose bytes change; a write without a token; bytes that are
//! served without having been scanned; a token in clear anywhere but in the answer that made it.

mod access;
mod announced;
mod answer;
mod asked;
mod audit;
mod blobs;
mod bucket;
mod bundle;
mod device;
mod download;
mod export;
mod github;
mod index;
mod intake;
mod keep;
mod lifecycle;
mod lists;
mod meaning;
mod mirror;
mod model;
mod names;
mod publish;
mod rate;
mod read;
mod rename;
mod routes;
mod row;
mod search;
mod settings;
mod shelf;
mod stars;
mod token;
mod upload;
mod verdict;
mod wellknown;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use sinew_catalog::{Clock, Environment};
use sinew_guard::scan::Scanner;
use sinew_hub::HubError;
use sinew_store::{PlaceKind, Store, StoreError};

use crate::blocking::blocking;

pub use blobs::BlobError;
pub use device::Said;
pub use keep::Keeping;
pub use mirror::Brought;
pub use model::AuditEntry;
pub use names::handle_from;
pub use settings::{BlobPlace, Bucket, MirrorSettings, Mode, Settings, SettingsError};
pub use token::{NewToken, Role, Secret, TokenError, TokenInfo, Tokens};

use answer::Refusal;
use blobs::Blobs;
use index::Index;
use keep::Progress;
use mirror::Mirror;
use model::StatsDoc;
use rate::Rates;

/// Where the registry lies on the main listener.
pub const PREFIX: &str = "/registry";

/// On a listener that only this machine reaches, limits are this much higher: they are against
/// strangers.
const LOOPBACK_SCALE: u32 = 1_000;

/// Who reaches the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// This machine.
    Loopback,
    /// Others.
    Others,
}

/// Why there is no registry.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Its tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// The place for files cannot be used.
    #[error(transparent)]
    Blobs(#[from] BlobError),
    /// The other registry is no usable address.
    #[error(transparent)]
    Mirror(#[from] HubError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A team's registry.
#[derive(Debug)]
pub struct Registry {
    store: Arc<dyn Store>,
    tokens: Tokens,
    blobs: Blobs,
    scanner: Scanner,
    settings: Settings,
    clock: Arc<dyn Clock>,
    rates: Rates,
    mirror: Option<Mirror>,
    /// The path in front of every route.
    prefix: &'static str,
    index: RwLock<Index>,
    progress: Mutex<Progress>,
    /// Held while the trail is read.
    looking: Mutex<()>,
    /// Held while a skill is read into the index.
    refreshing: Mutex<()>,
    /// Fetches that are not in the store yet.
    counts: Mutex<HashMap<String, StatsDoc>>,
}

impl Registry {
    /// Opens the registry, and reads what there is.
    pub fn open(
        env: &Environment,
        store: Arc<dyn Store>,
        settings: Settings,
        reach: Reach,
    ) -> Result<Arc<Self>, RegistryError> {
        let usual = match reach {
            Reach::Loopback => LOOPBACK_SCALE,
            Reach::Others => 1,
        };
        let mirror = match &settings.mirror {
            Some(settings) => Some(Mirror::open(settings, env)?),
            None => None,
        };
        let registry = Self {
            mirror,
            tokens: Tokens::open(Arc::clone(&store), &settings.folder)?,
            blobs: Blobs::open(&settings.blobs)?,
            scanner: Scanner::new(),
            clock: Arc::clone(&env.clock),
            rates: Rates::new(settings.limits_scale.unwrap_or(usual)),
            prefix: if settings.listens_alone { "" } else { PREFIX },
            index: RwLock::default(),
            progress: Mutex::default(),
            looking: Mutex::default(),
            refreshing: Mutex::default(),
            counts: Mutex::default(),
            store,
            settings,
        };
        registry.load()?;
        Ok(Arc::new(registry))
    }

    /// Its tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Whether skills of another registry can be brought in.
    pub fn has_mirror(&self) -> bool {
        self.mirror.is_some()
    }

    fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what blocks on a thread that may.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let registry = Arc::clone(self);
        blocking(move || work(&registry))
            .await
            .unwrap_or_else(|| Err(Refusal::unavailable("The registry could not do this")))
    }

    /// Whose token it is, as the store says at this moment.
    async fn holder(self: &Arc<Self>, token: &str) -> Result<Option<TokenInfo>, Refusal> {
        let now = self.now();
        let found = match self.store.place().kind {
            // A document of a file is read in less time than another thread needs to wake up.
            PlaceKind::Sqlite => self.tokens.holder(token, now)?,
            PlaceKind::Postgres => {
                let token = token.to_owned();
                self.work(move |registry| Ok(registry.tokens.holder(&token, now)?)).await?
            }
        };
        if found.as_ref().is_some_and(|holder| holder.use_is_worth_noting(now)) {
            let token = token.to_owned();
            let note = move |registry: &Self| Ok(registry.tokens.note_use(&token, now)?);
            // Somebody else noted it, or revoked it, which the next request will see.
            let _ = self.work(note).await;
        }
        Ok(found)
    }
}
