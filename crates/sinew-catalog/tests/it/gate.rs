//! The gate: what this machine and this configuration allow.

use insta::assert_snapshot;
use sinew_testkit::TestMachine;

fn skill(metadata: &str) -> TestMachine {
    TestMachine::new().workspace_skill("demo", &format!("metadata: {{openclaw: {metadata}}}"))
}

fn remedies(machine: &TestMachine) -> String {
    let catalog = machine.catalog();
    let entry = &catalog.entries[0];
    let lines = entry
        .reasons
        .iter()
        .filter_map(|reason| Some(format!("{} -> {}", reason.code, reason.remedy.as_deref()?)));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn always_does_not_lift_the_operating_system() {
    let machine = skill("{os: [win32], always: true}");
    assert_snapshot!(machine.catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      os-mismatch: it is for win32, but this is linux
    ");
    assert_snapshot!(skill("{os: [macOS]}").os("darwin").catalog_table(), @"ready demo [openclaw-workspace]");
}

#[test]
fn always_lifts_the_requirements_and_only_as_a_real_boolean() {
    assert_snapshot!(skill("{always: true, requires: {bins: [nope]}}").catalog_table(), @"ready demo [openclaw-workspace]");
    assert_snapshot!(skill("{always: 'true', requires: {bins: [nope]}}").catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      bad-metadata-field: `always` is text
      missing-bin: nope is not installed
    ");
}

#[test]
fn a_key_can_come_from_the_host_the_entry_or_the_api_key() {
    let needs = "{requires: {env: [K]}, primaryEnv: K}";
    let with = |config: &str| skill(needs).config(config).catalog_table();
    assert_snapshot!(with("{skills: {entries: {demo: {apiKey: 's'}}}}"), @"ready demo [openclaw-workspace]");
    assert_snapshot!(with("{skills: {entries: {demo: {env: {K: 's'}}}}}"), @"ready demo [openclaw-workspace]");
    assert_snapshot!(skill(needs).var("K", "v").catalog_table(), @"ready demo [openclaw-workspace]");
    assert_snapshot!(skill(needs).var("K", "  ").catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      missing-env: K is not set
    ");
}

#[test]
fn a_secret_that_cannot_be_found_closes_the_gate() {
    let with = |secret: &str| {
        skill("{}").config(&format!("{{skills: {{entries: {{demo: {{apiKey: {secret}}}}}}}}}"))
    };
    assert_snapshot!(with("{source: 'env', id: 'NOT_SET'}").catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      secret-unavailable: skills.entries.demo.apiKey: the variable NOT_SET is not set
    ");
    assert_snapshot!(with("{source: 'env', id: 'K'}").var("K", "v").catalog_table(), @"ready demo [openclaw-workspace]");
}

#[test]
fn configuration_paths_must_be_truthy() {
    let needs = "{requires: {config: [channels.slack]}}";
    let with = |config: &str| skill(needs).config(config).catalog_table();
    assert_snapshot!(with("{channels: {slack: {}}}"), @"ready demo [openclaw-workspace]");
    assert_snapshot!(with("{channels: {slack: ''}}"), @r"
    needs-setup demo [openclaw-workspace]
      missing-config: channels.slack is not configured
    ");
}

#[test]
fn every_failure_is_recorded_and_the_first_in_order_is_primary() {
    let machine = skill(
        "{requires: {bins: [gh], config: [a.b], env: [GH_TOKEN]}, primaryEnv: GH_TOKEN, install: [{kind: brew, formula: gh, bins: [gh]}]}",
    );
    assert_snapshot!(machine.catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      missing-env: GH_TOKEN is not set
      missing-config: a.b is not configured
      missing-bin: gh is not installed
    ");
    assert_snapshot!(remedies(&machine), @r"
    missing-env -> set GH_TOKEN, or skills.entries.demo.apiKey
    missing-config -> set a.b in the configuration
    missing-bin -> install gh: brew install gh
    ");
    let catalog = machine.catalog();
    let primary = catalog.entries[0].primary_reason().expect("it is not ready");
    assert_eq!(primary.code.as_str(), "missing-env");
}

#[test]
fn an_installer_never_reaches_a_remedy_unchecked() {
    let machine =
        skill("{requires: {bins: [gh]}, install: [{kind: brew, formula: 'gh; rm -rf ~'}]}");
    assert_snapshot!(remedies(&machine), @r"
    install-spec-invalid -> correct the skill's `install` entry; its other entries still work
    missing-bin -> install gh and make sure it is on PATH
    ");
}

#[test]
fn the_list_of_allowed_bundled_skills_knows_keys_and_leaves_own_skills_alone() {
    let text = "---\nname: github\ndescription: d\nmetadata: {openclaw: {skillKey: gh-key}}\n---\n";
    let machine = TestMachine::new()
        .bundled("b")
        .file("b/github/SKILL.md", text)
        .skill("b/other", "other")
        .skill("work/skills/mine", "mine")
        .config("{skills: {allowBundled: ['gh-key']}}");
    assert_snapshot!(machine.catalog_table(), @r"
    ready github [openclaw-bundled]
    ready mine [openclaw-workspace]
    blocked other [openclaw-bundled]
      not-in-allow-bundled: skills.allowBundled does not list it
    ");
}

#[test]
fn a_switched_off_skill_stays_visible_with_its_reason() {
    let machine = skill("{}").config("{skills: {entries: {demo: {enabled: false}, gone: {}}}}");
    assert_snapshot!(machine.catalog_table(), @r"
    disabled demo [openclaw-workspace]
      disabled: skills.entries.demo.enabled is false
    ! unknown-skill-key: skills.entries.gone matches no skill
    ");
}

#[cfg(unix)]
#[test]
fn a_program_counts_only_where_it_can_be_run_and_never_in_the_current_folder() {
    let needs = || skill("{requires: {bins: [tool]}}");
    let not_executable = needs().file("bin/tool", "");
    assert!(not_executable.catalog_table().contains("missing-bin"));
    let in_cwd = needs().file("work/tool", "").var("PATH", ":.:");
    in_cwd.chmod("work/tool", 0o755);
    assert!(in_cwd.catalog_table().contains("missing-bin"));
    assert_snapshot!(needs().bin("tool").catalog_table(), @"ready demo [openclaw-workspace]");
    assert_snapshot!(skill("{requires: {anyBins: [nope, tool]}}").bin("tool").catalog_table(), @"ready demo [openclaw-workspace]");
    assert_snapshot!(skill("{requires: {bins: [/bin/sh]}}").catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      bad-metadata-field: `bins` names a path: /bin/sh
    ");
}

#[test]
fn unreadable_metadata_closes_the_gate_unless_tolerated() {
    let broken = || {
        TestMachine::new()
            .workspace_skill("demo", r#"metadata: {"openclaw":{"requires":{"bins":["gh"]}"#)
    };
    assert_snapshot!(broken().catalog_table(), @r"
    blocked demo [openclaw-workspace]
      metadata-invalid: `metadata` cannot be read: it is neither YAML nor JSON
      metadata-invalid: its requirements cannot be read, so it is not used
    ");
    let tolerated = broken().config("{skills: {load: {tolerateBadMetadata: true}}}");
    assert_snapshot!(tolerated.catalog_table(), @r"
    ready demo [openclaw-workspace]
      metadata-invalid: `metadata` cannot be read: it is neither YAML nor JSON
    ");
}

#[test]
fn what_another_machine_has_counts_while_it_is_connected() {
    let needs = "{os: [darwin], requires: {bins: [osascript]}}";
    let connected = skill(needs).remote(&["darwin"], &["osascript"]);
    let catalog = connected.catalog();
    assert!(catalog.entries[0].eligible);
    assert_eq!(serde_json::to_value(&catalog.entries[0]).expect("JSON")["via"], "remote");
    let gone = connected.remote(&[], &[]);
    assert_snapshot!(gone.catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      os-mismatch: it is for darwin, but this is linux
      missing-bin: osascript is not installed
    ");
    let variable = skill("{os: [darwin], requires: {env: [K], anyBins: [a, b]}}");
    assert_snapshot!(variable.remote(&["macOS"], &["b", "K"]).catalog_table(), @r"
    needs-setup demo [openclaw-workspace]
      missing-env: K is not set
    ");
    let local = skill("{requires: {bins: [sh]}}").bin("sh").remote(&["darwin"], &["sh"]);
    assert_eq!(local.catalog().entries[0].via, None);
}

#[test]
fn programs_that_sinew_installed_count() {
    let machine = skill("{requires: {bins: [tool]}}");
    assert!(!machine.catalog().entries[0].eligible);
    for folder in ["home/.sinew/tools/node/npm/bin", "home/.local/bin"] {
        let machine = skill("{requires: {bins: [tool]}}").file(&format!("{folder}/tool"), "");
        machine.chmod(&format!("{folder}/tool"), 0o755);
        assert!(machine.catalog().entries[0].eligible, "{folder}");
    }
    // A download serves the skill that asked for it.
    for folder in ["demo", "demo/bin", "demo/v1", "demo/v1/bin"] {
        let machine = skill("{requires: {bins: [tool]}}")
            .workspace_skill("other", "metadata: {openclaw: {requires: {bins: [tool]}}}");
        assert!(machine.catalog().entries.iter().all(|entry| !entry.eligible));
        machine.write(&format!("home/.sinew/tools/{folder}/tool"), "");
        machine.chmod(&format!("home/.sinew/tools/{folder}/tool"), 0o755);
        let catalog = machine.catalog();
        let eligible: Vec<bool> = catalog.entries.iter().map(|entry| entry.eligible).collect();
        assert_eq!(eligible, [true, false], "{folder}");
    }
}

#[test]
fn hosts_can_ask_which_programs_matter() {
    let machine = skill(
        "{requires: {bins: [b, a], anyBins: [c]}, install: [{kind: uv, package: x, bins: [d, a]}]}",
    );
    assert_eq!(
        machine.catalog().program_names().into_iter().collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
}
