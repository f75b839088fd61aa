//! The PostgreSQL server: refused, unreachable, disconnected, encrypted; and never a password in a
//! message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sinew_store::{RecordSeq, StoreError, StoreOptions};
use sinew_testkit::PostgresSchema;

use crate::support::{all, ids, record};

fn open(url: &str) -> Result<std::sync::Arc<dyn sinew_store::Store>, StoreError> {
    sinew_store::open(url, &StoreOptions::default())
}

/// The parts of the address: user, password, host with port.
fn parts(server: &PostgresSchema) -> (String, String, String) {
    let url = server.url();
    let rest = url.strip_prefix("postgres://").unwrap();
    let (login, rest) = rest.split_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    (user.to_owned(), password.to_owned(), rest.split_once('/').unwrap().0.to_owned())
}

#[test]
fn an_address_that_makes_no_sense_is_refused_without_its_password() {
    for (url, why) in [
        ("postgres://u:s3cret@host:port/db", "invalid value for option `port`"),
        ("postgres://u:s3cret@host/db?s3cret=1", "it has an unknown option"),
        ("postgres://u:s3cret@host/db?sslmode=s3cret", "sslmode is `disable` or `verify-full`"),
        ("postgres://u:s3cret@[::1/db", "invalid value for option `host`"),
        ("postgres://u:s3cret@host/db?s3cret", "it cannot be parsed"),
        ("postgresql:///db?password=s3cret", "the host is missing"),
        (
            "postgres://u:s3cret@host/db?sslrootcert=/no/such.pem",
            "sslrootcert `/no/such.pem` cannot be used: ",
        ),
    ] {
        let error = open(url).unwrap_err();
        assert!(matches!(error, StoreError::BadUrl { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
        assert!(error.hint().unwrap().contains("postgres://"));
    }
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let error = open("postgres://u:s3cret@127.0.0.1:1/db").unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("the database postgres://127.0.0.1:1/db cannot be reached: "),
        "{text}"
    );
    assert!(!format!("{error:?}").contains("s3cret"));
}

#[test]
fn a_server_that_refuses_is_quoted() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let (user, password, host) = parts(&server);
    for (url, expected) in [
        (format!("postgres://{user}:s3cret@{host}/postgres"), "password authentication failed"),
        (format!("postgres://{user}@{host}/postgres"), "password missing"),
        (format!("postgres://{user}:{password}@{host}/nowhere"), "does not exist"),
    ] {
        let error = open(&url).unwrap_err();
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        let all = format!("{error} {error:?}");
        assert!(!all.contains("s3cret") && !all.contains(&password), "{all}");
    }
    let store = open(&server.url()).unwrap();
    assert!(!format!("{store:?} {:?}", store.location()).contains(&password));
}

#[test]
fn a_server_that_only_reads_is_said() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let read_only = server.url_with("%20-cdefault_transaction_read_only%3Don");
    let error = open(&read_only).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    open(&server.url()).unwrap().append("log", &[record("a")]).unwrap();
    let store = open(&read_only).unwrap();
    assert_eq!(store.len("log").unwrap(), 1);
    let error = store.append("log", &[record("b")]).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_database_of_another_encoding_is_refused() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let name = format!("latin_{}", std::process::id());
    server.execute(&format!("CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0"));
    let (user, password, host) = parts(&server);
    let error = open(&format!("postgres://{user}:{password}@{host}/{name}")).unwrap_err();
    server.execute(&format!("DROP DATABASE {name} WITH (FORCE)"));
    assert!(error.to_string().contains("its encoding is LATIN1, but UTF8 is needed"), "{error}");
}

/// As after a restart of the server: pooled connections are dead, and callers do not notice.
#[test]
fn a_connection_that_was_cut_is_replaced() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let name = format!("cut_{}", std::process::id());
    let store = open(&server.url_with(&format!("&application_name={name}"))).unwrap();
    for round in 0..20_u64 {
        assert_eq!(
            store.append("log", &[record(&round.to_string())]).unwrap(),
            [RecordSeq(round + 1)]
        );
        server.drop_connections(&name);
        assert_eq!(store.len("log").unwrap(), round + 1);
        server.drop_connections(&name);
    }
    assert_eq!(all(&*store, "log").len(), 20);
}

/// Disconnected at any moment, even between a change and its confirmation: a caller who repeats
/// uncertain changes ends up with each record once.
#[test]
fn a_server_that_hangs_up_in_the_middle_loses_nothing() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let name = format!("middle_{}", std::process::id());
    let store = open(&server.url_with(&format!("&application_name={name}"))).unwrap();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                server.drop_connections(&name);
            }
        });
        for number in 0..150_u64 {
            let record = record(&number.to_string());
            let seqs = loop {
                match store.append("log", std::slice::from_ref(&record)) {
                    Ok(seqs) => break seqs,
                    Err(StoreError::Uncertain { .. } | StoreError::Unreachable { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            };
            assert_eq!(seqs, [RecordSeq(number + 1)]);
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(all(&*store, "log").len(), 150);
    store.check().unwrap();
}

/// The longest possible patience, and none at all.
#[test]
fn any_patience_will_do() {
    let Some(server) = sinew_testkit::postgres() else { return };
    for (number, patience) in [Duration::ZERO, Duration::MAX].into_iter().enumerate() {
        let options = StoreOptions { patience, ..StoreOptions::default() };
        let store = sinew_store::open(&server.url(), &options).unwrap();
        store.append("log", &[record(&number.to_string())]).unwrap();
    }
}

#[test]
fn a_writer_that_does_not_let_go_is_said() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let hasty = StoreOptions { patience: Duration::from_millis(50), ..StoreOptions::default() };
    let store = sinew_store::open(&server.url(), &hasty).unwrap();
    store.append("log", &[record("a")]).unwrap();
    thread::scope(|scope| {
        let server = &server;
        scope.spawn(move || {
            server.execute("UPDATE sinew_streams SET head = head; SELECT pg_sleep(1.5)");
        });
        thread::sleep(Duration::from_millis(700));
        let error = store.append("log", &[record("b")]).unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
        assert_eq!(store.len("log").unwrap(), 1, "readers are not affected");
    });
    assert_eq!(store.append("log", &[record("b")]).unwrap(), [RecordSeq(2)]);
}

/// Tampering that is only possible with the database's own tools.
#[test]
fn a_record_that_was_taken_out_is_found() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let store = open(&server.url()).unwrap();
    store.append("log", &["a", "b", "c"].map(record)).unwrap();
    store.check().unwrap();
    server.execute("DELETE FROM sinew_records WHERE seq = 2");
    let error = store.check().unwrap_err();
    assert!(error.to_string().ends_with("records are missing in the stream log"), "{error}");
}

/// Blocking a thread of another runtime is the caller's problem; a panic would be ours.
#[test]
fn a_store_may_be_used_inside_another_runtime() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = open(&server.url()).unwrap();
        store.append("log", &[record("a")]).unwrap();
        let same = store.clone();
        let blocking = tokio::task::spawn_blocking(move || same.append("log", &[record("b")]));
        blocking.await.unwrap().unwrap();
        assert_eq!(ids(&all(&*store, "log")), ["a", "b"]);
        tokio::spawn(async move { drop(store) }).await.unwrap();
    });
}

#[test]
fn an_encrypted_line_is_checked() {
    let Some(server) = sinew_testkit::postgres() else { return };
    let Some(authority) = server.authority() else { return };
    let authority = authority.display().to_string().replace('/', "%2F");
    for mode in ["require", "verify-ca", "verify-full"] {
        let checked = format!("&sslmode={mode}&sslrootcert={authority}");
        let store = open(&server.url_with(&checked)).unwrap();
        store.append("log", &[record(mode)]).unwrap();
        let error = open(&server.url_with(&format!("&sslmode={mode}"))).unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    // On this machine encryption is not needed.
    open(&server.url_with("&sslmode=disable")).unwrap();
    open(&server.url_with("&sslmode=prefer")).unwrap();
}
