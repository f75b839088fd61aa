//! The skills that the program carries hold nothing that the scanner would even mention aloud.

use std::path::Path;

use sinew_guard::scan::{SkillBundle, Verdict};

use crate::support::{scanner, summary};

#[test]
fn every_carried_skill_is_allowed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-engine/skills");
    let mut scanned = 0;
    for entry in std::fs::read_dir(folder).expect("the carried skills") {
        let path = entry.expect("a folder that can be read").path();
        if !path.is_dir() {
            continue;
        }
        let bundle = SkillBundle::from_dir(&path).expect("a skill's folder");
        let report = scanner().scan_bundle(&bundle);
        assert_eq!(report.verdict, Verdict::Allow, "{}: {}", path.display(), summary(&report));
        scanned += 1;
    }
    assert!(scanned >= 60, "{scanned} skills");
}
