//! What one sync does, in which order, and what it leaves alone.

use sinew_engine::hub::{GroupChoice, InstallTarget};
use sinew_testkit::skill_text;

use super::{Answers, Registries, Syncer, person};

const MANIFEST: &str = "
[sync]
agents = [\"claude\", \"openclaw\"]

[skills]
tides = \"^1.0\"
notes = \"github:ada/skills@notes\"
deploy = { groups = [\"work\"], agents = [\"codex\"], mode = \"copy\" }
";

fn world() -> (Registries, Syncer) {
    let registries = Registries::new();
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        let text = skill_text("tides", &format!("Version {version}"));
        registries.clawhub.publish("ada", "tides", version, &[("SKILL.md", &text)]);
    }
    registries.clawhub.publish_simple("ada", "deploy", "0.3.0");
    let text = skill_text("notes", "Takes notes");
    registries.github.commit("ada/skills", "main", &[("skills/notes/SKILL.md", &text)]);
    let syncer = Syncer::new(&registries);
    syncer.write("work/skills.toml", MANIFEST);
    (registries, syncer)
}

#[test]
fn a_manifest_is_installed_linked_and_then_there_is_nothing_to_do() {
    let (_registries, syncer) = world();
    let first = syncer.sync();
    assert_eq!(
        first,
        [
            "tides installed",
            "notes installed",
            "notes linked work/.claude/skills/notes",
            "tides linked work/.claude/skills/tides",
        ],
        "OpenClaw reads the workspace's folder itself"
    );
    assert!(syncer.read("work/skills/tides/SKILL.md").contains("Version 1.1.0"), "in the range");
    let link = std::fs::read_link(syncer.path("work/.claude/skills/tides")).unwrap();
    assert_eq!(link, std::path::Path::new("../../skills/tides"), "a project can be moved");
    assert_eq!(syncer.sync(), ["tides current", "notes current"]);
    assert_eq!(syncer.state("tides"), "ready");
    let snapshot = syncer.engine().snapshot();
    let escapes = snapshot.catalog.issues.iter().filter(|r| r.code.as_str() == "symlink-escape");
    assert_eq!(escapes.count(), 0, "a link to the workspace's own skills is not an escape");
}

#[test]
fn groups_copies_and_agents_follow_the_manifest() {
    let (_registries, syncer) = world();
    syncer.sync();
    let work = |request: &mut sinew_engine::hub::SyncRequest| {
        request.groups = GroupChoice::Named(vec!["work".to_owned()]);
    };
    let told = syncer.sync_with(work).unwrap();
    assert!(told.contains(&"deploy installed".to_owned()), "{told:?}");
    assert!(told.contains(&"deploy copied work/.agents/skills/deploy".to_owned()), "{told:?}");
    assert!(!syncer.path("work/.agents/skills/deploy").is_symlink());
    // A sync without the group leaves what belongs to it.
    assert_eq!(syncer.sync(), ["tides current", "notes current"]);
    assert!(syncer.path("work/skills/deploy/SKILL.md").is_file());
    // An edited copy is the user's.
    syncer.write("work/.agents/skills/deploy/SKILL.md", "mine");
    let linked = MANIFEST.replace("mode = \"copy\"", "mode = \"link\"");
    syncer.write("work/skills.toml", &linked);
    let told = syncer.sync_with(work).unwrap();
    assert!(told.contains(&"deploy kept work/.agents/skills/deploy".to_owned()), "{told:?}");
    assert_eq!(syncer.read("work/.agents/skills/deploy/SKILL.md"), "mine");
    let unknown = syncer.sync_with(|request| {
        request.groups = GroupChoice::Named(vec!["wrok".to_owned()]);
    });
    assert_eq!(unknown.unwrap_err().hints, ["did you mean work?"]);
}

#[test]
fn an_update_stays_in_the_range_and_another_range_replaces() {
    let (registries, syncer) = world();
    syncer.sync();
    let text = skill_text("tides", "Version 1.2.0");
    registries.clawhub.publish("ada", "tides", "1.2.0", &[("SKILL.md", &text)]);
    assert_eq!(syncer.sync()[0], "tides current", "the lock decides until an update is wanted");
    let told = syncer.sync_with(|request| request.update = true).unwrap();
    assert_eq!(told[0], "tides updated");
    assert!(syncer.read("work/skills/tides/SKILL.md").contains("Version 1.2.0"));
    syncer.write("work/skills.toml", &MANIFEST.replace("^1.0", "2.0.0"));
    assert_eq!(syncer.sync()[0], "tides updated");
    assert!(syncer.read("work/skills/tides/SKILL.md").contains("Version 2.0.0"));
}

#[test]
fn what_the_manifest_no_longer_names_is_removed_after_a_persons_word() {
    let (_registries, syncer) = world();
    syncer.sync();
    syncer.write("work/skills.toml", "[skills]\ntides = \"^1.0\"\n");
    let told = syncer.sync_with(|request| request.prune = None).unwrap();
    assert_eq!(told, ["tides current", "notes kept", "tides unlinked work/.claude/skills/tides"]);
    let told = syncer.sync();
    assert_eq!(
        told,
        ["tides current", "notes removed", "notes unlinked work/.claude/skills/notes"]
    );
    assert!(!syncer.path("work/skills/notes").exists());
    assert!(!syncer.path("work/.claude/skills/notes").is_symlink());
}

#[test]
fn edits_on_this_machine_are_never_lost() {
    let (_registries, syncer) = world();
    syncer.sync();
    let edited = format!("{}\nmine\n", syncer.read("work/skills/tides/SKILL.md"));
    syncer.write("work/skills/tides/SKILL.md", &edited);
    assert_eq!(syncer.sync()[0], "tides kept");
    let told = syncer.sync_with(|request| request.update = true).unwrap();
    assert_eq!(told[0], "tides failed (local-changes)");
    syncer.write("work/skills.toml", "[skills]\n");
    assert!(syncer.sync().contains(&"tides kept".to_owned()));
    assert_eq!(syncer.read("work/skills/tides/SKILL.md"), edited);
    syncer.write("work/skills.toml", MANIFEST);
    let replacing = |request: &mut sinew_engine::hub::SyncRequest| {
        (request.update, request.overwrite) = (true, true);
    };
    let told = syncer.sync_with(replacing).unwrap();
    assert_eq!(told[0], "tides updated");
    let backups = std::fs::read_dir(syncer.path("work/.sinew/backups")).unwrap().count();
    assert_eq!(backups, 1, "a copy is kept");
    // A folder that was never installed is the user's own.
    syncer.write("work/skills/mine/SKILL.md", &skill_text("mine", "My own"));
    syncer.write("work/skills.toml", "[skills]\nmine = \"1.0.0\"\n");
    assert_eq!(syncer.sync()[0], "mine failed (exists)");
}

#[test]
fn frozen_restores_exactly_the_lock_or_fails() {
    let (_registries, syncer) = world();
    let frozen = |request: &mut sinew_engine::hub::SyncRequest| request.frozen = true;
    let error = syncer.sync_with(frozen).unwrap_err();
    assert_eq!(error.code.as_str(), "lock-behind");
    assert!(!syncer.path("work/skills").exists(), "nothing was changed");
    syncer.sync();
    std::fs::remove_dir_all(syncer.path("work/skills/tides")).unwrap();
    let told = syncer.sync_asking(frozen, &mut Answers::no()).unwrap();
    assert_eq!(told, ["notes ok", "tides restored"], "what was approved is not asked about again");
    syncer.write("work/skills.toml", &MANIFEST.replace("^1.0", "^2"));
    assert_eq!(syncer.sync_with(frozen).unwrap_err().code.as_str(), "lock-behind");
}

#[test]
fn a_no_and_a_missing_network_leave_the_rest_to_the_next_run() {
    let (_registries, mut syncer) = world();
    let told = syncer.sync_asking(|_| {}, &mut Answers::no()).unwrap();
    assert_eq!(told, ["tides refused (rejected)", "notes refused (rejected)"]);
    assert!(!syncer.path("work/skills/tides").exists());
    syncer.offline = true;
    let told = syncer.sync();
    assert!(
        told.iter().all(|row| row.contains("(offline)")
            || row.contains("installed")
            || row.contains("linked")),
        "{told:?}"
    );
    syncer.offline = false;
    let told = syncer.sync();
    assert!(syncer.path("work/skills/tides/SKILL.md").is_file(), "{told:?}");
    syncer.offline = true;
    assert_eq!(syncer.sync(), ["tides current", "notes current"], "what is here needs no network");
}

#[test]
fn a_faulty_manifest_changes_nothing() {
    let (_registries, syncer) = world();
    syncer.sync();
    for (text, told) in [
        ("[skills]\ntides = \"^1.0\"\nnotes = 3\n", "line 3: `notes` is not a table"),
        ("[skils]\n", "did you mean `skills`?"),
        ("[sync]\nagents = [\"claud\"]\n", "no agent is named `claud`; did you mean"),
        ("[skills]\ntides = { sourc = \"x\" }\n", "did you mean `source`?"),
        ("[skills]\n\"../up\" = \"1\"\n", "cannot be the name of a folder"),
        ("[skills]\ntides = \"https://[\"\n", "line 2"),
        ("[skills\n", "line 1"),
    ] {
        syncer.write("work/skills.toml", text);
        let error = syncer.sync_with(|_| {}).unwrap_err();
        assert_eq!(error.code.as_str(), "bad-manifest");
        assert!(error.message.contains(told), "{text}: {}", error.message);
    }
    assert!(syncer.path("work/skills/tides/SKILL.md").is_file());
}

#[test]
fn the_users_manifest_serves_the_users_folders() {
    let (_registries, syncer) = world();
    let manifest = "[sync]\nagents = [\"claude-code\", \"codex\"]\n[skills]\ntides = \"^1.0\"\n";
    syncer.write("home/.sinew/skills.toml", manifest);
    let request = syncer.request(InstallTarget::Managed);
    let told = syncer.sync_with(|asked| *asked = request).unwrap();
    assert_eq!(
        told,
        [
            "tides installed",
            "tides linked home/.claude/skills/tides",
            "tides linked home/.agents/skills/tides",
        ]
    );
    assert_eq!(syncer.state("tides"), "ready");
    let _ = person();
}

/// People link one agent's folder to another's: a link that is made there counts from the real one.
#[cfg(unix)]
#[test]
fn a_link_in_a_linked_folder_leads_to_the_skill() {
    let (_registries, syncer) = world();
    syncer.write("elsewhere/deep/agents/keep", "x");
    std::fs::create_dir_all(syncer.path("work/.claude")).unwrap();
    let shared = syncer.path("elsewhere/deep/agents");
    std::os::unix::fs::symlink(shared, syncer.path("work/.claude/skills")).unwrap();
    syncer.sync();
    let through = syncer.read("work/.claude/skills/tides/SKILL.md");
    assert!(through.contains("Version 1.1.0"), "the link leads nowhere");
    assert_eq!(syncer.sync(), ["tides current", "notes current"], "it is known as ours");
    syncer.write("work/skills.toml", "[skills]\n");
    syncer.sync();
    assert!(!syncer.path("elsewhere/deep/agents/tides").is_symlink(), "and taken away again");
    assert!(syncer.path("elsewhere/deep/agents/keep").exists());
}

/// A path is meant from the manifest's folder, wherever sync is started.
#[test]
fn a_path_in_a_manifest_starts_from_the_manifest() {
    let (_registries, syncer) = world();
    syncer.write("home/.sinew/own/tides/SKILL.md", &skill_text("tides", "Beside the manifest"));
    syncer.write("work/own/tides/SKILL.md", &skill_text("tides", "Where sync is started"));
    syncer.write("home/.sinew/skills.toml", "[skills]\ntides = \"./own/tides\"\n");
    let request = syncer.request(InstallTarget::Managed);
    assert_eq!(syncer.sync_with(|asked| *asked = request).unwrap(), ["tides installed"]);
    assert!(syncer.read("home/.sinew/skills/tides/SKILL.md").contains("Beside the manifest"));
    let request = syncer.request(InstallTarget::Managed);
    assert_eq!(syncer.sync_with(|asked| *asked = request).unwrap(), ["tides current"]);
}

/// A project's lock is shared: a skill of the project itself is restored wherever the project lies.
#[test]
fn a_projects_own_skill_is_restored_in_another_checkout() {
    let (registries, syncer) = world();
    let text = skill_text("mine", "Of the project");
    let manifest = "[skills]\nmine = \"./tools/mine\"\n";
    syncer.write("work/tools/mine/SKILL.md", &text);
    syncer.write("work/skills.toml", manifest);
    assert_eq!(syncer.sync(), ["mine installed"]);
    let lock = syncer.read("work/.sinew/lock.json");
    let here = syncer.path("work").to_string_lossy().into_owned();
    assert!(!lock.contains(&here) && lock.contains("tools/mine"), "{lock}");
    let other = Syncer::new(&registries);
    other.write("work/tools/mine/SKILL.md", &text);
    other.write("work/skills.toml", manifest);
    other.write("work/.sinew/lock.json", &lock);
    let frozen = |request: &mut sinew_engine::hub::SyncRequest| request.frozen = true;
    let told = other.sync_asking(frozen, &mut Answers::no()).unwrap();
    assert_eq!(told, ["mine restored"]);
    assert_eq!(other.read("work/skills/mine/SKILL.md"), text);
    // What changed since is not what the lock names.
    std::fs::remove_dir_all(other.path("work/skills/mine")).unwrap();
    other.write("work/tools/mine/SKILL.md", &skill_text("mine", "Changed since"));
    assert!(other.sync_with(frozen).is_err());
}
