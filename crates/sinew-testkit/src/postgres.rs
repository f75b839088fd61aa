//! A PostgreSQL for tests: the server of `$SINEW_TEST_POSTGRES`, which `scripts/with-postgres` starts,
//! and on it a schema for each test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use tokio_postgres::NoTls;

use crate::shared_data::report_skip;

/// A schema that one test has to itself; it is dropped with this value.
#[derive(Debug)]
pub struct PostgresSchema {
    server: String,
    schema: String,
}

/// A schema for the calling test, or a loud `SKIPPED` on stderr.
pub fn postgres() -> Option<PostgresSchema> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let Some(server) = std::env::var("SINEW_TEST_POSTGRES").ok().filter(|url| !url.is_empty())
    else {
        report_skip("SINEW_TEST_POSTGRES is not set; run the tests through scripts/with-postgres");
        return None;
    };
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{number}", std::process::id());
    let postgres = PostgresSchema { server, schema };
    // A process of the same number may have died without cleaning up.
    postgres.clear();
    Some(postgres)
}

impl PostgresSchema {
    /// The address of the schema.
    pub fn url(&self) -> String {
        self.url_with("")
    }

    /// The address with more parameters, each behind a `&`.
    pub fn url_with(&self, parameters: &str) -> String {
        let (server, schema) = (&self.server, &self.schema);
        format!("{server}?options=-csearch_path%3D{schema}{parameters}")
    }

    /// The certificate of the authority behind the server's own, where encryption is on.
    pub fn authority(&self) -> Option<PathBuf> {
        let path = std::env::var_os("SINEW_TEST_POSTGRES_CA").map(PathBuf::from);
        if path.is_none() {
            report_skip("SINEW_TEST_POSTGRES_CA is not set; the server has no certificate");
        }
        path
    }

    /// Empties the schema.
    pub fn clear(&self) {
        let schema = &self.schema;
        let again = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
        run(&self.server, &again);
    }

    /// Runs SQL that the code under test does not know of.
    pub fn execute(&self, sql: &str) {
        run(&self.url(), sql);
    }

    /// Ends the connections of an application, as a server that restarts does.
    pub fn drop_connections(&self, application: &str) {
        self.execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND application_name = '{application}'"
        ));
    }
}

impl Drop for PostgresSchema {
    fn drop(&mut self) {
        run(&self.server, &format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema));
    }
}

/// On a thread of its own, because a test may be inside a runtime already.
fn run(url: &str, sql: &str) {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    let work = move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(&url, NoTls).await.expect("SINEW_TEST_POSTGRES answers");
            tokio::spawn(connection);
            client.batch_execute(&sql).await.expect("the statement is right");
        });
    };
    thread::spawn(work).join().expect("SQL on the test server");
}
