//! Kills: whenever a staged extraction and swap is killed, the target is the old tree or the new
//! one.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sinew_guard::archive::ArchiveLimits;
use sinew_guard::staging::{STAGING_FOLDER, StagedFileMode, StagedTree, recover};

use crate::support::zip;

const FILES: usize = 24;

fn archive(version: usize) -> Vec<u8> {
    let names: Vec<String> = (0..FILES).map(|n| format!("d{}/f{n}.txt", n % 4)).collect();
    let content = format!("version {version}\n").repeat(200);
    zip(&names.iter().map(|name| (name.as_str(), content.as_bytes())).collect::<Vec<_>>())
}

fn install(parent: &Path, version: usize) {
    let stage = StagedTree::begin(parent).unwrap();
    stage.unpack(&archive(version), &ArchiveLimits::SKILL, StagedFileMode::Plain).unwrap();
    stage.commit("demo").unwrap();
}

/// The one version that all files of the tree share.
fn version_of(tree: &Path) -> String {
    let mut versions = Vec::new();
    for folder in std::fs::read_dir(tree).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert_eq!(text.lines().count(), 200);
            versions.push(text.lines().next().unwrap_or("").to_owned());
        }
    }
    assert_eq!(versions.len(), FILES);
    versions.dedup();
    assert_eq!(versions.len(), 1, "a mix of trees");
    versions.remove(0)
}

/// The process that gets killed; until then it installs one version after the other.
#[test]
#[ignore = "started by the test below"]
fn child() {
    let Some(parent) = std::env::var_os("SINEW_KILL_DIR") else { return };
    for version in 1.. {
        install(Path::new(&parent), version);
    }
}

#[test]
fn a_kill_leaves_the_old_tree_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let parent = home.path().join("skills");
    std::fs::create_dir(&parent).unwrap();
    install(&parent, 0);
    let rounds = if crate::support::long() { 200 } else { 50 };
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::child", "--exact", "--ignored", "--quiet"])
            .env("SINEW_KILL_DIR", &parent)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(Duration::from_micros(8_000 + seed % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        version_of(&parent.join("demo"));
        recover(&parent).unwrap();
        version_of(&parent.join("demo"));
        let litter: Vec<_> = std::fs::read_dir(parent.join(STAGING_FOLDER))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(litter, ["lock"], "round {round}");
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 2, "round {round}");
    }
}

#[test]
fn a_swap_that_was_cut_short_is_finished_at_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    install(home.path(), 1);
    // The state between the two renames of a system that cannot exchange.
    let work = home.path().join(STAGING_FOLDER);
    std::fs::write(work.join("journal.json"), r#"{"target":"demo"}"#).unwrap();
    std::fs::rename(home.path().join("demo"), work.join("old")).unwrap();
    let recovered = recover(home.path()).unwrap();
    assert_eq!(recovered.target.as_deref(), Some("demo"));
    assert_eq!(version_of(&home.path().join("demo")), "version 1");
}

#[test]
fn a_refused_archive_leaves_the_old_tree() {
    let home = tempfile::tempdir().unwrap();
    install(home.path(), 1);
    let stage = StagedTree::begin(home.path()).unwrap();
    let hostile =
        crate::support::raw_zip(&[(b"ok.txt", b"x", 0o100_644), (b"../../x", b"x", 0o100_644)]);
    assert!(stage.unpack(&hostile, &ArchiveLimits::SKILL, StagedFileMode::Plain).is_err());
    drop(stage);
    assert_eq!(version_of(&home.path().join("demo")), "version 1");
}

#[test]
fn a_target_name_cannot_leave_its_parent() {
    let home = tempfile::tempdir().unwrap();
    for name in ["..", "a/b", "/x", ".sinew-staging", ""] {
        let stage = StagedTree::begin(home.path()).unwrap();
        assert!(stage.commit(name).is_err(), "{name:?}");
    }
}
