//! What others' tools say of the carried skills: the reference validator of Agent Skills, and Cisco's
//! scanner with its static analyzers. With `SINEW_LONG=1`; both come from PyPI.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sinew_testkit::{PythonPackages, report_skip};

use crate::carried_commands::is_long;
use crate::library_commands::LIBRARY;

const CHECKERS: &[&str] = &["skills-ref==0.1.1", "cisco-ai-skill-scanner==2.3.2"];

#[test]
fn others_find_nothing_in_the_carried_skills() {
    if !is_long() {
        report_skip("the carried skills are shown to others' checkers with SINEW_LONG=1");
        return;
    }
    let Some(python) =
        PythonPackages::get(env!("CARGO_TARGET_TMPDIR"), "library-checkers", CHECKERS)
    else {
        return;
    };
    let entries = fs::read_dir(LIBRARY).expect("the library");
    let folders: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    for folder in &folders {
        let judged = python.command("agentskills").arg("validate").arg(folder).output();
        let judged = judged.expect("the validator runs");
        let told = String::from_utf8_lossy(&judged.stdout).into_owned()
            + &String::from_utf8_lossy(&judged.stderr);
        assert!(judged.status.success(), "{}: {told}", folder.display());
    }
    let scanned = python
        .command("skill-scanner")
        .args(["scan-all", LIBRARY, "--use-behavioral", "--format", "json"])
        .output()
        .expect("the scanner runs");
    let report: Value = serde_json::from_slice(&scanned.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&scanned.stderr)));
    assert_eq!(report["summary"]["total_skills_scanned"], folders.len(), "{}", report["summary"]);
    for level in ["critical", "high", "medium"] {
        assert_eq!(report["summary"]["findings_by_severity"][level], 0, "{}", report["summary"]);
    }
}
