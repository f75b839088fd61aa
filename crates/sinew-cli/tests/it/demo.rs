//! `sinew demo` from the first scene to the last.

use sinew_testkit::TestMachine;

use crate::support::{command, shown};

#[test]
fn a_day_is_shown_and_nothing_is_left() {
    let machine = TestMachine::new();
    std::fs::create_dir_all(machine.path("tmp")).expect("a folder");
    let mut demo = command(&machine, &["demo"]);
    let shown =
        shown(&machine, &demo.env("TMPDIR", machine.path("tmp")).output().expect("it runs"));
    assert!(shown.ends_with("exit 0"), "{shown}");
    for part in ["match: photo-shrink", "fetch-exec", "@demo/tide-tables", "animated-gif-workflow"]
    {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    let left = std::fs::read_dir(machine.path("tmp")).expect("a folder").count();
    assert_eq!(left, 0, "the demo cleans up after itself");
    let home = std::fs::read_dir(machine.path("home")).expect("a home").count();
    assert_eq!(home, 0, "and touches nothing else");
}
