//! The mirror: a `cortex.json` that other programs read and write too.

use sinew_settings::Actor;
use std::fs;

use serde_json::{Value, json};

use crate::cortex::support::{R, S, World, ok, used};

fn mirrored() -> World {
    World::new().config("{cortex: {mirror: '$ROOT/home/cortex.json'}}")
}

fn read(world: &World) -> Value {
    let text = fs::read_to_string(world.path("home/cortex.json")).expect("the mirror");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn it_follows_every_change_and_belongs_to_its_owner() {
    let world = mirrored();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    assert_eq!(read(&world)["cortex"]["motor"][R]["candidates"][0]["weight"], 0.575);
    cortex.blacklist_add("evil", None, &Actor::System).expect("a change");
    assert_eq!(read(&world)["blacklist"], json!(["evil"]));
    cortex.blacklist_remove("evil", &Actor::System).expect("a change");
    assert_eq!(read(&world)["blacklist"], json!([]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            fs::metadata(world.path("home/cortex.json")).expect("the mirror").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_another_program_wrote_survives() {
    let world = mirrored();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    let mut file = read(&world);
    file["cortex"]["motor"]["theirs"] = file["cortex"]["motor"][R].clone();
    file["note"] = json!("mine");
    fs::write(world.path("home/cortex.json"), file.to_string()).expect("their file");
    cortex.record(&used("ours", S)).expect("a record");
    let merged = read(&world);
    let regions: Vec<&String> =
        merged["cortex"]["motor"].as_object().expect("regions").keys().collect();
    assert_eq!(regions, [R, "ours", "theirs"]);
    assert_eq!(merged["note"], "mine");
    assert_eq!(merged["cortex"]["motor"][R]["candidates"][0]["runs"]["success"], 1);
    // What sinew forgets leaves the mirror; what others wrote stays.
    cortex.reset(sinew_cortex::record::ForgetScope::Region(R.to_owned())).expect("a reset");
    let merged = read(&world);
    let regions: Vec<&String> =
        merged["cortex"]["motor"].as_object().expect("regions").keys().collect();
    assert_eq!(regions, ["ours", "theirs"]);
}

#[test]
fn a_torn_mirror_is_kept_aside() {
    // Of the original's own file.
    let world = mirrored();
    world.write("home/cortex.json", "{\"version\":1,");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    assert_eq!(read(&world)["version"], 1);
    let entries = fs::read_dir(world.path("home")).expect("the home");
    let aside: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains("cortex.json.corrupt-"))
        .collect();
    assert_eq!(fs::read(&aside[0]).expect("the old file"), b"{\"version\":1,");
    assert!(cortex.notices()[0].contains("it is kept as"), "{:?}", cortex.notices());
}

#[test]
fn a_mirror_that_cannot_be_written_is_told_and_stops_nothing() {
    let world = World::new().config("{cortex: {mirror: '$ROOT/home/file/cortex.json'}}");
    world.write("home/file", "not a folder");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    assert!(
        cortex.notices()[0].starts_with("the mirror was not written"),
        "{:?}",
        cortex.notices()
    );
}

#[test]
fn many_writers_leave_one_whole_file() {
    let world = mirrored();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let world = &world;
            scope.spawn(move || {
                let engine = world.engine();
                let cortex = engine.cortex().expect("a cortex");
                for _ in 0..10 {
                    cortex.record(&used(&format!("region-{number}"), S)).expect("a record");
                }
            });
        }
    });
    let engine = world.engine();
    engine.cortex().expect("a cortex").record(&ok()).expect("a record");
    let motor = read(&world)["cortex"]["motor"].clone();
    for number in 0..8 {
        let region = &motor[format!("region-{number}")];
        assert_eq!(region["candidates"][0]["runs"]["success"], 10, "{number}");
    }
}
