//! Connections: the settings of each, and the schema.

use std::time::Duration;

use deadpool_postgres::{
    Client, GenericClient, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};

use super::fault::PostgresFault;
use super::server::PostgresServer;
use crate::StoreError;
use crate::migrate::{self, AppliedMigration, SchemaMigration};

/// The schema, starting with the first version.
const MIGRATIONS: &[SchemaMigration] = &[
    SchemaMigration { version: 1, sql: include_str!("001.sql") },
    SchemaMigration { version: 2, sql: include_str!("002.sql") },
];

/// Connections of one store. A server's default limit is a hundred for all clients.
pub(super) const CONNECTIONS: usize = 8;

/// How long a connection may stay in an open transaction before the server ends it: a process that
/// was suspended must not block the whole team.
const STALLED_MS: u32 = 60_000;

/// A busy server needs this long for locks that no client holds against another.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// Two processes must not migrate at once; they lock this number.
const MIGRATION_LOCK: i64 = 0x7369_6e65_7701;

pub(super) fn pool(server: &PostgresServer, patience: Duration) -> Result<Pool, PostgresFault> {
    let settings = format!(
        "SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {STALLED_MS};
         SET default_transaction_isolation = 'read committed';
         SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') = 'off'",
        // Zero would mean for ever, and the setting is a 32-bit number.
        patience.max(SHORTEST_WAIT).as_millis().min(i32::MAX as u128)
    );
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(server.config.clone(), server.tls.clone(), recycling);
    Pool::builder(manager)
        .max_size(CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(patience.max(SHORTEST_WAIT)))
        .post_create(Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(
                async move { client.batch_execute(&settings).await.map_err(HookError::Backend) },
            )
        }))
        .build()
        .map_err(|_| PostgresFault::Cut("there is no runtime"))
}

/// Updates the schema.
pub(super) async fn migrate(client: &mut Client, place: &str) -> Result<(), PostgresFault> {
    let encoding: String =
        client.query_one("SELECT current_setting('server_encoding')", &[]).await?.get(0);
    if encoding != "UTF8" {
        let detail = format!("its encoding is {encoding}, but UTF8 is needed");
        return Err(StoreError::Refused { place: place.to_owned(), detail }.into());
    }
    run(client, place, MIGRATIONS).await
}

/// Runs the missing migrations, each in its own transaction.
async fn run(
    client: &mut Client,
    place: &str,
    known: &[SchemaMigration],
) -> Result<(), PostgresFault> {
    while migrate::next(&applied(client).await?, known, place)?.is_some() {
        let transaction = client.transaction().await?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK]).await?;
        // Another process may have been faster.
        let Some(migration) = migrate::next(&applied(&transaction).await?, known, place)? else {
            break;
        };
        transaction.batch_execute(migration.sql).await?;
        transaction
            .execute(
                "INSERT INTO sinew_migrations (version, checksum) VALUES ($1, $2)",
                &[&migration.version.cast_signed(), &migration.checksum()],
            )
            .await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// The migrations that ran, in order; none in a new database.
async fn applied(client: &impl GenericClient) -> Result<Vec<AppliedMigration>, PostgresFault> {
    // This queries the table of tables: a query by name may be answered from a cache that another
    // process has just made stale.
    let exists: bool = client
        .query_one(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables
             WHERE tablename = 'sinew_migrations' AND schemaname = ANY (current_schemas(false)))",
            &[],
        )
        .await?
        .get(0);
    if !exists {
        return Ok(Vec::new());
    }
    let rows = client
        .query("SELECT version, checksum FROM sinew_migrations ORDER BY version", &[])
        .await?;
    let applied = rows.iter().map(|row| AppliedMigration {
        version: row.get::<_, i32>("version").cast_unsigned(),
        checksum: row.get("checksum"),
    });
    Ok(applied.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::PostgresStore;
    use crate::{Store as _, StoreOptions};

    const THIRD: SchemaMigration =
        SchemaMigration { version: 3, sql: "ALTER TABLE sinew_streams ADD COLUMN note text" };
    const BROKEN: SchemaMigration = SchemaMigration {
        version: 4,
        sql: "CREATE TABLE half (x text); INSERT INTO nowhere VALUES (1)",
    };

    #[test]
    fn a_step_that_fails_leaves_the_step_before_it() {
        let Some(server) = sinew_testkit::postgres() else { return };
        let store = PostgresStore::open(&server.url(), &StoreOptions::default()).unwrap();
        let broken = store.ask("migrate", |client| {
            Box::pin(async {
                run(client, "x", &[MIGRATIONS[0], MIGRATIONS[1], THIRD, BROKEN]).await
            })
        });
        assert!(matches!(broken, Err(StoreError::Failed { doing: "migrate", .. })), "{broken:?}");
        server.execute("SELECT note FROM sinew_streams");
        server.execute("CREATE TABLE half (nothing_was_left_of_the_first text)");
        let again = store.ask("migrate", |client| {
            Box::pin(async { run(client, "x", &[MIGRATIONS[0], MIGRATIONS[1], THIRD]).await })
        });
        again.unwrap();
        let error = PostgresStore::open(&server.url(), &StoreOptions::default()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 3, known: 2, .. }), "{error}");
        assert_eq!(store.len("log").unwrap(), 0);
    }
}
