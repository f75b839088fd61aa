//! Small archives that unpack to large, many or deep files, or that lie.

use sinew_guard::archive::{ArchiveError, ArchiveLimits, unpack};

use crate::support::{gzip, raw_zip, tar, zip};

fn refused(bytes: &[u8]) -> ArchiveError {
    unpack(bytes, &ArchiveLimits::SKILL).expect_err("it must be refused")
}

#[test]
fn zeros_stop_at_the_cap_in_zip_and_tar_gz() {
    let zeros = vec![0u8; 11_000_000];
    assert!(matches!(
        refused(&zip(&[("a", &zeros)])),
        ArchiveError::Cap { .. } | ArchiveError::Ratio(_)
    ));
    let inner = tar(&[(b"a", tar::EntryType::Regular, &zeros)]);
    assert!(matches!(refused(&gzip(&inner)), ArchiveError::Cap { .. } | ArchiveError::Ratio(_)));
}

#[test]
fn a_header_that_lies_about_its_size_changes_nothing() {
    // The entry claims one kilobyte and inflates to far more: the counted bytes decide.
    let mut bytes = zip(&[("a", &vec![0u8; 9_000_000])]);
    for signature in [b"PK\x03\x04", b"PK\x01\x02"] {
        let at = bytes.windows(4).position(|w| w == signature).unwrap();
        let field = at + if signature[2] == 3 { 22 } else { 24 };
        bytes[field..field + 4].copy_from_slice(&1024u32.to_le_bytes());
    }
    assert!(matches!(refused(&bytes), ArchiveError::Ratio(_) | ArchiveError::Malformed(_)));
}

#[test]
fn many_entries_deep_entries_and_shared_bytes_are_refused() {
    let names: Vec<String> = (0..1_001).map(|n| format!("f{n}")).collect();
    let many: Vec<(&[u8], &[u8], u32)> =
        names.iter().map(|n| (n.as_bytes(), b"".as_slice(), 0o100_644)).collect();
    assert!(matches!(refused(&raw_zip(&many)), ArchiveError::Cap { what: "entries", .. }));
    let many: Vec<(&[u8], tar::EntryType, &[u8])> =
        names.iter().map(|n| (n.as_bytes(), tar::EntryType::Regular, b"".as_slice())).collect();
    assert!(matches!(refused(&gzip(&tar(&many))), ArchiveError::Cap { what: "entries", .. }));
    let deep = vec!["d"; 20].join("/");
    assert!(matches!(
        refused(&raw_zip(&[(deep.as_bytes(), b"", 0o100_644)])),
        ArchiveError::Name { .. }
    ));

    // Two directory records point to one local header.
    let mut bytes = raw_zip(&[(b"a", b"xxxxxxxx", 0o100_644), (b"a", b"yyyyyyyy", 0o100_644)]);
    let second = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[second + 42..second + 46].copy_from_slice(&0u32.to_le_bytes());
    assert!(matches!(refused(&bytes), ArchiveError::Malformed(_)));
}

#[test]
fn sparse_encrypted_and_oversized_are_refused() {
    assert!(matches!(
        refused(&tar(&[(b"a", tar::EntryType::GNUSparse, b"")])),
        ArchiveError::Kind { .. } | ArchiveError::Io(_)
    ));
    let mut bytes = raw_zip(&[(b"a", b"x", 0o100_644)]);
    bytes[6] |= 1;
    let central = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[central + 8] |= 1;
    assert!(matches!(refused(&bytes), ArchiveError::Kind { kind: "encrypted", .. }));
    let small = ArchiveLimits { archive: 10, ..ArchiveLimits::SKILL };
    assert!(matches!(unpack(&[0; 11], &small), Err(ArchiveError::Cap { .. })));
}

#[test]
fn nested_bombs_block_the_skill() {
    let bomb = zip(&[("z", &vec![0u8; 9_000_000])]);
    let nested = zip(&[("inner.zip", &bomb)]);
    let bundle =
        sinew_guard::scan::SkillBundle::from_files([("assets/data.zip".to_owned(), nested)]);
    let report = crate::support::scanner().scan_bundle(&bundle);
    crate::support::blocked_by(&report, "encoding-unscannable");
}
