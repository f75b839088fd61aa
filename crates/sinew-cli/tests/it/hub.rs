//! Registries on the command line: what is printed, what is written, how it ends.

use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use sinew_testkit::{
    ClawHubDouble, ClawHubManner, GitHubDouble, ModerationFlag, TestMachine, skill_text,
};

use crate::support::{command, json, shown, sinew, typed, unattended};

/// A machine whose registries are on loopback.
struct World {
    machine: TestMachine,
    clawhub: ClawHubDouble,
    github: GitHubDouble,
}

impl World {
    fn new() -> Self {
        Self { machine: unattended(), clawhub: ClawHubDouble::new(), github: GitHubDouble::new() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.machine, args);
        command
            .env("SINEW_REGISTRY", self.clawhub.address())
            .env("SINEW_GITHUB_API_BASE_URL", self.github.address())
            .env("SINEW_GITHUB_CODELOAD_BASE_URL", self.github.address())
            .env("SKILLS_API_URL", self.github.address());
        command
    }

    /// What a run printed, with everything that differs from run to run replaced.
    fn run(&self, args: &[&str]) -> String {
        let text = shown(&self.machine, &self.command(args).output().expect("sinew runs"));
        let text = text.replace(self.clawhub.address(), "$REGISTRY");
        let text = text.replace(self.github.address(), "$GITHUB");
        let digest = regex::Regex::new("sha256:[0-9a-f]{64}|[0-9a-f]{40}").expect("a pattern");
        let id = regex::Regex::new("sinew approve [0-9a-z]{12}").expect("a pattern");
        let text = digest.replace_all(&text, "$$DIGEST").into_owned();
        id.replace_all(&text, "sinew approve $$ID").into_owned()
    }

    fn json(&self, args: &[&str]) -> (Value, i32) {
        let output = self.command(args).arg("--json").output().expect("sinew runs");
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
            panic!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )
        });
        (value, output.status.code().unwrap_or(-1))
    }
}

#[test]
fn a_skill_is_found_shown_installed_listed_updated_and_removed() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.describe("ada", "tides", "Tells the tides of a harbour");
    assert_snapshot!("found", world.run(&["search", "harbour", "tides"]));
    assert_snapshot!("shown", world.run(&["info", "@ada/tides", "--files", "--versions"]));
    assert_snapshot!("no_person_to_ask", world.run(&["install", "tides"]));
    assert!(!world.machine.path("work/skills").exists());
    assert_snapshot!("installed", world.run(&["install", "tides", "--yes"]));
    assert_snapshot!("catalog", world.run(&["list"]));
    assert_snapshot!("listed", world.run(&["installed"]));
    assert_snapshot!("verified", world.run(&["verify", "--online"]));
    let text = skill_text("tides", "Tells the tides everywhere");
    world.clawhub.publish("ada", "tides", "1.1.0", &[("SKILL.md", &text), ("more.md", "more\n")]);
    assert_snapshot!("available", world.run(&["update", "tides", "--dry-run"]));
    assert_snapshot!("pinned", world.run(&["pin", "tides", "--reason", "we like it"]));
    assert_snapshot!("pinned_refuses", world.run(&["update", "tides", "--yes"]));
    // Only a person takes a pin out.
    typed(&world.machine, &["pin", "--remove", "tides"], "");
    assert_snapshot!("updated", world.run(&["update", "--all", "--yes"]));
    assert_snapshot!("current", world.run(&["update", "--all"]));
    assert_snapshot!("removed", world.run(&["uninstall", "tides", "--yes"]));
    assert!(!world.machine.path("work/skills/tides").exists());
    assert_snapshot!("empty", world.run(&["installed"]));
}

/// `install` brings what the skill needs, each as a record of its own.
#[test]
fn what_a_skill_needs_is_installed_with_it() {
    let world = World::new();
    let text = |name: &str, needs: &str| {
        format!("---\nname: {name}\ndescription: Does {name}\n{needs}\n---\n# It\n")
    };
    let publish = |name: &str, needs: &str| {
        world.clawhub.publish("ada", name, "1.0.0", &[("SKILL.md", &text(name, needs))]);
    };
    publish("report", "metadata: {sinew: {requires: {skills: [charts, \"words@^1\"]}}}");
    publish("charts", "dependencies: {skills: [colours]}");
    publish("words", "tags: [a]");
    publish("colours", "tags: [b]");
    let (records, code) = world.json(&["install", "report", "--yes"]);
    let told: Vec<String> = records
        .as_array()
        .expect("records")
        .iter()
        .map(|record| format!("{} {}", record["ref"].as_str().unwrap_or("?"), record["status"]))
        .collect();
    assert_eq!(code, 0, "{records:#}");
    let wanted =
        ["report", "charts", "words@^1", "colours"].map(|it| format!("{it} \"installed\""));
    assert_eq!(told, wanted);
    assert_eq!(json(&world.machine, &["info", "report"])["state"], "ready");
    std::fs::remove_dir_all(world.machine.path("work/skills/colours")).expect("removed");
    assert_eq!(json(&world.machine, &["info", "report"])["state"], "needs-setup");
}

#[test]
fn a_bad_reference_is_usage_and_no_person_is_asked() {
    let world = World::new();
    for bad in ["a%2fb", "owner\\repo", "owner/../repo", "@a/b/c", "@../b", "a/b/..%5cc"] {
        let output = world.command(&["install", bad, "--yes"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
    assert!(world.clawhub.requests().is_empty() && world.github.requests().is_empty());
}

#[test]
fn refusals_have_their_word_and_their_exit_code() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.clawhub.publish_simple("bob", "winds", "1.0.0");
    world.clawhub.publish_simple("eve", "winds", "1.0.0");
    let check = |args: &[&str], reason: &str, code: i32| {
        let (value, exit) = world.json(args);
        assert_eq!((value[0]["reason"].as_str(), exit), (Some(reason), code), "{args:?}: {value}");
        value
    };
    let ambiguous = check(&["install", "winds", "--yes"], "ambiguous", 1);
    assert_eq!(ambiguous[0]["matches"], serde_json::json!(["@bob/winds", "@eve/winds"]));
    check(&["install", "nothing", "--yes"], "not-found", 1);
    check(&["install", "tides"], "needs-approval", 3);
    world.clawhub.flag("ada", "tides", ModerationFlag::Suspicious);
    check(&["install", "tides", "--yes", "--overwrite"], "suspicious", 3);
    world.clawhub.flag("ada", "tides", ModerationFlag::Malicious);
    check(
        &["install", "tides", "--yes", "--overwrite", "--accept-suspicious", "--accept-pending"],
        "blocked-upstream",
        3,
    );
    world.clawhub.flag("ada", "tides", ModerationFlag::Clean);
    world.clawhub.publish_simple("ada", "clouds", "1.0.0");
    world.clawhub.set_manner(ClawHubManner::WrongDigest);
    check(&["install", "clouds", "--yes"], "integrity-mismatch", 3);
    world
        .clawhub
        .set_manner(ClawHubManner::RateLimited { times: 9, retry_after: "3600".to_owned() });
    check(&["install", "tides", "--yes"], "rate-limited", 4);
    world.clawhub.set_manner(ClawHubManner::Wants("secret-token".to_owned()));
    check(&["install", "tides", "--yes"], "auth", 4);
    world.clawhub.set_manner(ClawHubManner::Clean);
    check(&["install", "tides", "--yes", "--offline"], "offline", 4);
    assert_eq!(world.json(&["install", "tides", "--yes"]).1, 0);
    check(&["install", "tides", "--yes"], "exists", 1);
    assert!(!world.machine.path("work/skills/winds").exists());
}

#[cfg(unix)]
#[test]
fn an_unanswered_question_waits_and_its_answer_is_for_these_files() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    let (records, exit) = world.json(&["install", "tides"]);
    assert_eq!((records[0]["reason"].as_str(), exit), (Some("needs-approval"), 3));
    let hint = records[0]["hints"][0].as_str().unwrap();
    let id = hint.strip_prefix("sinew approve ").unwrap().to_owned();
    // Asked again, it is the same question.
    let again = world.json(&["install", "tides"]).0;
    assert_eq!(again[0]["hints"][0], hint);
    let seen = typed(&world.machine, &["approve", &id], "a");
    assert!(seen.ends_with("exit 0"), "{seen}");
    // Other files than those that were agreed to.
    world.clawhub.publish_simple("ada", "tides", "1.1.0");
    assert_eq!(world.json(&["install", "tides"]).0[0]["reason"], "needs-approval");
    assert_eq!(world.json(&["install", "tides@1.0.0"]).1, 0);
    let lock = std::fs::read_to_string(world.machine.path("work/.sinew/lock.json")).unwrap();
    assert!(lock.contains(&format!("approval {id}")), "{lock}");
}

#[test]
fn one_blocked_and_one_updated_skill_exit_with_3() {
    let world = World::new();
    for slug in ["tides", "winds"] {
        world.clawhub.publish_simple("ada", slug, "1.0.0");
    }
    assert_eq!(world.json(&["install", "tides", "winds", "--yes"]).1, 0);
    world.clawhub.publish_simple("ada", "winds", "1.1.0");
    world.clawhub.flag("ada", "tides", ModerationFlag::Malicious);
    let (records, exit) = world.json(&["update", "--all", "--yes"]);
    assert_eq!(exit, 3, "{records}");
    assert_eq!(records[0]["reason"], "blocked-upstream");
    assert_eq!(records[1]["status"], "updated");
    // What turned malicious has left the catalog and stays on disk.
    let (list, _) = world.json(&["list", "--all"]);
    let state = |name: &str| {
        let skills = list["skills"].as_array().unwrap();
        skills.iter().find(|skill| skill["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!((state("tides"), state("winds")), ("blocked".into(), "ready".into()));
    assert!(world.machine.path("work/skills/tides/SKILL.md").is_file());
}

#[test]
fn a_changed_file_takes_the_skill_out_of_the_catalog() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    assert_eq!(world.json(&["install", "tides", "--yes"]).1, 0);
    let state = || world.json(&["list", "--all"]).0["skills"][0]["state"].clone();
    assert_eq!(state(), "ready");
    let file = world.machine.path("work/skills/tides/SKILL.md");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("well", "badly")).unwrap();
    assert_eq!(state(), "blocked");
    std::fs::write(&file, &text).unwrap();
    assert_eq!(state(), "ready");
    // A note that another tool rewrites is not a change of the skill.
    world.machine.write("work/skills/tides/.clawhub/origin.json", "{\"version\":1}");
    assert_eq!(state(), "ready");
    // A damaged lock closes the folder rather than opening it.
    world.machine.write("work/.sinew/lock.json", "{ not json");
    assert_eq!(state(), "blocked");
}

/// The system itself is asked whether a socket was opened.
#[cfg(target_os = "linux")]
#[test]
fn no_socket_is_opened_while_offline() {
    let strace = std::path::Path::new("/usr/bin/strace");
    if !strace.exists() {
        sinew_testkit::report_skip("strace is not installed; sockets were not traced");
        return;
    }
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    assert_eq!(world.json(&["install", "@ada/tides@1.0.0", "--yes"]).1, 0);
    assert_eq!(world.json(&["uninstall", "tides", "--yes"]).1, 0);
    let trace = world.machine.path("trace");
    for args in [
        &["install", "@ada/tides@1.0.0", "--yes"][..],
        &["installed"],
        &["verify"],
        &["scan", "tides"],
        &["search", "tides"],
        &["list"],
    ] {
        let plain = world.command(args);
        let mut traced = Command::new(strace);
        traced.args(["-f", "-e", "trace=socket", "-o"]).arg(&trace).arg(plain.get_program());
        traced.args(plain.get_args()).env_clear().env("SINEW_OFFLINE", "1");
        traced.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = traced.current_dir(world.machine.path("work")).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if told.contains("PTRACE") || told.contains("ptrace") {
            sinew_testkit::report_skip("this system does not let programs be traced");
            return;
        }
        assert!(output.status.success() || args[0] == "search", "{args:?}: {told}");
        let calls = std::fs::read_to_string(&trace).unwrap();
        assert!(!calls.contains("socket("), "{args:?}: {calls}");
    }
}

#[test]
fn the_managed_tier_has_its_own_lock() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    assert_eq!(world.json(&["install", "tides", "--yes", "--global"]).1, 0);
    assert!(world.machine.path("home/.sinew/skills/tides/SKILL.md").is_file());
    assert!(world.machine.path("home/.sinew/lock.json").is_file());
    let (list, _) = world.json(&["list"]);
    assert_eq!(list["skills"][0]["state"], "ready");
    assert_eq!(world.json(&["uninstall", "tides", "--yes", "--global"]).1, 0);
    assert!(!world.machine.path("home/.sinew/skills/tides").exists());
}

#[test]
fn no_token_shows_in_any_output() {
    const CANARY: &str = "clh_canary0123456789abcdefghijklmnop";
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    for manner in [
        ClawHubManner::Wants("another".to_owned()),
        ClawHubManner::Wants(CANARY.to_owned()),
        ClawHubManner::Truncated,
    ] {
        world.clawhub.set_manner(manner);
        for args in [
            vec!["search", "tides"],
            vec!["info", "@ada/tides"],
            vec!["install", "@ada/tides", "--yes", "--overwrite"],
            vec!["update", "--all", "--yes"],
            vec!["verify", "--online"],
            vec!["config", "show"],
            vec!["doctor"],
        ] {
            for json in [false, true] {
                let mut command = world.command(&args);
                command.env("SINEW_TOKEN", CANARY);
                if json {
                    command.arg("--json");
                }
                let output = command.output().unwrap();
                for text in [&output.stdout, &output.stderr] {
                    assert!(!String::from_utf8_lossy(text).contains(CANARY), "{args:?}");
                }
            }
        }
    }
    let mut found = Vec::new();
    let mut waiting = vec![world.machine.root().to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => waiting.push(entry.path()),
                false => {
                    let bytes = std::fs::read(entry.path()).unwrap_or_default();
                    if String::from_utf8_lossy(&bytes).contains(CANARY) {
                        found.push(entry.path());
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

/// A folder of one's own can be read where it is: nothing is copied or locked.
#[test]
fn a_linked_folder_is_read_where_it_lies() {
    let machine = unattended().file(
        "elsewhere/tea-timer/SKILL.md",
        "---\nname: tea-timer\ndescription: Times a pot of tea\n---\n# Tea\n",
    );
    let folder = machine.path("elsewhere/tea-timer");
    let folder = folder.to_str().expect("text");
    let status = |args: &[&str]| {
        let args = [&["install", folder, "--link"], args].concat();
        json(&machine, &args)[0]["status"].clone()
    };
    assert_eq!(status(&["--dry-run"]), "would-link");
    assert_eq!((status(&[]), status(&[])), ("linked".into(), "unchanged".into()));
    let listed = json(&machine, &["list"]);
    let found = listed["skills"].as_array().expect("skills").iter();
    let found = found.map(|skill| (&skill["name"], &skill["state"])).collect::<Vec<_>>();
    assert!(found.contains(&(&"tea-timer".into(), &"ready".into())), "{listed}");
    assert!(!machine.path("work/.sinew/lock.json").exists());
    let told = sinew(&machine, &["install", "todoist-cli", "--link"]);
    assert!(told.ends_with("exit 2"), "{told}");
}

/// A folder that is read brings in whatever lies in it: copying it would have been asked about.
#[cfg(unix)]
#[test]
fn a_folder_is_linked_or_imported_by_a_person() {
    let text = "---\nname: tea-timer\ndescription: Times a pot of tea\n---\n# Tea\n";
    let machine = TestMachine::new()
        .file("elsewhere/tea-timer/SKILL.md", text)
        .file("work/.goose/skills/planted/SKILL.md", text.replace("tea-timer", "planted"));
    let folder = machine.path("elsewhere/tea-timer");
    let link = ["install", folder.to_str().expect("text"), "--link"];
    for args in [&link[..], &["import"], &["import", "--copy"], &["import", "--link"]] {
        let refused = sinew(&machine, args);
        assert!(refused.contains("only a person"), "{args:?}: {refused}");
        assert!(refused.ends_with("exit 3"), "{args:?}: {refused}");
    }
    assert!(!machine.path("home/.sinew/config.json5").exists());
    assert!(!machine.path("home/.sinew/skills").exists());
    for args in [&link[..], &["import", "--copy"]] {
        let done = crate::support::typed(&machine, args, "");
        assert!(done.ends_with("exit 0"), "{args:?}: {done}");
    }
    let config = std::fs::read_to_string(machine.path("home/.sinew/config.json5")).expect("it");
    assert!(config.contains("tea-timer"), "{config}");
    assert!(machine.path("home/.sinew/skills/planted/SKILL.md").is_file());
}
