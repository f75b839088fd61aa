//! Only their owner may read tokens.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use sinew_guard::private_files::{PrivateFileError, create_new, read, set_aside_corrupt};
use sinew_guard::scan_records::ScanCache;

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_0600_in_0700_and_created_once() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("keys/token");
    create_new(&path, b"secret").unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(create_new(&path, b"other").is_err());
    assert_eq!(read(&path).unwrap(), b"secret");
    let cache = home.path().join("cache/scan.json");
    ScanCache::new("r").save(&cache).unwrap();
    assert_eq!(mode(&cache), 0o600);
}

#[test]
fn a_file_that_others_read_is_refused_and_named() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("token");
    create_new(&path, b"canary-value").unwrap();
    for bits in [0o640, 0o604, 0o620, 0o666] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
        let error = read(&path).expect_err("it is exposed");
        assert!(matches!(error, PrivateFileError::Exposed { .. }));
        assert!(!error.to_string().contains("canary"));
    }
}

#[test]
fn a_corrupt_file_is_put_aside_and_never_overwrites() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.json");
    for (number, content) in ["one", "two"].iter().enumerate() {
        std::fs::write(&path, content).unwrap();
        let aside = set_aside_corrupt(&path, "2026-01-01T00:00:00Z").unwrap();
        assert!(!path.exists());
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), *content);
        assert!(aside.to_string_lossy().contains(".corrupt-2026-01-01T000000Z"), "{number}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 2);
}
