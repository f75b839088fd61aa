//! Kills and concurrency: at whatever point an install, an update or a removal is killed, folder
//! and lock agree after the next start.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sinew_hub::TreeStatus;
use sinew_testkit::skill_text;

use crate::support::{Person, World};

const FILES: usize = 20;

fn publish(world: &World, version: &str) {
    let text = skill_text("tides", &format!("Version {version}"));
    let names: Vec<String> = (0..FILES).map(|n| format!("d{}/f{n}.md", n % 4)).collect();
    let content = format!("version {version}\n").repeat(100);
    let mut files = vec![("SKILL.md", text.as_str())];
    files.extend(names.iter().map(|name| (name.as_str(), content.as_str())));
    world.clawhub.publish("ada", "tides", version, &files);
}

/// The process that gets killed: it installs, updates and removes until then.
#[test]
#[ignore = "started by the test below"]
fn child() {
    let Some(world) = World::of_parent() else { return };
    let (opened, workdir) = (world.open(&Default::default()), world.workdir());
    let install = |version: &str| {
        let mut ask = crate::support::ask(&format!("tides@{version}"));
        ask.overwrite = true;
        crate::support::install(&opened, ask, &workdir, &mut Person::yes()).unwrap();
    };
    let round = || {
        for version in ["2.0.0", "1.0.0"] {
            install(version);
        }
        let (hub, authority) = &opened;
        hub.uninstall(authority.permit_change("tides"), &workdir).unwrap();
        install("1.0.0");
    };
    // The guard is built from here on, so kills hit the work, not the start.
    install("1.0.0");
    let began = Instant::now();
    round();
    // Moved into place, so that no reader sees half of it.
    let (made, ready) = (world.path("../took"), world.path("../ready"));
    std::fs::write(&made, began.elapsed().as_micros().to_string()).unwrap();
    std::fs::rename(made, ready).unwrap();
    loop {
        round();
    }
}

#[test]
fn a_kill_leaves_the_old_or_the_new_skill_and_a_lock_that_agrees() {
    let world = World::new();
    for version in ["1.0.0", "2.0.0"] {
        publish(&world, version);
    }
    // Everything is cached before the clock starts, so that kills hit the writing.
    for version in ["1.0.0", "2.0.0"] {
        let reference = format!("tides@{version}");
        world.install_with(&reference, &mut Person::yes(), |ask| ask.overwrite = true).unwrap();
    }
    let rounds = if std::env::var_os("SINEW_LONG").is_some() { 200 } else { 50 };
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut seen = std::collections::BTreeMap::new();
    for round in 0..rounds {
        let ready = world.path("../ready");
        let _ = std::fs::remove_file(&ready);
        let mut child = world.child("kill::child").spawn().unwrap();
        while !ready.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        // At any point of a round, whose length depends on how busy the machine is.
        let took = std::fs::read_to_string(&ready).unwrap().parse::<u64>().unwrap();
        std::thread::sleep(Duration::from_micros(seed % took.max(1)));
        child.kill().unwrap();
        child.wait().unwrap();
        // The next start finishes or undoes whatever was left.
        let workdir = world.workdir();
        drop(workdir.acquire(&world.environment()).unwrap());
        let lock = workdir.lock(&world.environment()).unwrap();
        let target = world.path("skills/tides");
        assert_eq!(lock.skills.contains_key("tides"), target.exists(), "round {round}");
        let theirs = world.clawhub_lock();
        assert_eq!(theirs["skills"].get("tides").is_some(), target.exists(), "round {round}");
        for verified in world.hub().verify(&[], &workdir).unwrap() {
            assert_eq!(verified.status, TreeStatus::Ok, "round {round}: {verified:?}");
            assert_eq!(theirs["skills"]["tides"]["version"], lock.skills["tides"].version.as_str());
        }
        let litter: Vec<String> = world
            .files()
            .into_iter()
            .filter(|path| {
                path.contains(".sinew-staging/")
                    || path.contains("trash")
                    || path.contains("journal")
            })
            .collect();
        assert!(litter.is_empty(), "round {round}: {litter:?}");
        let state = lock.skills.get("tides").map(|entry| entry.version.clone());
        *seen.entry(state).or_insert(0) += 1;
    }
    // Kills that all hit the same state would prove nothing.
    assert!(seen.len() > 1, "{seen:?}");
}

#[test]
#[ignore = "started by the test below"]
fn installer() {
    let Some(world) = World::of_parent() else { return };
    let slug = std::env::var("SINEW_CHILD_NAME").unwrap();
    world.install(&slug).unwrap();
}

#[test]
fn sixteen_processes_install_into_one_folder() {
    let world = World::new();
    let slugs: Vec<String> = (0..16).map(|number| format!("skill-{number}")).collect();
    for slug in &slugs {
        world.clawhub.publish_simple("ada", slug, "1.0.0");
    }
    let children: Vec<_> = slugs
        .iter()
        .map(|slug| {
            let mut child = world.child("kill::installer");
            child.env("SINEW_CHILD_NAME", slug).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(world.lock()["skills"].as_object().unwrap().len(), 16);
    assert_eq!(world.clawhub_lock()["skills"].as_object().unwrap().len(), 16);
    assert!(
        world
            .hub()
            .verify(&[], &world.workdir())
            .unwrap()
            .iter()
            .all(sinew_hub::SkillVerification::is_ok)
    );
}

impl World {
    /// This test binary again, on the same machine with the same registries.
    fn child(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command
            .args([test, "--exact", "--ignored", "--quiet"])
            .env("SINEW_CHILD_ROOT", self.machine.root())
            .env("SINEW_CHILD_REGISTRY", self.clawhub.address())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}
