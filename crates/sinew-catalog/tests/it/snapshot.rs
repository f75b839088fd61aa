//! Snapshots and versions.

use std::sync::Arc;

use sinew_catalog::{CatalogChange, CatalogRequest, LiveCatalog, RefreshCause};
use sinew_settings::FixedClock;
use sinew_testkit::TestMachine;

fn refresh(
    live: &LiveCatalog,
    machine: &TestMachine,
    cause: RefreshCause,
) -> sinew_catalog::CatalogChange {
    machine.request(|request| live.refresh(request, cause))
}

#[test]
fn a_change_bumps_the_version_and_names_what_changed() {
    let machine = TestMachine::new().skill("work/skills/a", "a").skill("work/skills/b", "b");
    let live = LiveCatalog::default();
    let first = refresh(&live, &machine, RefreshCause::Start);
    let same = refresh(&live, &machine, RefreshCause::Files);
    assert_eq!(same.version, first.version);
    assert!(same.is_empty());

    machine.write("work/skills/a/SKILL.md", "---\nname: a\ndescription: Now different\n---\n");
    machine.write("work/skills/c/SKILL.md", "---\nname: c\ndescription: New\n---\n");
    std::fs::remove_dir_all(machine.path("work/skills/b")).expect("b goes");
    let change = refresh(&live, &machine, RefreshCause::Files);
    assert!(change.version > first.version);
    assert_eq!(
        (change.added, change.removed, change.changed),
        (vec!["c".to_owned()], vec!["b".to_owned()], vec!["a".to_owned()])
    );
    assert_eq!(
        first.snapshot.catalog.get("a").expect("a").description,
        "About a",
        "snapshots do not change"
    );
}

#[test]
fn touching_a_file_or_editing_a_reference_changes_nothing() {
    let machine = TestMachine::new()
        .skill("work/skills/a", "a")
        .file("work/skills/a/references/r.md", "1")
        .with_scanner();
    let live = LiveCatalog::default();
    let first = refresh(&live, &machine, RefreshCause::Start);
    let same_text = "---\nname: a\ndescription: About a\n---\n";
    machine.write("work/skills/a/SKILL.md", same_text);
    machine.write("work/skills/a/references/r.md", "2");
    let second = refresh(&live, &machine, RefreshCause::Files);
    assert_eq!(second.version, first.version);
    let revision = |change: &CatalogChange| {
        change.snapshot.record().skills[0].support_revision.map(str::to_owned).expect("scanned")
    };
    assert_ne!(revision(&second), revision(&first), "only its support revision tells");
}

#[test]
fn an_unchanged_machine_gives_the_same_catalog_and_a_changed_one_never_does() {
    let machine = TestMachine::new()
        .skill("work/skills/a", "a")
        .skill("work/skills/deep/b", "b")
        .workspace_skill("needy", "metadata: {openclaw: {requires: {bins: [tool]}}}")
        .after_long_time();
    let same = |before: &Arc<sinew_catalog::Catalog>| Arc::ptr_eq(before, &machine.catalog());
    let first = machine.catalog();
    assert!(same(&first));
    machine.write("work/skills/deep/c/SKILL.md", "---\nname: c\ndescription: New\n---\n");
    assert!(!same(&first), "a new folder far down");
    let second = machine.catalog();
    assert!(same(&second));
    machine.write("work/skills/a/SKILL.md", "---\nname: a\ndescription: Edited\n---\n");
    assert!(!same(&second), "an edit");
    let third = machine.catalog();
    machine.write("bin/tool", "");
    assert!(!same(&third), "a new program");
    let fourth = machine.catalog();
    std::fs::remove_file(machine.path("work/skills/deep/b/SKILL.md")).expect("b goes");
    assert!(!same(&fourth), "a skill that is gone");
    assert!(machine.catalog().get("b").is_none());
}

#[cfg(unix)]
#[test]
fn a_root_that_now_leads_elsewhere_is_looked_at_anew() {
    let machine = TestMachine::new()
        .skill("v1/one", "one")
        .skill("v2/two", "two")
        .link("work/skills", "v1")
        .after_long_time();
    assert!(machine.catalog().get("one").is_some());
    std::fs::remove_file(machine.path("work/skills")).expect("the old link goes");
    std::os::unix::fs::symlink(machine.path("v2"), machine.path("work/skills"))
        .expect("a new link");
    let catalog = machine.catalog();
    assert!(catalog.get("one").is_none() && catalog.get("two").is_some());
}

#[test]
fn new_reasons_reach_the_snapshot_even_where_the_version_stays() {
    let machine = TestMachine::new()
        .workspace_skill("a", "metadata: {openclaw: {requires: {env: [K], bins: [tool]}}}");
    let live = LiveCatalog::default();
    let first = refresh(&live, &machine, RefreshCause::Start);
    machine.write("bin/tool", "");
    machine.chmod("bin/tool", 0o755);
    let after = refresh(&live, &machine, RefreshCause::Files);
    assert_eq!(after.version, first.version);
    #[cfg(unix)]
    assert!(after.snapshot.catalog.get("a").expect("a").missing.bins.is_empty());
}

#[test]
fn settings_and_a_lost_watch_always_bump() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    let live = LiveCatalog::default();
    let first = refresh(&live, &machine, RefreshCause::Start).version;
    let second = refresh(&live, &machine, RefreshCause::WatchLost).version;
    let third = refresh(&live, &machine, RefreshCause::Settings).version;
    assert!(first < second && second < third);
}

#[test]
fn what_the_gate_sees_counts_as_a_change() {
    let machine =
        TestMachine::new().workspace_skill("a", "metadata: {openclaw: {requires: {bins: [tool]}}}");
    let live = LiveCatalog::default();
    let first = refresh(&live, &machine, RefreshCause::Start);
    machine.write("bin/tool", "");
    machine.chmod("bin/tool", 0o755);
    let after = refresh(&live, &machine, RefreshCause::Files);
    #[cfg(unix)]
    assert_eq!((after.version > first.version, after.changed), (true, vec!["a".to_owned()]));
}

#[test]
fn a_restart_begins_above_every_earlier_version_and_a_clock_that_goes_back_does_not_matter() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    let at = |live: &LiveCatalog, now: u64| {
        machine.request(|request| {
            let env = sinew_settings::Environment {
                clock: Arc::new(FixedClock(now)),
                ..request.env.clone()
            };
            live.refresh(&CatalogRequest { env: &env, ..request.clone() }, RefreshCause::Settings)
                .version
        })
    };
    let live = LiveCatalog::default();
    let last = (0..5).map(|_| at(&live, 5_000)).last().expect("five");
    assert_eq!(at(&live, 1), last + 1);
    assert!(at(&LiveCatalog::default(), 6_000) > last);
}

#[test]
fn the_record_holds_what_other_programs_read() {
    let machine = TestMachine::new()
        .workspace_skill("a", "metadata: {openclaw: {primaryEnv: K, requires: {env: [K]}}}")
        .var("K", "v")
        .workspace_skill("off", "")
        .config("{skills: {entries: {off: {enabled: false}}}}");
    let live = LiveCatalog::default();
    let change = refresh(&live, &machine, RefreshCause::Start);
    let record = serde_json::to_value(change.snapshot.record()).expect("JSON");
    assert_eq!(
        record["skills"],
        serde_json::json!([{"name": "a", "skillKey": "a", "primaryEnv": "K", "requiredEnv": ["K"]}])
    );
    assert_eq!(record["version"], 1_000);
}
