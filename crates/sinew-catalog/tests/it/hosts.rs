//! What hosts read besides their own folders: packages, plugins, the folders of a project, settings.

use insta::assert_snapshot;
use sinew_catalog::{EntryState, PluginState};
use sinew_testkit::TestMachine;

const OPENCLAW: &str = "pkg/lib/node_modules/openclaw";

/// An OpenClaw as npm installs it: a package, and a program that links into it.
fn openclaw(version: &str) -> TestMachine {
    let package = format!("{{\"name\":\"openclaw\",\"version\":\"{version}\"}}");
    let browser = "{id: 'browser', enabledByDefault: true, skills: ['./skills']}";
    let wiki = "{id: 'memory-wiki', kind: 'memory', enabledByDefault: true, skills: ['./skills']}";
    let quiet = "{id: 'quiet', skills: ['./skills']}";
    let extensions = format!("{OPENCLAW}/dist/extensions");
    let machine = TestMachine::new()
        .profile("openclaw")
        .file(&format!("{OPENCLAW}/package.json"), package)
        .file(&format!("{OPENCLAW}/openclaw.mjs"), "#!/usr/bin/env node\n")
        .file(&format!("{extensions}/browser/openclaw.plugin.json"), browser)
        .file(&format!("{extensions}/memory-wiki/openclaw.plugin.json"), wiki)
        .file(&format!("{extensions}/quiet/openclaw.plugin.json"), quiet)
        .skill(&format!("{OPENCLAW}/skills/weather"), "weather")
        .skill(&format!("{OPENCLAW}/custodian-skills/care"), "care")
        .skill(&format!("{extensions}/browser/skills/browse"), "browse")
        .skill(&format!("{extensions}/memory-wiki/skills/wiki"), "wiki")
        .skill(&format!("{extensions}/quiet/skills/hush"), "hush")
        .bundled(&format!("{OPENCLAW}/skills"));
    machine.chmod(&format!("{OPENCLAW}/openclaw.mjs"), 0o755);
    machine
}

#[cfg(unix)]
#[test]
fn the_skills_of_an_installed_openclaw_and_its_plugins_are_found() {
    let machine = openclaw("2026.9.6").link("bin/openclaw", &format!("{OPENCLAW}/openclaw.mjs"));
    assert_snapshot!(machine.catalog_table(), @r"
    ready browse [openclaw-extra]
    ready care [openclaw-custodian]
    ready weather [openclaw-bundled]
    ");
}

#[cfg(unix)]
#[test]
fn a_memory_plugin_contributes_when_it_holds_the_slot() {
    let machine = openclaw("2026.9.6")
        .link("bin/openclaw", &format!("{OPENCLAW}/openclaw.mjs"))
        .config("{plugins: {slots: {memory: 'memory-wiki'}, entries: {quiet: {enabled: true}}, deny: ['browser']}}");
    let catalog = machine.catalog();
    let names: Vec<&str> = catalog.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["care", "hush", "weather", "wiki"]);
    let plugin = catalog.get("wiki").and_then(|entry| entry.plugin.clone()).expect("its plugin");
    assert_eq!((plugin.name.as_str(), plugin.state), ("memory-wiki", PluginState::Enabled));
}

/// pnpm writes a script, Volta links every program to its own, bun links from its own folder: the
/// package is found behind each.
#[cfg(unix)]
#[test]
fn the_package_is_found_however_it_was_installed() {
    let find = |machine: &TestMachine| {
        machine.catalog().entries.iter().any(|entry| entry.name == "browse")
    };
    let linked = openclaw("2026.9.6").link("bin/openclaw", &format!("{OPENCLAW}/openclaw.mjs"));
    assert!(find(&linked), "npm");
    let script = format!(
        "basedir=$(dirname \"$0\")\nexec node \"$basedir/../{OPENCLAW}/openclaw.mjs\" \"$@\""
    );
    assert!(find(&openclaw("2026.9.6").script("openclaw", &script)), "pnpm");
    let volta = openclaw("2026.9.6").bin("volta-shim");
    let image = volta.path("home/.volta/tools/image/packages/openclaw/lib/node_modules");
    std::fs::create_dir_all(&image).expect("folders");
    std::os::unix::fs::symlink(volta.path(OPENCLAW), image.join("openclaw")).expect("a link");
    assert!(find(&volta.link("bin/openclaw", "bin/volta-shim")), "Volta");
    let bun = openclaw("2026.9.6").bin("openclaw");
    let global = bun.path("install/global/node_modules");
    std::fs::create_dir_all(&global).expect("folders");
    std::os::unix::fs::symlink(bun.path(OPENCLAW), global.join("openclaw")).expect("a link");
    assert!(find(&bun), "bun");
    let local = openclaw("2026.9.6");
    std::fs::create_dir_all(local.path("work/node_modules")).expect("folders");
    std::os::unix::fs::symlink(local.path(OPENCLAW), local.path("work/node_modules/openclaw"))
        .expect("a link");
    assert!(find(&local), "in the workspace");
    assert!(!find(&openclaw("2026.9.6")), "not installed");
}

/// The links that OpenClaw makes lead into its package: they are no escapes, and other links are.
#[cfg(unix)]
#[test]
fn links_to_plugins_are_contained_and_others_are_reported() {
    let machine = openclaw("2026.9.6")
        .link("bin/openclaw", &format!("{OPENCLAW}/openclaw.mjs"))
        .link(
            "home/.openclaw/plugin-skills/browse",
            &format!("{OPENCLAW}/dist/extensions/browser/skills/browse"),
        )
        .skill("home/.openclaw/extensions/mine/skills/own", "own")
        .file(
            "home/.openclaw/extensions/mine/openclaw.plugin.json",
            "{id: 'mine', skills: ['skills']}",
        )
        .skill("elsewhere/evil", "evil")
        .link("home/.openclaw/plugin-skills/evil", "elsewhere/evil");
    assert_snapshot!(machine.catalog_table(), @r"
    ready browse [openclaw-extra]
    ready care [openclaw-custodian]
    ready own [openclaw-extra]
    ready weather [openclaw-bundled]
    ! symlink-escape: the link points to $ROOT/elsewhere/evil
    ");
}

#[test]
fn an_openclaw_of_before_groups_reads_no_groups() {
    let nested = |version: &str| {
        let machine = openclaw(version)
            .script("openclaw", &format!("exec node \"$basedir/../{OPENCLAW}/openclaw.mjs\""))
            .skill("home/.agents/skills/group/deep", "deep");
        machine.catalog().get("deep").is_some()
    };
    assert!(nested("2026.9.6"));
    assert!(!nested("2026.3.1"));
}

fn claude_plugins(machine: TestMachine) -> TestMachine {
    let record = machine.path("home/.claude/plugins/cache");
    let cache = record.to_string_lossy();
    let installed = format!(
        "{{\"version\":2,\"plugins\":{{\"alpha@mp\":[{{\"scope\":\"user\",\"installPath\":\"{cache}/mp/alpha/1.2.3\",\"version\":\"1.2.3\"}}],\"beta@mp\":[{{\"scope\":\"user\",\"installPath\":\"{cache}/mp/beta/1.0.0\",\"version\":\"1.0.0\"}}]}}}}"
    );
    machine
        .file("home/.claude/plugins/installed_plugins.json", installed)
        .file(
            "home/.claude/plugins/cache/mp/alpha/1.2.3/.claude-plugin/plugin.json",
            "{\"name\":\"alpha\",\"version\":\"1.2.3\",\"skills\":[\"./extra\"]}",
        )
        .skill("home/.claude/plugins/cache/mp/alpha/1.2.3/skills/fold", "named")
        .skill("home/.claude/plugins/cache/mp/alpha/1.2.3/extra/more", "more")
        .skill("home/.claude/plugins/cache/mp/beta/1.0.0/skills/two", "two")
        .file(
            "home/.claude/settings.json",
            "{\"enabledPlugins\":{\"alpha@mp\":true,\"beta@mp\":false}}",
        )
}

#[test]
fn claude_codes_plugins_bring_skills_with_their_state() {
    let machine = claude_plugins(TestMachine::new().profile("claude-code"));
    assert_snapshot!(machine.catalog_table(), @r"
    ready alpha:fold [claude-code-plugin]
    ready alpha:more [claude-code-plugin]
    disabled beta:two [claude-code-plugin]
      plugin-disabled: the plugin beta is off: the user settings switch it off
    ");
    let catalog = machine.catalog();
    let plugin =
        catalog.get("alpha:fold").and_then(|entry| entry.plugin.clone()).expect("a plugin");
    assert_eq!(plugin.version.as_deref(), Some("1.2.3"));
    assert_eq!(plugin.marketplace.as_deref(), Some("mp"));
    // The project's settings go before the user's, and the machine's before both.
    let project = claude_plugins(TestMachine::new().profile("claude-code"))
        .file("work/.claude/settings.json", "{\"enabledPlugins\":{\"beta@mp\":true}}");
    assert_eq!(project.catalog().get("beta:two").expect("beta").state, EntryState::Ready);
    let managed = claude_plugins(TestMachine::new().profile("claude-code"));
    let system = managed.path("system").to_string_lossy().into_owned();
    let managed = managed.var("SINEW_SYSTEM_ROOT", &system).file(
        "system/etc/claude-code/managed-settings.json",
        "{\"enabledPlugins\":{\"alpha@mp\":false},\"skillOverrides\":{\"x\":\"off\"}}",
    );
    assert_eq!(managed.catalog().get("alpha:fold").expect("alpha").state, EntryState::Disabled);
}

#[test]
fn plugins_are_seen_in_sinews_own_profile_too() {
    let machine = claude_plugins(TestMachine::new());
    let catalog = machine.catalog();
    assert_eq!(catalog.get("alpha:fold").expect("alpha").state, EntryState::Ready);
    assert_eq!(catalog.get("beta:two").expect("beta").state, EntryState::Disabled);
    let off = claude_plugins(TestMachine::new().config("{skills: {load: {agents: false}}}"));
    assert!(off.catalog().entries.is_empty());
}

#[test]
fn codexs_plugins_system_skills_and_switches_are_read() {
    let machine = TestMachine::new().profile("codex");
    let off = machine.path("home/.agents/skills/by-path/SKILL.md");
    let system = machine.path("system").to_string_lossy().into_owned();
    let machine = machine
        .var("SINEW_SYSTEM_ROOT", &system)
        .file(
            "home/.codex/config.toml",
            format!(
                "[plugins.\"alpha@mp\"]\nenabled = true\n[plugins.\"beta@mp\"]\nenabled = false\n[[skills.config]]\npath = \"{}\"\nenabled = false\n[[skills.config]]\nname = \"by-name\"\nenabled = false\n",
                off.display()
            ),
        )
        .file(
            "home/.codex/plugins/cache/mp/alpha/1.2.3/.codex-plugin/plugin.json",
            "{\"name\":\"alpha\",\"version\":\"1.2.3\"}",
        )
        .skill("home/.codex/plugins/cache/mp/alpha/1.2.3/skills/fold", "named")
        .file(
            "home/.codex/plugins/cache/mp/beta/2.0.0/.codex-plugin/plugin.json",
            "{\"name\":\"beta\"}",
        )
        .skill("home/.codex/plugins/cache/mp/beta/2.0.0/skills/two", "two")
        .skill("home/.codex/skills/.system/imagegen", "imagegen")
        .skill("system/etc/codex/skills/house", "house")
        .skill("home/.agents/skills/by-path", "by-path")
        .skill("home/.agents/skills/any", "by-name")
        .skill("home/.agents/skills/quiet", "quiet")
        .file(
            "home/.agents/skills/quiet/agents/openai.yaml",
            "interface:\n  display_name: \"Very Quiet\"\npolicy:\n  allow_implicit_invocation: false\n",
        );
    assert_snapshot!(machine.catalog_table(), @r"
    ready alpha:named [codex-plugin]
    disabled beta:two [codex-plugin]
      plugin-disabled: the plugin beta is off: config.toml switches it off
    disabled by-name [agents-skills-personal]
      host-disabled: [[skills.config]] of config.toml switches it off
    disabled by-path [agents-skills-personal]
      host-disabled: [[skills.config]] of config.toml switches it off
    ready house [codex-managed]
    ready imagegen [codex-system]
    ready quiet [agents-skills-personal]
      model-invocation-disabled: agents/openai.yaml says that it is used only when it is named
      model-invocation-disabled: its author hides it from the model
    ");
    let catalog = machine.catalog();
    let quiet = catalog.get("quiet").expect("quiet");
    assert_eq!((quiet.model_visible, quiet.display_name.as_str()), (false, "Very Quiet"));
}

#[test]
fn gemini_reads_projects_that_it_trusts_and_extensions_that_are_on() {
    let machine = |trust: &str| {
        let machine = TestMachine::new().profile("gemini");
        let work = std::fs::canonicalize(machine.path("work")).expect("the workspace");
        let rule = format!("{{\"{}\":\"{trust}\"}}", work.display());
        let off =
            format!("{{\"off\":{{\"overrides\":[\"!{}/*\"]}}}}", machine.path("work").display());
        machine
            .file("home/.gemini/trustedFolders.json", rule)
            .file("home/.gemini/extensions/extension-enablement.json", off)
            .file(
                "home/.gemini/extensions/on/gemini-extension.json",
                "{\"name\":\"on\",\"version\":\"2\"}",
            )
            .skill("home/.gemini/extensions/on/skills/ext", "ext")
            .file("home/.gemini/extensions/off/gemini-extension.json", "{\"name\":\"off\"}")
            .skill("home/.gemini/extensions/off/skills/ext-off", "ext-off")
            .file("home/.gemini/settings.json", "{\"skills\":{\"disabled\":[\"u\"]}}")
            .skill("home/.gemini/skills/u", "u")
            .skill("home/.gemini/skills/group/deep", "deep")
            .skill("work/.gemini/skills/p", "p")
    };
    assert_snapshot!(machine("TRUST_FOLDER").catalog_table(), @r"
    ready ext [gemini-extension]
    disabled ext-off [gemini-extension]
      plugin-disabled: the plugin off is off: extension-enablement.json switches it off here
    ready p [gemini-project]
    disabled u [gemini-personal]
      host-disabled: skills.disabled of the user settings names it
    ! depth-capped: the skill is more than 1 folders deep
    ");
    assert!(machine("DO_NOT_TRUST").catalog().get("p").is_none());
    assert!(
        machine("DO_NOT_TRUST")
            .catalog()
            .issues
            .iter()
            .any(|i| i.code.as_str() == "folder-not-trusted")
    );
}

fn monorepo(profile: &str) -> TestMachine {
    let mut machine = TestMachine::new().profile(profile).file("work/.git/HEAD", "ref: x\n");
    for (level, name) in [("", "top"), ("a/", "mid"), ("a/b/", "low")] {
        for agent in ["claude", "agents", "opencode"] {
            let folder = format!("work/{level}.{agent}/skills");
            machine = machine
                .skill(&format!("{folder}/{name}-{agent}"), &format!("{name}-{agent}"))
                .file(
                    &format!("{folder}/dup/SKILL.md"),
                    format!("---\nname: dup\ndescription: {name} {agent}\n---\n"),
                );
        }
    }
    machine.workspace("work/a/b")
}

#[test]
fn every_folder_from_the_projects_root_is_read_with_the_hosts_precedence() {
    let seen = |profile: &str| -> (Vec<String>, String) {
        let catalog = monorepo(profile).catalog();
        let names = catalog.unshadowed().map(|entry| entry.name.clone()).collect();
        (names, catalog.get("dup").expect("one of them").description.clone())
    };
    let (names, dup) = seen("claude-code");
    assert_eq!(names, ["dup", "low-claude", "mid-claude", "top-claude"]);
    assert_eq!(dup, "low claude");
    let (names, dup) = seen("codex");
    assert_eq!(names, ["dup", "low-agents", "mid-agents", "top-agents"]);
    assert_eq!(dup, "low agents");
    let (names, dup) = seen("opencode");
    assert_eq!(names.len(), 10, "{names:?}");
    assert_eq!(dup, "top opencode");
    let (names, _) = seen("sinew");
    assert!(names.contains(&"top-claude".to_owned()) && names.contains(&"mid-agents".to_owned()));
}

/// Claude Code reads the folders of packages once it works on their files: they are seen, and said to
/// wait; links and others' code are not followed.
#[cfg(unix)]
#[test]
fn nested_folders_below_wait_for_work_there() {
    let machine = TestMachine::new()
        .profile("claude-code")
        .skill("work/.claude/skills/top", "top")
        .skill("work/packages/web/.claude/skills/style", "style")
        .skill("work/packages/web/.claude/skills/top", "top")
        .skill("work/node_modules/x/.claude/skills/foreign", "foreign")
        .skill("elsewhere/.claude/skills/outside", "outside")
        .link("work/packages/linked", "elsewhere")
        .link("work/packages/loop", "work/packages");
    assert_snapshot!(machine.catalog_table(), @r"
    ready style [claude-code-nested]
      host-hidden: its host offers it once files below packages/web are worked on
    shadowed top [claude-code-nested]
      shadowed: top from claude-code-project is used instead: $ROOT/work/.claude/skills/top/SKILL.md
    ready top [claude-code-project]
    ");
    assert!(!machine.catalog().get("style").expect("it").model_visible);
}

#[test]
fn a_hosts_own_settings_switch_skills_off_and_say_so() {
    let machine = TestMachine::new()
        .profile("claude-code")
        .skill("home/.claude/skills/a", "a")
        .skill("home/.claude/skills/b", "b")
        .skill("home/.claude/skills/c", "c")
        .file(
            "home/.claude/settings.json",
            "{\"skillOverrides\":{\"a\":\"off\",\"b\":\"user-invocable-only\",\"c\":\"off\"}}",
        )
        .file(
            "work/.claude/settings.local.json",
            "{\"skillOverrides\":{\"c\":\"user-invocable-only\"}}",
        );
    assert_snapshot!(machine.catalog_table(), @r"
    disabled a [claude-code-personal]
      host-disabled: skillOverrides of the user settings says off
    ready b [claude-code-personal]
      host-hidden: skillOverrides of the user settings says user-invocable-only
    ready c [claude-code-personal]
      host-hidden: skillOverrides of the local settings says user-invocable-only
    ");
    // A nearer file decides, also where it switches on.
    let nearer = TestMachine::new()
        .profile("claude-code")
        .skill("home/.claude/skills/d", "d")
        .skill("home/.claude/skills/e", "e")
        .skill("home/.claude/skills/f", "f")
        .file(
            "home/.claude/settings.json",
            "{\"skillOverrides\":{\"d\":\"off\",\"e\":\"off\",\"f\":\"off\"}}",
        )
        .file("work/.claude/settings.json", "{\"skillOverrides\":{\"e\":\"name-only\"}}")
        .file(
            "work/.claude/settings.local.json",
            "{\"skillOverrides\":{\"d\":\"on\",\"f\":\"sometimes\"}}",
        );
    assert_snapshot!(nearer.catalog_table(), @r"
    ready d [claude-code-personal]
    ready e [claude-code-personal]
    disabled f [claude-code-personal]
      host-disabled: skillOverrides of the user settings says off
    ");
    let opencode = TestMachine::new()
        .profile("opencode")
        .skill("home/.claude/skills/secret-a", "secret-a")
        .skill("home/.claude/skills/b", "b")
        .file(
            "work/opencode.json",
            "{\"permission\":{\"skill\":{\"*\":\"allow\",\"secret-*\":\"deny\"}}}",
        );
    let catalog = opencode.catalog();
    assert!(!catalog.get("secret-a").expect("it").model_visible);
    assert!(catalog.get("b").expect("b").model_visible);
}

/// Of the entries that fit a skill, by name or by path, the last counts.
#[test]
fn codexs_later_entry_decides() {
    let check = |entries: &[(&str, bool)], wanted: EntryState| {
        let machine = TestMachine::new().profile("codex").skill("home/.codex/skills/b", "b");
        let file = machine.path("home/.codex/skills/b/SKILL.md");
        let text: Vec<String> = entries
            .iter()
            .map(|(by, enabled)| {
                let by = by.replace("$FILE", &file.to_string_lossy());
                format!("[[skills.config]]\n{by}\nenabled = {enabled}\n")
            })
            .collect();
        machine.write("home/.codex/config.toml", text.concat());
        let found = machine.catalog().get("b").expect("the skill").state;
        assert_eq!(found, wanted, "{entries:?}");
    };
    let (name, path) = ("name = \"b\"", "path = \"$FILE\"");
    check(&[(name, false)], EntryState::Disabled);
    check(&[(path, false)], EntryState::Disabled);
    check(&[(name, false), (path, true)], EntryState::Ready);
    check(&[(path, false), (name, true)], EntryState::Ready);
    check(&[(path, true), (name, false)], EntryState::Disabled);
    check(&[(name, false), (name, true), (path, false)], EntryState::Disabled);
    let both = "name = \"b\"\npath = \"$FILE\"";
    check(&[(both, false)], EntryState::Ready);
}

/// Whatever a plugin's files say: what they name outside stays out, what is too long or not a file is
/// reported, and the rest loads.
#[cfg(unix)]
#[test]
fn hostile_plugins_are_contained_and_the_rest_loads() {
    let machine = TestMachine::new().profile("claude-code").skill("secret/skills/stolen", "stolen");
    let cache = machine.path("home/.claude/plugins/cache").to_string_lossy().into_owned();
    let outside = machine.path("secret").to_string_lossy().into_owned();
    let mut plugins = String::new();
    for name in ["escape", "linked", "looped", "huge", "../up", "good"] {
        let folder = name.replace("../", "");
        plugins.push_str(&format!(
            "\"{name}@m\":[{{\"scope\":\"user\",\"installPath\":\"{cache}/{folder}\"}}],"
        ));
    }
    plugins.push_str(&format!("\"gone@m\":[{{\"installPath\":\"{outside}/none\"}}],\"odd@m\":7"));
    let names = ["escape", "linked", "looped", "huge", "../up", "good", "gone", "odd"];
    let on: Vec<String> = names.iter().map(|name| format!("\"{name}@m\":true")).collect();
    let base = "home/.claude/plugins/cache";
    let machine = machine
        .file(
            "home/.claude/plugins/installed_plugins.json",
            format!("{{\"version\":2,\"plugins\":{{{plugins}}}}}"),
        )
        .file("home/.claude/settings.json", format!("{{\"enabledPlugins\":{{{}}}}}", on.join(",")))
        .file(
            &format!("{base}/escape/.claude-plugin/plugin.json"),
            format!("{{\"name\":\"escape\",\"skills\":[\"../../../../../secret/skills\",\"{outside}/skills\"]}}"),
        )
        .file(&format!("{base}/linked/.claude-plugin/plugin.json"), "{\"name\":\"linked\"}")
        .link(&format!("{base}/linked/skills"), "secret/skills")
        .file(&format!("{base}/looped/.claude-plugin/plugin.json"), "{\"name\":\"looped\"}")
        .link(&format!("{base}/looped/skills/again"), &format!("{base}/looped/skills"))
        .file(&format!("{base}/huge/.claude-plugin/plugin.json"), vec![b'['; 10 << 20])
        .skill(&format!("{base}/huge/skills/still"), "still")
        .file(&format!("{base}/good/.claude-plugin/plugin.json"), "{\"name\":\"good\"}")
        .skill(&format!("{base}/good/skills/fine"), "fine");
    let catalog = machine.catalog();
    let names: Vec<&str> = catalog.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["good:fine", "huge:still"]);
    let codes: std::collections::BTreeSet<&str> =
        catalog.issues.iter().map(|issue| issue.code.as_str()).collect();
    for code in ["path-escape", "plugin-skipped", "host-file-unreadable"] {
        assert!(codes.contains(code), "{code}: {codes:?}");
    }
    // Settings that are a device are not waited for.
    let device = TestMachine::new().profile("claude-code").skill("home/.claude/skills/a", "a");
    std::os::unix::fs::symlink("/dev/zero", device.path("home/.claude/settings.json"))
        .expect("a link");
    assert!(device.catalog().get("a").is_some());
}

/// The same for the other hosts: every file that says where plugins are is met with paths that leave,
/// loops, devices, ten megabytes, and the same id twice.
#[cfg(unix)]
#[test]
fn hostile_manifests_of_every_host_are_contained() {
    let huge = || vec![b'['; 10 << 20];
    // Where the host keeps plugins, and each one's manifest; `$OUT` is outside.
    let hosts: &[(&str, &str, &str, &str)] = &[
        (
            "codex",
            "home/.codex/plugins/cache/m/$NAME/1.0.0",
            ".codex-plugin/plugin.json",
            "good:fine",
        ),
        ("gemini", "home/.gemini/extensions/$NAME", "gemini-extension.json", "fine"),
        ("openclaw", "home/.openclaw/extensions/$NAME", "openclaw.plugin.json", "fine"),
        ("copilot", "market/$NAME", "plugin.json", "fine"),
        (
            "cursor",
            "home/.cursor/plugins/cache/m/$NAME/abc",
            ".cursor-plugin/plugin.json",
            "good:fine",
        ),
    ];
    for (host, folder, manifest, good) in hosts {
        let machine = TestMachine::new()
            .profile(host)
            .config("{plugins: {entries: {escape: {enabled: true}, linked: {enabled: true}, looped: {enabled: true}, huge: {enabled: true}, device: {enabled: true}, good: {enabled: true}}}}")
            .skill("secret/skills/stolen", "stolen");
        let outside = machine.path("secret").to_string_lossy().into_owned();
        let market = machine.path("market").to_string_lossy().into_owned();
        let at = |name: &str| folder.replace("$NAME", name);
        let plain =
            |name: &str| format!(r#"{{"id":"{name}","name":"{name}","skills":["skills"]}}"#);
        let escape = format!(
            r#"{{"id":"escape","name":"escape","skills":["../../../../../../secret/skills","{outside}/skills"]}}"#
        );
        let names = ["escape", "linked", "looped", "huge", "device", "good"];
        let on: Vec<String> =
            names.iter().map(|n| format!("[plugins.\"{n}@m\"]\nenabled = true\n")).collect();
        let offers: Vec<String> =
            names.iter().map(|n| format!(r#"{{"name":"{n}","source":"./{n}"}}"#)).collect();
        let enabled: Vec<String> = names.iter().map(|n| format!(r#""{n}@m":true"#)).collect();
        let machine = machine
            .file("home/.codex/config.toml", on.concat())
            .file(
                "market/marketplace.json",
                format!(r#"{{"name":"m","plugins":[{},{{"name":"up","source":"../secret"}}]}}"#, offers.join(",")),
            )
            .file(
                "home/.copilot/settings.json",
                format!(
                    r#"{{"extraKnownMarketplaces":{{"m":{{"source":{{"source":"directory","path":"{market}"}}}}}},"enabledPlugins":{{{},"up@m":true}}}}"#,
                    enabled.join(",")
                ),
            )
            .file(&format!("{}/{manifest}", at("escape")), escape)
            .file(&format!("{}/{manifest}", at("linked")), plain("linked"))
            .link(&format!("{}/skills", at("linked")), "secret/skills")
            .file(&format!("{}/{manifest}", at("looped")), plain("looped"))
            .link(&format!("{}/skills/again", at("looped")), &format!("{}/skills", at("looped")))
            .file(&format!("{}/{manifest}", at("huge")), huge())
            .skill(&format!("{}/skills/still", at("huge")), "still")
            .skill(&format!("{}/skills/none", at("device")), "none")
            .file(&format!("{}/{manifest}", at("good")), plain("good"))
            .skill(&format!("{}/skills/fine", at("good")), "fine");
        let device = machine.path(&format!("{}/{manifest}", at("device")));
        std::fs::create_dir_all(device.parent().expect("a folder")).expect("a folder");
        std::os::unix::fs::symlink("/dev/zero", device).expect("a link");
        let catalog = machine.catalog();
        let names: Vec<&str> = catalog.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert!(names.contains(good), "{host}: {names:?} {:?}", catalog.issues);
        assert!(!names.iter().any(|name| name.ends_with("stolen")), "{host}: {names:?}");
        let codes: std::collections::BTreeSet<&str> =
            catalog.issues.iter().map(|issue| issue.code.as_str()).collect();
        // OpenClaw uses no plugin without a manifest; others go on without it.
        let unreadable =
            if *host == "openclaw" { "plugin-skipped" } else { "host-file-unreadable" };
        for code in ["path-escape", unreadable] {
            assert!(codes.contains(code), "{host}: {code}: {codes:?}");
        }
    }
}

/// Cursor keeps plugins of marketplaces by the hash of their version; the one that came last is used.
#[test]
fn cursors_plugins_of_marketplaces_are_read() {
    let base = "home/.cursor/plugins/cache/cursor-public/figma";
    let manifest =
        |version: &str| format!(r#"{{"name":"figma","version":"{version}","skills":"./skills/"}}"#);
    let machine = TestMachine::new()
        .profile("cursor")
        .file(&format!("{base}/1f2e/.cursor-plugin/plugin.json"), manifest("1"))
        .skill(&format!("{base}/1f2e/skills/old"), "old")
        .file(&format!("{base}/0a9b/.cursor-plugin/plugin.json"), manifest("2"))
        .skill(&format!("{base}/0a9b/skills/draw"), "draw")
        .skill("home/.cursor/skills-cursor/shipped", "shipped");
    let time = |name: &str, seconds: u64| {
        let folder = std::fs::File::open(machine.path(&format!("{base}/{name}"))).expect("it");
        let moment = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        folder.set_modified(moment).expect("a time");
    };
    time("1f2e", 1_000);
    time("0a9b", 2_000);
    assert_snapshot!(machine.catalog_table(), @r"
    ready figma:draw [cursor-plugin]
    ready shipped [cursor-bundled]
    ");
    let catalog = machine.catalog();
    let plugin = catalog.get("figma:draw").and_then(|entry| entry.plugin.clone()).expect("it");
    assert_eq!(plugin.version.as_deref(), Some("2"));
    assert_eq!(plugin.marketplace.as_deref(), Some("cursor-public"));
    let detail = plugin.detail.as_deref().expect("a word");
    assert!(detail.contains("a database of its own"), "{detail}");
}

#[test]
fn copilots_plugins_folders_and_switches_are_read() {
    let machine = TestMachine::new().profile("copilot");
    let market = machine.path("market").to_string_lossy().into_owned();
    let copied = machine.path("home/.copilot/installed-plugins/_direct/gamma");
    let machine = machine
        .file("work/.git/HEAD", "ref: x\n")
        .file(
            "market/.claude-plugin/marketplace.json",
            r#"{"metadata":{"pluginRoot":"./plugins"},"plugins":[{"name":"alpha","source":"alpha"},{"name":"beta","source":"./plugins/beta"}]}"#,
        )
        .file("market/plugins/alpha/plugin.json", r#"{"name":"alpha","version":"2.0.0"}"#)
        .skill("market/plugins/alpha/skills/of-alpha", "of-alpha")
        .skill("market/plugins/beta/skills/of-beta", "of-beta")
        .skill("home/.copilot/installed-plugins/_direct/gamma/skills/of-gamma", "of-gamma")
        .skill("home/.copilot/installed-plugins/_direct/gamma/skills/dup", "dup")
        .file(
            "home/.copilot/settings.json",
            format!(r#"{{"extraKnownMarketplaces":{{"mp":{{"source":{{"source":"directory","path":"{market}"}}}}}},"enabledPlugins":{{"alpha@mp":true,"beta@mp":false}},"disabledSkills":["quiet"]}}"#),
        )
        .file(
            "home/.copilot/config.json",
            format!("// kept by Copilot\n{{\"installedPlugins\":[{{\"name\":\"gamma\",\"marketplace\":\"\",\"cache_path\":\"{}\",\"enabled\":true}}]}}", copied.display()),
        )
        .skill("home/.copilot/skills/quiet", "quiet")
        .file("home/.copilot/skills/dup/SKILL.md", "---\nname: dup\ndescription: Of the person\n---\n")
        .skill("work/.github/skills/top", "top")
        .file("work/.github/skills/dup/SKILL.md", "---\nname: dup\ndescription: Of the project\n---\n")
        .file("work/a/.claude/skills/dup/SKILL.md", "---\nname: dup\ndescription: Of the nearest\n---\n")
        .workspace("work/a");
    let catalog = machine.catalog();
    let told: Vec<(&str, &str, &str)> = catalog
        .unshadowed()
        .map(|entry| (entry.name.as_str(), entry.state.as_str(), &*entry.source))
        .collect();
    assert_eq!(
        told,
        [
            ("dup", "ready", "claude-code-project"),
            ("of-alpha", "ready", "copilot-plugin"),
            ("of-beta", "disabled", "copilot-plugin"),
            ("of-gamma", "ready", "copilot-plugin"),
            ("quiet", "disabled", "copilot-personal"),
            ("top", "ready", "copilot-project"),
        ]
    );
    assert_eq!(catalog.get("dup").expect("one").description, "Of the nearest");
    let plugin = catalog.get("of-alpha").and_then(|entry| entry.plugin.clone()).expect("it");
    assert_eq!(
        (plugin.version.as_deref(), plugin.marketplace.as_deref()),
        (Some("2.0.0"), Some("mp"))
    );
}

#[test]
fn a_duplicate_plugin_is_reported_and_the_first_counts() {
    let machine = TestMachine::new()
        .profile("openclaw")
        .config("{plugins: {load: {paths: ['$ROOT/one', '$ROOT/two']}}}")
        .file("one/openclaw.plugin.json", "{id: 'same', skills: ['skills']}")
        .skill("one/skills/a", "a")
        .file("two/openclaw.plugin.json", "{id: 'same', skills: ['skills']}")
        .skill("two/skills/b", "b");
    let catalog = machine.catalog();
    assert!(catalog.get("a").is_some() && catalog.get("b").is_none());
    assert!(catalog.issues.iter().any(|issue| issue.detail.contains("found first")));
}

#[test]
fn a_connected_machine_makes_its_skills_ready_and_is_named() {
    let machine = TestMachine::new()
        .workspace_skill("mac", "metadata: {openclaw: {os: [darwin], requires: {bins: [memo]}}}")
        .connected("studio", "darwin", &["memo"]);
    let catalog = machine.catalog();
    let entry = catalog.get("mac").expect("the skill");
    assert_eq!(entry.state, EntryState::Ready);
    assert_eq!(entry.via_machine.as_deref(), Some("studio"));
}

#[test]
fn every_host_of_the_table_has_folders_a_source_and_a_profile() {
    assert!(sinew_catalog::HOSTS.len() >= 30);
    for host in sinew_catalog::HOSTS {
        assert!(host.source.starts_with("https://") && host.looked_up.len() == 10, "{}", host.id);
        let profile = sinew_catalog::Profile::find(host.id).expect("a profile");
        assert_eq!(profile.roots.len(), host.personal.len() + host.project.len(), "{}", host.id);
    }
    let with_servers = sinew_catalog::HOSTS.iter().filter_map(|host| host.mcp);
    let servers: Vec<_> = with_servers.collect();
    assert!(servers.len() >= 7, "{servers:?}");
    for servers in servers {
        assert!(servers.file.starts_with('{') && !servers.key.is_empty(), "{servers:?}");
        assert!(servers.source.starts_with("https://") && servers.looked_up.len() == 10);
    }
    let mut ids: Vec<&str> = sinew_catalog::all_profiles().map(|profile| profile.name).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "two profiles have one name");
}

/// VS Code and Letta Code have rows, and a host of the configuration is a profile of its own.
#[test]
fn further_hosts_are_profiles() {
    let names = |machine: TestMachine| -> String {
        let catalog = machine.catalog();
        catalog.entries.iter().map(|entry| entry.name.as_str()).collect()
    };
    let machine = |profile: &str| {
        TestMachine::new()
            .profile(profile)
            .skill("home/.copilot/skills/a", "a")
            .skill("home/.agents/skills/b", "b")
            .skill("work/.github/skills/c", "c")
            .skill("work/.claude/skills/d", "d")
            .skill("home/.letta/skills/e", "e")
            .skill("work/.skills/f", "f")
            .skill("work/.agents/skills/g", "g")
    };
    assert_eq!(names(machine("vscode")), "abcdg");
    assert_eq!(names(machine("letta")), "efg");
}

#[test]
fn hosts_of_the_table_and_of_the_configuration_are_read() {
    let machine = TestMachine::new()
        .config("{skills: {hosts: {nova: {title: 'Nova', personal: ['~/.nova/skills'], project: ['.nova/skills']}}}}")
        .skill("home/.qwen/skills/q", "q")
        .skill("work/.windsurf/skills/w", "w")
        .skill("home/.nova/skills/n", "n")
        .skill("work/.nova/skills/m", "m");
    assert_snapshot!(machine.catalog_table(), @r"
    ready m [nova-project]
    ready n [nova-personal]
    ready q [qwen-personal]
    ready w [windsurf-project]
    ");
}

#[test]
fn cursors_rules_with_a_description_are_used_like_skills() {
    let machine = TestMachine::new()
        .profile("cursor")
        .file("work/.cursor/rules/api.mdc", "---\ndescription: How the API is built\nglobs: *.ts\nalwaysApply: false\n---\nUse REST.\n")
        .file("work/.cursor/rules/always.mdc", "---\ndescription:\nglobs:\nalwaysApply: true\n---\nBe kind.\n")
        .file("work/.cursor/rules/notes.md", "Notes\n");
    let catalog = machine.catalog();
    let names: Vec<&str> = catalog.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["api"]);
    assert_eq!(catalog.entries[0].source, "cursor-rules");
    assert!(catalog.entries[0].model_visible);
    assert!(
        catalog.issues.iter().any(|issue| issue.detail.contains("1 rules have no description"))
    );
}

/// Cursor reads packages once it works on their files, and calls a skill what its folder is called.
#[test]
fn cursor_reads_packages_and_names_skills_by_folder() {
    let machine = TestMachine::new()
        .profile("cursor")
        .skill("work/.cursor/skills/top", "another-name")
        .skill("home/.agents/skills/own", "own")
        .skill("work/apps/web/.cursor/skills/style", "style")
        .skill("work/apps/api/.agents/skills/routes", "routes")
        .file(
            "work/apps/web/.cursor/rules/forms.mdc",
            "---\ndescription: How forms are built\nalwaysApply: false\n---\nUse labels.\n",
        );
    assert_snapshot!(machine.catalog_table(), @r"
    ready forms [cursor-rules-nested]
      host-hidden: its host offers it once files below apps/web are worked on
    ready own [agents-skills-personal]
    ready routes [agents-skills-nested]
      host-hidden: its host offers it once files below apps/api are worked on
    ready style [cursor-nested]
      host-hidden: its host offers it once files below apps/web are worked on
    ready top [cursor-project]
    ");
}

/// A warm look asks the host's settings again.
#[test]
fn a_changed_switch_is_noticed_by_the_next_look() {
    let machine = TestMachine::new().profile("claude-code").skill("home/.claude/skills/a", "a");
    let machine = machine.after_long_time();
    assert_eq!(machine.catalog().get("a").expect("a").state, EntryState::Ready);
    machine.write("home/.claude/settings.json", "{\"skillOverrides\":{\"a\":\"off\"}}");
    assert_eq!(machine.catalog().get("a").expect("a").state, EntryState::Disabled);
}
