//! What other programs' manifests and locks become in a `skills.toml`.

use sinew_hub::manifest::{SkillsManifest, read_foreign_manifests};

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

#[test]
fn four_programs_are_read_and_what_cannot_be_taken_is_told() {
    let folder = folder(&[
        (
            "skills-lock.json",
            r#"{"version":1,"skills":{"notes":{"source":"ada/skills","sourceType":"github","computedHash":"0"},"mine":{"source":"./tools/mine","sourceType":"local","computedHash":"0"}}}"#,
        ),
        (
            ".clawhub/lock.json",
            r#"{"version":1,"skills":{"tides":{"version":"1.2.0","installedAt":1}}}"#,
        ),
        (
            "apm.yml",
            "name: x\ndependencies:\n  apm:\n    - ada/charts#v2\n    - ada/prompts/one.prompt.md\n    - git: https://example.org/a/colours.git\n      ref: main\n",
        ),
        (
            "agents.toml",
            "agents = [\"claude\", \"nobody\"]\n[[skills]]\nname = \"words\"\nsource = \"ada/words\"\nref = \"v1\"\n[[skills]]\nname = \"*\"\nsource = \"ada/all\"\n",
        ),
    ]);
    let found = read_foreign_manifests(folder.path());
    assert_eq!(found.files, ["skills-lock.json", ".clawhub/lock.json", "apm.yml", "agents.toml"]);
    let mine = "[skills]\n# mine\ntides = \"^1\"\n";
    let (text, added) = SkillsManifest::extended(mine, &found).expect("it can be read");
    assert_eq!(added, ["mine", "notes", "charts", "colours", "words"]);
    for line in [
        "# mine",
        "tides = \"^1\"",
        "mine = \"./tools/mine\"",
        "notes = \"github:ada/skills@notes\"",
        "charts = \"github:ada/charts#v2\"",
        "words = \"github:ada/words@words#v1\"",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    assert!(text.contains("https://example.org/a/colours.git"), "{text}");
    assert!(text.contains("agents = [\"claude-code\"]"), "{text}");
    let left_out = found.left_out.join("\n");
    for what in ["one.prompt.md", "no agent is named `nobody`", "name the skills that you want"] {
        assert!(left_out.contains(what), "{what}: {left_out}");
    }
}

#[test]
fn damaged_files_of_other_programs_are_told_and_the_rest_is_read() {
    let folder = folder(&[
        ("skills-lock.json", "{"),
        (".clawhub/lock.json", "[]"),
        ("apm.yml", "dependencies: [\n"),
        ("agents.toml", "[[skills]]\nname = \"words\"\nsource = \"ada/words\"\n"),
    ]);
    let found = read_foreign_manifests(folder.path());
    let names: Vec<&str> = found.skills.iter().map(|found| found.skill.name.as_str()).collect();
    assert_eq!(names, ["words"]);
    for file in ["skills-lock.json", ".clawhub/lock.json", "apm.yml"] {
        let told = found.left_out.iter().any(|what| what.starts_with(file));
        assert!(told, "{file}: {:?}", found.left_out);
    }
}
