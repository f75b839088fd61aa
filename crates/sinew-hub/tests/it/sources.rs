//! GitHub, git, discovery indexes, skills.sh and folders.

use serde_json::json;
use sinew_hub::install::InstallRisk;
use sinew_skill::content_hash;
use sinew_testkit::clawhub::{folder_hash, zip_files};
use sinew_testkit::{TestSite, skill_text};

use crate::support::{Person, World, accepting, refused};

#[test]
fn a_branch_is_locked_to_its_commit() {
    let world = World::new();
    let text = skill_text("winds", "Tells the winds");
    let first = world.github.commit("ada/winds", "main", &[("SKILL.md", &text)]);
    let done = world.install("ada/winds#main").unwrap();
    assert_eq!(done.version, first);
    let entry = &world.lock()["skills"]["winds"];
    assert_eq!(entry["source"]["commit"], first);
    assert_eq!(entry["source"]["ref"], "main");
    assert_eq!(
        entry["contentHash"],
        folder_hash(&[("SKILL.md".to_owned(), text.clone().into_bytes())])
    );
    let note = crate::support::json(&world.path("skills/winds/.openclaw/source-origin.json"));
    assert_eq!(
        (&note["source"], &note["git"]["commit"]),
        (&"github".into(), &first.clone().into())
    );
    // The branch moves; the commit in the lock does not.
    let second = world.github.commit("ada/winds", "main", &[("SKILL.md", &(text + "\nmore\n"))]);
    std::fs::remove_dir_all(world.path("skills")).unwrap();
    world.restore(sinew_hub::RestoreStrictness::Frozen).unwrap();
    assert_eq!(world.lock()["skills"]["winds"]["version"], first);
    let updated = world.update("winds").unwrap();
    assert_eq!(updated.to, second);
    // Only archives by commit were ever fetched.
    let zips = world.github.paths().into_iter().filter(|path| path.contains("/zip/"));
    assert!(zips.clone().count() >= 2);
    assert!(zips.into_iter().all(|path| path.ends_with(&first) || path.ends_with(&second)));
}

#[test]
fn skills_of_a_repository_are_found_where_people_keep_them() {
    let world = World::new();
    let text = |name: &str| skill_text(name, &format!("About {name}"));
    let hidden = "---\nname: secret\ndescription: x\nmetadata: {internal: true}\n---\n";
    world.github.commit(
        "ada/many",
        "main",
        &[
            ("README.md", "hello"),
            ("skills/one/SKILL.md", &text("one")),
            ("skills/one/ref.md", "x"),
            ("skills/two/SKILL.md", &text("two")),
            ("skills/secret/SKILL.md", hidden),
            ("deep/a/b/c/three/SKILL.md", &text("three")),
            ("skills/torn/SKILL.md", "no front matter"),
        ],
    );
    let error = world.install("ada/many").unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.matches),
        ("ambiguous", vec!["one".to_owned(), "two".to_owned()])
    );
    assert_eq!(world.install("ada/many@two").unwrap().key, "two");
    assert_eq!(world.install("ada/many@secret").unwrap().key, "secret");
    assert_eq!(world.install("ada/many/skills/one").unwrap().key, "one");
    assert!(world.path("skills/one/ref.md").is_file());
    assert_eq!(world.install("ada/many/deep").unwrap().key, "three");
    assert_eq!(refused(world.install("ada/many@nothing")).0, "not-found");
    assert_eq!(refused(world.install("ada/none")).0, "not-found");
    assert!(world.lock()["skills"]["two"]["source"]["path"] == "skills/two");
}

#[test]
fn githubs_limit_is_told_with_its_time() {
    let world = World::new();
    world.github.limit(10_000_000_000);
    let error = world.install("ada/winds").unwrap_err();
    assert_eq!(error.code.as_str(), "rate-limited");
    assert_eq!(error.retry_at_ms, Some(10_000_000_000_000));
}

#[test]
fn a_token_goes_to_github_only_where_that_is_allowed() {
    let text = skill_text("winds", "Tells the winds");
    for (config, sent) in [("", false), ("{hub: {github: {useToken: true}}}", true)] {
        let world = World::new().var("GITHUB_TOKEN", "ghp_secret").config(config);
        world.github.commit("ada/winds", "main", &[("SKILL.md", &text)]);
        world.install("ada/winds").unwrap();
        let with =
            world.github.requests().into_iter().filter(|r| r.header("authorization").is_some());
        let paths: Vec<String> = with.map(|request| request.path).collect();
        assert_eq!(!paths.is_empty(), sent);
        assert!(paths.iter().all(|path| path.starts_with("/repos/")), "{paths:?}");
    }
}

/// An index with one good entry, one with a wrong digest, and one of an unknown type.
fn index(schema: &str) -> TestSite {
    let good = skill_text("good", "A good one").into_bytes();
    let zip = zip_files(
        &[("SKILL.md".to_owned(), skill_text("packed", "A packed one").into_bytes())],
        "",
    );
    let digest = |bytes: &[u8]| format!("sha256:{}", content_hash(bytes));
    let index = json!({"$schema": schema, "skills": [
        {"name": "good", "type": "skill-md", "description": "x", "url": "/files/good.md", "digest": digest(&good)},
        {"name": "packed", "type": "archive", "description": "x", "url": "packed.zip", "digest": digest(&zip)},
        {"name": "wrong", "type": "skill-md", "description": "x", "url": "/files/good.md", "digest": digest(b"other")},
        {"name": "odd", "type": "image", "description": "x", "url": "/x", "digest": digest(b"x")},
    ]});
    TestSite::of_files([
        ("/.well-known/agent-skills/index.json".to_owned(), index.to_string().into_bytes()),
        ("/files/good.md".to_owned(), good),
        ("/.well-known/agent-skills/packed.zip".to_owned(), zip),
    ])
}

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const LOOPBACK: &str = "{skills: {install: {allowPrivateHosts: ['127.0.0.1']}}}";

#[test]
fn a_wrong_digest_names_its_entry_and_the_others_install() {
    let site = index(SCHEMA);
    let world = World::new().config(LOOPBACK);
    let (word, message) = refused(world.install(&format!("{}#wrong", site.address())));
    assert_eq!((word, message.contains("`wrong`")), ("integrity-mismatch", true), "{message}");
    assert_eq!(world.install(&format!("{}#good", site.address())).unwrap().key, "good");
    assert_eq!(world.install(&format!("{}#packed", site.address())).unwrap().key, "packed");
    let error = world.install(site.address()).unwrap_err();
    assert_eq!((error.code.as_str(), error.matches.len()), ("ambiguous", 3));
    assert_eq!(refused(world.install(&format!("{}#odd", site.address()))).0, "not-found");
    assert_eq!(world.lock()["skills"]["good"]["source"]["kind"], "well-known");
}

#[test]
fn an_unknown_schema_installs_nothing() {
    let site = index("https://schemas.agentskills.io/discovery/9.9.9/schema.json");
    let world = World::new().config(LOOPBACK);
    let (word, message) = refused(world.install(&format!("{}#good", site.address())));
    assert_eq!((word, message.contains("9.9.9")), ("unsupported", true));
    assert!(world.files().is_empty());
}

#[test]
fn the_old_form_of_an_index_is_read_too() {
    let text = skill_text("old", "An old one");
    let index = json!({"skills": [{"name": "old", "description": "x", "files": ["SKILL.md", "a/b.md"]},
        {"name": "../up", "description": "x", "files": ["SKILL.md"]}]});
    let site = TestSite::of_files([
        ("/.well-known/skills/index.json".to_owned(), index.to_string().into_bytes()),
        ("/.well-known/skills/old/SKILL.md".to_owned(), text.into_bytes()),
        ("/.well-known/skills/old/a/b.md".to_owned(), b"x".to_vec()),
    ]);
    let world = World::new().config(LOOPBACK);
    assert_eq!(world.install(site.address()).unwrap().key, "old");
    assert!(world.path("skills/old/a/b.md").is_file());
    assert_eq!(world.lock()["skills"]["old"]["unverified"], true);
}

#[test]
fn an_index_that_leads_to_another_host_needs_a_yes_of_its_own() {
    let bytes = skill_text("far", "From afar").into_bytes();
    let digest = format!("sha256:{}", content_hash(&bytes));
    let far = TestSite::of_files([("/far.md".to_owned(), bytes)]);
    let index = json!({"$schema": SCHEMA, "skills": [{"name": "far", "type": "skill-md",
        "description": "x", "url": format!("{}/far.md", far.address()), "digest": digest}]});
    let near = TestSite::of_files([(
        "/.well-known/agent-skills/index.json".to_owned(),
        index.to_string().into_bytes(),
    )]);
    let world = World::new().config(LOOPBACK);
    let absent = world.install_with(near.address(), &mut Person::absent(), |_| {});
    assert_eq!(refused(absent).0, "needs-approval");
    let mut person = Person::yes();
    world.install_with(near.address(), &mut person, |_| {}).unwrap();
    assert_eq!(person.concerns[0].risk, InstallRisk::ForeignHost);
    world.uninstall("far").unwrap();
    world
        .install_with(near.address(), &mut Person::yes(), accepting(&[InstallRisk::ForeignHost]))
        .unwrap();
}

#[test]
fn skills_sh_leads_to_github_and_a_mirrors_hash_is_checked() {
    let world = World::new();
    let text = skill_text("winds", "Tells the winds");
    let commit = world.github.commit("ada/skills", "main", &[("skills/winds/SKILL.md", &text)]);
    let done = world.install("skills-sh:ada/skills/winds").unwrap();
    assert_eq!((done.key.as_str(), done.version.as_str()), ("winds", commit.as_str()));
    let theirs = &world.clawhub_lock()["skills"]["skills-sh:ada/skills/winds"];
    assert_eq!(theirs["sourceKind"], "skills-sh");
    assert_eq!(theirs["sourceRepository"], "ada/skills");
    world.uninstall("winds").unwrap();
    assert_eq!(world.clawhub_lock()["skills"], json!({}));
    world.clawhub.mirror(
        "ada/skills/winds",
        json!({"ok": true, "slug": "winds", "installKind": "github", "github": {
            "repo": "ada/skills", "path": "skills/winds", "commit": commit,
            "contentHash": "f".repeat(64), "sourceUrl": "x"},
            "trust": {"clawhubScan": "unscanned", "label": "x"}}),
    );
    assert_eq!(refused(world.install("skills-sh:ada/skills/winds")).0, "integrity-mismatch");
}

#[test]
fn folders_and_archives_are_copied() {
    let world = World::new();
    world.machine.write("home/mine/SKILL.md", skill_text("mine", "My own"));
    world.machine.write("home/mine/.git/config", "x");
    world.machine.write("home/mine/run.sh", "#!/bin/sh\necho hello\n");
    world.machine.chmod("home/mine/run.sh", 0o755);
    let done = world.install("~/mine").unwrap();
    assert_eq!(done.key, "mine");
    assert!(!world.path("skills/mine/.git").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            std::fs::metadata(world.path("skills/mine/run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111);
    }
    let zip =
        zip_files(&[("SKILL.md".to_owned(), skill_text("zipped", "Zipped").into_bytes())], "");
    world.machine.write("home/zipped.zip", zip);
    assert_eq!(world.install("~/zipped.zip").unwrap().key, "zipped");
    assert_eq!(refused(world.install("~/nothing")).0, "not-found");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", world.machine.path("home/mine/link")).unwrap();
        let again = world.install_with("~/mine", &mut Person::yes(), |ask| ask.overwrite = true);
        assert_eq!(refused(again).0, "invalid");
    }
}

/// A real repository behind a program that replaces ssh.
#[test]
fn a_git_address_is_fetched_by_commit_without_running_anything() {
    let git = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"]
        .iter()
        .find(|p| std::path::Path::new(p).exists());
    let Some(git) = git else {
        sinew_testkit::report_skip("git is not installed");
        return;
    };
    let world = World::new();
    let repo = world.machine.path("home/repo");
    std::fs::create_dir_all(&repo).unwrap();
    let run = |args: &[&str]| {
        let output = std::process::Command::new(git)
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(&repo)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &repo)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    std::fs::create_dir_all(repo.join("skills/winds")).unwrap();
    std::fs::write(repo.join("skills/winds/SKILL.md"), skill_text("winds", "Tells the winds"))
        .unwrap();
    run(&["init", "--quiet", "."]);
    run(&["add", "."]);
    run(&["commit", "--quiet", "-m", "one"]);
    let commit = run(&["rev-parse", "HEAD"]);
    // `ssh git@host git-upload-pack 'path'`: the replacement runs git on this machine's repository.
    world.machine.write(
        "bin/ssh",
        format!("#!/bin/sh\nexport PATH=/usr/bin:/bin\nexec git upload-pack {}\n", repo.display()),
    );
    world.machine.chmod("bin/ssh", 0o755);
    let path = format!("{}:/usr/bin:/bin", world.machine.path("bin").display());
    let world = world.var("PATH", &path);
    let done = world.install("git@example.org:group/repo.git#main").unwrap();
    assert_eq!((done.key.as_str(), done.version.as_str()), ("winds", commit.as_str()));
    assert_eq!(world.lock()["skills"]["winds"]["source"]["commit"], commit);
    assert_eq!(refused(world.install("git@example.org:group/repo.git#nothing")).0, "not-found");
}
