//! A damaged file gives back what can be read of it, and copies come back whole.

use std::fs;

use sinew_store::{ExpectedVersion, JsonText, StoreError, StoreOptions};

use crate::support::{World, all, ids, record};

/// The size of a page.
const PAGE: usize = 4096;

fn filled() -> (World, Vec<u8>) {
    let world = World::sqlite();
    let store = world.open();
    let records: Vec<_> = (1..=400).map(|number| record(&number.to_string())).collect();
    store.append("log", &records).unwrap();
    store.append("audit", &records[..50]).unwrap();
    let long = JsonText::of(&"x".repeat(40_000)).unwrap();
    store.put("runs", "long", ExpectedVersion::Absent, long).unwrap();
    for number in 0..100 {
        let body = JsonText::of(&number).unwrap();
        store.put("runs", &format!("r{number}"), ExpectedVersion::Absent, body).unwrap();
    }
    store.delete("runs", "r7", ExpectedVersion::Any).unwrap();
    drop(store);
    let bytes = fs::read(world.file()).unwrap();
    (world, bytes)
}

#[test]
fn every_page_but_the_damaged_one_is_read() {
    let (world, sound) = filled();
    let pages = sound.len() / PAGE;
    assert!(pages > 10, "{pages} pages");
    let mut lost_nothing = 0;
    for page in 0..pages {
        let mut bytes = sound.clone();
        bytes[page * PAGE..][..PAGE].fill(0xa5);
        fs::write(world.file(), &bytes).unwrap();
        let told = sinew_store::repair(&world.file(), "now", &StoreOptions::default()).unwrap();
        // A page that is not in use may be anything.
        let Some(told) = told else { continue };
        assert!(fs::read(&told.kept_as).unwrap() == bytes, "page {page}: the damaged file changed");
        let store = world.open();
        store.check().unwrap();
        // Where the names of streams are lost, their records are under another one.
        let nameless = store.len("log").unwrap() == 0;
        let log = all(&*store, if nameless { "recovered-1" } else { "log" });
        let missing = 400 - log.len();
        assert!(missing <= 120, "page {page}: {missing} records are gone");
        // What is missing is told, and the rest is in order.
        let told_of = missing == 0 && !nameless || !told.lost.is_empty();
        assert!(told_of, "page {page}: {told:?}");
        let order: Vec<u32> = log.iter().map(|record| record.id.parse().unwrap()).collect();
        assert!(order.is_sorted(), "page {page}: {:?}", ids(&log));
        assert_eq!(store.get("runs", "r7").unwrap(), None, "page {page}: deleted is deleted");
        if missing == 0 && store.get("runs", "long").unwrap().is_some() {
            lost_nothing += 1;
        }
        drop(store);
        fs::remove_file(&told.kept_as).unwrap();
    }
    assert!(lost_nothing >= 5, "damage to indexes loses nothing: {lost_nothing} of {pages}");
}

#[test]
fn a_sound_file_needs_no_repair() {
    let (world, sound) = filled();
    assert_eq!(sinew_store::repair(&world.file(), "x", &StoreOptions::default()).unwrap(), None);
    assert!(fs::read(world.file()).unwrap() == sound);
}

#[test]
fn a_copy_is_private_and_comes_back_whole() {
    let (world, _) = filled();
    let copy = world.file().with_file_name("copy.db");
    sinew_store::backup(&world.file(), &copy, &StoreOptions::default()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    world.open().append("log", &[record("later")]).unwrap();
    let aside =
        sinew_store::restore(&world.file(), &copy, "now", &StoreOptions::default()).unwrap();
    assert!(aside.unwrap().to_string_lossy().ends_with("sinew.db.replaced-now"));
    let store = world.open();
    assert_eq!(all(&*store, "log").len(), 400);
    store.check().unwrap();
    drop(store);
    // A copy that is none changes nothing.
    let before = fs::read(world.file()).unwrap();
    for (bytes, name) in [(&b"my diary"[..], "text"), (b"", "nothing"), (&before[..8192], "half")] {
        fs::write(&copy, bytes).unwrap();
        let error = sinew_store::restore(&world.file(), &copy, "x", &StoreOptions::default());
        let error = error.unwrap_err();
        let told = matches!(error, StoreError::Corrupt { .. } | StoreError::Foreign { .. });
        assert!(told && error.to_string().contains("copy.db"), "{name}: {error}");
        assert!(fs::read(world.file()).unwrap() == before, "{name}");
    }
}

#[test]
fn a_damaged_database_is_not_copied() {
    let (world, mut bytes) = filled();
    bytes[5 * PAGE..][..PAGE].fill(0xa5);
    fs::write(world.file(), &bytes).unwrap();
    let copy = world.file().with_file_name("copy.db");
    let refused = sinew_store::backup(&world.file(), &copy, &StoreOptions::default());
    assert!(matches!(refused, Err(StoreError::Corrupt { .. })), "{refused:?}");
    assert!(!copy.exists());
}

#[test]
fn ours_is_told_from_theirs() {
    let (world, _) = filled();
    assert!(sinew_store::is_ours(&world.file()).unwrap());
    let theirs = world.file().with_file_name("important.txt");
    fs::write(&theirs, "my diary, which is longer than the header of a database is ".repeat(9))
        .unwrap();
    assert!(!sinew_store::is_ours(&theirs).unwrap());
}
