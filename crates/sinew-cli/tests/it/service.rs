//! `sinew service` against a manager that writes down what it is told.

use std::fs;

use sinew_testkit::TestMachine;

#[cfg(unix)]
use crate::support::typed;
use crate::support::{json, sinew};

/// A machine whose `systemctl` keeps a log, and says that the service runs once it was started.
fn machine() -> TestMachine {
    TestMachine::new().script(
        "systemctl",
        "echo \"$@\" >> \"$HOME/told\"\n\
         case \"$*\" in\n\
         *is-active*) [ -e \"$HOME/runs\" ] ;;\n\
         *restart*) : > \"$HOME/runs\" ;;\n\
         *disable*) /bin/rm -f \"$HOME/runs\" ;;\n\
         esac",
    )
}

const UNIT: &str = "home/.config/systemd/user/sinew.service";

#[cfg(target_os = "linux")]
#[test]
fn a_person_installs_and_removes_the_service() {
    let machine = machine();
    let before = json(&machine, &["service", "status"]);
    assert_eq!(before["installed"], false, "{before}");
    let seen = typed(&machine, &["service", "install"], "");
    assert!(seen.contains("the server runs as a service"), "{seen}");
    let unit = fs::read_to_string(machine.path(UNIT)).expect("a unit");
    assert!(unit.contains("sinew\" serve\n") && unit.contains("WantedBy=default.target"), "{unit}");
    let told = fs::read_to_string(machine.path("home/told")).expect("a log");
    for line in ["--user daemon-reload", "--user enable sinew.service", "--user restart"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let status = json(&machine, &["service", "status"]);
    assert_eq!((&status["running"], &status["current"]), (&true.into(), &true.into()), "{status}");
    machine.write(UNIT, "[Service]\nExecStart=/old/sinew serve\n");
    assert!(sinew(&machine, &["service", "status"]).contains("brings it up to date"));

    let seen = typed(&machine, &["service", "remove"], "");
    assert!(seen.contains("the service is stopped"), "{seen}");
    assert!(!machine.path(UNIT).exists());
    assert!(sinew(&machine, &["service", "status"]).ends_with("exit 1"));
    let seen = typed(&machine, &["service", "remove"], "");
    assert!(seen.contains("no service of sinew is installed"), "{seen}");
}

#[test]
fn a_program_installs_no_service() {
    let machine = machine();
    let told = sinew(&machine, &["service", "install"]);
    assert!(told.contains("only a person can install a service") && told.ends_with("exit 3"));
    assert!(!machine.path(UNIT).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_manager_that_refuses_leaves_nothing_behind() {
    let machine = TestMachine::new().script("systemctl", "echo no bus >&2; exit 1");
    let seen = typed(&machine, &["service", "install"], "");
    assert!(seen.contains("no bus") && seen.ends_with("exit 4"), "{seen}");
    assert!(!machine.path(UNIT).exists());
    let seen = typed(&TestMachine::new(), &["service", "install"], "");
    assert!(seen.contains("`systemctl` cannot be started") && seen.ends_with("exit 4"), "{seen}");
}
