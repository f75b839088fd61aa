//! A damaged database is an error until someone decides, and sinew's files are its user's alone.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use sinew_testkit::TestMachine;

use crate::mcp::client::Client;
use crate::support::{command, json, shown, sinew, typed};

const DATABASE: &str = "home/.sinew/sinew.db";

/// A machine that has learned something.
fn learned() -> TestMachine {
    let machine = TestMachine::new().skill("work/skills/notes", "notes");
    for _ in 0..40 {
        let told = report(&machine);
        assert!(told.ends_with("exit 0"), "{told}");
    }
    machine
}

fn report(machine: &TestMachine) -> String {
    let args =
        ["report", "--region", "writing", "--skill", "notes", "--version", "1", "--result", "ok"];
    sinew(machine, &args)
}

fn names(machine: &TestMachine, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(machine.path(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Overwrites a database from this byte on.
fn scribble(machine: &TestMachine, from: usize, to: usize) {
    let path = machine.path(DATABASE);
    let mut bytes = fs::read(&path).expect("the database");
    let to = to.min(bytes.len());
    bytes[from..to].fill(0xa5);
    fs::write(&path, bytes).expect("damage");
    for name in ["home/.sinew/sinew.db-wal", "home/.sinew/sinew.db-shm"] {
        let _ = fs::remove_file(machine.path(name));
    }
}

#[test]
fn a_damaged_database_stops_what_acts_and_is_never_replaced_in_silence() {
    for (from, to) in [(0, 64), (100, usize::MAX), (0, usize::MAX)] {
        let machine = learned();
        scribble(&machine, from, to);
        let damaged = fs::read(machine.path(DATABASE)).expect("the file");
        for args in [
            &["report", "--region", "a", "--skill", "b", "--version", "1", "--result", "ok"][..],
            &["exec", "notes", "--", "true"],
            &["install", "tides", "--yes"],
            &["cortex", "show"],
            &["workshop", "list"],
        ] {
            let told = sinew(&machine, args);
            assert!(told.contains("is damaged") && told.ends_with("exit 4"), "{args:?}: {told}");
            assert!(told.contains("doctor --repair"), "{args:?}: {told}");
        }
        for args in [&["list"][..], &["find", "take notes"], &["read", "notes"], &["why", "notes"]]
        {
            let told = sinew(&machine, args);
            assert!(told.contains("err| warning: the database"), "{args:?}: {told}");
            assert!(!told.ends_with("exit 4"), "{args:?}: {told}");
        }
        assert!(sinew(&machine, &["doctor"]).ends_with("exit 4"));
        let served = sinew(&machine, &["serve", "--listen", "127.0.0.1:0"]);
        assert!(served.contains("is damaged") && served.ends_with("exit 4"), "{served}");
        assert!(fs::read(machine.path(DATABASE)).expect("the file") == damaged, "it changed");
        assert!(!names(&machine, "home/.sinew").iter().any(|name| name.contains("corrupt")));
    }
}

#[test]
fn what_can_be_read_is_kept_and_what_is_lost_is_told() {
    let machine = learned();
    // The last page; those before it can be read.
    let length = fs::metadata(machine.path(DATABASE)).expect("the file").len();
    let last = usize::try_from(length).expect("a size") - 4096;
    let before = json(&machine, &["cortex", "show"])["records"].clone();
    scribble(&machine, last, usize::MAX);
    assert!(sinew(&machine, &["doctor"]).ends_with("exit 4"));
    let told = sinew(&machine, &["doctor", "--repair"]);
    assert!(told.contains("are there again") && told.ends_with("exit 0"), "{told}");
    assert!(told.contains("the damaged file is $ROOT/home/.sinew/sinew.db.corrupt-"), "{told}");
    assert!(report(&machine).ends_with("exit 0"));
    assert!(sinew(&machine, &["doctor"]).ends_with("exit 0"));
    let after = json(&machine, &["cortex", "show"])["records"].clone();
    assert!(after.as_u64() >= Some(1), "{before} before, {after} after");
    let told = sinew(&machine, &["doctor", "--repair"]);
    assert!(told.contains("nothing is wrong with the database"), "{told}");
}

#[test]
fn only_a_person_begins_an_empty_database() {
    let machine = learned();
    scribble(&machine, 0, usize::MAX);
    let told = sinew(&machine, &["doctor", "--fresh"]);
    assert!(told.contains("only a person at a terminal") && told.ends_with("exit 3"), "{told}");
    let told = typed(&machine, &["doctor", "--fresh"], "");
    assert!(told.contains("the damaged one is"), "{told}");
    assert!(report(&machine).ends_with("exit 0"));
}

/// The address may be a mistake, and the file someone's own.
#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let diary = "what happened today, and nobody else's business\n".repeat(40);
    for args in [
        &["report", "--region", "a", "--skill", "b", "--version", "1", "--result", "ok"][..],
        &["cortex", "show"],
        &["doctor"],
        &["doctor", "--repair"],
        &["backup"],
    ] {
        let machine = TestMachine::new().file("work/important.txt", &diary);
        let mut asked = command(&machine, args);
        asked.env("SINEW_DATABASE_URL", "./important.txt");
        let told = shown(&machine, &asked.output().expect("sinew runs"));
        assert!(told.ends_with("exit 4"), "{args:?}: {told}");
        let kept = fs::read_to_string(machine.path("work/important.txt")).expect("it is there");
        assert!(kept == diary, "{args:?}: it changed");
        assert_eq!(names(&machine, "work").len(), 1, "{args:?}: {:?}", names(&machine, "work"));
    }
}

#[test]
fn a_copy_is_made_every_day_and_seven_are_kept() {
    let machine = learned();
    assert_eq!(names(&machine, "home/.sinew/backups").len(), 1, "once a day");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 60 * 60);
    for number in 0..9 {
        let path = machine.path(&format!("home/.sinew/backups/sinew-2020-01-0{number}.db"));
        fs::write(path, "old").expect("a file");
    }
    for name in names(&machine, "home/.sinew/backups") {
        let path = machine.path(&format!("home/.sinew/backups/{name}"));
        fs::File::options().write(true).open(path).and_then(|f| f.set_modified(old)).expect("old");
    }
    assert!(report(&machine).ends_with("exit 0"));
    let kept = names(&machine, "home/.sinew/backups");
    assert_eq!(kept.len(), 7, "{kept:?}");
    let (listed, told) = (json(&machine, &["backup", "--list"]), sinew(&machine, &["backup"]));
    assert_eq!(listed.as_array().map(Vec::len), Some(7), "{listed}");
    assert!(told.ends_with("exit 0"), "{told}");
}

#[test]
fn a_copy_comes_back_when_a_person_says_so() {
    let machine = learned();
    let made = sinew(&machine, &["backup", "mine.db"]);
    assert!(made.ends_with("exit 0"), "{made}");
    assert!(sinew(&machine, &["backup", "mine.db"]).contains("is there already"));
    scribble(&machine, 0, usize::MAX);
    let told = sinew(&machine, &["backup", "--restore", "mine.db"]);
    assert!(told.contains("only a person at a terminal") && told.ends_with("exit 3"), "{told}");
    let told = typed(&machine, &["backup", "--restore", "mine.db"], "");
    assert!(told.contains("brought back mine.db") && told.ends_with("exit 0"), "{told}");
    let told = report(&machine);
    assert!(told.contains("41 of 41") && told.ends_with("exit 0"), "{told}");
}

#[test]
#[cfg(unix)]
fn the_home_is_closed_to_others() {
    let mode = |machine: &TestMachine, path: &str| {
        fs::metadata(machine.path(path)).expect("it is there").permissions().mode() & 0o777
    };
    let open = fs::Permissions::from_mode(0o777);
    let machine = learned();
    for folder in ["home/.sinew", "home/.sinew/backups"] {
        fs::set_permissions(machine.path(folder), open.clone()).expect("opened");
    }
    assert!(sinew(&machine, &["list"]).ends_with("exit 0"));
    for folder in ["home/.sinew", "home/.sinew/backups"] {
        assert_eq!(mode(&machine, folder), 0o700, "{folder}");
    }
    // Also where the home itself was closed all the time.
    for folder in ["home/.sinew/backups", "home/.sinew/backups/older"] {
        fs::create_dir_all(machine.path(folder)).expect("a folder");
        fs::set_permissions(machine.path(folder), open.clone()).expect("opened");
    }
    assert!(sinew(&machine, &["list"]).ends_with("exit 0"));
    for folder in ["home/.sinew/backups", "home/.sinew/backups/older"] {
        assert_eq!(mode(&machine, folder), 0o700, "{folder}");
    }
    // Whatever the mask, and for whichever command is the first.
    for args in ["list", "find x", "report --region a --skill b --version 1 --result ok"] {
        let machine = TestMachine::new();
        let run = command(&machine, &args.split(' ').collect::<Vec<_>>());
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(run.get_program());
        shell.args(run.get_args()).current_dir(machine.path("work")).env_clear();
        shell.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.output().expect("it runs");
        if machine.path("home/.sinew").exists() {
            assert_eq!(mode(&machine, "home/.sinew"), 0o700, "{args}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_configuration_that_others_can_change_is_told() {
    let config = "{skills: {entries: {notes: {apiKey: 'k'}}}}";
    let machine = TestMachine::new().file("home/.sinew/config.json5", config);
    assert!(!sinew(&machine, &["list"]).contains("can change"));
    let open = fs::Permissions::from_mode(0o666);
    fs::set_permissions(machine.path("home/.sinew/config.json5"), open).expect("opened");
    for args in [&["list"][..], &["doctor"]] {
        let told = sinew(&machine, args);
        assert!(told.contains("everyone can change") && told.contains("holds keys"), "{told}");
    }
}

#[test]
#[cfg(unix)]
fn doctor_names_files_that_others_can_reach() {
    let machine =
        TestMachine::new().file("home/.sinew/token", "t").file("home/.sinew/backups/own.db", "x");
    assert!(report(&machine).ends_with("exit 0"));
    let private = ["sinew.db", "token", "backups/own.db"];
    for (mode, told) in [(0o600, false), (0o644, true)] {
        for name in private {
            let path = machine.path(&format!("home/.sinew/{name}"));
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
        }
        let doctor = sinew(&machine, &["doctor"]);
        for name in private {
            let said = format!("others can reach $ROOT/home/.sinew/{name}");
            let said = said.replace("$ROOT/home", "~");
            let is_said =
                doctor.contains(&said) || doctor.contains(&said.replace('~', "$ROOT/home"));
            assert_eq!(is_said, told, "{name}: {doctor}");
        }
    }
}

/// The team's database is away: doctor says so, fails, and shows no password.
#[test]
fn doctor_sees_a_server_that_is_away() {
    let machine = TestMachine::new();
    let mut asked = command(&machine, &["doctor"]);
    asked.env("SINEW_DATABASE_URL", "postgres://guest:hunter2@127.0.0.1:1/none");
    let told = shown(&machine, &asked.output().expect("sinew runs"));
    assert!(told.contains("127.0.0.1") && told.ends_with("exit 4"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

/// A server over HTTP does not start; one that an agent starts still reads, and says why it does not act.
#[test]
fn no_mcp_server_acts_on_a_damaged_database() {
    let machine = learned();
    scribble(&machine, 0, usize::MAX);
    let told = sinew(&machine, &["mcp", "--http", "127.0.0.1:0"]);
    assert!(told.contains("doctor --repair") && told.ends_with("exit 4"), "{told}");
    let mut client = Client::session(&machine, json!({}));
    client.data("list_skills", json!({}));
    let outcome = json!({"skill": "b", "region": "a", "outcome": "success"});
    assert_eq!(client.error("report_outcome", outcome)["code"], "database-damaged");
}

#[test]
fn doctor_sees_an_empty_pepper() {
    let machine = TestMachine::new().file("home/.sinew/registry/pepper", "");
    let told = sinew(&machine, &["doctor"]);
    assert!(told.contains("0 bytes of 32") && told.ends_with("exit 4"), "{told}");
    machine.write("home/.sinew/registry/pepper", "p".repeat(32));
    assert!(sinew(&machine, &["doctor"]).ends_with("exit 0"));
}

#[test]
fn what_killed_processes_left_is_swept() {
    let machine = learned();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 60 * 60);
    for (name, swept) in
        [(".sinew-a1b2.tmp", true), ("sinew.db.salvage", true), ("notes.tmp", false)]
    {
        let path = machine.path(&format!("home/.sinew/{name}"));
        fs::write(&path, "half").expect("a file");
        fs::File::options().write(true).open(&path).and_then(|f| f.set_modified(old)).expect("old");
        assert!(report(&machine).ends_with("exit 0"));
        assert_eq!(path.exists(), !swept, "{name}");
    }
    // One that is being written now is not.
    machine.write("home/.sinew/.sinew-new.tmp", "half");
    assert!(report(&machine).ends_with("exit 0"));
    assert!(machine.path("home/.sinew/.sinew-new.tmp").exists());
}
