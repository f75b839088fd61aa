//! The team registry: skills that a team publishes for itself, for the clients that exist already.
//!
//! It speaks ClawHub's API, so that the unmodified `clawhub` client logs in, publishes, searches,
//! installs and updates, and answers discovery indexes, so that the `skills` client installs. What
//! is published is scanned first, kept under its digest, and never changed afterwards.
//!
//! Metadata is in a [`Store`], files are in a folder or a bucket. `index.rs` holds the words of all
//! skills in memory; `audit.rs` records every change, from which other servers learn of it.
//!
//! **Promise:** a published version never changes, and no bytes are served that were not scanned.
//! **Invariant:** no write without a token; a token is in clear only in the answer that made it.
//! **Left out on purpose:** the engine, which is one machine's and knows nothing of teams; sockets,
//! origins and sizes, which are the listener's.

mod audit;
mod blobs;
mod bucket;
mod bundle;
mod caller;
mod details;
mod device;
mod discovery;
mod download;
mod export;
mod github;
mod index;
mod intake;
mod lifecycle;
mod lists;
mod lookup;
mod meaning_index;
mod mirror;
mod model;
mod names;
mod publish;
mod rate_limit;
mod refusal;
mod rename;
mod routes;
mod search;
mod search_hit;
mod settings;
mod skill_request;
mod stars;
mod token;
mod upkeep;
mod upload;
mod upstream_claims;
mod verdict;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use sinew_guard::scan::Scanner;
use sinew_hub::HubError;
use sinew_listener::blocking;
use sinew_settings::{Clock, Environment};
use sinew_store::{Store, StoreError, StoreKind};

pub use blobs::BlobError;
pub use device::LoginDecision;
pub use mirror::MirrorResult;
pub use model::RegistryAuditEntry;
pub use names::handle_from;
pub use settings::{BlobLocation, BucketSettings, MirrorSettings, RegistrySettings};
pub use token::{NewToken, TokenError, TokenInfo, TokenRole, TokenSecret, TokenStore};
pub use upkeep::RegistryUpkeep;

use blobs::BlobStore;
use index::RegistryIndex;
use mirror::RegistryMirror;
use model::StatsDoc;
use rate_limit::RegistryRateLimiter;
use refusal::RegistryRefusal;
use upkeep::IndexProgress;

/// The registry's path on the main listener.
pub const PREFIX: &str = "/registry";

/// On a listener that only this machine reaches, limits are this much higher: they protect against
/// other machines.
const LOOPBACK_SCALE: u32 = 1_000;

/// Who reaches the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerReach {
    /// This machine.
    Loopback,
    /// Other machines.
    Others,
}

/// Why a registry cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Its tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// The place for files cannot be used.
    #[error(transparent)]
    Blobs(#[from] BlobError),
    /// The other registry's address cannot be used.
    #[error(transparent)]
    Mirror(#[from] HubError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A team's registry.
#[derive(Debug)]
pub struct TeamRegistry {
    store: Arc<dyn Store>,
    tokens: TokenStore,
    blobs: BlobStore,
    scanner: Scanner,
    settings: RegistrySettings,
    clock: Arc<dyn Clock>,
    rates: RegistryRateLimiter,
    mirror: Option<RegistryMirror>,
    /// The path in front of every route.
    prefix: &'static str,
    index: RwLock<RegistryIndex>,
    progress: Mutex<IndexProgress>,
    /// Held while the trail is read.
    looking: Mutex<()>,
    /// Held while a skill is read into the index.
    refreshing: Mutex<()>,
    /// Fetches that are not in the store yet.
    counts: Mutex<HashMap<String, StatsDoc>>,
}

impl TeamRegistry {
    /// Opens the registry, and reads what there is.
    pub fn open(
        env: &Environment,
        store: Arc<dyn Store>,
        settings: RegistrySettings,
        reach: ListenerReach,
    ) -> Result<Arc<Self>, RegistryError> {
        let usual = match reach {
            ListenerReach::Loopback => LOOPBACK_SCALE,
            ListenerReach::Others => 1,
        };
        let mirror = match &settings.mirror {
            Some(settings) => Some(RegistryMirror::open(settings, env)?),
            None => None,
        };
        let registry = Self {
            mirror,
            tokens: TokenStore::open(Arc::clone(&store), &settings.folder)?,
            blobs: BlobStore::open(&settings.blobs)?,
            scanner: Scanner::new(),
            clock: Arc::clone(&env.clock),
            rates: RegistryRateLimiter::new(settings.limits_scale.unwrap_or(usual)),
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
    pub fn tokens(&self) -> &TokenStore {
        &self.tokens
    }

    /// Whether skills of another registry can be brought in.
    pub fn has_mirror(&self) -> bool {
        self.mirror.is_some()
    }

    fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    fn index(&self) -> RwLockReadGuard<'_, RegistryIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, RegistryIndex> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> MutexGuard<'_, IndexProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs blocking work on a thread that may block.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, RegistryRefusal> + Send + 'static,
    ) -> Result<T, RegistryRefusal> {
        let registry = Arc::clone(self);
        blocking(move || work(&registry))
            .await
            .unwrap_or_else(|| Err(RegistryRefusal::unavailable("The registry could not do this")))
    }

    /// Whose token it is, as the store says at this moment.
    async fn holder(self: &Arc<Self>, token: &str) -> Result<Option<TokenInfo>, RegistryRefusal> {
        let now = self.now();
        let found = match self.store.location().kind {
            // Reading a document from a local file takes less time than waking another thread.
            StoreKind::Sqlite => self.tokens.holder(token, now)?,
            StoreKind::Postgres => {
                let token = token.to_owned();
                self.work(move |registry| Ok(registry.tokens.holder(&token, now)?)).await?
            }
        };
        if found.as_ref().is_some_and(|holder| holder.use_is_worth_noting(now)) {
            let token = token.to_owned();
            let note = move |registry: &Self| Ok(registry.tokens.note_use(&token, now)?);
            // Another request may have noted it first, or revoked it, which the next one will see.
            if let Err(error) = self.work(note).await {
                tracing::debug!(?error, "the use of a token was not noted");
            }
        }
        Ok(found)
    }
}
