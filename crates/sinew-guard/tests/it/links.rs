//! Links, devices, pipes, and names that collide.

use sinew_guard::archive::{ArchiveError, ArchiveLimits, unpack};

use crate::support::{gzip, raw_zip, tar};

#[test]
fn links_and_special_files_in_archives_are_refused() {
    use tar::EntryType as T;
    for kind in [T::Symlink, T::Link, T::Fifo, T::Char, T::Block] {
        let bytes = tar(&[(b"a", kind, b"")]);
        for bytes in [bytes.clone(), gzip(&bytes)] {
            assert!(
                matches!(unpack(&bytes, &ArchiveLimits::SKILL), Err(ArchiveError::Kind { .. })),
                "{kind:?}"
            );
        }
    }
    for mode in [0o120_777u32, 0o010_644, 0o020_644, 0o060_644, 0o140_644] {
        let bytes = raw_zip(&[(b"a", b"/etc/passwd", mode)]);
        assert!(
            matches!(unpack(&bytes, &ArchiveLimits::SKILL), Err(ArchiveError::Kind { .. })),
            "{mode:o}"
        );
    }
}

#[test]
fn twins_by_case_and_by_normal_form_are_refused() {
    for (a, b) in
        [("a.md", "A.MD"), ("é", "e\u{301}"), ("ﬁ", "fi"), ("a", "a"), ("d/x", "D/y"), ("f", "f/x")]
    {
        let bytes = raw_zip(&[(a.as_bytes(), b"1", 0o100_644), (b.as_bytes(), b"2", 0o100_644)]);
        assert!(
            matches!(unpack(&bytes, &ArchiveLimits::SKILL), Err(ArchiveError::Twins { .. })),
            "{a} {b}"
        );
    }
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_block_and_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("skill");
    std::fs::create_dir(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), crate::support::skill("Hello")).unwrap();
    symlink("/etc", skill.join("references")).unwrap();
    symlink("/etc/passwd", skill.join("notes.md")).unwrap();
    let bundle = sinew_guard::scan::SkillBundle::from_dir(&skill).unwrap();
    assert_eq!(bundle.files().len(), 1);
    crate::support::blocked_by(&crate::support::scanner().scan_bundle(&bundle), "link-entry");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_target_is_replaced_and_not_followed() {
    use sinew_guard::staging::{StagedFileMode, StagedTree};
    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().join("skills");
    let victim = folder.path().join("victim");
    std::fs::create_dir_all(&parent).unwrap();
    std::fs::create_dir_all(&victim).unwrap();
    std::fs::write(victim.join("keep"), "old").unwrap();
    std::os::unix::fs::symlink(&victim, parent.join("demo")).unwrap();
    let stage = StagedTree::begin(&parent).unwrap();
    stage.write("SKILL.md", b"new", StagedFileMode::Plain).unwrap();
    stage.commit("demo").unwrap();
    assert_eq!(std::fs::read(parent.join("demo/SKILL.md")).unwrap(), b"new");
    assert_eq!(std::fs::read(victim.join("keep")).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 1);
}
