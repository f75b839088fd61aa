//! The words of the command line: a change to them is a change people see.

use insta::assert_snapshot;
use sinew_testkit::TestMachine;

use crate::support::sinew;

const COMMANDS: &[&str] = &[
    "find",
    "list",
    "info",
    "why",
    "check",
    "prompt",
    "new",
    "enable",
    "disable",
    "open",
    "bundled",
    "read",
    "validate",
    "scan",
    "eval",
    "dedupe",
    "index",
    "report",
    "cortex",
    "workshop",
    "acquire",
    "search",
    "install",
    "installed",
    "update",
    "verify",
    "pin",
    "restore",
    "uninstall",
    "approve",
    "learn",
    "exec",
    "deps",
    "commands",
    "connect",
    "disconnect",
    "import",
    "hook",
    "demo",
    "watch",
    "serve",
    "ui",
    "registry",
    "doctor",
    "config",
    "skills",
    "completions",
    "man",
    "docs",
];

const WORKSHOP: &[&str] = &[
    "status",
    "list",
    "inspect",
    "review",
    "suggest",
    "revise",
    "restore",
    "apply",
    "reject",
    "undo",
    "history",
    "write-support-file",
    "capture",
    "promote",
    "import",
    "export",
];

#[test]
fn help_of_the_program() {
    assert_snapshot!(sinew(&TestMachine::new(), &["--help"]));
}

#[test]
fn help_of_every_command_has_examples() {
    let machine = TestMachine::new();
    for command in COMMANDS {
        let help = sinew(&machine, &[command, "--help"]);
        assert!(help.contains("Examples:") && help.ends_with("exit 0"), "{command}: {help}");
        assert_snapshot!(format!("help_{command}"), help);
    }
}

#[test]
fn help_of_every_workshop_command_has_examples() {
    let machine = TestMachine::new();
    for command in WORKSHOP {
        let help = sinew(&machine, &["workshop", command, "--help"]);
        assert!(help.contains("Examples:") && help.ends_with("exit 0"), "{command}: {help}");
        assert_snapshot!(format!("help_workshop_{command}"), help);
    }
}

#[test]
fn help_of_every_registry_command_has_examples() {
    let machine = TestMachine::new();
    for command in [
        "token", "login", "logout", "whoami", "publish", "delete", "undelete", "star", "unstar",
        "mirror",
    ] {
        let help = sinew(&machine, &["registry", command, "--help"]);
        assert!(help.contains("Examples:") && help.ends_with("exit 0"), "{command}: {help}");
        assert_snapshot!(format!("help_registry_{command}"), help);
    }
}

#[test]
fn help_of_every_question_to_the_cortex_has_examples() {
    let machine = TestMachine::new();
    for question in [
        "show",
        "why",
        "lessons",
        "blacklist",
        "export",
        "import",
        "rebuild",
        "reset",
        "prune",
        "simulate",
    ] {
        let help = sinew(&machine, &["cortex", question, "--help"]);
        assert!(help.contains("Examples:") && help.ends_with("exit 0"), "{question}: {help}");
        assert_snapshot!(format!("help_cortex_{question}"), help);
    }
}

#[test]
fn every_shell_gets_completions() {
    let machine = TestMachine::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sinew(&machine, &["completions", shell]);
        assert!(script.contains("validate") && script.ends_with("exit 0"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let machine = TestMachine::new();
    let page = sinew(&machine, &["man"]);
    assert!(page.contains(".TH sinew 1") && page.ends_with("exit 0"), "{page}");
    assert!(page.contains("sinew\\-find(1)"), "it leads to the others: {page}");
    let told = sinew(&machine, &["man", "--out", "pages/man1"]);
    assert!(told.contains("$ROOT/work/pages/man1\nexit 0"), "{told}");
    let read = |name: &str| {
        let path = machine.path(&format!("work/pages/man1/{name}.1"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for command in COMMANDS {
        assert!(read(&format!("sinew-{command}")).contains(".SH SYNOPSIS"), "{command}");
    }
    let undo = read("sinew-workshop-undo");
    assert!(undo.contains("sinew workshop undo"), "{undo}");
    assert!(!machine.path("work/pages/man1/sinew-help.1").exists());
}
