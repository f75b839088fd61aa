//! Kills: whenever a sync is killed, nothing is lost, and the next run finishes.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sinew_engine::hub::ExchangeDirection::{Pull, Push};
use sinew_testkit::skill_text;

use super::{Registries, Syncer};

const SKILLS: usize = 4;

fn manifest(version: &str, agents: &str) -> String {
    let skills: String = (0..SKILLS).map(|n| format!("skill-{n} = \"{version}\"\n")).collect();
    let notes = "notes = \"github:ada/skills@notes\"\n";
    format!("[sync]\nagents = [{agents}]\nmode = \"copy\"\n[skills]\n{skills}{notes}")
}

fn publish(registries: &Registries, version: &str) {
    let content = format!("version {version}\n").repeat(200);
    for number in 0..SKILLS {
        let name = format!("skill-{number}");
        let text = skill_text(&name, &format!("Version {version}"));
        let files = [("SKILL.md", text.as_str()), ("a/one.md", &content), ("b/two.md", &content)];
        registries.clawhub.publish("ada", &name, version, &files);
    }
}

fn rounds() -> usize {
    if std::env::var_os("SINEW_LONG").is_some() { 40 } else { 8 }
}

/// When a child is killed: at a moment of its work that is another one each time.
struct KillMoments(u64);

impl KillMoments {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// Waits until the child has told how long its work takes, and kills it during the next.
    fn kill(&mut self, child: &mut Child, ready: &Path) {
        while !ready.exists() && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let took = std::fs::read_to_string(ready).expect("a time");
        let took = took.parse::<u64>().expect("a number");
        std::thread::sleep(Duration::from_micros(self.0 % took.max(1)));
        child.kill().expect("a child");
        child.wait().expect("a child");
    }
}

/// The process that gets killed: it syncs to one state and back until then.
#[test]
#[ignore = "started by the test below"]
fn child() {
    let Some(root) = std::env::var_os("SINEW_CHILD_ROOT") else { return };
    let registries = Registries::new();
    let syncer = Syncer {
        root: Some(root.into()),
        registry: std::env::var("SINEW_CHILD_REGISTRY").unwrap(),
        github: std::env::var("SINEW_CHILD_GITHUB").unwrap(),
        ..Syncer::new(&registries)
    };
    let rounds = [
        manifest("2.0.0", "\"claude-code\""),
        "[skills]\n".to_owned(),
        manifest("1.0.0", "\"claude-code\", \"codex\""),
    ];
    let mut began = std::time::Instant::now();
    for round in 0.. {
        syncer.write("work/skills.toml", &rounds[round % rounds.len()]);
        let _ = syncer.sync_with(|_| {});
        if round % rounds.len() == rounds.len() - 1 {
            let took = began.elapsed().as_micros().to_string();
            syncer.write("took", &took);
            let _ = std::fs::rename(syncer.path("took"), syncer.path("ready"));
            began = std::time::Instant::now();
        }
    }
}

#[test]
fn a_kill_loses_nothing_and_the_next_run_finishes() {
    let registries = Registries::new();
    publish(&registries, "1.0.0");
    publish(&registries, "2.0.0");
    let notes = skill_text("notes", "Takes notes");
    registries.github.commit("ada/skills", "main", &[("skills/notes/SKILL.md", &notes)]);
    let syncer = Syncer::new(&registries);
    // Everything is cached before the clock starts, so that kills hit the writing.
    for version in ["1.0.0", "2.0.0"] {
        syncer.write("work/skills.toml", &manifest(version, ""));
        syncer.sync();
    }
    let mine = skill_text("mine", "My own");
    syncer.write("work/skills/mine/SKILL.md", &mine);
    syncer.write("work/.claude/skills/mine/SKILL.md", &mine);
    let mut moments = KillMoments::new();
    for round in 0..rounds() {
        let ready = syncer.path("ready");
        let _ = std::fs::remove_file(&ready);
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["sync::kill::child", "--exact", "--ignored", "--quiet"])
            .env("SINEW_CHILD_ROOT", syncer.path(""))
            .env("SINEW_CHILD_REGISTRY", registries.clawhub.address())
            .env("SINEW_CHILD_GITHUB", registries.github.address())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        moments.kill(&mut child, &ready);
        // The user's own files are as they were.
        for path in ["work/skills/mine/SKILL.md", "work/.claude/skills/mine/SKILL.md"] {
            assert_eq!(syncer.read(path), mine, "round {round}");
        }
        // One more run, and everything is as the manifest says.
        syncer.write("work/skills.toml", &manifest("2.0.0", "\"claude-code\""));
        let told = syncer.sync();
        assert!(!told.iter().any(|row| row.contains('(')), "round {round}: {told:?}");
        for number in 0..SKILLS {
            let folders = ["work/skills", "work/.claude/skills"];
            for folder in folders {
                let text = syncer.read(&format!("{folder}/skill-{number}/SKILL.md"));
                assert!(text.contains("Version 2.0.0"), "round {round}: {folder}: {told:?}");
            }
            let gone = syncer.path(&format!("work/.agents/skills/skill-{number}"));
            assert!(!gone.exists(), "round {round}: {}: {told:?}", gone.display());
        }
        assert_eq!(syncer.read("work/.claude/skills/notes/SKILL.md"), notes, "round {round}");
        let again = syncer.sync();
        assert!(again.iter().all(|row| row.ends_with(" current")), "round {round}: {again:?}");
    }
}

/// The process that gets killed: one machine changes a skill and sends it, the other takes it.
#[test]
#[ignore = "started by the test below"]
fn exchanging_child() {
    let Some(root) = std::env::var_os("SINEW_CHILD_ROOT") else { return };
    let Some(second) = std::env::var_os("SINEW_CHILD_SECOND") else { return };
    let registries = Registries::new();
    let one = Syncer { root: Some(root.into()), ..Syncer::new(&registries) };
    let two = Syncer { root: Some(second.into()), ..Syncer::new(&registries) };
    let ready = one.path("ready");
    let mut began = std::time::Instant::now();
    for round in 0.. {
        let text = skill_text("mine", &format!("Round {round} {}", std::process::id()));
        one.write("next", &text);
        // An editor that writes whole files.
        let _ = std::fs::rename(one.path("next"), one.path("home/.sinew/skills/mine/SKILL.md"));
        let _ = one.exchange(Push, |_| {});
        let _ = two.exchange(Pull, |_| {});
        if round > 0 {
            one.write("took", &began.elapsed().as_micros().to_string());
            let _ = std::fs::rename(one.path("took"), &ready);
        }
        began = std::time::Instant::now();
    }
}

#[test]
fn a_kill_between_two_machines_loses_nothing() {
    let registries = Registries::new();
    let (one, two) = (Syncer::new(&registries), Syncer::new(&registries));
    let remote = one.path("remote.git").to_string_lossy().into_owned();
    let git = |args: &[&str]| Command::new("git").args(args).output();
    if !git(&["init", "--quiet", "--bare", &remote]).is_ok_and(|made| made.status.success()) {
        sinew_testkit::report_skip("git is not installed");
        return;
    }
    let mine = "home/.sinew/skills/mine/SKILL.md";
    let theirs = skill_text("theirs", "Of the second machine");
    one.write(mine, &skill_text("mine", "At first"));
    let named = |request: &mut sinew_engine::hub::ExchangeRequest| {
        request.remote = Some(remote.clone());
    };
    one.exchange(Push, named).unwrap();
    two.exchange(Pull, named).unwrap();
    two.write("home/.sinew/skills/theirs/SKILL.md", &theirs);
    let mut moments = KillMoments::new();
    for round in 0..rounds() {
        let ready = one.path("ready");
        let _ = std::fs::remove_file(&ready);
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["sync::kill::exchanging_child", "--exact", "--ignored", "--quiet"])
            .env("SINEW_CHILD_ROOT", one.path(""))
            .env("SINEW_CHILD_SECOND", two.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        moments.kill(&mut child, &ready);
        let edited = one.read(mine);
        assert!(edited.contains("Round "), "round {round}: {edited}");
        let sent = one.exchange(Push, |_| {}).unwrap();
        assert!(!sent.iter().any(|row| row.contains('(')), "round {round}: {sent:?}");
        let taken = two.exchange(Pull, |_| {}).unwrap();
        assert!(!taken.iter().any(|row| row.contains('(')), "round {round}: {taken:?}");
        assert_eq!(one.read(mine), edited, "round {round}");
        assert_eq!(two.read(mine), edited, "round {round}: {taken:?}");
        assert_eq!(two.read("home/.sinew/skills/theirs/SKILL.md"), theirs, "round {round}");
        assert!(!two.read("home/.sinew/lock.json").contains("mine"), "it stays the person's own");
        let sound = git(&["-C", &remote, "fsck", "--strict"]).expect("git runs");
        assert!(
            sound.status.success(),
            "round {round}: {}",
            String::from_utf8_lossy(&sound.stderr)
        );
    }
}
