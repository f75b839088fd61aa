//! The SQLite file: private, recognised, and intact whatever goes wrong around it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use sinew_store::{
    CorruptionPolicy, ExpectedVersion, JsonText, NewStreamRecord, RecordSeq, StoreError, StoreOp,
    StoreOptions, StreamTail,
};

use crate::support::{World, all, child, ids, parents_store, record};

fn beside(world: &World, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", world.file().display()))
}

/// Names of the files beside the database.
fn files(world: &World) -> Vec<String> {
    let folder = fs::read_dir(world.file().parent().unwrap()).unwrap();
    let mut names: Vec<String> =
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn set_aside(stamp: &str) -> StoreOptions {
    let on_corrupt = CorruptionPolicy::SetAside { stamp: stamp.to_owned() };
    StoreOptions { on_corrupt, ..StoreOptions::default() }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The mode does not depend on the umask.
#[test]
#[ignore = "started by the test below"]
#[cfg(unix)]
fn maker() {
    let Some(store) = parents_store() else { return };
    store.append("log", &[record("a")]).unwrap();
    let file = PathBuf::from(store.location().shown.clone());
    for suffix in ["", "-wal", "-shm"] {
        let path = PathBuf::from(format!("{}{suffix}", file.display()));
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    assert_eq!(mode(file.parent().unwrap()), 0o700);
}

#[test]
#[cfg(unix)]
fn a_new_database_is_private_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let world = World::sqlite();
        let maker = child("files::maker", &world);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
        shell.arg(maker.get_program()).args(maker.get_args());
        shell.env("SINEW_CHILD_URL", world.url());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_last_to_close_leaves_one_file() {
    let world = World::sqlite();
    let store = world.open();
    store.append("log", &[record("a")]).unwrap();
    store.len("log").unwrap();
    drop(store);
    assert_eq!(files(&world), ["sinew.db"]);
}

#[test]
fn an_empty_file_becomes_a_database() {
    let world = World::sqlite();
    fs::create_dir_all(world.file().parent().unwrap()).unwrap();
    fs::write(world.file(), "").unwrap();
    assert_eq!(world.open().append("log", &[record("a")]).unwrap(), [RecordSeq(1)]);
}

/// A database with a few hundred records, as bytes.
fn sound() -> Vec<u8> {
    let world = World::sqlite();
    let records: Vec<_> = (0..400).map(|number| record(&number.to_string())).collect();
    world.open().append("log", &records).unwrap();
    fs::read(world.file()).unwrap()
}

#[test]
fn a_damaged_file_is_refused_and_kept() {
    let sound = sound();
    let mut scribbled = sound.clone();
    scribbled[..64].fill(b'x');
    let mut torn = sound.clone();
    torn[100..4096].fill(0xa5);
    for (name, bytes) in [
        ("text", b"this is my diary\n".repeat(100)),
        ("half a header", sound[..50].to_vec()),
        ("a scribbled header", scribbled),
        ("a torn first page", torn),
        ("a file cut in half", sound[..sound.len() / 2 / 4096 * 4096].to_vec()),
    ] {
        let world = World::sqlite();
        fs::create_dir_all(world.file().parent().unwrap()).unwrap();
        fs::write(world.file(), &bytes).unwrap();

        let refused = world.try_open().and_then(|store| store.check());
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{name}: {error}");
        assert!(error.to_string().contains("sinew.db"), "{error}");
        assert!(fs::read(world.file()).unwrap() == bytes, "{name}: the file changed");

        let store = sinew_store::open(world.url(), &set_aside("20260102T030405Z")).unwrap();
        let aside = store.location().set_aside.clone().unwrap();
        assert_eq!(aside, beside(&world, ".corrupt-20260102T030405Z"), "{name}");
        assert!(fs::read(aside).unwrap() == bytes, "{name}: the copy differs");
        assert_eq!(store.append("log", &[record("a")]).unwrap(), [RecordSeq(1)]);
        drop(store);
        assert_eq!(ids(&all(&*world.open(), "log")), ["a"]);
    }
}

/// Damage that opening does not notice is found by the check, wherever it is, and reading never
/// panics.
#[test]
fn no_page_can_be_damaged_unnoticed() {
    let sound = sound();
    for page in 1..sound.len() / 4096 {
        let mut bytes = sound.clone();
        bytes[page * 4096..][..4096].fill(0xa5);
        let world = World::sqlite();
        fs::create_dir_all(world.file().parent().unwrap()).unwrap();
        fs::write(world.file(), &bytes).unwrap();
        let checked = world.try_open().and_then(|store| {
            for record in StreamTail::new(&*store, "log", RecordSeq::START) {
                record?;
            }
            store.check()
        });
        assert!(matches!(checked, Err(StoreError::Corrupt { .. })), "page {page}: {checked:?}");
        let store = sinew_store::open(world.url(), &set_aside("x")).unwrap();
        assert!(store.location().set_aside.is_some(), "page {page}");
        assert_eq!(store.len("log").unwrap(), 0);
    }
}

#[test]
fn a_sound_file_is_not_set_aside() {
    let world = World::sqlite();
    world.open().append("log", &[record("a")]).unwrap();
    let store = sinew_store::open(world.url(), &set_aside("x")).unwrap();
    assert_eq!(store.location().set_aside, None);
    assert_eq!(ids(&all(&*store, "log")), ["a"]);
}

/// The second process must not mistake the new file of the first for the damaged one.
#[test]
fn two_who_set_aside_at_once_set_one_file_aside() {
    let world = World::sqlite();
    fs::create_dir_all(world.file().parent().unwrap()).unwrap();
    fs::write(world.file(), "no database at all, and long enough to be sure".repeat(9)).unwrap();
    let gate = Barrier::new(6);
    thread::scope(|scope| {
        for name in 0..6 {
            let (gate, world) = (&gate, &world);
            scope.spawn(move || {
                gate.wait();
                let store = sinew_store::open(world.url(), &set_aside("x")).unwrap();
                store.append("log", &[record(&name.to_string())]).unwrap();
            });
        }
    });
    assert_eq!(all(&*world.open(), "log").len(), 6);
    let aside = files(&world).iter().filter(|name| name.contains("corrupt")).count();
    assert_eq!(aside, 1, "{:?}", files(&world));
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let world = World::sqlite();
    fs::create_dir_all(world.file().parent().unwrap()).unwrap();
    world.execute("CREATE TABLE bookmarks (url TEXT)");
    let before = fs::read(world.file()).unwrap();
    for options in [StoreOptions::default(), set_aside("x")] {
        let error = sinew_store::open(world.url(), &options).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    }
    assert!(fs::read(world.file()).unwrap() == before);
}

#[test]
fn what_cannot_be_a_file_is_said() {
    let world = World::sqlite();
    fs::create_dir_all(world.file()).unwrap();
    let error = world.try_open().unwrap_err();
    assert!(
        error.to_string().ends_with("is not the address of a store: it is a folder"),
        "{error}"
    );
    fs::remove_dir(world.file()).unwrap();
    fs::remove_dir(world.file().parent().unwrap()).unwrap();
    fs::write(world.file().parent().unwrap(), "a file where the folder should be").unwrap();
    let error = world.try_open().unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

/// The tests may run as root, which ignores file modes; the child runs as another user.
#[test]
#[ignore = "started by the test below"]
#[cfg(unix)]
fn intruder() {
    let Ok(url) = std::env::var("SINEW_CHILD_URL") else { return };
    let error = sinew_store::open(&url, &StoreOptions::default())
        .and_then(|store| store.append("log", &[record("b")]))
        .unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert!(error.hint().is_some());
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_is_said() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt as _;
    let is_root = fs::metadata("/proc/self").is_ok_and(|metadata| {
        use std::os::unix::fs::MetadataExt as _;
        metadata.uid() == 0
    });
    for with_a_database in [false, true] {
        let world = World::sqlite();
        let home = world.file().parent().unwrap().to_owned();
        let outer = home.parent().unwrap();
        fs::set_permissions(outer, PermissionsExt::from_mode(0o755)).unwrap();
        fs::create_dir(&home).unwrap();
        if with_a_database {
            world.open().append("log", &[record("a")]).unwrap();
            fs::set_permissions(world.file(), PermissionsExt::from_mode(0o444)).unwrap();
        }
        fs::set_permissions(&home, PermissionsExt::from_mode(0o555)).unwrap();
        let mut intruder = child("files::intruder", &world);
        if is_root {
            intruder.uid(65_534);
        }
        match intruder.output() {
            Ok(output) => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{with_a_database}: {stderr}");
            }
            Err(error) => eprintln!("SKIPPED: the test cannot run as another user ({error})"),
        }
        fs::set_permissions(&home, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(files(&world).len(), usize::from(with_a_database));
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_is_swapped_while_open_is_noticed() {
    let world = World::sqlite();
    let store = world.open();
    store.append("log", &[record("a")]).unwrap();
    fs::rename(world.file(), beside(&world, ".old")).unwrap();
    for _ in 0..2 {
        let error = store.append("log", &[record("b")]).unwrap_err();
        assert!(matches!(error, StoreError::Moved { .. }), "{error}");
        assert!(matches!(store.len("log"), Err(StoreError::Moved { .. })));
        // Now another file has the name; that makes no difference.
        fs::write(world.file(), "").unwrap();
    }
    fs::rename(beside(&world, ".old"), world.file()).unwrap();
    assert_eq!(store.append("log", &[record("b")]).unwrap(), [RecordSeq(2)]);
}

#[test]
fn a_writer_that_does_not_let_go_is_said_and_readers_do_not_care() {
    let world = World::sqlite();
    world.open().append("log", &[record("a")]).unwrap();
    let other = rusqlite::Connection::open(world.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let hasty = StoreOptions { patience: Duration::from_millis(30), ..StoreOptions::default() };
    let store = sinew_store::open(world.url(), &hasty).unwrap();
    assert_eq!(store.len("log").unwrap(), 1);
    // Each waits its own time, not its own after all the others.
    thread::scope(|scope| {
        for number in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let error = store.append("log", &[record(&number.to_string())]).unwrap_err();
                assert!(matches!(error, StoreError::Locked { .. }), "{error}");
                assert!(error.hint().unwrap().contains("hangs"));
            });
        }
    });
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append("log", &[record("b")]).unwrap(), [RecordSeq(2)]);
}

/// Requests that wait together are saved together; a refused one does not affect the others.
#[test]
fn a_request_that_is_refused_fails_alone() {
    let world = World::sqlite();
    let store = world.open();
    store.put("c", "k", ExpectedVersion::Absent, JsonText::of(&0).unwrap()).unwrap();
    let other = rusqlite::Connection::open(world.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        for number in 0..24 {
            let store = &store;
            scope.spawn(move || {
                let expect =
                    if number % 3 == 0 { ExpectedVersion::Absent } else { ExpectedVersion::Any };
                let answer = store.transact(&[
                    StoreOp::append("log", [record(&number.to_string())]),
                    StoreOp::put("c", "k", expect, JsonText::of(&number).unwrap()),
                ]);
                assert_eq!(answer.is_err(), number % 3 == 0, "{number}: {answer:?}");
            });
        }
        // Long enough for all requests to be sent, although nothing depends on it.
        thread::sleep(Duration::from_millis(100));
        other.execute_batch("ROLLBACK").unwrap();
    });
    assert_eq!(all(&*store, "log").len(), 16);
    assert!(all(&*store, "log").iter().all(|record| record.id.parse::<u32>().unwrap() % 3 != 0));
}

/// Appends until the system refuses, then prints how many were saved.
#[test]
#[ignore = "started by the test below"]
fn glutton() {
    let Some(store) = parents_store() else { return };
    let body = JsonText::of(&"x".repeat(3_000)).unwrap();
    for number in 1.. {
        let large = NewStreamRecord { body: body.clone(), ..record(&number.to_string()) };
        if let Err(error) = store.append("log", &[large]) {
            assert!(
                matches!(error, StoreError::Failed { .. } | StoreError::Full { .. }),
                "{error}"
            );
            // After a refused change the store still answers.
            assert_eq!(store.len("log").unwrap(), number);
            return;
        }
    }
}

/// A write that the system cuts short, at any byte.
#[test]
#[cfg(unix)]
fn a_short_write_loses_nothing_that_was_saved() {
    for kilobytes in [150, 233, 371, 508] {
        let world = World::sqlite();
        world.open().append("log", &[record("0")]).unwrap();
        let glutton = child("files::glutton", &world);
        let mut shell = Command::new("sh");
        // Beyond this size writes fail, after as many bytes as still fit.
        let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", kilobytes * 2);
        shell.args(["-c", &limit]);
        shell.arg(glutton.get_program()).args(glutton.get_args());
        shell.env("SINEW_CHILD_URL", world.url());
        let output = shell.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let store = world.open();
        store.check().unwrap();
        assert!(all(&*store, "log").len() > 3);
        assert!(store.append("log", &[record("after")]).is_ok());
    }
}
