//! Declared installers become command lines of one argument each.

use sinew_catalog::install::{
    InstallOption, InstallerKind, InstallerSetup, OfferContext, check_spec, offered_options,
};
use sinew_settings::config::NodeManager;
use sinew_skill::InstallSpec;
use sinew_testkit::TestMachine;

/// Reads `install: [...]` as it is in a skill.
fn specs(yaml: &str) -> Vec<InstallSpec> {
    let text = format!(
        "---\nname: demo\ndescription: d\nmetadata: {{openclaw: {{install: {yaml}}}}}\n---\n"
    );
    let read = sinew_skill::read(text.as_bytes(), &sinew_skill::ReadOptions::openclaw("demo"));
    read.skill.and_then(|skill| skill.metadata).map(|m| m.install).unwrap_or_default()
}

fn offered(yaml: &str, programs: &[&str], setup: InstallerSetup) -> Vec<InstallOption> {
    let has = |name: &str| programs.contains(&name);
    offered_options(
        &[],
        &specs(yaml),
        &OfferContext { os: "linux", prefer_brew: true, has: &has, setup },
    )
}

/// The vector of a single declaration, or the code of the reason against it.
fn vector(yaml: &str, setup: InstallerSetup) -> String {
    let spec = specs(&format!("[{yaml}]")).remove(0);
    match check_spec(&spec).and_then(|installer| installer.argument_vector(&setup)) {
        Ok(argv) => format!("{argv:?}"),
        Err(reason) => reason.code.to_string(),
    }
}

#[track_caller]
fn check_vector(yaml: &str, expected: &str) {
    assert_eq!(vector(yaml, InstallerSetup::default()), expected, "{yaml}");
}

#[track_caller]
fn check_invalid(yaml: &str) {
    check_vector(yaml, "install-spec-invalid");
}

#[test]
fn brew_installs_formulas_and_casks() {
    check_vector("{kind: brew, formula: gh}", r#"["brew", "install", "gh"]"#);
    check_vector("{type: BREW, cask: warp}", r#"["brew", "install", "--cask", "warp"]"#);
    check_vector(
        "{kind: brew, formula: steipete/tap/gog}",
        r#"["brew", "install", "steipete/tap/gog"]"#,
    );
    check_vector(
        "{kind: brew, formula: python@3.12, cask: x}",
        r#"["brew", "install", "python@3.12"]"#,
    );
}

#[test]
fn a_bad_formula_is_dropped_with_its_reason_and_the_others_stay() {
    for bad in ["gh --HEAD", "-v", "../x", r"a\\b", "", "a/b/c/d", "Gh", "x\\u0000"] {
        check_invalid(&format!("{{kind: brew, formula: \"{bad}\"}}"));
    }
    check_invalid("{kind: brew}");
    check_invalid(&format!("{{kind: brew, formula: {}}}", "x".repeat(257)));
    check_invalid("{kind: snap, package: gh}");
    let machine = TestMachine::new().workspace_skill(
        "demo",
        "metadata: {openclaw: {install: [{kind: brew, formula: '-v'}, {kind: brew, formula: gh}]}}",
    );
    let catalog = machine.catalog();
    let entry = &catalog.entries[0];
    assert_eq!(entry.reasons[0].code.as_str(), "install-spec-invalid");
    assert_eq!(entry.reasons[0].key.as_deref(), Some("brew-0"));
    assert_eq!(entry.install.iter().map(|spec| spec.id.as_str()).collect::<Vec<_>>(), ["brew-1"]);
    assert!(entry.eligible, "a bad way to install closes no gate");
}

#[test]
fn every_node_manager_gets_the_package_as_one_argument() {
    for (node, expected) in [
        (NodeManager::Npm, r#"["npm", "install", "-g", "--ignore-scripts", "@scope/pkg@1.2.3"]"#),
        (NodeManager::Pnpm, r#"["pnpm", "add", "-g", "--ignore-scripts", "@scope/pkg@1.2.3"]"#),
        (NodeManager::Yarn, r#"["yarn", "global", "add", "--ignore-scripts", "@scope/pkg@1.2.3"]"#),
        (NodeManager::Bun, r#"["bun", "add", "-g", "--ignore-scripts", "@scope/pkg@1.2.3"]"#),
    ] {
        let spec = "{kind: node, package: '@scope/pkg@1.2.3'}";
        assert_eq!(vector(spec, InstallerSetup { node, root: false }), expected);
    }
    check_vector(
        "{kind: node, package: left-pad@latest}",
        r#"["npm", "install", "-g", "--ignore-scripts", "left-pad@latest"]"#,
    );
}

#[test]
fn only_registry_packages_are_node_packages() {
    for bad in [
        "git+https://h/x",
        "file:../x",
        "x; rm -rf ~",
        "user/repo",
        "x@https://h/x.tgz",
        "x@^1.2.0",
        "x@>=1",
        "npm:x",
        "x#main",
        "./x",
        "x.tgz",
        "x.tar.gz",
        "-rf",
        "--prefix",
        "X",
        "@scope",
        "@scope/",
        "a b",
        "x\\ny",
    ] {
        check_invalid(&format!("{{kind: node, package: \"{bad}\"}}"));
    }
}

#[test]
fn a_go_module_needs_a_version() {
    check_vector("{kind: go, module: example.com/cmd/x}", "needs-version");
    check_vector(
        "{kind: go, module: example.com/cmd/x@v1.2.0}",
        r#"["go", "install", "example.com/cmd/x@v1.2.0"]"#,
    );
    check_invalid("{kind: go, module: 'https://example.com/x@v1'}");
    check_invalid(r#"{kind: go, module: "a\\b@v1"}"#);
    check_invalid("{kind: go, module: '-x@v1'}");
    let options =
        offered("[{kind: go, module: example.com/cmd/x}]", &["go"], InstallerSetup::default());
    assert_eq!(options[0].argv, ["go", "install", "example.com/cmd/x@latest"]);
    assert_eq!(options[0].problem.as_ref().map(|p| p.code.as_str()), Some("needs-version"));
}

#[test]
fn uv_takes_names_extras_and_versions() {
    check_vector("{kind: uv, package: 'ruff>=0.5'}", r#"["uv", "tool", "install", "ruff>=0.5"]"#);
    check_vector(
        "{kind: uv, package: 'httpie[socks]==3.2.4'}",
        r#"["uv", "tool", "install", "httpie[socks]==3.2.4"]"#,
    );
    check_vector("{kind: uv, package: Nano_PDF}", r#"["uv", "tool", "install", "Nano_PDF"]"#);
    for bad in ["x @ https://h", "git+https://h/x", "x>=1,<2 ; y", "--with", "x[a", "/etc/x", "~/x"]
    {
        check_invalid(&format!("{{kind: uv, package: '{bad}'}}"));
    }
}

#[test]
fn apt_asks_for_no_password_and_removes_nothing() {
    check_vector(
        "{kind: apt, package: gh}",
        r#"["sudo", "-n", "apt-get", "install", "-y", "--no-install-recommends", "gh"]"#,
    );
    assert_eq!(
        vector(
            "{kind: apt, package: g++=4:12.2}",
            InstallerSetup { root: true, ..InstallerSetup::default() }
        ),
        r#"["apt-get", "install", "-y", "--no-install-recommends", "g++=4:12.2"]"#
    );
    for bad in ["vim-", "vim=1-", "vim-=1", "-y", "./x.deb", "a b", "Vim", "v"] {
        check_invalid(&format!("{{kind: apt, package: '{bad}'}}"));
    }
    let has = |_: &str| true;
    let mac = OfferContext {
        os: "darwin",
        prefer_brew: true,
        has: &has,
        setup: InstallerSetup::default(),
    };
    assert!(offered_options(&[], &specs("[{kind: apt, package: gh}]"), &mac).is_empty());
}

#[track_caller]
fn check_preferred(yaml: &str, programs: &[&str], expected: &[&str]) {
    let options = offered(yaml, programs, InstallerSetup::default());
    let preferred: Vec<&str> =
        options.iter().filter(|option| option.preferred).map(|option| option.id.as_str()).collect();
    assert_eq!(preferred, expected, "{yaml} with {programs:?}");
}

#[test]
fn the_best_offer_depends_on_what_is_here() {
    let both = "[{kind: node, package: x}, {kind: brew, formula: x}]";
    check_preferred(both, &[], &["node-0"]);
    check_preferred(both, &["brew"], &["brew-1"]);
    let apt = "[{kind: brew, formula: x}, {kind: apt, package: xx}, {kind: go, module: a/b@v1}]";
    check_preferred(apt, &["apt-get"], &["apt-1"]);
    check_preferred(apt, &[], &["go-2"]);
    check_preferred("[{kind: brew, formula: x}]", &[], &["brew-0"]);
    let three = "[{kind: uv, package: x}, {kind: node, package: x}, {kind: apt, package: xx}]";
    check_preferred(three, &["npm", "apt-get"], &["node-1"]);
    check_preferred(three, &["apt-get"], &["apt-2"]);
    check_preferred(three, &["uv", "npm"], &["uv-0"]);
    check_preferred("[{kind: brew, formula: a}, {kind: brew, formula: b}]", &["brew"], &["brew-0"]);
    let downloads = "[{kind: download, url: 'https://h/a'}, {kind: download, url: 'https://h/b'}, {kind: download, url: 'https://h/c'}]";
    check_preferred(downloads, &["brew"], &["download-0", "download-1", "download-2"]);
    check_preferred(
        "[{kind: download, url: 'https://h/a'}, {kind: uv, package: x}]",
        &[],
        &["uv-1"],
    );
    let has = |name: &str| ["brew", "npm"].contains(&name);
    let plain = OfferContext {
        os: "linux",
        prefer_brew: false,
        has: &has,
        setup: InstallerSetup::default(),
    };
    let options_of = |os: &[String]| offered_options(os, &specs(both), &plain);
    assert!(options_of(&["darwin".to_owned()]).is_empty());
    let first = options_of(&[]).into_iter().find(|option| option.preferred);
    assert_eq!(first.map(|option| option.kind), Some(InstallerKind::Node));
    let for_mac = "[{kind: brew, formula: x, os: [macos]}, {kind: uv, package: x}]";
    assert_eq!(offered(for_mac, &["brew"], InstallerSetup::default()).len(), 1);
}

#[test]
fn ids_and_labels_have_defaults() {
    let options = offered(
        "[{kind: brew, formula: a}, {kind: brew, formula: b, id: mine, label: 'Get\\x07 it'}, {kind: node, package: p, label: Install p (yarn)}, {kind: download, url: 'https://h/x/t.tar.gz?y'}]",
        &["brew"],
        InstallerSetup::default(),
    );
    let shown: Vec<String> =
        options.iter().map(|option| format!("{} {}", option.id, option.label)).collect();
    assert_eq!(
        shown,
        [
            "brew-0 Install a (brew)",
            "mine Get\\x07 it",
            "node-2 Install p (npm)",
            "download-3 Download t.tar.gz"
        ]
    );
    let two = specs("[{kind: brew, formula: a}, {kind: brew, formula: b}]");
    assert_eq!(two.iter().map(|spec| spec.id.as_str()).collect::<Vec<_>>(), ["brew-0", "brew-1"]);
    assert_eq!(specs("{kind: uv, package: x}").len(), 1, "a single map is a list of one");
}

#[test]
fn downloads_are_https_or_carry_a_digest() {
    let digest = "A".repeat(64);
    check_vector("{kind: download, url: 'https://h/x'}", r#"["sinew", "download", "https://h/x"]"#);
    check_vector(
        &format!("{{kind: download, url: 'http://h/x', sha256: {digest}}}"),
        r#"["sinew", "download", "http://h/x"]"#,
    );
    check_invalid("{kind: download, url: 'http://h/x'}");
    for bad in [
        "sha256: zz",
        "sha256: ''",
        "stripComponents: -1",
        "stripComponents: many",
        "extract: maybe",
    ] {
        check_invalid(&format!("{{kind: download, url: 'https://h/x', {bad}}}"));
    }
    for bad in [
        "ftp://h/x",
        "file:///etc/passwd",
        "https://user:pw@h/x",
        "https://h/a b",
        "/x",
        "javascript:x",
        "https://",
        "-https://h/x",
    ] {
        check_invalid(&format!("{{kind: download, url: '{bad}'}}"));
    }
    check_invalid(&format!("{{kind: download, url: 'https://h/{}'}}", "x".repeat(2048)));
}

#[test]
fn a_tap_is_a_user_and_a_name() {
    let options =
        offered("[{kind: brew, formula: x, tap: a/b}]", &["brew"], InstallerSetup::default());
    assert_eq!(options[0].tap.as_deref(), Some("a/b"));
    check_invalid("{kind: brew, formula: x, tap: 'https://h/x'}");
    check_invalid("{kind: brew, formula: x, tap: '--x'}");
}
