//! PostgreSQL: one memory for a team.
//!
//! The driver is asynchronous and the store is not, so the store owns a small runtime. Callers wait
//! on a plain channel, which is allowed on any thread, even one that belongs to another runtime.

mod apply;
mod fault;
mod query;
mod server;
mod session;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use tokio::runtime::{Builder, Runtime};

use crate::{
    FoldSnapshot, KeyRange, RecordSeq, Store, StoreError, StoreKind, StoreLocation, StoreOp,
    StoreOpResult, StoreOptions, StoredDocument, StreamRecord, op,
};
use fault::PostgresFault;
use server::PostgresServer;

/// How long a server may take to answer, in addition to the time it waits for locks. Only a server
/// that hangs takes longer.
const ANSWER: Duration = Duration::from_secs(60);

/// An operation on a connection.
type ConnectionFuture<'c, T> = Pin<Box<dyn Future<Output = Result<T, PostgresFault>> + Send + 'c>>;

/// A store on a server.
pub(crate) struct PostgresStore {
    place: StoreLocation,
    pool: Pool,
    patience: Duration,
    /// Always present, except while it is shut down without waiting.
    runtime: Option<Runtime>,
}

impl PostgresStore {
    pub(crate) fn open(url: &str, options: &StoreOptions) -> Result<Self, StoreError> {
        let server = PostgresServer::parse(url)?;
        let patience = options.patience;
        let place = StoreLocation {
            kind: StoreKind::Postgres,
            shown: server.shown.clone(),
            set_aside: None,
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("sinew-store")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Failed {
                place: place.shown.clone(),
                doing: "start",
                detail: error.to_string(),
            })?;
        let pool = session::pool(&server, patience)
            .map_err(|fault| fault.explain(&place.shown, "connect", patience))?;
        let store = Self { place, pool, patience, runtime: Some(runtime) };
        let shown = store.place.shown.clone();
        store.ask("migrate", move |client| {
            let shown = shown.clone();
            Box::pin(async move { session::migrate(client, &shown).await })
        })?;
        Ok(store)
    }

    /// Runs an operation on a connection, and again on the next one if the connection turns out to
    /// be dead: after a restart of the server all pooled connections are.
    fn run<T: Send + 'static>(
        &self,
        work: impl for<'c> Fn(&'c mut Client) -> ConnectionFuture<'c, T> + Send + Sync + 'static,
    ) -> Result<T, PostgresFault> {
        let (reply, answer) = sync_channel(1);
        let pool = self.pool.clone();
        let attempts = async move {
            for _ in 0..session::CONNECTIONS {
                let mut client = pool.get().await?;
                match work(&mut client).await {
                    // Taken out of the pool, so that no other call gets it.
                    Err(fault) if fault.is_closed() => drop(Client::take(client)),
                    answer => return answer,
                }
            }
            work(&mut pool.get().await?).await
        };
        let limit = self.patience.saturating_add(ANSWER);
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                let answer = match tokio::time::timeout(limit, attempts).await {
                    Ok(answer) => answer,
                    Err(_) => Err(PostgresFault::Overdue),
                };
                let _ = reply.send(answer);
            });
        }
        answer.recv().unwrap_or(Err(PostgresFault::Cut("the runtime ended")))
    }

    /// Runs an operation that changes nothing.
    fn ask<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl for<'c> Fn(&'c mut Client) -> ConnectionFuture<'c, T> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        self.run(work).map_err(|fault| self.explain(fault, doing))
    }

    fn explain(&self, fault: PostgresFault, doing: &'static str) -> StoreError {
        fault.explain(&self.place.shown, doing, self.patience)
    }
}

impl Drop for PostgresStore {
    /// Waiting for a runtime is not allowed everywhere, and there is nothing to wait for.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Postgres({})", self.place.shown)
    }
}

impl Store for PostgresStore {
    fn location(&self) -> &StoreLocation {
        &self.place
    }

    fn transact(&self, ops: &[StoreOp]) -> Result<Vec<StoreOpResult>, StoreError> {
        op::check(ops)?;
        let ops: Arc<[StoreOp]> = ops.into();
        let place = self.place.shown.clone();
        let answer = self.run(move |client| {
            let (ops, place) = (ops.clone(), place.clone());
            Box::pin(async move { apply::apply_ops(client, &ops, &place).await })
        });
        answer.map_err(|fault| match fault {
            // It may still be saved.
            PostgresFault::Overdue => StoreError::Uncertain { place: self.place.shown.clone() },
            fault => self.explain(fault, "save a change"),
        })
    }

    fn read(
        &self,
        stream: &str,
        after: RecordSeq,
        limit: usize,
    ) -> Result<Vec<StreamRecord>, StoreError> {
        let stream = stream.to_owned();
        self.ask("read a stream", move |client| {
            let stream = stream.clone();
            Box::pin(async move { query::read(client, &stream, after, limit).await })
        })
    }

    fn len(&self, stream: &str) -> Result<u64, StoreError> {
        let stream = stream.to_owned();
        self.ask("measure a stream", move |client| {
            let stream = stream.clone();
            Box::pin(async move { query::len(client, &stream).await })
        })
    }

    fn get(&self, collection: &str, key: &str) -> Result<Option<StoredDocument>, StoreError> {
        let names = (collection.to_owned(), key.to_owned());
        self.ask("read a document", move |client| {
            let (collection, key) = names.clone();
            Box::pin(async move { query::get(client, &collection, &key).await })
        })
    }

    fn list(
        &self,
        collection: &str,
        keys: KeyRange<'_>,
        limit: usize,
    ) -> Result<Vec<StoredDocument>, StoreError> {
        let names = (collection.to_owned(), keys.prefix.to_owned(), keys.after.to_owned());
        self.ask("list documents", move |client| {
            let (collection, prefix, after) = names.clone();
            Box::pin(async move {
                let keys = KeyRange { prefix: &prefix, after: &after };
                query::list(client, &collection, keys, limit).await
            })
        })
    }

    fn snapshot(&self, name: &str) -> Result<Option<FoldSnapshot>, StoreError> {
        let name = name.to_owned();
        self.ask("read a snapshot", move |client| {
            let name = name.clone();
            Box::pin(async move { query::snapshot(client, &name).await })
        })
    }

    fn check(&self) -> Result<(), StoreError> {
        let trouble = self.ask("be checked", |client| Box::pin(query::first_defect(client)))?;
        match trouble {
            None => Ok(()),
            Some(detail) => Err(StoreError::Corrupt { place: self.place.shown.clone(), detail }),
        }
    }
}
