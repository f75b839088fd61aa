//! Watching.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use sinew_catalog::watch::{
    CatalogWatch, WatchBackend, WatchError, WatchSignal, WatchWaitResult, folders_to_watch,
};
use sinew_testkit::TestMachine;

/// A system with a limited number of watches.
struct Scarce {
    left: usize,
}

impl WatchBackend for Scarce {
    fn watch(&mut self, _folder: &Path) -> Result<(), WatchError> {
        self.left = self.left.checked_sub(1).ok_or(WatchError::Exhausted)?;
        Ok(())
    }

    fn unwatch(&mut self, _folder: &Path) {
        self.left += 1;
    }
}

#[test]
fn an_exhausted_system_is_one_reason_and_the_next_look_still_sees_edits() {
    let machine = TestMachine::new().skill("work/skills/a", "a").skill("work/skills/b", "b");
    let (_sender, events) = mpsc::channel();
    let mut watch =
        CatalogWatch::with_backend(Scarce { left: 1 }, events, Duration::from_millis(1));
    let reason = watch.follow(&machine.catalog()).expect_err("one watch is not enough");
    assert_eq!(reason.code.as_str(), "watch-unavailable");
    machine.write("work/skills/a/SKILL.md", "---\nname: a\ndescription: Edited\n---\n");
    assert_eq!(machine.catalog().get("a").expect("a").description, "Edited");
}

#[test]
fn missing_roots_are_watched_through_the_nearest_folder_above() {
    let machine = TestMachine::new().skill("work/skills/deep/a", "a");
    let watched: Vec<String> = folders_to_watch(&machine.catalog())
        .iter()
        .map(|folder| machine.without_root(&folder.to_string_lossy()))
        .collect();
    assert_eq!(
        watched,
        [
            "$ROOT/home",
            "$ROOT/work",
            "$ROOT/work/skills",
            "$ROOT/work/skills/deep",
            "$ROOT/work/skills/deep/a"
        ]
    );
}

#[test]
fn noise_is_passed_over_and_changes_are_gathered() {
    let (sender, events) = mpsc::channel();
    let mut watch =
        CatalogWatch::with_backend(Scarce { left: 9 }, events, Duration::from_millis(20));
    for path in [
        "/w/skills/a/node_modules",
        "/w/skills/a/.git",
        "/w/skills/a/x.png",
        "/w/skills/a/SKILL.md",
        "/w/skills/b/SKILL.md",
    ] {
        sender.send(WatchSignal::Path(PathBuf::from(path))).expect("the watch listens");
    }
    let WatchWaitResult::Changed(paths) = watch.wait(Duration::from_secs(5)) else {
        panic!("two files changed")
    };
    assert_eq!(
        paths,
        [PathBuf::from("/w/skills/a/SKILL.md"), PathBuf::from("/w/skills/b/SKILL.md")]
    );
    assert_eq!(watch.wait(Duration::from_millis(1)), WatchWaitResult::Quiet);
}

#[test]
fn any_file_name_can_change() {
    let (sender, events) = mpsc::channel();
    let mut watch =
        CatalogWatch::with_backend(Scarce { left: 9 }, events, Duration::from_millis(5));
    for name in ["aéé", "é", "🦀", ".", "a.MD", "x.md", "日本語.md"] {
        sender.send(WatchSignal::Path(PathBuf::from("/w").join(name))).expect("the watch listens");
    }
    assert!(matches!(watch.wait(Duration::from_secs(5)), WatchWaitResult::Changed(_)));
    sender.send(WatchSignal::Lost).expect("the watch listens");
    assert_eq!(watch.wait(Duration::from_secs(5)), WatchWaitResult::Lost);
}

#[test]
fn the_system_reports_an_edit() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    let mut watch = CatalogWatch::start(Duration::from_millis(50)).expect("this machine can watch");
    assert!(watch.follow(&machine.catalog()).expect("few folders").is_empty());
    machine.write("work/skills/a/SKILL.md", "---\nname: a\ndescription: Edited\n---\n");
    let WatchWaitResult::Changed(paths) = watch.wait(Duration::from_secs(10)) else {
        panic!("the edit was missed")
    };
    assert!(paths.iter().any(|path| path.ends_with("a/SKILL.md")), "{paths:?}");
}
